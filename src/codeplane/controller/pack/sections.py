"""The nine sections of a context pack, and what a pack lacks."""

from typing import Any

from pydantic import Field

from codeplane.controller.contract import SCHEMA_VERSION, WireModel


class Header(WireModel):
    """Whose pack it is and which state of the files it is about."""

    context_pack_ref: str = ""
    context_pack_hash: str = ""
    work_id: str
    agent_id: str
    run_session_id: str
    repo_snapshot_id: str
    head_commit: str | None = None
    prompt_digest: str
    schema_version: str = SCHEMA_VERSION


class TaskSection(WireModel):
    """What is asked for: constraints in the user's words, and what stands against it."""

    prompt: str
    evidence: str = ""
    lexemes: list[str] = Field(default_factory=list)
    attachments: list[str] = Field(default_factory=list)
    constraints: list[str] = Field(default_factory=list)
    conflicts: list[str] = Field(default_factory=list)


class PolicyEntry(WireModel):
    """A rule that holds for the candidate files."""

    source: str
    first_line: int
    last_line: int
    why: str
    digest: str = ""
    evidence: str = ""
    text: str = Field(default="", exclude=True)


class StrategySection(WireModel):
    """How the run goes about its work, and why so."""

    strategy_id: str
    context_signature: dict[str, Any] = Field(default_factory=dict)
    reasons: list[str] = Field(default_factory=list)


class Anchor(WireModel):
    """Lines that the task is about. One with evidence is shown in full and can be cited."""

    path: str
    first_line: int
    last_line: int
    symbol: str = ""
    lanes: list[str] = Field(default_factory=list)
    why: str
    digest: str
    evidence: str = ""
    text: str = Field(default="", exclude=True)


class ProofChain(WireModel):
    """A proof chain with its hops, or where it broke."""

    chain_id: str
    hops: list[str] = Field(default_factory=list)
    broken_at: str | None = None


class AnchorSection(WireModel):
    """Anchors and proof chains."""

    anchors: list[Anchor] = Field(default_factory=list)
    proof_chains: list[ProofChain] = Field(default_factory=list)


class AllowedSection(WireModel):
    """Files that the pack is about, and verbs that are allowed now; any file of the allowlist may be read."""

    files: list[str] = Field(default_factory=list)
    capabilities: list[str] = Field(default_factory=list)
    scope_allowlist_ref: str = "worktree"


class ValidationSection(WireModel):
    """Tests and linters that reach the anchors."""

    tests: list[str] = Field(default_factory=list)
    linters: list[str] = Field(default_factory=list)
    confidence: str = "none"


class MissingSection(WireModel):
    """What could not be found, what contradicts itself, and what was left out to fit."""

    missing: list[str] = Field(default_factory=list)
    conflicts: list[str] = Field(default_factory=list)
    dropped: dict[str, int] = Field(default_factory=dict)


class MissingAnchor(WireModel):
    """Something that the run needs and that no source had."""

    anchor_type: str
    name: str
    required_by: str
    why_required: str
    attempted_sources: list[str]
    confidence: float


class EscalationAction(WireModel):
    """A call that may bring what is missing; it is accepted as it is."""

    action_type: str
    verb: str
    reason: str
    args: dict[str, Any]


class Insufficiency(WireModel):
    """Why a pack is not enough, what to do, and what stays unavailable meanwhile."""

    codes: list[str]
    missing_anchors: list[MissingAnchor]
    escalation_plan: list[EscalationAction]
    blocked_commands: list[str]


class PackContent(WireModel):
    """The nine sections."""

    header: Header
    task: TaskSection
    policies: list[PolicyEntry] = Field(default_factory=list)
    strategy: StrategySection
    anchors: AnchorSection = AnchorSection()
    allowed: AllowedSection = AllowedSection()
    validation: ValidationSection = ValidationSection()
    missing: MissingSection = MissingSection()
    active_memories: list[dict[str, Any]] = Field(default_factory=list)
