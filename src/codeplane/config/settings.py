"""Every setting, its default and its meaning. The reference page is generated from this model."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Level = Literal["debug", "info", "warn", "error"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LogOutput(_Section):
    format: Literal["console", "json"] = Field(
        default="console", description="`console` for people, `json` for one JSON object a line."
    )
    destination: str = Field(
        default="stderr", description="`stderr`, `stdout` or an absolute path of a file."
    )
    level: Level | None = Field(
        default=None, description="Least level of this output; `logging.level` when absent."
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
    level: Level = Field(default="info", description="Least level that is logged.")
    outputs: tuple[LogOutput, ...] = Field(
        default=(LogOutput(),),
        description="Where log entries go. The server also keeps its own log in the state directory.",
    )

    @field_validator("level", mode="before")
    @classmethod
    def _level_in_any_case(cls, value: object) -> object:
        return _lower_level(value)


class ServerSettings(_Section):
    port: int = Field(default=0, ge=0, le=65535, description="Port on 127.0.0.1; 0 takes a free one.")
    call_timeout_sec: float = Field(
        default=120, gt=0, le=86_400, description="Time that one tool call may take."
    )
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
        default=4_194_304, ge=1024, le=268_435_456, description="Largest request that is read."
    )
    body_timeout_sec: float = Field(
        default=10, gt=0, le=600, description="Time that a client gets to send a request."
    )
    workers: int = Field(default=8, ge=1, le=64, description="Tool calls that run at the same time.")
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
        description="Characters of source that a session may read before it resets its budget.",
    )


class TaskSettings(_Section):
    max_mutations: int = Field(
        default=200, ge=1, le=1_000_000, description="Changes that one task may make; it may ask for fewer."
    )
    max_test_runs: int = Field(
        default=100, ge=1, le=1_000_000, description="Test runs of one task; it may ask for fewer."
    )
    max_duration_sec: int = Field(
        default=14_400, ge=1, le=2_592_000, description="Time that one task may take; it may ask for less."
    )


class LedgerSettings(_Section):
    keep_days: float = Field(
        default=14, gt=0, le=3650, description="Age at which what the ledger holds is dropped."
    )
    keep_tasks: int = Field(
        default=500, ge=1, le=1_000_000, description="Tasks after which older ones are dropped."
    )
    artifacts: bool = Field(
        default=False, description="Keep the full diff of each change for a while (`cpl log --show`)."
    )
    artifact_hours: float = Field(
        default=72, gt=0, le=8760, description="Age at which a full diff is dropped."
    )


class DocSweepSettings(_Section):
    enabled: bool = Field(default=True, description="Look for a renamed symbol in comments and documents.")
    auto_apply: bool = Field(default=True, description="Change mentions in the same edit as the code.")
    min_confidence: Literal["high", "medium", "low"] = Field(
        default="medium", description="Least confidence of a mention that is changed."
    )


class RefactorSettings(_Section):
    enabled: bool = Field(default=True, description="Offer the refactoring tools.")
    doc_sweep: DocSweepSettings = Field(
        default=DocSweepSettings(), description="Mentions of renamed symbols."
    )


class IndexSettings(_Section):
    watch: bool = Field(
        default=True, description="Refresh the index when the operating system tells of a change."
    )
    poll_sec: float = Field(
        default=300, ge=1, le=86_400, description="Time after which the index is refreshed in any case."
    )
    first_wait_sec: float = Field(
        default=8,
        ge=0,
        le=3600,
        description="Time that the first calls wait for a new index; then they answer from what is read.",
    )
    collect_sec: float = Field(
        default=3600, ge=1, le=604_800, description="Time between two runs that drop what is not needed."
    )


class GitSettings(_Section):
    remote_timeout_sec: float = Field(
        default=60, gt=0, le=3600, description="Time that one exchange with a remote may take."
    )
    worktree_roots: tuple[str, ...] = Field(
        default=(),
        description="Directories that worktrees may be made in, absolute or relative to the repository; "
        "without any, the sibling `REPOSITORY.worktrees`.",
    )


class CustomRunner(_Section):
    pattern: str = Field(min_length=1, description="Files that it runs, such as `e2e/**/*.spec.ts`.")
    runner: str = Field(
        min_length=1,
        description="Name of its targets. The name of a known runner has its results read as that one does.",
    )
    cmd: tuple[str, ...] = Field(
        min_length=1, description="Program and arguments; `{path}` is the file, and one run has one file."
    )
    timeout_sec: float | None = Field(
        default=None, gt=0, le=86_400, description="Time of one file; `tests.target_timeout_sec` when absent."
    )

    @field_validator("cmd")
    @classmethod
    def _names_the_file(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not any("{path}" in part for part in value[1:]):
            raise ValueError("one argument has to hold {path}")
        return value


class TestSettings(_Section):
    __test__ = False

    runners: dict[str, str] = Field(
        default={},
        description="Runner of a language in place of the one that is found, as `python: unittest`.",
    )
    custom: tuple[CustomRunner, ...] = Field(
        default=(), description="Commands for files that no known runner runs."
    )
    exclude: tuple[str, ...] = Field(
        default=(), description="Patterns of files that are no tests, such as `**/fixtures/**`."
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Runs at the same time; 0 takes one for each processor, 8 at most.",
    )
    target_timeout_sec: float = Field(
        default=30, gt=0, le=86_400, description="Time that one target, mostly a file, may take."
    )
    run_timeout_sec: float = Field(default=1800, gt=0, le=86_400, description="Time that one run may take.")
    fail_fast: bool = Field(default=False, description="Stop a run at its first failure.")
    rerun_failures: bool = Field(
        default=True, description="Run failed tests once more, to tell flaky ones apart."
    )
    coverage: bool = Field(default=False, description="Measure coverage in every run.")


class CustomLinter(_Section):
    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,40}$", description="Name that its problems are told under.")
    cmd: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments; it prints SARIF 2.1. An argument `{files}` becomes the files.",
    )
    paths: tuple[str, ...] = Field(default=("*",), description="Patterns of the files that it is about.")
    timeout_sec: float | None = Field(
        default=None, gt=0, le=86_400, description="Time of one run; `lint.timeout_sec` when absent."
    )

    @field_validator("cmd")
    @classmethod
    def _names_a_program(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value[0] or "/" in value[0] or value[0].startswith("-"):
            raise ValueError("the program is given by its name alone")
        return value


class LintSettings(_Section):
    tools: dict[str, bool] = Field(
        default={}, description="Linters to be used or left out whatever is found, as `black: false`."
    )
    custom: tuple[CustomLinter, ...] = Field(default=(), description="Commands that print SARIF.")
    timeout_sec: float = Field(
        default=120, gt=0, le=86_400, description="Time that one run of a linter may take."
    )
    run_timeout_sec: float = Field(
        default=600, gt=0, le=1800, description="Time that all linters of a call may take together."
    )


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
    logging: LoggingSettings = Field(default=LoggingSettings(), description="Logs.")


def _lower_level(value: object) -> object:
    if not isinstance(value, str):
        return value
    lowered = value.lower()
    return "warn" if lowered == "warning" else lowered
