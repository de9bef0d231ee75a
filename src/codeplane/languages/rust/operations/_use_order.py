"""The orders in which rustfmt puts the trees of `use` declarations."""

import re
from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from codeplane.languages.rust.operations._use_trees import UseTree

_KEYWORDS: Final = {"self": 0, "super": 1, "crate": 2}
_NAME, _GLOB, _LIST = 3, 4, 5
_DIGITS: Final = re.compile(r"(\d+)")

Compare = Callable[["UseTree", "UseTree"], int]


def sorted_index(items: Sequence["UseTree"], new: "UseTree", orders: Sequence[Compare] = ()) -> int:
    """Where a tree goes among others: by the order that they are in, or behind them."""
    compare = order_of(items, orders)
    if compare is None:
        return len(items)
    return next((at for at, item in enumerate(items) if compare(item, new) > 0), len(items))


def order_of(items: Sequence["UseTree"], orders: Sequence[Compare] = ()) -> Compare | None:
    """The first of some orders that trees are in, by default those that rustfmt knows; None without one."""
    for compare in orders or (_compare_trees, _compare_by_version):
        if all(compare(one, other) <= 0 for one, other in pairwise(items)):
            return compare
    return None


def orders_by(lists: Sequence[Sequence["UseTree"]]) -> Sequence[Compare]:
    """The orders that rustfmt knows, first the one that most of some lists are in."""
    orders = (_compare_trees, _compare_by_version)
    return sorted(orders, key=lambda own: sum(order_of(items, (own,)) is None for items in lists))


def in_order(items: Sequence["UseTree"]) -> list["UseTree"]:
    """Trees in the usual order."""
    return sorted(items, key=cmp_to_key(_compare_trees))


def _segments(tree: "UseTree") -> list[tuple[int, str, str, Sequence["UseTree"]]]:
    parts: list[tuple[int, str, str, Sequence[UseTree]]] = []
    for at, name in enumerate(tree.path):
        is_last = at == len(tree.path) - 1 and tree.items is None
        kind = _GLOB if name == "*" else _KEYWORDS.get(name, _NAME)
        parts.append((kind, name, tree.alias if is_last else "", ()))
    if tree.items is not None:
        parts.append((_LIST, "", "", tree.items))
    return parts


def _compare_trees(one: "UseTree", other: "UseTree") -> int:
    return _compare_with(one, other, _case_key)


def _compare_by_version(one: "UseTree", other: "UseTree") -> int:
    return _compare_with(one, other, _version_key)


def _compare_with(one: "UseTree", other: "UseTree", key: Callable[[str], Any]) -> int:
    mine, theirs = _segments(one), _segments(other)
    for first, second in zip(mine, theirs, strict=False):
        if first[0] != second[0]:
            return -1 if first[0] < second[0] else 1
        if first[0] == _LIST:
            order = _compare_lists(first[3], second[3], key)
        else:
            order = _compare_keys(key(first[1]), key(second[1]))
        if order:
            return order
    if len(mine) == len(theirs) and mine and mine[-1][2] != theirs[-1][2]:
        return _compare_keys(mine[-1][2], theirs[-1][2])
    return (len(mine) > len(theirs)) - (len(mine) < len(theirs))


def _compare_lists(one: Sequence["UseTree"], other: Sequence["UseTree"], key: Callable[[str], Any]) -> int:
    for first, second in zip(one, other, strict=False):
        if order := _compare_with(first, second, key):
            return order
    return (len(one) > len(other)) - (len(one) < len(other))


def _compare_keys(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


def _case_key(name: str) -> tuple[int, str]:
    """Names in snake case first, then those in camel case, then constants."""
    if not name[:1].isupper():
        return 0, name
    is_constant = all(letter.isupper() or letter == "_" or letter.isnumeric() for letter in name)
    return (2 if is_constant else 1), name


def _version_key(name: str) -> list[tuple[int, int, str]]:
    """Names by their letters, underscores first, numbers in them by their values."""
    parts: list[tuple[int, int, str]] = []
    for part in _DIGITS.split(name.removeprefix("r#")):
        if part.isdecimal():
            parts.append((1, int(part), ""))
        else:
            parts += [(0 if letter == "_" else 2, 0, letter) for letter in part]
    return parts
