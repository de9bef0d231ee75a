"""The edits of a rename, and the proof that every other name keeps its meaning."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.facts import Facts
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.rust.operations._macro_view import facts_of, offset_of


class Replacement(NamedTuple):
    """A name that becomes another text, and where in that text the new name begins."""

    start: int
    end: int
    text: str
    name_at: int = 0


def replacement_at(source: Source, place: int, old: str, new: str, *, is_field: bool) -> Replacement:
    """The replacement at one place: fields in their short form become pairs, imports get an alias."""
    end = place + len(old.encode("utf-8", "surrogateescape"))
    node = source.root.descendant_for_byte_range(place, end)
    parent = node.parent if node is not None else None
    if parent is None or node is None:
        return Replacement(place, end, new)
    if parent.type == "shorthand_field_initializer":
        text = f"{new}: {old}" if is_field else f"{old}: {new}"
        return Replacement(place, end, text, 0 if is_field else len(text) - len(new))
    if parent.type == "field_pattern" and node.type == "shorthand_field_identifier":
        # `S { ref a }` is `S { a: ref a }`.
        words = source.slice(parent.start_byte, place)
        text = f"{new}: {words}{old}" if is_field else f"{old}: {words}{new}"
        return Replacement(parent.start_byte, end, text, 0 if is_field else len(text) - len(new))
    if node.type == "string_content" and new.startswith("r#"):
        raise OperationRefused("A format string can't name a raw identifier.", node)
    return Replacement(place, end, new)


def alias_replacement(source: Source, node: Node, old: str, new: str) -> Replacement:
    """The replacement of an imported name where it is imported: `use a::b` becomes `use a::b as c`."""
    parent = node.parent
    if parent is not None and parent.type == "use_as_clause" and parent.child_by_field_name("alias") == node:
        return Replacement(node.start_byte, node.end_byte, new)
    following = source.data[node.end_byte :].lstrip()
    if following.startswith(b"::") or old == "self":
        raise OperationRefused(
            f"`{old}` is the module of a list that holds `self`; give that an alias.", node
        )
    return Replacement(node.start_byte, node.end_byte, f"{old} as {new}", len(old) + 4)


def apply_replacements(source: Source, replacements: Sequence[Replacement]) -> Source:
    """The file after a rename."""
    edits = [source.replace(one.start, one.end, one.text) for one in replacements]
    return Source(source.language, source.apply(edits), source.path)


def refuse_changed_meanings(
    source: Source, after: Source, replacements: Sequence[Replacement], starts: Iterable[int]
) -> None:
    """Refuses a rename after which a name means something else than before."""
    before, new = facts_of(source), facts_of(after)
    moved = _Moved(replacements, starts)
    old_targets, new_targets = _targets(source, before), _targets(after, new)
    for place, target in old_targets.items():
        goal = moved.offset(target) if target is not None else None
        if new_targets.get(moved.offset(place)) != goal:
            line = source.line_of(place)
            name = _name_at(source, place)
            raise OperationRefused(f"`{name}` at line {line} would mean something else then.")


class _Moved:
    """Where bytes of a file are after a rename."""

    def __init__(self, replacements: Sequence[Replacement], starts: Iterable[int]) -> None:
        self._replacements = sorted(set(replacements))
        self._starts = set(starts)

    def offset(self, place: int) -> int:
        shift = 0
        for one in self._replacements:
            if one.start <= place < one.end and place in self._starts:
                return one.start + shift + one.name_at
            if one.end > place:
                break
            shift += len(one.text.encode("utf-8", "surrogateescape")) - (one.end - one.start)
        return place + shift


def _targets(source: Source, facts: Facts) -> dict[int, int | None]:
    """What each name without a receiver means, by the byte at which that is bound."""
    targets: dict[int, int | None] = {}
    for _, one in facts.occurrences.all():
        if not one.receiver:
            bind = facts.binds[one.target - 1] if one.target else None
            place = source.line_offset(bind.line) + bind.column if bind is not None else None
            targets[offset_of(source, one)] = place
    return targets


def _name_at(source: Source, place: int) -> str:
    match = re.match(rb"[\w#\x80-\xff]+", source.data[place:])
    return match[0].decode("utf-8", "replace") if match else ""
