from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import ALLOWED, Verb
from codeplane.controller.contract import RunState, SuggestedAction
from codeplane.controller.pack.enrichment import PackDelta, enrich_pack, reason_words, rejection_codes
from codeplane.controller.pack.gaps import as_suggestion, escalation_plan
from codeplane.controller.pack.storage import load_pack
from codeplane.controller.plan_sources import DRAFT_PLAN
from codeplane.controller.text import call_text
from codeplane.controller.turn import Turn
from codeplane.controller.verb import (
    MISSING_FIELDS,
    Denied,
    Problem,
    VerbArgs,
    VerbDescriptor,
    VerbResult,
    verb_units,
)
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Adds to the context pack what you are blocked on, and says which calls bring the rest.",
    "When a plan was rejected and you don't know what to cite, or something can't be found.",
)
_GUIDE_AFTER: Final = 3
_MOST_CALLS: Final = 3


class Args(VerbArgs):
    blocking_reasons: Annotated[list[str], synonyms("reasons", "reason", "problems")] = Field(
        min_length=1, max_length=50
    )
    targets: Annotated[list[str], synonyms("files", "symbols", "paths")] = Field(
        default_factory=list, max_length=20
    )
    context_pack_ref: Annotated[str | None, synonyms("pack_ref")] = Field(default=None, max_length=100)


def example(_turn: Turn) -> dict[str, Any]:
    return {"blockingReasons": ["PLAN_EVIDENCE_INSUFFICIENT"]}


def correct(_turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The reasons alone."""
    if not (reasons := values.get("blocking_reasons")):
        return None
    return _suggest(Verb.REQUEST_EVIDENCE_GUIDANCE, "The reasons alone.", {"blockingReasons": reasons})


def run(turn: Turn, args: Args) -> VerbResult:
    if args.context_pack_ref is not None:
        return _stored_pack(turn, args.context_pack_ref)
    if turn.run.state is RunState.BLOCKED_BUDGET:
        return _answer({}, "", [_end_run(turn)], None)
    reasons = [reason[:2000] for reason in args.blocking_reasons]
    delta = enrich_pack(turn, reasons, args.targets)
    plan = minimal_plan(turn)
    calls = list(_next_calls(turn, reasons, delta))
    if plan is not None:
        reason = "The smallest plan that is accepted now."
        calls.insert(0, SuggestedAction(verb=Verb.SUBMIT_EXECUTION_PLAN, reason=reason, args=plan))
    result = {
        "packDelta": delta.sections,
        "contextPackRef": delta.pack.ref,
        "contextPackHash": delta.pack.hash,
    }
    text = delta.text or "The pack has nothing new about this."
    return _answer(result, text, calls[:_MOST_CALLS], delta)


def minimal_plan(turn: Turn) -> dict[str, Any] | None:
    """After three equal rejections, a plan that is accepted as it is; None before that.

    The last refusal left one in the run. Where it did not, the call asks for a draft.
    """
    most = max(turn.run.body.rejections.values(), default=0)
    if most < _GUIDE_AFTER or turn.run.state is not RunState.PLAN_REQUIRED:
        return None
    skeleton = turn.run.body.extra.get(DRAFT_PLAN)
    if isinstance(skeleton, dict) and skeleton:
        return skeleton
    unit = verb_units().get(Verb.SUBMIT_EXECUTION_PLAN)
    return unit.example(turn) if unit is not None else None


def _stored_pack(turn: Turn, ref: str) -> VerbResult:
    pack = load_pack(turn.call, turn.run, ref)
    if pack is None:
        message = f"This run has no pack {ref[:60]!r}."
        problem = Problem(MISSING_FIELDS, "fields.invalid", "contextPackRef", message)
        raise Denied([MISSING_FIELDS], message, result={"problems": [problem.to_wire()]})
    header = pack.content.header
    result = {
        "contextPackRef": header.context_pack_ref,
        "contextPackHash": header.context_pack_hash,
        "contextPack": pack.content.model_dump(mode="json"),
    }
    return VerbResult(result, pack.text, outcome="ok")


def _answer(
    result: dict[str, Any], text: str, calls: Sequence[SuggestedAction], delta: PackDelta | None
) -> VerbResult:
    lack = delta.pack.insufficiency if delta is not None else None
    lines = [text, *(f"try: {call_text(call)}" for call in calls)]
    return VerbResult(
        {**result, "nextCalls": [call.model_dump(mode="json") for call in calls]},
        "\n".join(filter(None, lines)),
        outcome="ok" if lack is None else "pack_insufficient",
        pack_insufficiency=lack.model_dump(mode="json") if lack is not None else None,
    )


def _next_calls(turn: Turn, reasons: Sequence[str], delta: PackDelta) -> Iterator[SuggestedAction]:
    """Calls that are allowed now and bring what the reasons and the gaps ask for, each once."""
    texts = set[str]()
    for call in (*_for_codes(reasons, delta), *_for_gaps(turn, delta), *_for_words(reasons)):
        text = call_text(call)
        if Verb(call.verb) in ALLOWED[turn.run.state] and text not in texts:
            texts.add(text)
            yield call


def _for_codes(reasons: Sequence[str], delta: PackDelta) -> Iterator[SuggestedAction]:
    anchors = delta.pack.content.anchors.anchors
    for code in rejection_codes(reasons):
        match code:
            case "PLAN_EVIDENCE_INSUFFICIENT" | "PLAN_WEAK_MODEL_AMBIGUOUS":
                for anchor in (one for one in anchors if not one.evidence):
                    args = {
                        "targetFile": anchor.path,
                        "startLine": anchor.first_line,
                        "endLine": anchor.last_line,
                    }
                    yield _suggest(Verb.READ_FILE_LINES, "Brings a handle to cite.", args)
                    break
            case "PLAN_ORIGIN_UNKNOWN" | "PLAN_FEDERATION_PROOF_MISSING":
                for anchor in (one for one in anchors if one.symbol):
                    yield _suggest(
                        Verb.TRACE_SYMBOL_GRAPH, "Shows what leads there.", {"symbol": anchor.symbol}
                    )
                    break
            case "PLAN_SCOPE_VIOLATION":
                yield _suggest(Verb.LIST_SCOPED_FILES, "Shows which files there are.", {})
            case "PLAN_MISSING_REQUIRED_FIELDS" | "PLAN_NOT_ATOMIC" | "PLAN_VERIFICATION_WEAK":
                yield _suggest(Verb.LIST_AVAILABLE_VERBS, "Shows the arguments of a plan.", {})
            case _:
                yield _suggest(Verb.GET_ORIGINAL_PROMPT, "Shows what was asked for.", {})


def _for_gaps(turn: Turn, delta: PackDelta) -> Iterator[SuggestedAction]:
    yield from map(as_suggestion, escalation_plan(delta.gaps, turn.run.state))


def _for_words(reasons: Sequence[str]) -> Iterator[SuggestedAction]:
    words = reason_words(reasons)
    if words:
        pattern = " ".join(words)[:100]
        yield _suggest(Verb.SEARCH_CODEBASE_TEXT, "Looks for it in all files.", {"pattern": pattern})


def _end_run(turn: Turn) -> SuggestedAction:
    reason = turn.run.body.failure or "the run is over its budget"
    args = {"abandon": True, "reason": reason}
    return _suggest(Verb.SIGNAL_TASK_COMPLETE, "Ends the run; a person can raise its budget.", args)


def _suggest(verb: Verb, reason: str, args: dict[str, Any]) -> SuggestedAction:
    return SuggestedAction(verb=verb.value, reason=reason, args=args)
