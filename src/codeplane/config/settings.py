"""Every setting, its default and its meaning. The reference page is generated from this model."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.config import JsonDict

Level = Literal["debug", "info", "warn", "error"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


USER_ONLY: Final[JsonDict] = {"user_only": True}
"""Marks a setting that only the user's own layers may give; a repository's file can't."""


class LogOutput(_Section):
    format: Literal["console", "json"] = Field(
        default="console", description="`console` for people, `json` for one JSON object per line."
    )
    destination: str = Field(
        default="stderr", description="`stderr`, `stdout` or the absolute path of a file."
    )
    level: Level | None = Field(
        default=None, description="Lowest level logged here; `logging.level` by default."
    )

    @field_validator("level", mode="before")
    @classmethod
    def _level_in_any_case(cls, value: object) -> object:
        return _lower_level(value)

    @field_validator("destination")
    @classmethod
    def _known_destination(cls, value: str) -> str:
        if value in ("stderr", "stdout") or value.startswith("/"):
            return value
        raise ValueError("must be stderr, stdout or an absolute path")


class LoggingSettings(_Section):
    level: Level = Field(default="info", description="Lowest level logged.")
    outputs: tuple[LogOutput, ...] = Field(
        default=(LogOutput(),),
        description="Where log entries go. The server also keeps its own log in the state directory.",
    )

    @field_validator("level", mode="before")
    @classmethod
    def _level_in_any_case(cls, value: object) -> object:
        return _lower_level(value)


class ServerSettings(_Section):
    port: int = Field(default=0, ge=0, le=65535, description="Port on 127.0.0.1; 0 picks a free one.")
    call_timeout_sec: float = Field(default=120, gt=0, le=86_400, description="Time limit of one tool call.")
    shutdown_timeout_sec: float = Field(
        default=5,
        ge=0,
        le=600,
        description="Time that running calls get to finish when the server stops.",
    )
    session_idle_sec: float = Field(
        default=1800, gt=0, le=604_800, description="Idle time after which a session is closed."
    )
    max_body_bytes: int = Field(
        default=4_194_304, ge=1024, le=268_435_456, description="Largest request accepted."
    )
    body_timeout_sec: float = Field(
        default=10, gt=0, le=600, description="Time a client has to send its request."
    )
    workers: int = Field(default=8, ge=1, le=64, description="Tool calls that run in parallel.")
    structured_clients: tuple[str, ...] = Field(
        default=(),
        description="Clients, by the name they introduce themselves with, that get structured content "
        "besides the text of an answer.",
    )


class ReadingSettings(_Section):
    budget_characters: int = Field(
        default=2_000_000,
        ge=1_000,
        le=1_000_000_000,
        description="Characters of source a session may read before it is stopped once.",
    )
    price_per_million_tokens: float = Field(
        default=3.0,
        ge=0,
        le=10_000,
        description="What a million tokens that a model reads cost, in any currency; 0 tells no cost.",
    )


class TaskSettings(_Section):
    max_mutations: int = Field(
        default=200, ge=1, le=1_000_000, description="Changes allowed per task; a task can ask for fewer."
    )
    max_test_runs: int = Field(
        default=100, ge=1, le=1_000_000, description="Test runs allowed per task; a task can ask for fewer."
    )
    max_duration_sec: int = Field(
        default=14_400, ge=1, le=2_592_000, description="Time limit of a task; a task can ask for less."
    )


class LedgerSettings(_Section):
    keep_days: float = Field(
        default=14, gt=0, le=3650, description="Days after which ledger entries are dropped."
    )
    keep_tasks: int = Field(
        default=500, ge=1, le=1_000_000, description="Tasks kept; older ones are dropped."
    )
    artifacts: bool = Field(
        default=False, description="Keep the full diff of each change (`cpl log --show`)."
    )
    artifact_hours: float = Field(
        default=72, gt=0, le=8760, description="Hours after which a full diff is dropped."
    )


class DocSweepSettings(_Section):
    enabled: bool = Field(default=True, description="Look for renamed symbols in comments and documents.")
    auto_apply: bool = Field(default=True, description="Change mentions together with the code.")
    min_confidence: Literal["high", "medium", "low"] = Field(
        default="medium", description="Lowest confidence at which a mention is changed."
    )
    scan_extensions: tuple[str, ...] = Field(
        default=(".md", ".markdown", ".rst", ".adoc", ".txt"),
        description="Endings of documents in which mentions are changed.",
    )


class RefactorSettings(_Section):
    enabled: bool = Field(default=True, description="Offer the refactoring tools.")
    doc_sweep: DocSweepSettings = Field(
        default=DocSweepSettings(), description="Mentions of renamed symbols."
    )


class IndexSettings(_Section):
    watch: bool = Field(
        default=True, description="Refresh the index when the operating system reports a change."
    )
    poll_sec: float = Field(
        default=300, ge=1, le=86_400, description="Time after which the index is refreshed regardless."
    )
    first_wait_sec: float = Field(
        default=8,
        ge=0,
        le=3600,
        description="Time the first calls wait for a new index before they answer from what has been read.",
    )
    surfaces_ahead: bool = Field(
        default=True,
        description="Have a server prepare endpoints, configuration keys, tables and other surfaces before "
        "they are asked for, where a client has the tools for them and imports reach a framework.",
    )
    collect_sec: float = Field(
        default=3600, ge=1, le=604_800, description="Time between two cleanups of the index."
    )
    store: str = Field(
        default="",
        description="Store of shared facts for `cpl index` and baselines: a directory, or an address such as "
        "`s3://bucket/folder` (extra `fleet`); none shares nothing.",
        json_schema_extra=USER_ONLY,
    )


class GitSettings(_Section):
    remote_timeout_sec: float = Field(
        default=60, gt=0, le=3600, description="Time limit of one exchange with a remote."
    )
    worktree_roots: tuple[str, ...] = Field(
        default=(),
        description="Directories in which worktrees may be created, absolute or relative to the repository; "
        "by default the sibling `REPOSITORY.worktrees`.",
    )


class CustomRunner(_Section):
    pattern: str = Field(min_length=1, description="Files it runs, such as `e2e/**/*.spec.ts`.")
    runner: str = Field(
        min_length=1,
        description="Name of its targets; with a built-in runner's name, its output is parsed as such.",
    )
    cmd: tuple[str, ...] = Field(
        min_length=1, description="Program and arguments; `{path}` is the file. Each run gets one file."
    )
    timeout_sec: float | None = Field(
        default=None,
        gt=0,
        le=86_400,
        description="Time limit per file; `tests.target_timeout_sec` by default.",
    )

    @field_validator("cmd")
    @classmethod
    def _names_the_file(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not any("{path}" in part for part in value[1:]):
            raise ValueError("one argument must contain {path}")
        return value


class TestSettings(_Section):
    __test__ = False

    runners: dict[str, str] = Field(
        default={},
        description="Runner to use for a language instead of the detected one, e.g. `python: unittest`.",
    )
    custom: tuple[CustomRunner, ...] = Field(
        default=(), description="Commands for files that no built-in runner runs."
    )
    exclude: tuple[str, ...] = Field(
        default=(), description="Patterns of files that are not tests, such as `**/fixtures/**`."
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Parallel runs; 0 means one per processor, at most 8.",
    )
    target_timeout_sec: float = Field(
        default=30, gt=0, le=86_400, description="Time limit of one target, usually a file."
    )
    run_timeout_sec: float = Field(default=1800, gt=0, le=86_400, description="Time limit of one run.")
    fail_fast: bool = Field(default=False, description="Stop a run at its first failure.")
    rerun_failures: bool = Field(default=True, description="Rerun failed tests once to detect flaky ones.")
    coverage: bool = Field(default=False, description="Measure coverage in every run.")


class CustomLinter(_Section):
    name: str = Field(
        pattern=r"^[a-z][a-z0-9-]{0,40}$", description="Name under which its problems are reported."
    )
    cmd: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments; it prints SARIF 2.1. `{files}` stands for the files.",
    )
    paths: tuple[str, ...] = Field(default=("*",), description="Patterns of the files it checks.")
    timeout_sec: float | None = Field(
        default=None, gt=0, le=86_400, description="Time limit of one run; `lint.timeout_sec` by default."
    )

    @field_validator("cmd")
    @classmethod
    def _names_a_program(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value[0] or "/" in value[0] or value[0].startswith("-"):
            raise ValueError("the program is given by its name alone")
        return value


class LintSettings(_Section):
    tools: dict[str, bool] = Field(
        default={}, description="Linters to switch on or off regardless of detection, e.g. `black: false`."
    )
    custom: tuple[CustomLinter, ...] = Field(default=(), description="Commands that print SARIF.")
    timeout_sec: float = Field(default=120, gt=0, le=86_400, description="Time limit of one linter run.")
    run_timeout_sec: float = Field(
        default=600, gt=0, le=1800, description="Time limit of all linters of a call together."
    )


class CustomIndexer(_Section):
    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,40}$", description="Name under which it is reported.")
    languages: tuple[str, ...] = Field(min_length=1, description="Languages it indexes, such as `python`.")
    cmd: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments; it writes a SCIP index to `{output}`. It runs in the root of a "
        "build context, in a copy of the working tree.",
    )
    inputs: tuple[str, ...] = Field(
        default=(), description="Files whose change makes its results stale, relative to the context."
    )

    @field_validator("cmd")
    @classmethod
    def _names_the_output(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value[0] or "/" in value[0] or value[0].startswith("-"):
            raise ValueError("the program is given by its name alone")
        if not any("{output}" in part for part in value[1:]):
            raise ValueError("one argument must contain {output}")
        return value


class SemanticSettings(_Section):
    enabled: bool = Field(default=True, description="Use what semantic indexers have found out.")
    custom: tuple[CustomIndexer, ...] = Field(
        default=(), description="Indexers besides the built-in ones; they are preferred to those."
    )
    timeout_sec: float = Field(default=1800, gt=0, le=86_400, description="Time limit of one indexer run.")
    memory_mb: int = Field(
        default=4096, ge=64, le=1_048_576, description="Memory that an indexer and its children may take."
    )
    output_mb: int = Field(default=1024, ge=1, le=65_536, description="Largest index that is read.")
    refresh_on_idle: bool = Field(
        default=False, description="Refresh when files have changed and the repository is at rest."
    )
    idle_sec: float = Field(
        default=30,
        ge=1,
        le=86_400,
        description="Time without a change after which the repository is at rest.",
    )


class PackSettings(_Section):
    workflow: tuple[str, ...] = Field(
        default=("core",),
        description="Packs that give plans their types, states and gates: built-in ones, and files of "
        "`.codeplane/packs/` in a trusted repository.",
    )
    grammar: tuple[str, ...] = Field(
        default=("python", "rust", "c", "javascript", "html"),
        description="Languages whose files a code delta may change.",
    )
    extensions: tuple[str, ...] = Field(
        default=("code-delta",), description="Built-in packs that add fields to the items of plans."
    )


class ControllerBudgetSettings(_Section):
    max_tokens: int = Field(
        default=100_000,
        ge=1_000,
        le=100_000_000,
        description="Tokens that a controlled run may use, requests and answers together.",
    )
    threshold: float = Field(
        default=0.6, gt=0, le=1, description="Share of the tokens from which a run counts as over budget."
    )
    block: bool = Field(
        default=False, description="Block a run that is over budget; otherwise it is only reported."
    )


class MemorySettings(_Section):
    rejection_threshold: int = Field(
        default=3, ge=1, le=1_000, description="Equal rejections after which a memory is made."
    )
    contest_window_hours: float = Field(
        default=48, ge=0, le=8_760, description="Hours in which a new memory can be contested."
    )
    provisional_expiry_hours: float = Field(
        default=48, ge=0, le=8_760, description="Hours after which a provisional memory expires."
    )
    human_override_initial_state: Literal["pending", "provisional", "approved"] = Field(
        default="approved", description="State of memories from `.codeplane/memory/overrides/`."
    )
    enable_few_shot_injection: bool = Field(
        default=True, description="Show examples from memory with `trace_symbol_graph`."
    )
    enable_plan_rule_mutation: bool = Field(
        default=True, description="Enforce plan rules from memory when a plan is checked."
    )
    enable_strategy_override: bool = Field(
        default=True, description="Let memory change the features that choose a strategy."
    )
    anchor_auto_seed_max_depth: int = Field(
        default=3, ge=1, le=20, description="Depth of folders that become domain anchors."
    )
    anchor_exclude_patterns: tuple[str, ...] = Field(
        default=(
            "node_modules",
            ".git",
            ".codeplane",
            "dist",
            "build",
            "target",
            "vendor",
            "__pycache__",
            ".venv",
            "coverage",
        ),
        description="Folders that become no domain anchor.",
    )
    enable_friction_ledger: bool = Field(default=True, description="Record rejections as friction.")
    friction_ledger_max_entries: int = Field(
        default=5_000, ge=100, le=1_000_000, description="Friction entries kept; older ones are dropped."
    )
    enable_auto_scaffold_from_rejections: bool = Field(
        default=True, description="Make example memories from rejections that were resolved."
    )
    auto_scaffold_min_rejections: int = Field(
        default=3, ge=1, le=1_000, description="Equal rejections before an example is made of them."
    )
    auto_promotable_enforcement_types: tuple[str, ...] = Field(
        default=("informational", "strategy_signal"), description="Types that are approved by themselves."
    )
    human_approval_required: tuple[str, ...] = Field(
        default=("plan_rule",), description="Types that wait for a person's approval."
    )


class ControllerSettings(_Section):
    budget: ControllerBudgetSettings = Field(
        default=ControllerBudgetSettings(), description="Tokens of a controlled run."
    )
    memory: MemorySettings = Field(default=MemorySettings(), description="What runs are taught by friction.")
    pack_tokens: int = Field(
        default=6_000, ge=500, le=200_000, description="Tokens that a context pack may take."
    )
    quick_max_lines: int = Field(
        default=40,
        ge=1,
        le=10_000,
        description="Changed lines up to which one file may be planned and patched in one turn.",
    )


class JiraSettings(_Section):
    base_url: str = Field(
        default="",
        description="Address of the Jira server, such as `https://jira.example.com`; none switches Jira off.",
        json_schema_extra=USER_ONLY,
    )
    auth: Literal["pat", "cloud_token"] = Field(
        default="pat",
        description="`pat` for Data Center, `cloud_token` for Atlassian Cloud.",
        json_schema_extra=USER_ONLY,
    )
    user: str = Field(default="", description="Account of a cloud token.", json_schema_extra=USER_ONLY)
    token_file: str = Field(
        default="", description="File that contains the token.", json_schema_extra=USER_ONLY
    )
    token_env: str = Field(
        default="", description="Environment variable that contains the token.", json_schema_extra=USER_ONLY
    )
    criteria_field: str = Field(
        default="",
        pattern=r"^([A-Za-z][A-Za-z0-9_]{0,63})?$",
        description="Field with acceptance criteria, such as `customfield_10042`.",
    )


class OpenApiSettings(_Section):
    token_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts of `connectors.hosts` that are sent the token, written as there.",
        json_schema_extra=USER_ONLY,
    )
    token_file: str = Field(
        default="", description="File that contains a bearer token.", json_schema_extra=USER_ONLY
    )
    token_env: str = Field(
        default="",
        description="Environment variable that contains a bearer token.",
        json_schema_extra=USER_ONLY,
    )


class ConnectorSettings(_Section):
    hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts that connectors may ask, `host` or `host:port`; none switches connectors off.",
        json_schema_extra=USER_ONLY,
    )
    timeout_sec: float = Field(
        default=20, gt=0, le=300, description="Time limit of a request, its repeats and pauses included."
    )
    max_bytes: int = Field(
        default=16_777_216, ge=1_024, le=268_435_456, description="Largest answer that is read."
    )
    retries: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Repeats of a request that failed in passing.",
        json_schema_extra=USER_ONLY,
    )
    requests_per_minute: int = Field(
        default=60,
        ge=1,
        le=6_000,
        description="Requests that one host is sent in a minute.",
        json_schema_extra=USER_ONLY,
    )
    jira: JiraSettings = Field(default=JiraSettings(), description="Jira.")
    openapi: OpenApiSettings = Field(default=OpenApiSettings(), description="API descriptions.")


class GraphStoreSettings(_Section):
    bolt_url: str = Field(
        default="",
        description="Address of a Bolt server, such as `bolt://127.0.0.1:7687`; none uses SQLite.",
        json_schema_extra=USER_ONLY,
    )
    bolt_user: str = Field(default="", description="Account there.", json_schema_extra=USER_ONLY)
    bolt_password_env: str = Field(
        default="", description="Environment variable with its password.", json_schema_extra=USER_ONLY
    )
    bolt_database: str = Field(default="", description="Database there.", json_schema_extra=USER_ONLY)


class Settings(_Section):
    """What CodePlane obeys, merged from its four layers."""

    server: ServerSettings = Field(default=ServerSettings(), description="The server.")
    index: IndexSettings = Field(default=IndexSettings(), description="The index, while a server runs.")
    reading: ReadingSettings = Field(default=ReadingSettings(), description="Reading of source.")
    tasks: TaskSettings = Field(default=TaskSettings(), description="Budgets of tasks.")
    refactor: RefactorSettings = Field(default=RefactorSettings(), description="Refactorings.")
    ledger: LedgerSettings = Field(default=LedgerSettings(), description="The record of changes.")
    git: GitSettings = Field(default=GitSettings(), description="Git.")
    tests: TestSettings = Field(default=TestSettings(), description="Test runs.")
    lint: LintSettings = Field(default=LintSettings(), description="Linters and formatters.")
    semantic: SemanticSettings = Field(default=SemanticSettings(), description="Semantic indexers.")
    packs: PackSettings = Field(default=PackSettings(), description="Packs of plans and code deltas.")
    controller: ControllerSettings = Field(
        default=ControllerSettings(), description="Runs that follow an accepted plan."
    )
    connectors: ConnectorSettings = Field(
        default=ConnectorSettings(), description="Read-only access to Jira and API descriptions."
    )
    graph_store: GraphStoreSettings = Field(
        default=GraphStoreSettings(), description="Where the graph of seed rows and memories is kept."
    )
    logging: LoggingSettings = Field(default=LoggingSettings(), description="Logs.")


def _lower_level(value: object) -> object:
    if not isinstance(value, str):
        return value
    level = value.lower()
    return "warn" if level == "warning" else level
