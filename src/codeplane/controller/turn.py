"""One turn: the run is found, the verb is gated, carried out or denied, and the answer is put together."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from codeplane.controller.budget import Budget
from codeplane.controller.catalogue import ALLOWED, Verb, allowed_verbs
from codeplane.controller.contract import (
    KnowledgeStrategy,
    RunState,
    Scope,
    TurnRequest,
    TurnResponse,
)
from codeplane.controller.execution.collisions import Reservations
from codeplane.controller.guidance import Guidance, no_denied_action
from codeplane.controller.run_memory import import_overrides, memory_store, note_denial, note_success
from codeplane.controller.runs import LONGEST_PROMPT, NO_PROMPT, EvidenceRow, Run, RunStore, run_store
from codeplane.controller.strategy.run_strategy import note_action, note_failure
from codeplane.controller.text import render_turn
from codeplane.controller.verb import SCOPE_VIOLATION, Denied, Problem, VerbResult, verb_units
from codeplane.core.errors import CodePlaneError
from codeplane.core.suggest import nearest
from codeplane.session import Call
from codeplane.session.call import StepResult

_LONGEST_ECHO: Final = 80
_GUIDE_AFTER: Final = 3  # equal rejections of a plan, then the minimal plan is shown
_FAIL_AFTER: Final = 6  # and then the run ends
_EQUAL_DENIALS: Final = "equalDenials"
_EXECUTES: Final = ALLOWED[RunState.PLAN_ACCEPTED] - ALLOWED[RunState.PLAN_REQUIRED]


@dataclass
class Turn:
    """One turn as a verb sees it."""

    call: Call
    run: Run
    request: TurnRequest
    new_evidence: list[EvidenceRow] = field(default_factory=list)

    def run_tool(self, name: str, args: dict[str, Any]) -> StepResult:
        """Runs a tool within this turn; what it refuses is raised."""
        step = self.call.run_step(name, args, False)
        assert step is not None, "BUG: a turn may write"
        if step.error is not None:
            raise step.error
        return step

    def add_evidence(
        self, category: str, source: str, first_line: int, last_line: int, digest: str, quote: str = ""
    ) -> str:
        """Notes what the agent was shown; the handle that comes back can be cited in a plan."""
        key = "\0".join([self.run.work_id, category, source, str(first_line), str(last_line), digest, quote])
        handle = f"ev_{hashlib.sha256(key.encode(errors='surrogateescape')).hexdigest()[:10]}"
        self.new_evidence.append(EvidenceRow(handle, category, source, first_line, last_line, digest, quote))
        return handle


def take_turn(call: Call, request: TurnRequest) -> TurnResponse:
    """Carries out one turn, or denies it; either way the run is saved and the answer says what comes next."""
    runs = run_store(call.repo)
    work_id = runs.work_id_for(call.session.session_id, request.work_id)
    with runs.holding(work_id):
        run = runs.load(work_id) or Run(
            work_id,
            request.run_session_id or call.session.session_id,
            request.agent_id or f"agent_{call.session.session_id.removeprefix('sess_')}",
        )
        return _Dispatch(runs, Turn(call, run, request)).answer()


class _Dispatch:
    """Carries one turn to its answer."""

    def __init__(self, runs: RunStore, turn: Turn) -> None:
        self._runs, self._turn = runs, turn
        self._run, self._request = turn.run, turn.request
        self._budget = Budget(turn.call.repo.checkout.settings.controller.budget)
        self._guidance = Guidance(turn)
        self._began = time.perf_counter()

    def answer(self) -> TurnResponse:
        run, before = self._run, self._run.state
        is_first = run.turns == 0
        run.turns += 1
        prompt = self._request.original_prompt
        if prompt and not run.body.prompt and prompt != NO_PROMPT:
            run.body.prompt = prompt[:LONGEST_PROMPT]
        outcome: VerbResult | Denied
        try:
            outcome = self._carry_out()
        except Denied as denial:
            outcome = self._with_suggestion(denial)
        except CodePlaneError as error:
            outcome = self._with_suggestion(_denied_by(error))
        self._count(outcome)
        return self._respond(outcome, is_first=is_first, before=before)

    def _carry_out(self) -> VerbResult:
        verb = self._find_verb()
        self._check_session()
        self._budget.enter(self._run)
        if verb not in ALLOWED[self._run.state]:
            raise self._not_allowed(verb)
        if verb is Verb.SUBMIT_EXECUTION_PLAN:
            import_overrides(self._turn.call)
        unit = verb_units()[verb]
        arguments = dict(self._request.args)
        if self._request.original_prompt and "original_prompt" in unit.accepts:
            arguments.setdefault("originalPrompt", self._request.original_prompt)
        result = unit.run(self._turn, unit.read(arguments))
        if result.state is not None:
            self._run.state = result.state
        elif verb in _EXECUTES and self._run.state is RunState.PLAN_ACCEPTED:
            self._run.state = RunState.EXECUTION_ENABLED
        return result

    def _find_verb(self) -> Verb:
        text = self._request.verb
        try:
            return Verb(text)
        except ValueError:
            near = nearest(text[:_LONGEST_ECHO], list(Verb), most=1) if text else []
            ending = f"; did you mean {near[0]}?" if near else "."
            message = f"There is no verb {text[:_LONGEST_ECHO]!r}{ending}" if text else "verb is missing."
            problem = Problem(SCOPE_VIOLATION, "scope.verb", "verb", message)
            raise Denied([SCOPE_VIOLATION], message, result={"problems": [problem.to_wire()]}) from None

    def _check_session(self) -> None:
        requested = self._request.run_session_id
        if requested is not None and requested != self._run.run_session_id:
            message = f"Run {self._run.work_id} belongs to runSessionId {self._run.run_session_id}."
            problem = Problem(SCOPE_VIOLATION, "scope.session", "runSessionId", message)
            raise Denied([SCOPE_VIOLATION], message, result={"problems": [problem.to_wire()]})

    def _not_allowed(self, verb: Verb) -> Denied:
        state = self._run.state
        reason = f" ({self._run.body.failure})" if self._run.body.failure else ""
        message = f"{verb} is not allowed in {state}{reason}."
        problem = Problem(SCOPE_VIOLATION, "scope.state", "verb", message)
        return Denied([SCOPE_VIOLATION], message, result={"problems": [problem.to_wire()]})

    def _with_suggestion(self, denial: Denied) -> Denied:
        """A denial whose suggested action is allowed in the state that the run is in."""
        if denial.suggestion is None:
            denial.suggestion = self._guidance.instead_of(self._request, self._run.state)
        return no_denied_action(denial, self._run.state)

    def _count(self, outcome: VerbResult | Denied) -> None:
        body, verb = self._run.body, self._request.verb[:_LONGEST_ECHO]
        body.verb_counts[verb] = body.verb_counts.get(verb, 0) + 1
        if isinstance(outcome, Denied):
            body.denials += 1
            note_denial(self._run, verb, self._request.args, outcome, memory_store(self._turn.call.repo))
        else:
            note_success(self._run, verb, self._request.args, outcome.result, self._turn.call)
        self._note_repetition(verb, outcome)
        if verb != Verb.SUBMIT_EXECUTION_PLAN:
            return
        if not isinstance(outcome, Denied):
            body.rejections.clear()
            return
        signature = _signature(outcome)
        body.rejections[signature] = body.rejections.get(signature, 0) + 1
        if body.rejections[signature] >= _FAIL_AFTER:
            self._run.state = RunState.FAILED
            body.failure = f"the same plan was rejected {_FAIL_AFTER} times: {', '.join(outcome.codes)}"
            outcome.suggestion = self._guidance.after_failure()
        elif body.rejections[signature] == _GUIDE_AFTER:
            outcome.text += self._guidance.minimal_plan_hint()

    def _note_repetition(self, verb: str, outcome: VerbResult | Denied) -> None:
        """Counts what a strategy is left for: the same execution step again, and the same failure again."""
        if verb not in _EXECUTES:
            return
        arguments = repr(sorted(self._request.args.items(), key=lambda item: item[0]))
        digest = hashlib.sha256(arguments.encode(errors="replace")).hexdigest()[:12]
        note_action(self._run, f"{verb}:{digest}")
        if not isinstance(outcome, Denied):
            self._run.body.extra.pop(_EQUAL_DENIALS, None)
            return
        self._end_circles(verb, outcome)
        # A snippet that fails is counted by what it raised.
        if verb != Verb.RUN_SANDBOXED_CODE:
            note_failure(self._run, f"{verb}:{_signature(outcome)}")

    def _end_circles(self, verb: str, denial: Denied) -> None:
        """Has a step that is denied for the same reason again and again given up, not sent once more."""
        signature = f"{verb}:{_signature(denial)}:{denial.message[:200]}"
        earlier = self._run.body.extra.get(_EQUAL_DENIALS, {})
        count = earlier.get(signature, 0) + 1
        self._run.body.extra[_EQUAL_DENIALS] = {signature: count}
        if count >= _GUIDE_AFTER and self._run.state in (RunState.PLAN_ACCEPTED, RunState.EXECUTION_ENABLED):
            denial.text += f"\nThe same denial {count} times: ask the user, or give the rest of the plan up."
            denial.suggestion = self._guidance.after_failure(denial.message)

    def _respond(self, outcome: VerbResult | Denied, *, is_first: bool, before: RunState) -> TurnResponse:
        turn, run = self._turn, self._run
        is_verbose = bool(self._request.trace_meta.get("verbose"))
        asked_for = self._request.verb == Verb.LIST_AVAILABLE_VERBS
        is_described = is_first or run.state is not before or is_verbose or asked_for
        verbs = outcome.result.get("described", ()) if asked_for and not is_first else ()
        response = TurnResponse(
            run_session_id=run.run_session_id,
            work_id=run.work_id,
            agent_id=run.agent_id,
            state=run.state,
            outcome=None if isinstance(outcome, Denied) else outcome.outcome,
            capabilities=[verb.value for verb in allowed_verbs(run.state)],
            verb_descriptions=self._guidance.descriptions(run.state, verbs) if is_described else None,
            scope=scope_of(turn.call, run),
            result=outcome.result,
            deny_reasons=list(outcome.codes) if isinstance(outcome, Denied) else [],
            suggested_action=outcome.suggestion if isinstance(outcome, Denied) else None,
            next_action=None if isinstance(outcome, Denied) else self._guidance.next_action(),
            progress=self._guidance.progress(),
            knowledge_strategy=_strategy_of(run),
            budget_status=self._budget.status(run),
            trace_ref=turn.call.request_id,
            sub_agent_hints=self._guidance.sub_agent_hints(),
            pack_insufficiency=None if isinstance(outcome, Denied) else outcome.pack_insufficiency,
        )
        text = render_turn(response, outcome, before=before, is_first=is_first)
        self._budget.charge(run, turn.call.task, self._request, text)
        if run.plan is not None and run.state is RunState.EXECUTION_ENABLED:
            Reservations(lambda: turn.call.repo.state_db).renew(run.work_id)
        self._runs.save(run, turn.new_evidence)
        self._note_event(outcome)
        return response.model_copy(update={"text": text, "budget_status": self._budget.status(run)})

    def _note_event(self, outcome: VerbResult | Denied) -> None:
        run, denial = self._run, outcome if isinstance(outcome, Denied) else None
        body: dict[str, Any] = {
            "event": "controller_turn",
            "work_id": run.work_id,
            "verb": self._request.verb[:_LONGEST_ECHO],
            "state": run.state.value,
            "ms": round((time.perf_counter() - self._began) * 1000, 1),
        }
        if denial is not None:
            body["codes"] = list(denial.codes)
            body["signature"] = _signature(denial)
        if sources := sorted({row.source for row in self._turn.new_evidence})[:5]:
            body["sources"] = sources
        self._turn.call.repo.tasks.note_event(self._turn.call.task, body)


def scope_of(call: Call, run: Run) -> Scope:
    scratch = f"{work_folder(call, run)}/scratch"
    return Scope(worktree_root=str(call.repo.checkout.root), scratch_root=scratch)


def work_folder(call: Call, run: Run) -> Path:
    """The folder of a run in the state directory."""
    return call.repo.state.path / "work" / run.work_id


def _strategy_of(run: Run) -> KnowledgeStrategy:
    return KnowledgeStrategy(
        strategy_id=run.body.strategy_id,
        context_signature=run.body.features or None,
        reasons=run.body.strategy_reasons,
    )


def _denied_by(error: CodePlaneError) -> Denied:
    """What a tool refuses is a denial under the name of its error."""
    hints = [hint for hint in error.hints if not hint.startswith("cpl ")]
    candidates = error.details.get("candidates")
    names: Sequence[Any] = candidates if isinstance(candidates, list) else ()
    listed = [f"{one['name']} ({one['at']})" for one in names if isinstance(one, dict)]
    return Denied(
        [error.name()], error.message, result={"error": error.to_wire()}, text="\n".join([*hints, *listed])
    )


def _signature(denial: Denied) -> str:
    problems = denial.result.get("problems", ())
    parts = sorted({f"{one['code']}/{one.get('subCode', '')}" for one in problems}) or sorted(denial.codes)
    return ",".join(parts)[:200]
