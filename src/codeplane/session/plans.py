"""Plans that wait to be applied, for as long as anybody may still remember them."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import DecisionRefused, PlanGone
from codeplane.refactor import Plan
from codeplane.refactor.plan import MENTIONS
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


def chosen_groups(plan: Plan, accept: Sequence[str]) -> list[str]:
    """The ids of the groups that `accept` names: `all`, `none`, or ids, `mentions` among them."""
    if list(accept) == ["all"]:
        return [group.id for group in plan.asking or plan.groups]
    chosen = [] if list(accept) == ["none"] else list(dict.fromkeys(accept))
    known = [group.id for group in plan.groups] + ([MENTIONS] if plan.offered else [])
    if unknown := [one for one in chosen if one not in known]:
        told = ", ".join(known) or "none"
        raise DecisionRefused(
            f"The plan has no {', '.join(unknown)[:200]}; its groups: {told}.", reason="candidate_not_found"
        )
    return chosen


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

    def keep(self, pending: Pending) -> None:
        """Takes a plan that more is known of now in place of the one with its id."""
        with self._guard:
            self._pending[pending.id] = pending

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
