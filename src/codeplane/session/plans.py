"""Refactoring plans that wait to be carried out, for as long as anybody may still remember them."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane import __version__
from codeplane.core.errors import CodePlaneError, DecisionRefused, PlanGone
from codeplane.core.ids import PlanId, new_plan_id
from codeplane.core.paths import RepoPath
from codeplane.core.records import decode_record, encode_record
from codeplane.plans import PlanRow, PlanStore
from codeplane.refactor import Plan
from codeplane.storage.database import Database
from codeplane.verify import Verification

LIFE_SEC: Final = 900.0
_KIND: Final = "refactoring"
_MOST_IN_MEMORY: Final = 30
_AGAIN: Final = "Request the refactoring again."


@dataclass(frozen=True)
class Pending:
    """One plan and until when it can be applied."""

    id: PlanId
    plan: Plan
    expires_ms: int
    verification: Verification | None = None  # where it was asked for


def chosen_groups(plan: Plan, accept: Sequence[str]) -> list[str]:
    """The ids of the groups that `accept` names: `all`, `none`, or ids, `mentions` too."""
    if list(accept) == ["all"]:
        return [group.id for group in plan.asking or plan.groups]
    selection = [] if list(accept) == ["none"] else list(dict.fromkeys(accept))
    group_ids = [group.id for group in plan.groups] + plan.mention_groups
    if unknown_ids := [one for one in selection if one not in group_ids]:
        names = ", ".join(group_ids) or "none"
        raise DecisionRefused(
            f"The plan has no {', '.join(unknown_ids)[:200]}; its groups: {names}.",
            reason="candidate_not_found",
        )
    return selection


@dataclass(frozen=True)
class _Body:
    """What the row of a plan holds."""

    plan: Plan
    verification: Verification | None = None


class Plans:
    """The plans of one repository, by id. Each can be applied for `life_sec`, by whichever server runs then.

    Those of this process are at hand in memory; where a row cannot be written, that is all there is of it.
    """

    def __init__(
        self, database: Callable[[], Database], enter: Callable[[str], RepoPath], life_sec: float = LIFE_SEC
    ) -> None:
        self._database = database
        self._enter = enter
        self._life_sec = life_sec
        self._at_hand: OrderedDict[str, tuple[Pending, str]] = OrderedDict()  # and the digest of its row
        self._guard = threading.Lock()

    def make(self, plan: Plan, verification: Verification | None = None) -> Pending:
        """A plan with an id. It can be found by it once it is kept."""
        expires_ms = int((time.time() + self._life_sec) * 1000)
        return Pending(new_plan_id(), plan, expires_ms, verification)

    def keep(self, pending: Pending, parent: PlanId | None = None) -> None:
        """Takes a plan up, in place of an earlier one with its id. When this raises, it is kept in memory."""
        with self._guard:
            entry = self._at_hand.get(pending.id)
            if entry is not None and entry[0] is pending and entry[1]:
                return
        self._remember(pending, "")
        body, contents = encode_record(_Body(pending.plan, pending.verification))
        now = int(time.time() * 1000)
        row = PlanRow(pending.id, _KIND, __version__, body, now, pending.expires_ms, parent, contents)
        PlanStore(self._database()).save(row)
        self._remember(pending, row.digest)

    def get(self, plan_id: str) -> Pending:
        """The plan of an id; an error where there is none, its time is over, or it cannot be read back."""
        with self._guard:
            pending, digest = self._at_hand.get(plan_id, (None, ""))
        if pending is None or (digest and not self._is_held(plan_id, digest)):
            pending = self._read(plan_id)
        if pending.expires_ms > time.time() * 1000:
            return pending
        self.drop(plan_id)
        raise _plan_gone(plan_id, "has expired")

    def drop(self, plan_id: str) -> None:
        with self._guard:
            entry = self._at_hand.pop(plan_id, None)
        if entry is None or entry[1]:
            PlanStore(self._database()).drop(plan_id)

    def _is_held(self, plan_id: str, digest: str) -> bool:
        return PlanStore(self._database()).holds(plan_id, digest)

    def _read(self, plan_id: str) -> Pending:
        row = PlanStore(self._database()).find(plan_id)
        if row is None or row.kind != _KIND:
            raise _plan_gone(
                plan_id, "does not exist: it was applied or cancelled, has expired, or was never created"
            )
        if row.version != __version__:
            raise _plan_gone(plan_id, f"was made by CodePlane {row.version[:20]}; this is {__version__}")
        try:
            body = decode_record(_Body, row.body, row.contents, self._enter)
        except (ValueError, TypeError, CodePlaneError) as error:
            raise _plan_gone(plan_id, "cannot be read back") from error
        pending = Pending(row.id, body.plan, row.expires_ms, body.verification)
        self._remember(pending, row.digest)
        return pending

    def _remember(self, pending: Pending, digest: str) -> None:
        with self._guard:
            self._at_hand[pending.id] = (pending, digest)
            self._at_hand.move_to_end(pending.id)
            while len(self._at_hand) > _MOST_IN_MEMORY:
                self._at_hand.popitem(last=False)


def _plan_gone(plan_id: str, reason: str) -> PlanGone:
    return PlanGone(f"The plan {plan_id[:40]} {reason}.", hints=[_AGAIN], plan=plan_id[:40])
