"""A turn as an agent reads it: state, result, reasons, and one ready call."""

import json
from collections.abc import Iterator
from typing import Final

from codeplane.controller.catalogue import Verb, allowed_verbs
from codeplane.controller.contract import RunState, SuggestedAction, TurnResponse, VerbDescription
from codeplane.controller.verb import Denied, VerbResult

# A look comes next where the agent has to write something: the reason says what.
_LOOKS: Final = (Verb.READ_FILE_LINES, Verb.LIST_AVAILABLE_VERBS)


def render_turn(
    response: TurnResponse, outcome: VerbResult | Denied, *, before: RunState, is_first: bool
) -> str:
    """The whole text of an answer; what is known from the turn before is left out."""
    return "\n".join(_lines(response, outcome, before, is_first))


def _lines(
    response: TurnResponse, outcome: VerbResult | Denied, before: RunState, is_first: bool
) -> Iterator[str]:
    yield _head(response)
    if isinstance(outcome, Denied):
        yield f"denied: {', '.join(outcome.codes)}"
        yield outcome.message
    if outcome.text:
        yield outcome.text.rstrip("\n")
    if response.verb_descriptions:
        yield from _catalogue(response, before, is_whole=is_first or response.state is before)
    elif isinstance(outcome, Denied) and _is_about_verb(outcome):
        yield f"allowed: {', '.join(response.capabilities)}"
    if response.suggested_action is not None:
        yield f"instead: {call_text(response.suggested_action)}"
    elif response.next_action is not None:
        if response.next_action.verb in _LOOKS:
            yield response.next_action.reason
        yield f"next: {call_text(response.next_action)}"


def _is_about_verb(denial: Denied) -> bool:
    """Whether the verb was refused, not what was sent with it: only then it helps to name the others."""
    problems = denial.result.get("problems", ())
    return any(problem["subCode"] in ("scope.state", "scope.verb") for problem in problems)


def _head(response: TurnResponse) -> str:
    parts = [response.state.value, response.work_id]
    if (progress := response.progress) is not None:
        parts.append(f"{progress.completed_nodes}/{progress.total_nodes} nodes")
    budget = response.budget_status
    if budget.used_tokens >= budget.threshold_tokens:
        parts.append(f"tokens {budget.used_tokens}/{budget.max_tokens}")
    return " ".join(parts)


def _catalogue(response: TurnResponse, before: RunState, *, is_whole: bool) -> Iterator[str]:
    """The verbs with their arguments; after a change of state, those that were not allowed before."""
    descriptions = response.verb_descriptions or {}
    former = set() if is_whole else {verb.value for verb in allowed_verbs(before)}
    fresh = {verb: one for verb, one in descriptions.items() if verb not in former}
    rest = [verb for verb in descriptions if verb in former]
    if not fresh:
        if set(rest) != former:  # otherwise nothing has changed for the agent
            yield f"allowed: {', '.join(rest)}"
        return
    yield "verbs:"
    yield from (f"  {verb}{_signature(one)}: {one.description}" for verb, one in fresh.items())
    if rest:
        yield f"  as before: {', '.join(rest)}"


def _signature(description: VerbDescription) -> str:
    names = [*description.required_args, *(f"{name}?" for name in description.optional_args)]
    return f"({', '.join(names)})" if names else ""


def call_text(action: SuggestedAction) -> str:
    """A call as it is sent, in one line."""
    return json.dumps({"verb": action.verb, **(action.args or {})}, ensure_ascii=False)
