"""Plans that wait to be applied, for as long as anybody may still remember them."""

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import PlanGone
from codeplane.refactor import Plan
from codeplane.verify import Verification

LIFE_SEC: Final = 900.0
_MOST: Final = 30


@dataclass(frozen=True)
class Pending:
    """One plan and until when it can be applied."""

    id: str
    plan: Plan
    expires_ms: int
    verification: Verification | None = None  # where it was asked for


class Plans:
    """The plans of one repository, by id. Each can be applied for `life_sec`."""

    def __init__(self, life_sec: float = LIFE_SEC) -> None:
        self._life_sec = life_sec
        self._pending: OrderedDict[str, Pending] = OrderedDict()
        self._guard = threading.Lock()

    def add(self, plan: Plan, verification: Verification | None = None) -> Pending:
        expires_ms = int((time.time() + self._life_sec) * 1000)
        made = Pending(f"ref_{secrets.token_hex(6)}", plan, expires_ms, verification)
        with self._guard:
            self._pending[made.id] = made
            while len(self._pending) > _MOST:
                self._pending.popitem(last=False)
        return made

    def get(self, plan_id: str) -> Pending:
        """The plan of an id; an error where there is none or its time is over."""
        with self._guard:
            found = self._pending.get(plan_id)
            if found is not None and found.expires_ms > time.time() * 1000:
                return found
            self._pending.pop(plan_id, None)
        told = "has expired" if found is not None else "is not known: it was applied, cancelled or never made"
        raise PlanGone(
            f"The plan {plan_id[:40]} {told}.", hints=["Ask for the refactoring again."], plan=plan_id[:40]
        )

    def drop(self, plan_id: str) -> None:
        with self._guard:
            self._pending.pop(plan_id, None)
