from typing import Annotated

from pydantic import Field

from codeplane.refactor.proof import Anchor, Evidence, Proof
from codeplane.session import Call
from codeplane.session.refactoring import decided
from codeplane.tools._delta import Delta, told
from codeplane.tools._registry import Effect, Input, synonyms, tool


class AnchorInput(Input):
    file: Annotated[str, synonyms("path")] = Field(max_length=4096, description="File.")
    line: int = Field(ge=1, le=100_000_000, description="Line.")
    anchor_before: Annotated[str, synonyms("before")] = Field(
        default="", max_length=200, description="Text right before the name."
    )
    anchor_after: Annotated[str, synonyms("after")] = Field(
        default="", max_length=200, description="Text right after it."
    )


class EvidenceInput(Input):
    file: Annotated[str, synonyms("path")] = Field(max_length=4096, description="File.")
    line: int = Field(ge=1, le=100_000_000, description="Line.")
    content_hash: Annotated[str, synonyms("hash")] = Field(
        min_length=8, max_length=64, description="Hash that `refactor_inspect` shows for the line."
    )


class ProofInput(Input):
    symbol_identity: Annotated[str, synonyms("symbol")] = Field(
        max_length=1000, description="Symbol of the plan."
    )
    anchors: list[AnchorInput] = Field(default=[], max_length=500, description="Places, by the text around.")
    file_line_evidence: Annotated[list[EvidenceInput], synonyms("evidence", "lines")] = Field(
        default=[], max_length=500, description="Lines, by their hashes."
    )
    reasoning: str | None = Field(default=None, max_length=4000, description="Why; kept, not checked.")


class DecisionCommitInput(Input):
    plan_id: Annotated[str, synonyms("refactor_id", "id")] = Field(max_length=100, description="`ref_…`.")
    selected: Annotated[list[str], synonyms("groups", "selected_candidate_ids", "selected_candidate_id")] = (
        Field(default=[], max_length=200, description="Groups to take along; none for what is proven alone.")
    )
    proof: ProofInput = Field(description="That you have looked: one place of each group that you take.")


@tool(Effect.WRITE, "refactoring")
def decision_commit(call: Call, args: DecisionCommitInput) -> Delta:
    """Applies a plan that needs a decision, with the groups of places that you vouch for.

    Use when:
    - refactor_inspect has shown the open places and you know which are meant
    Examples:
    - One group: {"plan_id": "ref_0123456789ab", "selected": ["group_1"],
      "proof": {"symbol_identity": "app.Store.get", "anchors": [{"file": "app.py", "line": 12}]}}
    """
    given = args.proof
    proof = Proof(
        given.symbol_identity,
        tuple(Anchor(one.file, one.line, one.anchor_before, one.anchor_after) for one in given.anchors),
        tuple(Evidence(one.file, one.line, one.content_hash) for one in given.file_line_evidence),
    )
    pending = call.repo.plans.get(args.plan_id)
    return told(call, decided(call, pending, args.selected, proof))
