"""What to do next: the one ready call at the end of every answer, and the one to send instead."""

from typing import TYPE_CHECKING, Any, Final

from codeplane.controller.catalogue import ALLOWED, Verb, allowed_verbs
from codeplane.controller.contract import (
    Progress,
    RunState,
    SubAgentHints,
    SuggestedAction,
    TurnRequest,
    VerbDescription,
)
from codeplane.controller.verb import Denied, verb_units
from codeplane.core.errors import CodePlaneError
from codeplane.core.suggest import nearest

if TYPE_CHECKING:
    from codeplane.controller.turn import Turn

_LONGEST_ECHO: Final = 80


class Guidance:
    """The next step of one run, from its state and its plan alone."""

    def __init__(self, turn: "Turn") -> None:
        self._turn = turn
        self._run = turn.run

    def descriptions(self, state: RunState) -> dict[str, VerbDescription]:
        units = verb_units()
        return {verb.value: units[verb].describe() for verb in allowed_verbs(state) if verb in units}

    def next_action(self) -> SuggestedAction | None:
        match self._run.state:
            case RunState.PLAN_REQUIRED:
                return self._before_plan()
            case RunState.BLOCKED_BUDGET:
                return self.after_failure()
            case _:
                return None

    def _before_plan(self) -> SuggestedAction | None:
        if self._run.body.pack_ref or self._run.turns > 1:
            return None
        prompt = self._run.body.prompt
        return SuggestedAction(
            verb=Verb.INITIALIZE_WORK,
            reason="Builds the context pack that a plan can cite.",
            args={"originalPrompt": prompt or "What is to be done, in the user's words."},
        )

    def progress(self) -> Progress | None:
        return None

    def sub_agent_hints(self) -> SubAgentHints:
        return SubAgentHints()

    def instead_of(self, request: TurnRequest, state: RunState) -> SuggestedAction:
        """The corrected call where there is one, else one that brings the agent on."""
        verb = _meant_verb(request.verb)
        if verb is not None and verb in ALLOWED[state] and (example := self._example(verb)) is not None:
            return SuggestedAction(verb=verb, reason=f"{verb} with arguments that work.", args=example)
        if state in (RunState.FAILED, RunState.COMPLETED):
            return SuggestedAction(
                verb=Verb.SIGNAL_TASK_COMPLETE,
                reason="This run has ended; send another workId to begin a new one.",
                args={},
            )
        if state is RunState.BLOCKED_BUDGET:
            return self.after_failure()
        example = self._example(Verb.SUBMIT_EXECUTION_PLAN) if state is RunState.PLAN_REQUIRED else None
        if verb is not None and example is not None:
            return SuggestedAction(
                verb=Verb.SUBMIT_EXECUTION_PLAN, reason=f"{verb} needs an accepted plan.", args=example
            )
        return SuggestedAction(
            verb=Verb.LIST_AVAILABLE_VERBS, reason="Shows what is allowed now, with arguments.", args={}
        )

    def after_failure(self) -> SuggestedAction:
        return SuggestedAction(
            verb=Verb.SIGNAL_TASK_COMPLETE,
            reason="Ends the run with a retrospective; a person can release it (cpl controller release).",
            args={"abandon": True, "reason": self._run.body.failure or "the run can't go on"},
        )

    def minimal_plan_hint(self) -> str:
        example = self._example(Verb.SUBMIT_EXECUTION_PLAN)
        return (
            ""
            if example is None
            else "\nThe same problems for the third time: send suggestedAction as it is."
        )

    def _example(self, verb: Verb) -> dict[str, Any] | None:
        """Arguments that the verb accepts now; None where there are none to be had."""
        unit = verb_units().get(verb)
        if unit is None:
            return None
        try:
            example = unit.example(self._turn)
            unit.read(example)
        except (Denied, CodePlaneError):
            return None
        return example


def _meant_verb(text: str) -> Verb | None:
    near = [text] if text in set(Verb) else nearest(text[:_LONGEST_ECHO], list(Verb), most=1) if text else []
    return Verb(near[0]) if near else None


def no_denied_action(denial: Denied, state: RunState) -> Denied:
    """A denial never suggests what would be denied next: such a suggestion becomes the list of verbs."""
    suggestion = denial.suggestion
    if suggestion is None or Verb(suggestion.verb) not in ALLOWED[state]:
        denial.suggestion = SuggestedAction(
            verb=Verb.LIST_AVAILABLE_VERBS, reason="Shows what is allowed now, with arguments.", args={}
        )
    return denial
