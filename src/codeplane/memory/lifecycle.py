"""How a memory goes from state to state: by the clock, by a person, or because its files changed."""

from dataclasses import dataclass
from typing import Final

from codeplane.config.settings import MemorySettings
from codeplane.core.errors import MemoryStateRefused
from codeplane.memory.records import Enforcement, MemoryRecord, MemoryState

_HOUR_MS: Final = 3_600_000

CLOCK: Final = "clock"
PERSON: Final = "person"
FILES: Final = "files"
OVERRIDES: Final = "overrides"

LIVE: Final = frozenset((MemoryState.PENDING, MemoryState.PROVISIONAL, MemoryState.APPROVED))
"""States that a memory can leave; the other three are final."""

_PERSONAL: Final = {
    MemoryState.APPROVED: frozenset((MemoryState.PENDING, MemoryState.PROVISIONAL)),
    MemoryState.REJECTED: frozenset((MemoryState.PENDING, MemoryState.PROVISIONAL)),
    MemoryState.RETIRED: LIVE,
}
_VERBS: Final = {
    MemoryState.APPROVED: "approved",
    MemoryState.REJECTED: "rejected",
    MemoryState.RETIRED: "dropped",
}


@dataclass(frozen=True)
class Transition:
    """A step of a memory's life, and when it takes effect."""

    new_state: MemoryState
    at_ms: int
    actor: str
    reason: str


def due_transition(
    enforcement: Enforcement, state: MemoryState, since_ms: int, settings: MemorySettings
) -> Transition | None:
    """What the clock will do to a memory that has been in its state since then; None where nothing.

    The transition takes effect when its window ends, whenever somebody looks.
    """
    if state is MemoryState.PROVISIONAL:
        hours = settings.provisional_expiry_hours
        return Transition(
            MemoryState.EXPIRED, _end_window(since_ms, hours), CLOCK, f"nobody approved it in {hours:g} h"
        )
    if state is not MemoryState.PENDING or enforcement in settings.human_approval_required:
        return None
    hours = settings.contest_window_hours
    is_safe = enforcement in settings.auto_promotable_enforcement_types
    target = MemoryState.APPROVED if is_safe else MemoryState.PROVISIONAL
    return Transition(target, _end_window(since_ms, hours), CLOCK, f"nobody contested it in {hours:g} h")


def _end_window(since_ms: int, hours: float) -> int:
    return since_ms + round(hours * _HOUR_MS)


def due_transitions(record: MemoryRecord, now_ms: int, settings: MemorySettings) -> list[Transition]:
    """Every transition of a memory that is due by now, in order: a long absence may span two windows."""
    transitions: list[Transition] = []
    state, since_ms = record.state, record.updated_ms
    while (step := due_transition(record.enforcement, state, since_ms, settings)) is not None:
        if step.at_ms > now_ms:
            break
        transitions.append(step)
        state, since_ms = step.new_state, step.at_ms
    return transitions


def personal_transition(
    record: MemoryRecord, target: MemoryState, now_ms: int, *, reason: str, actor: str = PERSON
) -> Transition:
    """A person's decision about a memory; `MemoryStateRefused` where its state leaves no choice."""
    if record.state not in _PERSONAL[target]:
        raise MemoryStateRefused(
            f"{record.id} is {record.state} and cannot be {_VERBS[target]}.",
            hints=[f"cpl memory show {record.id}"],
            state=record.state.value,
        )
    return Transition(target, now_ms, actor, reason)
