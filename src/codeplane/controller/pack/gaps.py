"""What a pack lacks: anchors that were asked for and not found, and the calls that may bring them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.catalogue import ALLOWED, Verb
from codeplane.controller.contract import RunState, SuggestedAction
from codeplane.controller.pack.sections import EscalationAction, Insufficiency, MissingAnchor

INSUFFICIENT: Final = "PACK_INSUFFICIENT"
ANCHOR_UNRESOLVED: Final = "PACK_REQUIRED_ANCHOR_UNRESOLVED"
_LANES: Final = ["lexical lane", "symbol lane", "artifact lane", "episodic lane"]
_MOST_ACTIONS: Final = 6
_LONGEST_PATTERN: Final = 100


@dataclass(frozen=True)
class Gap:
    """Something that was not found: what it is, who needs it, where it was looked for, what is nearest."""

    anchor_type: str  # prompt, code, index, file, symbol, ticket, api_spec, contract, proof_chain
    name: str
    required_by: str
    why: str
    looked_in: tuple[str, ...]
    confidence: float
    is_required: bool
    nearest: str = ""
    is_fetchable: bool = False  # whether a connector may bring it

    def to_line(self) -> str:
        """The gap in one line."""
        near = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{self.anchor_type} {self.name}: {self.why}{near}"


def no_prompt() -> Gap:
    """A run without a prompt has nothing to look for."""
    why = "nothing says what is to be done"
    return Gap("prompt", "originalPrompt", "every section", why, ("the request",), 1.0, True)


def no_code(prompt: str) -> Gap:
    """No lane found a file for the task."""
    why = "no file matches the task, and a change has to cite code"
    name = " ".join(prompt.split())[:_LONGEST_PATTERN]
    return Gap("code", name, "evidence policy", why, tuple(_LANES), 1.0, True)


def not_indexed(unread: int) -> Gap:
    """Files that the index has not read yet."""
    why = "what they define is not in this pack yet; ask again in a few seconds"
    return Gap("index", f"{unread} files", "the lanes", why, ("index",), 1.0, False)


def broken_chain(chain_id: str, hop: str, mend: str, strategy_id: str) -> Gap:
    """A chain that the strategy requires and that does not hold."""
    why = f"the chain breaks at {hop}{f'; {mend}' if mend else ''}"
    return Gap("proof_chain", chain_id, f"strategy {strategy_id}", why, ("graph", "code"), 1.0, True, hop)


def no_contract(strategy_id: str, spec_file: str) -> Gap:
    """A strategy that rests on a contract, and no operation was fetched."""
    why = "no API operation has been fetched in this run"
    sources = ("artifacts of the run",)
    return Gap("contract", "API operation", f"strategy {strategy_id}", why, sources, 1.0, True, spec_file)


def insufficiency_of(gaps: Sequence[Gap], state: RunState) -> Insufficiency | None:
    """What stands between the run and a plan; None where every required anchor was found."""
    needs = [gap for gap in gaps if gap.is_required]
    if not needs:
        return None
    codes = [INSUFFICIENT] if any(gap.anchor_type in ("prompt", "code") for gap in needs) else []
    codes += [ANCHOR_UNRESOLVED] if any(gap.anchor_type not in ("prompt", "code") for gap in needs) else []
    return Insufficiency(
        codes=codes,
        missing_anchors=[
            MissingAnchor(
                anchor_type=gap.anchor_type,
                name=gap.name,
                required_by=gap.required_by,
                why_required=gap.why,
                attempted_sources=list(gap.looked_in),
                confidence=gap.confidence,
            )
            for gap in needs
        ],
        escalation_plan=escalation_plan(gaps, state),
        blocked_commands=[verb.value for verb in Verb if verb not in ALLOWED[state]],
    )


def escalation_plan(gaps: Sequence[Gap], state: RunState) -> list[EscalationAction]:
    """Calls that may close the gaps, each once, allowed in the state."""
    actions: dict[tuple[str, str], EscalationAction] = {}
    for gap in gaps:
        for action in _actions_for(gap):
            if Verb(action.verb) in ALLOWED[state]:
                actions.setdefault((action.verb, str(action.args)), action)
    return list(actions.values())[:_MOST_ACTIONS]


def as_suggestion(action: EscalationAction) -> SuggestedAction:
    """An escalation as the call that it is."""
    return SuggestedAction(verb=action.verb, reason=action.reason, args=action.args)


def _actions_for(gap: Gap) -> Iterator[EscalationAction]:
    match gap.anchor_type:
        case "prompt":
            args = {"originalPrompt": "What is to be done, in the user's words."}
            yield _action("state_task", Verb.INITIALIZE_WORK, "Say what is to be done.", args)
        case "ticket" if gap.is_fetchable:
            yield _action("fetch", Verb.FETCH_JIRA_TICKET, "Fetches the ticket.", {"ticketKey": gap.name})
        case "api_spec" if gap.is_fetchable:
            yield _action("fetch", Verb.FETCH_API_SPEC, "Fetches the description.", {"specUrl": gap.name})
        case "contract" if gap.nearest:
            reason = "A description in the repository."
            yield _action("fetch", Verb.FETCH_API_SPEC, reason, {"specUrl": gap.nearest})
        case "api_spec" | "contract":
            args = {"pattern": "*{openapi,swagger}*"}
            yield _action("list", Verb.LIST_SCOPED_FILES, "Descriptions in the repository.", args)
        case "file" if gap.nearest:
            yield _action("read", Verb.READ_FILE_LINES, "The nearest file.", {"targetFile": gap.nearest})
        case "symbol" if gap.nearest:
            args = {"symbol": gap.nearest}
            yield _action("lookup", Verb.LOOKUP_SYMBOL_DEFINITION, "The nearest name.", args)
        case "proof_chain":
            args = {"pattern": gap.nearest or gap.name}
            yield _action("search", Verb.SEARCH_CODEBASE_TEXT, "Looks for the hop that is missing.", args)
        case _:
            yield _search(gap)
    if gap.anchor_type in ("code", "file"):
        yield _action("list", Verb.LIST_SCOPED_FILES, "Shows which files there are.", {})


def _search(gap: Gap) -> EscalationAction:
    args: dict[str, Any] = {"pattern": gap.name[:_LONGEST_PATTERN]}
    return _action("search", Verb.SEARCH_CODEBASE_TEXT, "Looks for it in all files.", args)


def _action(kind: str, verb: Verb, reason: str, args: dict[str, Any]) -> EscalationAction:
    return EscalationAction(action_type=kind, verb=verb.value, reason=reason, args=args)
