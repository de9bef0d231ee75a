"""Proving that the ledger holds what was written: every row, in its order, in every segment."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeplane.core.errors import LedgerDamaged
from codeplane.ledger.chain import rows
from codeplane.ledger.segments import Segment, ask, ends, faults, segment, segments, set_aside
from codeplane.storage.database import Connection

_MOST_LOOKS: Final = 100


@dataclass(frozen=True)
class _Looked:
    faults: list[str]
    head: dict[str, Any]
    last_number: int
    last_hash: str
    seal: dict[str, Any] | None
    dropped: list[dict[str, Any]]


def verify(directory: Path) -> list[str]:
    """What is wrong, each with its segment and row; nothing when every row is what was written."""
    for _ in range(_MOST_LOOKS):
        entries = segments(directory)
        problems = list(_find_problems(directory, entries))
        # A server may have begun a segment, or dropped one, between two looks.
        if not problems or segments(directory) == entries:
            break
    return problems


def tip(directory: Path) -> tuple[int, str] | None:
    """The number and the hash of the last row; whoever keeps them can tell later what came before."""
    for one in reversed(segments(directory)):
        try:
            _, last = ask(one, ends)
        except (FileNotFoundError, LedgerDamaged):
            continue
        return int(last.number), str(last.hash)
    return None


def _find_problems(directory: Path, listed: list[Segment]) -> Iterator[str]:
    aside = {one.index: one.name for one in set_aside(directory)}
    for name in aside.values():
        yield f"{name}: this segment was found damaged and set aside; its rows are not in the ledger."
    facts: dict[int, _Looked] = {}
    for one in listed:
        try:
            facts[one.index] = ask(one, _look_at_segment)
        except FileNotFoundError:
            continue
        except LedgerDamaged as error:
            yield error.message
            continue
        yield from (f"{one.name}: {fault}." for fault in facts[one.index].faults)
    yield from _find_gaps(directory, facts, aside.keys() | {one.index for one in listed})


def _find_gaps(directory: Path, looked: dict[int, _Looked], there: set[int]) -> Iterator[str]:
    if not looked:
        return
    drops = {drop.get("through"): drop.get("last_hash") for one in looked.values() for drop in one.dropped}
    newest = max(looked)
    seal = looked[newest].seal
    last = newest if seal is None else int(seal.get("next", newest + 1))
    for index in range(min(looked), last + 1):
        now, before = looked.get(index), looked.get(index - 1)
        if now is None:
            if index not in there and not segment(directory, index).draft.exists():
                yield f"{index:06}.db: this segment is missing."
            continue
        claim = now.head.get("previous_hash")
        if now.head.get("segment") != index:
            yield f"{index:06}.db: its head is of another segment."
        if before is not None:
            if claim != before.last_hash or now.head.get("previous_number") != before.last_number:
                yield f"{index:06}.db: it does not go on where {index - 1:06}.db ends."
            if before.seal is None:
                yield f"{index - 1:06}.db: its end is missing."
        elif index == min(looked) and index - 1 not in there:
            # While old segments go, one after the other, those that are left are among what was dropped.
            is_going = any(isinstance(through, int) and through >= index for through in drops)
            if claim is not None and drops.get(index - 1) != claim and not is_going:
                yield f"{index - 1:06}.db: this segment is missing, and not because of its age."
            elif claim is None and index != 1:
                yield f"{index - 1:06}.db: this segment is missing."


def _look_at_segment(connection: Connection) -> _Looked:
    problems = list(faults(connection))
    first, last = ends(connection)
    return _Looked(
        faults=problems,
        head=first.body(),
        last_number=last.number,
        last_hash=last.hash,
        seal=last.body() if last.kind == "seal" else None,
        dropped=[row.body() for row in rows(connection, "WHERE kind = 'dropped'")],
    )
