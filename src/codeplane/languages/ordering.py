"""The order that the imports of a file are in, so that what is written anew can be put where it belongs."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from codeplane.core.edits import TextEdit
from codeplane.languages.spec import part_of


class Entry(NamedTuple):
    """An import statement by its lines, which it has for itself."""

    first: int  # from 0
    end: int  # the line behind it
    module: str
    is_whole: bool = False  # it takes the module, not names from it
    name: str = ""  # the first that it takes


Order = Callable[[Entry], tuple[object, ...]]
Entries = Callable[[bytes], Sequence[Entry]]


def _relative_rank(module: str) -> tuple[int, str]:
    """What is further up comes first."""
    dots = len(module) - len(module.lstrip("."))
    return -dots, module.lstrip(".")


ORDERS: tuple[Order, ...] = (
    lambda one: (not one.is_whole, _relative_rank(one.module.lower())),
    lambda one: (not one.is_whole, _relative_rank(one.module)),
    lambda one: (_relative_rank(one.module.lower()), not one.is_whole),
    lambda one: (_relative_rank(one.module), not one.is_whole),
    lambda one: (not one.is_whole, one.module.lower()),
    lambda one: (one.module.lower(),),
    lambda one: (one.module,),
)


@cache
def entries_of(language: str) -> Entries | None:
    """How the imports of a language are read: by its `arranging.py`, or that of the one it inherits from."""
    arranging = part_of(language, "arranging")
    entries: Entries | None = arranging.entries if arranging else None
    return entries


def order_of(section: Sequence[Entry]) -> Order | None:
    """The order that statements are in; None where they are in none."""
    return common_order([section])


def common_order(groups: Sequence[Sequence[Entry]]) -> Order | None:
    """The order that the statements of every group are in; None where there is none."""
    by_kind = (_by_kind_of_name(order) for order in ORDERS)
    by_name = (_by_name(order) for order in ORDERS)
    by_folded_name = (_by_folded_name(order) for order in ORDERS)
    orders = (*by_kind, *by_name, *by_folded_name, *ORDERS)
    return next((order for order in orders if all(is_in(order, group) for group in groups)), None)


def _by_kind_of_name(order: Order) -> Order:
    return lambda one: (*order(one), name_kind(one.name), one.name)


def name_kind(name: str) -> int:
    """Which kind of name it is by its letters: a constant, a class, another."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2


def _by_name(order: Order) -> Order:
    return lambda one: (*order(one), one.name)


def _by_folded_name(order: Order) -> Order:
    return lambda one: (*order(one), one.name.casefold())


def is_in(order: Order, section: Sequence[Entry]) -> bool:
    keys = [order(one) for one in section]
    return keys == sorted(keys)


def sections(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Statements in groups: those of one follow each other without a line between them."""
    groups: list[list[Entry]] = []
    for one in entries:
        if groups and groups[-1][-1].end == one.first:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def reordered(before: bytes, after: bytes, entries: Entries) -> bytes:
    """The text with its sections in the order that they were in before."""
    olds, news = sections(entries(before)), sections(entries(after))
    rows = after.split(b"\n")
    for old, new in zip(olds, news, strict=False) if len(olds) == len(news) else ():
        order = order_of(old) if len(old) > 1 else None
        if order is not None and not is_in(order, new):
            lines = [row for one in sorted(new, key=order) for row in rows[one.first : one.end]]
            rows[new[0].first : new[-1].end] = lines
    return b"\n".join(rows)


def closed(before: bytes, after: bytes, entries: Entries) -> bytes:
    """The text without the gap that a section has left which is not there any more."""
    groups = sections(entries(after))
    if not groups or len(groups) >= len(sections(entries(before))):
        return after
    rows = after.split(b"\n")
    for section in reversed(groups):
        first = section[0].first
        while first > 1 and not rows[first - 1].strip() and not rows[first - 2].strip():
            first -= 1
            del rows[first]
    return b"\n".join(rows)


def differences(before: bytes, after: bytes) -> Iterator[TextEdit]:
    """The lines that differ between two texts."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    if first is None:
        first = min(len(old), len(new))
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    old_part, new_part = old[first : len(old) - last], new[first : len(new) - last]
    for tag, start, end, new_start, new_end in SequenceMatcher(
        None, old_part, new_part, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            texts = (b"".join(part) for part in (old_part[start:end], new_part[new_start:new_end]))
            yield TextEdit(first + start + 1, 0, *(one.decode("utf-8", "surrogateescape") for one in texts))


def applied(data: bytes, changes: Sequence[TextEdit]) -> bytes:
    """A text with changes, which do not overlap."""
    rows = data.split(b"\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    for one in sorted(changes, reverse=True):
        at = starts[one.line - 1] + one.column
        old = one.old.encode("utf-8", "surrogateescape")
        data = data[:at] + one.new.encode("utf-8", "surrogateescape") + data[at + len(old) :]
    return data


def in_order(data: bytes, changes: Sequence[TextEdit], entries: Entries) -> list[TextEdit]:
    """Changes of imports with the statements in the order that they were in before."""
    after = applied(data, changes)
    better = reordered(data, after, entries)
    own = entries(data)
    if better == after or not own:
        return list(changes)
    end = own[-1].end
    outside = [one for one in changes if one.line > end]
    inside = [one for one in changes if one.line <= end]
    head = b"".join(data.splitlines(keepends=True)[:end])
    return [*differences(head, reordered(head, applied(head, inside), entries)), *outside]
