"""What a plan is checked against: who asks, the state of the files, what was read, and the rules in force."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from codeplane.controller.evidence.policy import EvidencePolicy
from codeplane.controller.evidence.record import Category, EvidenceRecord
from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

SCHEMA_VERSION: Final = "1.0.0"

IssueEvidence = Callable[[Category, str, tuple[int, int], str, str], EvidenceRecord]


@dataclass(frozen=True)
class PlanIdentity:
    """What the server knows of a plan before it is sent."""

    work_id: str
    agent_id: str
    run_session_id: str
    repo_snapshot_id: str
    worktree_root: str
    context_pack_ref: str = ""
    context_pack_hash: str = ""
    policy_version_set: Mapping[str, str] = field(default_factory=dict)
    scope_allowlist_ref: str = "worktree"


class Strategy(Protocol):
    """The strategy that a run's features call for."""

    @property
    def strategy_id(self) -> str: ...
    @property
    def reasons(self) -> Sequence[str]: ...


class Chain(Protocol):
    """A proof chain that was traced."""

    @property
    def chain_id(self) -> str: ...
    @property
    def broken_at(self) -> str | None: ...


class ChangeRefusal(NamedTuple):
    """Why what a node carries can't be made, and the symbols that it would touch besides its own."""

    message: str
    symbols: tuple[str, ...] = ()


class Rule(Protocol):
    """A plan rule from memory that is in force; its condition is data."""

    @property
    def memory_id(self) -> str: ...
    @property
    def condition(self) -> Mapping[str, Any]: ...
    @property
    def required_steps(self) -> Sequence[str]: ...
    @property
    def deny_code(self) -> str | None: ...


@dataclass(frozen=True)
class PlanFacts:
    """Everything that a check may ask."""

    identity: PlanIdentity
    snapshot: Snapshot
    strategy: Strategy
    enter: Callable[[str], RepoPath]  # the jail
    evidence: Callable[[str], EvidenceRecord | None]
    handles: Callable[[], Sequence[EvidenceRecord]]
    issue: IssueEvidence | None = None  # makes evidence, which counts once an answer has shown it
    prompt: str = ""
    artifacts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    features: Mapping[str, Any] = field(default_factory=dict)
    required_chains: Sequence[str] = ()
    needs_contract: bool = False
    chain: Callable[[str], Chain | None] = lambda _: None
    rules: Sequence[Rule] = ()
    expired_memories: Callable[[Sequence[str]], Sequence[str]] = lambda _: ()  # which of these ids
    tests_reaching: Callable[[RepoPath, Sequence[str]], Sequence[str]] = lambda _path, _symbols: ()
    allows: Callable[[RepoPath], bool] = lambda _: True
    why_absent: Callable[[RepoPath], str | None] = lambda _: None  # a rule that keeps a file on disk out
    link_target: Callable[[RepoPath], RepoPath | None] = lambda _: None
    policy: EvidencePolicy = field(default_factory=EvidencePolicy)
    packs: Sequence[str] = ()  # grammar packs that deltas may use
    try_change: Callable[[Mapping[str, Any]], ChangeRefusal | None] = lambda _: None
    try_codemod: Callable[[RepoPath, str, Mapping[str, Any]], str] = lambda _path, _id, _params: ""  # why not
