"""Tokens of a run: counted in both directions, always reported, blocking only where the user wants that."""

import json
from typing import Final

from codeplane.config.settings import ControllerBudgetSettings
from codeplane.controller.contract import BudgetStatus, RunState, TurnRequest
from codeplane.controller.runs import Run
from codeplane.ledger import Task

_CHARACTERS_A_TOKEN: Final = 4
_JSON: Final = json.JSONEncoder(ensure_ascii=False)
_TERMINAL: Final = (RunState.FAILED, RunState.COMPLETED)


class Budget:
    """What a run may use. The ledger's task carries the same counter."""

    def __init__(self, settings: ControllerBudgetSettings) -> None:
        self._settings = settings

    @property
    def threshold(self) -> int:
        return int(self._settings.max_tokens * self._settings.threshold)

    def enter(self, run: Run) -> None:
        """Blocks a run that is over its threshold, and releases one whose limits were raised."""
        is_over = self._settings.block and run.tokens >= self.threshold
        if is_over and run.state not in (*_TERMINAL, RunState.BLOCKED_BUDGET):
            run.body.resume_state, run.state = run.state, RunState.BLOCKED_BUDGET
        elif run.state is RunState.BLOCKED_BUDGET and not is_over:
            run.state, run.body.resume_state = run.body.resume_state or RunState.PLAN_REQUIRED, None

    def charge(self, run: Run, task: Task, request: TurnRequest, text: str) -> None:
        """Counts a request and its answer."""
        request_size = len(_JSON.encode(request.model_dump(mode="json", exclude_defaults=True)))
        tokens = -(-(request_size + len(text)) // _CHARACTERS_A_TOKEN)
        run.tokens += tokens
        task.tokens += tokens

    def status(self, run: Run) -> BudgetStatus:
        return BudgetStatus(
            max_tokens=self._settings.max_tokens,
            used_tokens=run.tokens,
            threshold_tokens=self.threshold,
            blocked=self._settings.block and run.tokens >= self.threshold,
        )
