"""A plan that has been accepted: the envelope, four kinds of nodes, and what all nodes have in common."""

import hashlib
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from codeplane.controller.evidence.policy import EvidencePolicy
from codeplane.controller.evidence.record import Category
from codeplane.controller.plan_graph.facts import SCHEMA_VERSION

NodeKind = Literal["change", "validate", "escalate", "side_effect"]
Operation = Literal["modify", "create", "delete"]
SideEffectType = Literal["git_commit", "git_branch", "git_push"]


class PlanModel(BaseModel):
    """Fields are camelCase outside, and none is unknown."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class CitedSource(PlanModel):
    """A citation that was verified when the plan was accepted."""

    category: Category
    source: str = Field(min_length=1, description="Path, `prompt`, ticket or API operation.")
    first_line: int = Field(default=0, ge=0, description="First line of a file; 0 for what has no lines.")
    last_line: int = Field(default=0, ge=0, description="Last line of a file.")
    handle: str = Field(default="", description="Handle that a reading verb gave out, if any.")


class StrategyReason(PlanModel):
    """Why the strategy was chosen."""

    reason: str
    evidence_refs: tuple[str, ...] = ()


class TextReplacement(PlanModel):
    """A text of the file, and what takes its place; without an old text, the whole of a new file."""

    old_text: str = ""
    new_text: str = ""
    symbol: str = Field(default="", description="Definition that is replaced, or that the text is beside.")
    action: str = Field(default="", description="Where the text goes, with a symbol.")


class CodemodUse(PlanModel):
    """A codemod by its id, with its parameters."""

    codemod_id: str = Field(min_length=1)
    params: dict[str, Any] = Field(default_factory=dict)


class AtomicityBoundary(PlanModel):
    """What a node writes, as a whole or not at all; no other node writes any of it."""

    files: tuple[str, ...] = ()


class NodeModel(PlanModel):
    """What every node has."""

    node_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,59}$")
    depends_on: tuple[str, ...] = ()
    atomicity_boundary: AtomicityBoundary = AtomicityBoundary()
    expected_failure_signatures: tuple[str, ...] = ()
    correction_candidate_on_fail: str = ""
    escalate_if: tuple[str, ...] = ()
    artifact_refs: tuple[str, ...] = ()
    required_steps: tuple[str, ...] = Field(default=(), description="Steps that rules from memory ask for.")


class ChangeNode(NodeModel):
    """A change of one file, or of the files of one delta."""

    kind: Literal["change"] = "change"
    operation: Operation
    target_file: str = Field(min_length=1)
    target_symbols: tuple[str, ...] = ()
    new_symbols: tuple[str, ...] = Field(default=(), description="Definitions that the change adds.")
    why_this_file: str = Field(min_length=1)
    edit_intent: str = Field(min_length=1)
    citations: tuple[CitedSource, ...] = ()
    code_evidence: tuple[CitedSource, ...] = ()
    verification_hooks: tuple[str, ...] = Field(min_length=1)
    target_text: str | None = Field(default=None, description="Text of the file that is to change.")
    delta: dict[str, Any] | None = Field(default=None, description="A code delta.")
    edits: tuple[CodemodUse | TextReplacement, ...] | None = Field(
        default=None, description="Texts to replace, and codemods to run."
    )
    allow_imports: bool = Field(default=False, description="Whether imports may change beside the symbols.")
    low_evidence_guard: bool = False
    uncertainty_note: str = ""
    requires_human_review: bool = False


class ValidateNode(NodeModel):
    """A check of changes that the server runs."""

    kind: Literal["validate"] = "validate"
    verification_hooks: tuple[str, ...] = Field(min_length=1)
    maps_to_node_ids: tuple[str, ...] = Field(min_length=1)
    success_criteria: str = Field(min_length=1)


class EscalateNode(NodeModel):
    """A request for evidence that the plan can't do without."""

    kind: Literal["escalate"] = "escalate"
    requested_evidence: tuple[str, ...] = Field(min_length=1)
    blocking_reasons: tuple[str, ...] = Field(min_length=1)


class SideEffectNode(NodeModel):
    """An act outside of the files, behind a gate."""

    kind: Literal["side_effect"] = "side_effect"
    side_effect_type: SideEffectType
    side_effect_payload_ref: str = Field(min_length=1)
    payload: dict[str, Any] = Field(default_factory=dict, description="Arguments of the side effect.")
    commit_gate_id: str = Field(min_length=1)


PlanNode = Annotated[ChangeNode | ValidateNode | EscalateNode | SideEffectNode, Field(discriminator="kind")]


class PlanGraph(PlanModel):
    """An accepted plan: whose it is, what it rests on, and its nodes."""

    work_id: str
    agent_id: str
    run_session_id: str
    repo_snapshot_id: str
    worktree_root: str
    context_pack_ref: str
    context_pack_hash: str
    policy_version_set: dict[str, str]
    scope_allowlist_ref: str
    knowledge_strategy_id: str
    knowledge_strategy_reasons: tuple[StrategyReason, ...]
    evidence_policy: EvidencePolicy
    plan_fingerprint: str
    source_trace_refs: tuple[str, ...]
    schema_version: str = SCHEMA_VERSION
    nodes: tuple[PlanNode, ...] = Field(min_length=1)

    def to_dict(self) -> dict[str, Any]:
        """The plan in its outer spelling."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def with_fingerprint(self) -> "PlanGraph":
        """The plan with a digest of what it is about: its snapshot, its strategy and its nodes."""
        body = self.to_dict()
        subject = [body["repoSnapshotId"], body["knowledgeStrategyId"], body["nodes"]]
        text = json.dumps(subject, sort_keys=True)
        return self.model_copy(update={"plan_fingerprint": hashlib.sha256(text.encode()).hexdigest()[:32]})

    def node(self, node_id: str) -> PlanNode | None:
        """The node with an id."""
        return next((node for node in self.nodes if node.node_id == node_id), None)

    def changes(self) -> Iterator[ChangeNode]:
        """The nodes that change files."""
        return (node for node in self.nodes if isinstance(node, ChangeNode))
