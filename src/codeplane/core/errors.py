"""Every error that CodePlane answers with: one tree, one catalogue.

    CodePlaneError
    ├── RequestError                 1xxx  the call
    │   ├── InvalidArgument          1001
    │   ├── UnknownTool              1002
    │   ├── NotFound                 1003
    │   │   └── NotReadYet           1015
    │   ├── DeadlineExceeded         1004
    │   ├── Cancelled                1005
    │   ├── ServerStopping           1006
    │   ├── CallInterrupted          1007
    │   ├── WorkspaceRequired        1008
    │   ├── PathRefused              1009
    │   ├── ContentChanged           1010
    │   ├── AmbiguousSymbol          1011
    │   ├── CursorGone               1012
    │   ├── ReadBudgetSpent          1013
    │   ├── RequestRefused           1014
    │   ├── PatternInvalid           1016
    │   ├── QueryInvalid             1017
    │   └── StateUnsupported         1018
    ├── RepositoryError              20xx  the repository
    │   ├── NoRepository             2001
    │   ├── BareRepository           2002
    │   ├── ForeignOwner             2003
    │   ├── UnsupportedRepository    2004
    │   └── NotTrusted               2005
    ├── StateError                   21xx  the state directory and the server in it
    │   ├── StateUnusable            2101
    │   ├── AlreadyServing           2102
    │   ├── NotServing               2103
    │   └── PortUnavailable          2104
    ├── ConfigError                  22xx  settings
    │   ├── UnknownSetting           2201
    │   ├── InvalidSetting           2202
    │   ├── UnreadableConfig         2203
    │   ├── PackInvalid              2204
    │   └── StrategyInvalid          2205
    ├── IndexFailure                 3xxx  the index
    │   ├── IndexCorrupt             3001
    │   ├── IndexNotAvailable        3002
    │   ├── CompilationFailed        3003
    │   ├── IndexBusy                3004
    │   ├── EpochGone                3005
    │   └── ScipError                3006
    ├── RefactorError                4xxx  refactorings
    │   ├── RefactorDivergence       4001
    │   ├── PlanStale                4002
    │   ├── PlanGone                 4003
    │   └── DecisionRefused          4004
    ├── PlanError                    41xx  plans of work
    │   ├── PlanInvalid              4101
    │   ├── TransitionRefused        4102
    │   ├── PlanTooLarge             4103
    │   └── PlanDamaged              4104
    ├── DeltaError                   45xx  code deltas
    │   ├── DeltaInvalid             4501
    │   ├── DeltaNotReady            4502
    │   ├── DeltaBusy                4503
    │   ├── ToolchainInvalid         4504
    │   ├── PhaseRolledBack          4505
    │   └── RollbackFailed           4506
    ├── ControllerError              46xx  runs that follow an accepted plan
    │   ├── ExecSideEffectCollision  4620
    │   ├── ExecUngatedSideEffect    4621
    │   ├── NodeNotReady             4622
    │   ├── PatchOutOfBounds         4623
    │   ├── CodemodRefused           4624
    │   └── RecipeInvalid            4625
    ├── EditError                    5xxx  edits; nothing has changed, unless it says so
    │   ├── EditConflict             5001
    │   ├── EditRefused              5002
    │   ├── EditsOverlap             5003
    │   ├── EditNotPlaced            5004
    │   ├── EditFailed               5005
    │   ├── EditInDoubt              5006
    │   └── UndoRefused              5007
    ├── TaskError                    6xxx  tasks
    │   ├── TaskBudgetExceeded       6001
    │   ├── TaskClosed               6002
    │   └── LedgerDamaged            6003
    ├── TestRunnerNotFound           7001
    ├── GitFailure                   8xxx  git
    │   ├── RevisionNotFound         8001
    │   ├── GitFailed                8002
    │   ├── GitBusy                  8003
    │   ├── GitUnsupported           8004
    │   ├── WorkAtRisk               8005
    │   ├── GitUnfinished            8006
    │   ├── NothingToCommit          8007
    │   ├── HookRefused              8008
    │   ├── RemoteUnreachable        8009
    │   ├── RemoteRefused            8010
    │   ├── CredentialsRefused       8011
    │   └── IdentityMissing          8012
    ├── ProgramError                 91xx  programs that CodePlane starts
    │   ├── ProgramMissing           9101
    │   └── ProgramFailed            9102
    ├── ConnectorError               94xx  Jira and API descriptions
    │   ├── ConnectorOff             9401
    │   ├── HostNotAllowed           9402
    │   ├── TokenUnusable            9403
    │   ├── ConnectorUnauthorised    9404
    │   ├── ConnectorNotFound        9405
    │   ├── ConnectorRateLimited     9406
    │   ├── ConnectorUnavailable     9407
    │   ├── ConnectorAnswerInvalid   9408
    │   ├── ConnectorAnswerTooLarge  9409
    │   ├── ConnectorUntrusted       9410
    │   └── ApiOperationNotFound     9411
    ├── SandboxError                 95xx  snippets in the sandbox
    │   ├── SandboxUnavailable       9501
    │   ├── SandboxTimeout           9502
    │   ├── SandboxMemory            9503
    │   ├── SandboxFailed            9504
    │   └── SandboxShapeMismatch     9505
    ├── GraphStoreError              97xx  the graph store and its seeds
    │   ├── GraphStoreUnavailable    9701
    │   ├── SeedInvalid              9702
    │   ├── GraphConstraintViolated  9703
    │   └── GraphTooLarge            9704
    ├── MemoryFailure                96xx  what runs are taught
    │   ├── OverrideInvalid          9601
    │   └── MemoryStateRefused       9602
    ├── FactStoreError               98xx  facts that are shared through a store or a file
    │   ├── FactStoreUnavailable     9801
    │   ├── ArtifactInvalid          9802
    │   ├── ArtifactTooNew           9803
    │   ├── ArtifactForeign          9804
    │   └── StoreDistrusted          9805
    ├── PlatformUnsupported          9002
    └── InternalError                9001

A code is given once and never reused.
The docstring of each class is its entry in the published catalogue.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar


class CodePlaneError(Exception):
    """Any failure that CodePlane explains to its caller."""

    code: ClassVar[int]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hints: Sequence[str] = (), **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(hints)
        self.details = details

    @classmethod
    def name(cls) -> str:
        """The identifier on the wire: `NotFound` is `NOT_FOUND`."""
        return "".join(f"_{c}" if c.isupper() else c for c in cls.__name__).lstrip("_").upper()

    def to_wire(self) -> dict[str, object]:
        """The error object of a response; empty details and hints are left out."""
        wire: dict[str, object] = {
            "code": self.code,
            "name": self.name(),
            "message": self.message,
            "retryable": self.retryable,
        }
        if self.details:
            wire["details"] = self.details
        if self.hints:
            wire["hints"] = list(self.hints)
        return wire


class RequestError(CodePlaneError):
    """The call itself could not be carried out."""


class InvalidArgument(RequestError):
    """A parameter is missing, unknown or has an invalid value."""

    code = 1001


class UnknownTool(RequestError):
    """This endpoint offers no tool of that name."""

    code = 1002


class NotFound(RequestError):
    """What the call names (a symbol, file, session or tool) does not exist."""

    code = 1003


class NotReadYet(NotFound):
    """What the call names is in none of the files indexed so far; the index is still being built."""

    code = 1015
    retryable = True


class DeadlineExceeded(RequestError):
    """The call ran out of time and was stopped."""

    code = 1004
    retryable = True


class Cancelled(RequestError):
    """The client cancelled the call."""

    code = 1005


class ServerStopping(RequestError):
    """The server is shutting down; the call was not executed."""

    code = 1006
    retryable = True


class CallInterrupted(RequestError):
    """The server died during the call, which is not retried automatically; check the repository first."""

    code = 1007


class WorkspaceRequired(RequestError):
    """The call needs an overlay workspace and none was named."""

    code = 1008


class PathRefused(RequestError):
    """The path leads outside the repository, into a private directory, or to a file that must not be read."""

    code = 1009


class ContentChanged(RequestError):
    """A file changed while it was being read."""

    code = 1010
    retryable = True


class AmbiguousSymbol(RequestError):
    """The name matches several definitions; `candidates` in the details lists them."""

    code = 1011


class CursorGone(RequestError):
    """The cursor has expired, belongs to another tool or session, or never existed."""

    code = 1012


class ReadBudgetSpent(RequestError):
    """The session has used up its read budget; repeating the call starts a new one."""

    code = 1013


class RequestRefused(RequestError):
    """The HTTP request was rejected before it reached a tool; `status` in the details is the HTTP status."""

    code = 1014


class PatternInvalid(RequestError):
    """The code pattern is not one piece of syntax; `parsed` in the details is how it was read."""

    code = 1016


class QueryInvalid(RequestError):
    """The tree-sitter query cannot be compiled, uses a predicate that is not allowed, or takes too long."""

    code = 1017


class StateUnsupported(RequestError):
    """The tool can't read or change the state that the call names: a commit, virtual files, or a workspace
    without files on the disk."""

    code = 1018


class RepositoryError(CodePlaneError):
    """There is no repository here that CodePlane can serve."""


class NoRepository(RepositoryError):
    """The directory is not inside a git repository."""

    code = 2001


class BareRepository(RepositoryError):
    """The repository has no working tree."""

    code = 2002


class ForeignOwner(RepositoryError):
    """The repository belongs to another user and is not trusted."""

    code = 2003


class UnsupportedRepository(RepositoryError):
    """The repository is damaged or in a format that libgit2 cannot read."""

    code = 2004


class NotTrusted(RepositoryError):
    """The call would run code or follow settings of the repository, which is not trusted."""

    code = 2005


class StateError(CodePlaneError):
    """The state directory, or the server that owns it, stands in the way."""


class StateUnusable(StateError):
    """The state directory cannot be created or written to, or is not a plain directory."""

    code = 2101


class AlreadyServing(StateError):
    """Another process is serving this repository."""

    code = 2102


class NotServing(StateError):
    """No server answers for this repository."""

    code = 2103
    retryable = True


class PortUnavailable(StateError):
    """The configured port cannot be bound."""

    code = 2104


class ConfigError(CodePlaneError):
    """A setting is wrong."""


class UnknownSetting(ConfigError):
    """A configuration source sets an unknown key."""

    code = 2201


class InvalidSetting(ConfigError):
    """A configuration source sets an invalid value."""

    code = 2202


class UnreadableConfig(ConfigError):
    """A configuration file cannot be read or is not a YAML mapping."""

    code = 2203


class PackInvalid(ConfigError):
    """A pack cannot be loaded; the message names the file and the line."""

    code = 2204


class StrategyInvalid(ConfigError):
    """A file of a strategy or of a proof chain is not valid; `problems` in the details lists why."""

    code = 2205


class IndexFailure(CodePlaneError):
    """The index cannot answer."""


class IndexCorrupt(IndexFailure):
    """The index failed its integrity check and is being rebuilt."""

    code = 3001
    retryable = True


class IndexNotAvailable(IndexFailure):
    """The index does not exist yet."""

    code = 3002
    retryable = True


class CompilationFailed(IndexFailure):
    """A semantic indexer could not process the code; structural answers remain available."""

    code = 3003
    retryable = True


class IndexBusy(IndexFailure):
    """Another process has locked the index."""

    code = 3004
    retryable = True


class EpochGone(IndexFailure):
    """The epoch is not on record: it has been dropped or never existed."""

    code = 3005


class ScipError(IndexFailure):
    """What a batch indexer wrote is not a SCIP index, is cut short, or is larger than CodePlane reads."""

    code = 3006


class RefactorError(CodePlaneError):
    """A refactoring was not carried out; every file is as it was."""


class RefactorDivergence(RefactorError):
    """Build contexts disagree about what the refactoring would change."""

    code = 4001


class PlanStale(RefactorError):
    """Files that the plan depends on have changed since it was made; the details list them."""

    code = 4002


class PlanGone(RefactorError):
    """No plan has that id: it expired, was applied or cancelled, never existed, or cannot be read back."""

    code = 4003


class DecisionRefused(RefactorError):
    """The plan cannot be applied like this; the details say what is missing or wrong."""

    code = 4004


class PlanError(CodePlaneError):
    """A plan of work was not changed as the call asked."""


class PlanInvalid(PlanError):
    """The plan is not well formed: an unknown key, a wrong value, a cycle or a link to nothing."""

    code = 4101


class TransitionRefused(PlanError):
    """The item cannot go to that state; the details list closed gates, items, and what would open each."""

    code = 4102


class PlanTooLarge(PlanError):
    """The plan, or one part of it, is larger than a plan may be."""

    code = 4103


class PlanDamaged(PlanError):
    """The plan cannot be read back: its rows are not as they were written."""

    code = 4104


class DeltaError(CodePlaneError):
    """A code delta could not be read, validated or executed."""


class DeltaInvalid(DeltaError):
    """A delta is not well-formed: an unknown key, a missing argument, a path outside the repository."""

    code = 4501


class DeltaNotReady(DeltaError):
    """Tasks are red, stale or not validated far enough; nothing was executed."""

    code = 4502


class DeltaBusy(DeltaError):
    """Another execution of deltas holds the lock."""

    code = 4503
    retryable = True


class ToolchainInvalid(DeltaError):
    """`.codeplane/toolchain.toml` has an error, or you have not trusted it as it is now."""

    code = 4504


class PhaseRolledBack(DeltaError):
    """A phase could not be completed; its files are as they were before it."""

    code = 4505


class RollbackFailed(DeltaError):
    """A phase was written, but could be neither completed nor rolled back; it counts as executed."""

    code = 4506


class ControllerError(CodePlaneError):
    """A step of a controlled run was refused; nothing has changed."""


class ExecSideEffectCollision(ControllerError):
    """Another run holds what the step would change; the details name it and when its lease ends."""

    code = 4620
    retryable = True


class ExecUngatedSideEffect(ControllerError):
    """A side effect has no commit gate, or its gate is still closed."""

    code = 4621


class NodeNotReady(ControllerError):
    """A node of the plan can't be executed now: of another kind, done already, or others come before it."""

    code = 4622


class PatchOutOfBounds(ControllerError):
    """A patch goes beyond the file or the symbols of its node."""

    code = 4623


class CodemodRefused(ControllerError):
    """A codemod is unknown, or can't be done safely in the file."""

    code = 4624


class RecipeInvalid(ControllerError):
    """A recipe is unknown, or its parameters are not those that it takes."""

    code = 4625


class EditError(CodePlaneError):
    """An edit was not made; every file is as it was."""


class EditConflict(EditError):
    """A file is not what the edit expects; the details show both versions."""

    code = 5001


class EditRefused(EditError):
    """The file must not be edited: a rule, the working set, its type or its permissions forbid it."""

    code = 5002


class EditsOverlap(EditError):
    """Two edits of one call conflict: they change the same lines or the same file."""

    code = 5003


class EditNotPlaced(EditError):
    """The text to replace was not found, or was found in several places; the details say where."""

    code = 5004


class EditFailed(EditError):
    """The system refused a write; everything written was rolled back."""

    code = 5005
    retryable = True


class EditInDoubt(EditError):
    """A write could be neither finished nor rolled back; the next start of the server settles it."""

    code = 5006


class UndoRefused(EditError):
    """The operation cannot be undone: a file has changed since, or its old content is no longer kept."""

    code = 5007


class TaskError(CodePlaneError):
    """The task does not allow the call."""


class TaskBudgetExceeded(TaskError):
    """The task has used up a budget; the hint says how to go on."""

    code = 6001


class TaskClosed(TaskError):
    """The task has been closed; open another."""

    code = 6002


class LedgerDamaged(TaskError):
    """A segment of the ledger was tampered with or damaged; it was set aside and a new one started."""

    code = 6003


class TestRunnerNotFound(CodePlaneError):
    """The repository's test runner is not installed."""

    code = 7001
    __test__ = False


class GitFailure(CodePlaneError):
    """Git does not have, or does not do, what the call needs."""


class RevisionNotFound(GitFailure):
    """No commit has that name, or this clone does not have it."""

    code = 8001


class GitFailed(GitFailure):
    """libgit2 refused; the message is its own."""

    code = 8002


class GitBusy(GitFailure):
    """Another program holds a lock on the repository."""

    code = 8003
    retryable = True


class GitUnsupported(GitFailure):
    """This cannot be done safely in this repository; the message says why."""

    code = 8004


class WorkAtRisk(GitFailure):
    """Uncommitted work would be lost; the details list it, and `force` accepts the loss."""

    code = 8005


class GitUnfinished(GitFailure):
    """A merge, rebase or similar is in progress, or none is; the message says which."""

    code = 8006


class NothingToCommit(GitFailure):
    """Nothing is staged that differs from the last commit."""

    code = 8007


class HookRefused(GitFailure):
    """A hook of a trusted repository rejected the operation; the details show its output."""

    code = 8008


class RemoteUnreachable(GitFailure):
    """The remote did not answer in time, or does not speak git."""

    code = 8009
    retryable = True


class RemoteRefused(GitFailure):
    """The remote refused; the details say which reference and why."""

    code = 8010


class CredentialsRefused(GitFailure):
    """The remote rejected every credential that the user's agents and helpers offered."""

    code = 8011


class IdentityMissing(GitFailure):
    """Git does not know who commits: user.name and user.email are not set."""

    code = 8012


class ProgramError(CodePlaneError):
    """A program that CodePlane needs could not do its work."""


class ProgramMissing(ProgramError):
    """A program that the call needs is not installed."""

    code = 9101


class ProgramFailed(ProgramError):
    """A program could not be started, or failed unexpectedly."""

    code = 9102


class ConnectorError(CodePlaneError):
    """A connector could not read what it was asked for."""


class ConnectorOff(ConnectorError):
    """The connector is switched off; only the user's own settings switch it on."""

    code = 9401


class HostNotAllowed(ConnectorError):
    """The address, or one that it redirects to, is not on a host that the user allows."""

    code = 9402


class TokenUnusable(ConnectorError):
    """The token of a connector is missing, or others can read its file."""

    code = 9403


class ConnectorUnauthorised(ConnectorError):
    """The host refused the token, or what it allows does not include this."""

    code = 9404


class ConnectorNotFound(ConnectorError):
    """The host has no such ticket or document, or hides it from this token."""

    code = 9405


class ConnectorRateLimited(ConnectorError):
    """The host, or the user's own limit, allows no further request now."""

    code = 9406
    retryable = True


class ConnectorUnavailable(ConnectorError):
    """The host could not be reached, failed, or did not answer in time."""

    code = 9407
    retryable = True


class ConnectorAnswerInvalid(ConnectorError):
    """What was read is not a ticket or an API description that can be understood."""

    code = 9408


class ConnectorAnswerTooLarge(ConnectorError):
    """The answer is larger than connectors may read."""

    code = 9409


class ConnectorUntrusted(ConnectorError):
    """The certificate of the host could not be verified."""

    code = 9410


class ApiOperationNotFound(ConnectorError):
    """The API description has no such operation."""

    code = 9411


class SandboxError(CodePlaneError):
    """A snippet of code could not be run in the sandbox, or did not answer as declared."""


class SandboxUnavailable(SandboxError):
    """The sandbox cannot be started: its interpreter is missing or does not run here."""

    code = 9501


class SandboxTimeout(SandboxError):
    """The snippet ran longer than its time limit and was stopped."""

    code = 9502


class SandboxMemory(SandboxError):
    """The snippet needed more memory than its limit and was stopped."""

    code = 9503


class SandboxFailed(SandboxError):
    """The snippet cannot be parsed or raised an error; `line` in the details is the line of the snippet."""

    code = 9504


class SandboxShapeMismatch(SandboxError):
    """The answer of the snippet is not as declared; `at` in the details is the place in the answer."""

    code = 9505


class GraphStoreError(CodePlaneError):
    """The graph store could not answer."""


class GraphStoreUnavailable(GraphStoreError):
    """The graph server cannot be reached, refuses the account, or its driver is not installed."""

    code = 9701
    retryable = True


class SeedInvalid(GraphStoreError):
    """Rows of the seed files are not valid; `problems` in the details lists them with file and line."""

    code = 9702


class GraphConstraintViolated(GraphStoreError):
    """An edge names a node that is not in the graph, or a value that has to be unique is there twice."""

    code = 9703


class GraphTooLarge(GraphStoreError):
    """The graph, one of its rows, or the answer to a question is larger than a bound allows."""

    code = 9704


class MemoryFailure(CodePlaneError):
    """A memory cannot be read or changed."""


class OverrideInvalid(MemoryFailure):
    """A file of `.codeplane/memory/overrides/` is not a memory; the other files still count."""

    code = 9601


class MemoryStateRefused(MemoryFailure):
    """A memory cannot go from its state to the one that was asked for."""

    code = 9602


class FactStoreError(CodePlaneError):
    """Facts could not be taken from a store or a file, or not be put there."""


class FactStoreUnavailable(FactStoreError):
    """The store cannot be reached, refuses the account, is no directory, or needs a missing extra."""

    code = 9801
    retryable = True


class ArtifactInvalid(FactStoreError):
    """An object of a store or a file with facts is damaged, truncated or malformed; nothing of it is used."""

    code = 9802


class ArtifactTooNew(FactStoreError):
    """A store or a file with facts has a format that only a newer version of CodePlane reads."""

    code = 9803


class ArtifactForeign(FactStoreError):
    """A file with facts is about another repository."""

    code = 9804


class StoreDistrusted(FactStoreError):
    """Facts of a store differ from what this version reads out of the same bytes; the store is not used."""

    code = 9805


class InternalError(CodePlaneError):
    """CodePlane itself failed; the log has the details under the request id."""

    code = 9001


class PlatformUnsupported(CodePlaneError):
    """CodePlane runs on Linux and macOS."""

    code = 9002


def catalogue() -> list[type[CodePlaneError]]:
    """Every error with a code, by code."""
    return sorted((e for e in _all_subclasses(CodePlaneError) if "code" in vars(e)), key=lambda e: e.code)


def _all_subclasses(root: type[CodePlaneError]) -> Iterator[type[CodePlaneError]]:
    for child in root.__subclasses__():
        yield child
        yield from _all_subclasses(child)
