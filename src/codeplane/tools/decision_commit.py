from typing import Annotated

from pydantic import Field

from codeplane.answers.plan import PlanOutput
from codeplane.refactor import Plan
from codeplane.refactor.decision_proof import Anchor, Evidence, Proof
from codeplane.session import Call
from codeplane.session.plan_execution import execute_with
from codeplane.session.plans import chosen_groups
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._settling import answered


class AnchorInput(Input):
    file: Annotated[str, synonyms("path")] = Field(max_length=4096, description="File.")
    line: int = Field(ge=1, le=100_000_000, description="Line.")
    col: Annotated[int, synonyms("column")] = Field(
        default=0, ge=0, le=100_000_000, description="Column of the name, from 1."
    )
    anchor_before: Annotated[str, synonyms("before")] = Field(
        default="", max_length=200, description="Text right before the name."
    )
    anchor_after: Annotated[str, synonyms("after")] = Field(
        default="", max_length=200, description="Text right after it."
    )
    occurrence_text: Annotated[str, synonyms("text")] = Field(
        default="", max_length=1000, description="The name there."
    )


class EvidenceInput(Input):
    file: Annotated[str, synonyms("path")] = Field(max_length=4096, description="File.")
    line: int = Field(ge=1, le=100_000_000, description="Line.")
    content_hash: Annotated[str, synonyms("hash")] = Field(
        min_length=8, max_length=64, description="Hash that `refactor_inspect` shows for the line."
    )
    context_lines: list[str] | None = Field(
        default=None, max_length=20, description="Surrounding lines; stored, not checked."
    )


class ProofInput(Input):
    symbol_identity: Annotated[str, synonyms("symbol")] = Field(
        default="", max_length=1000, description="Symbol of the plan."
    )
    anchors: list[AnchorInput] = Field(
        default=[], max_length=500, description="Places, identified by the text around them."
    )
    file_line_evidence: Annotated[list[EvidenceInput], synonyms("evidence", "lines")] = Field(
        default=[], max_length=500, description="Lines, by their hashes."
    )
    reasoning: str | None = Field(default=None, max_length=4000, description="Why; stored, not checked.")


class DecisionCommitInput(Input):
    plan: Annotated[str, synonyms("plan_id", "refactor_id", "id")] = Field(
        max_length=100, description="`ref_…`."
    )
    selected: Annotated[
        list[str], synonyms("accept", "groups", "selected_candidate_ids", "selected_candidate_id")
    ] = Field(
        default=[], max_length=200, description="Groups to include, or `all`; empty for only what is certain."
    )
    proof: ProofInput | None = Field(default=None, description="Optional; whatever you send is checked.")


@tool(Effect.WRITE, "refactoring")
def decision_commit(call: Call, args: DecisionCommitInput) -> PlanOutput:
    """Applies a plan that needs a decision, with the groups of places that you choose.

    Use when:
    - a plan has open places and you send proof for your choice
    Not for:
    - a decision without proof: `plan` and `accept` of the refactoring itself
    Examples:
    - One group: {"plan": "ref_0123456789ab", "selected": ["group_1"],
      "proof": {"symbol_identity": "app.Store.get", "anchors": [{"file": "app.py", "line": 12}]}}
    """
    pending = call.repo.plans.get(args.plan)
    group_ids = _selected(call, pending.plan, args.selected)
    return answered(call, execute_with(call, pending, group_ids, _make_proof(args.proof)))


def _selected(call: Call, plan: Plan, choice: list[str]) -> list[str]:
    """The groups that were chosen; `proven` is what every choice has, `cached` what was chosen before."""
    if "cached" in choice:
        choice = call.repo.decisions.find(plan) or []
    return chosen_groups(plan, [one for one in choice if one != "proven"])


def _make_proof(proof: ProofInput | None) -> Proof | None:
    if proof is None:
        return None
    return Proof(
        proof.symbol_identity,
        tuple(
            Anchor(one.file, one.line, one.anchor_before, one.anchor_after, one.col, one.occurrence_text)
            for one in proof.anchors
        ),
        tuple(Evidence(one.file, one.line, one.content_hash) for one in proof.file_line_evidence),
    )
