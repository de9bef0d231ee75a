"""What to do next: the one ready call at the end of every answer, and the one to send instead."""

from collections.abc import Collection
from functools import cached_property
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
from codeplane.controller.correction import corrected_action
from codeplane.controller.execution.accepted import AcceptedPlan
from codeplane.controller.execution.next_actions import next_action
from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.execution.target_lines import narrow_read
from codeplane.controller.runs import NO_PROMPT
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

    def descriptions(self, state: RunState, names: Collection[str] = ()) -> dict[str, VerbDescription]:
        """What the verbs of a state do, or those of them that have these names."""
        units = verb_units()
        verbs = [verb for verb in allowed_verbs(state) if verb in units and (not names or verb in names)]
        return {verb.value: units[verb].describe() for verb in verbs}

    def next_action(self) -> SuggestedAction | None:
        match self._run.state:
            case RunState.PLAN_REQUIRED:
                return self._before_plan()
            case RunState.BLOCKED_BUDGET:
                return self.after_failure()
            case _:
                if (plan := self._plan) is None:
                    return None
                return narrow_read(self._turn.call, plan, next_action(plan, self._run))

    def safe_action(self) -> SuggestedAction | None:
        """The next step where it is sure to be carried out, else the list of verbs, whose answer names it."""
        action = self.next_action()
        if action is None:
            return None
        if action.verb == Verb.APPLY_CODE_PATCH:
            example = self._example(Verb.APPLY_CODE_PATCH)
            return action.model_copy(update={"args": example}) if example is not None else _list_verbs(action)
        # What git says to a side effect is only known when it is carried out.
        return _list_verbs(action) if action.verb == Verb.EXECUTE_GATED_SIDE_EFFECT else action

    @cached_property
    def _plan(self) -> AcceptedPlan | None:
        """The accepted plan as it stands after the verb; None where there is none, or the run has ended."""
        if self._run.plan is None or self._run.state in (RunState.FAILED, RunState.COMPLETED):
            return None
        try:
            return load_plan(self._turn.call.repo, self._run)
        except CodePlaneError:
            return None  # dropped by a person, or damaged: the verbs say so

    def _before_plan(self) -> SuggestedAction | None:
        draft = self._run.body.extra.get("draftPlan")
        if draft is not None and self._turn.request.verb == Verb.SUBMIT_EXECUTION_PLAN:
            return SuggestedAction(
                verb=Verb.SUBMIT_EXECUTION_PLAN, reason="The plan that was offered last.", args=draft
            )
        if self._run.body.pack_ref or self._run.turns > 1:
            return None
        prompt = self._run.body.prompt
        return SuggestedAction(
            verb=Verb.INITIALIZE_WORK,
            reason="Builds the context pack that a plan can cite.",
            args={"originalPrompt": prompt or NO_PROMPT},
        )

    def progress(self) -> Progress | None:
        return Progress.model_validate(self._plan.progress()) if self._plan is not None else None

    def sub_agent_hints(self) -> SubAgentHints:
        """Changes that wait for nothing can be made by several agents at once."""
        plan = self._plan
        splits = [[one.node_id] for one in plan.ready_nodes() if one.node.kind == "change"] if plan else []
        return SubAgentHints(recommended=len(splits) > 1, splits=splits if len(splits) > 1 else [])

    def instead_of(self, request: TurnRequest, state: RunState) -> SuggestedAction:
        """The corrected call where there is one, else one that brings the agent on."""
        verb = _meant_verb(request.verb)
        if verb is not None and verb in ALLOWED[state]:
            action = corrected_action(self._turn, verb, request.args)
            if action is not None and Verb(action.verb) in ALLOWED[state]:
                return action
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
        action = self.safe_action() if verb is not None and state is not RunState.PLAN_REQUIRED else None
        if action is None and state is RunState.PLAN_REQUIRED and self._run.turns <= 1:
            action = self._before_plan()  # the first answer describes every verb
        return action or _list_verbs()

    def after_failure(self, reason: str = "") -> SuggestedAction:
        why = reason[:300] or self._run.body.failure or "the run can't go on"
        return SuggestedAction(
            verb=Verb.SIGNAL_TASK_COMPLETE,
            reason="Ends the run with a retrospective; a person can release it (cpl controller release).",
            args={"abandon": True, "reason": why},
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
        denial.suggestion = _list_verbs()
    return denial


def _list_verbs(action: SuggestedAction | None = None) -> SuggestedAction:
    """The list of verbs, of which one is described that the reason is about."""
    if action is None:
        reason = "Shows what is allowed now, with arguments."
        return SuggestedAction(verb=Verb.LIST_AVAILABLE_VERBS, reason=reason, args={})
    return SuggestedAction(
        verb=Verb.LIST_AVAILABLE_VERBS, reason=action.reason, args={"verbs": [str(action.verb)]}
    )
