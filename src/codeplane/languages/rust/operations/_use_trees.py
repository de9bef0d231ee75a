"""Trees of `use` declarations: read, changed, written as rustfmt writes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from tree_sitter import Node

from codeplane.languages.operations import Source
from codeplane.languages.rust.operations._guards import COMMENTS
from codeplane.languages.rust.operations._use_order import Compare, sorted_index

Path = tuple[str, ...]


@dataclass(frozen=True)
class UseTree:
    """A path with an alias, or with a list behind it."""

    path: Path  # the first is empty for a leading `::`; the last may be `*` or `self`
    alias: str = ""
    items: tuple["UseTree", ...] | None = None
    node: Node | None = field(default=None, compare=False, hash=False)


@dataclass(frozen=True)
class Leaf:
    """One thing that a declaration imports."""

    path: Path  # without `self` at its end
    alias: str = ""

    @property
    def local_name(self) -> str:
        """The name that is bound; nothing for globs and for `_`."""
        name = self.alias or self.path[-1]
        return "" if name in ("*", "_") else name

    @property
    def is_glob(self) -> bool:
        """Whether all names of a module are imported."""
        return self.path[-1] == "*"


class MergeRule(Enum):
    """How a thing may go into a declaration that is there."""

    EXACT = "into the list of its module"
    MODULE = "as `self` into the list of what it is"
    SIBLING = "into one list with another thing of its module"
    PAIR = "into one list with its module"
    CRATE = "into the list of its crate, by the rest of its path"


def read_tree(source: Source, node: Node) -> UseTree:
    """The tree that a node of a `use` declaration is."""
    if node.type == "use_list":
        return UseTree((), "", _read_items(source, node), node)
    if node.type == "scoped_use_list":
        path, inner = node.child_by_field_name("path"), node.child_by_field_name("list")
        prefix = path_of(source, path) if path is not None else ("",)
        return UseTree(prefix, "", _read_items(source, inner) if inner is not None else (), node)
    if node.type == "use_as_clause":
        path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
        own = path_of(source, path) if path is not None else ()
        return UseTree(own, source.text(alias) if alias is not None else "", None, node)
    return UseTree(path_of(source, node), "", None, node)


def _read_items(source: Source, node: Node) -> tuple[UseTree, ...]:
    return tuple(read_tree(source, child) for child in node.named_children if child.type not in COMMENTS)


def path_of(source: Source, node: Node) -> Path:
    """The names of a path, without white space and comments."""
    names: list[str] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.child_count:
            waiting += [child for child in reversed(current.children) if child.type not in COMMENTS]
        else:
            names.append(source.text(current))
    text = "".join(names)
    return tuple(text.split("::"))


def leaves_in(tree: UseTree, before: Path = ()) -> Iterator[Leaf]:
    """What a tree imports, in order."""
    path = before + tree.path
    if tree.items is not None:
        for item in tree.items:
            yield from leaves_in(item, path)
    elif path:
        own = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        yield Leaf(own, "" if tree.alias == own[-1] else tree.alias)


def lists_in(tree: UseTree) -> Iterator[UseTree]:
    """The lists of a tree, outer ones first."""
    if tree.items is not None:
        yield tree
        for item in tree.items:
            yield from lists_in(item)


def merge_leaf(tree: UseTree, leaf: Leaf, rule: MergeRule, orders: Sequence[Compare]) -> UseTree | None:
    """The tree with one thing more by a rule; None where the rule finds no place in it."""
    path, alias = leaf.path, leaf.alias
    if tree.items is None:
        return _merge_with_leaf(tree, leaf, rule, orders)
    size = len(tree.path)
    if path[:size] != tree.path:
        return None
    rest = path[size:]
    for number, item in enumerate(tree.items if rest else ()):
        changed = merge_leaf(item, Leaf(rest, alias), rule, orders)
        if changed is not None:
            return replace(tree, items=(*tree.items[:number], changed, *tree.items[number + 1 :]))
    new = None
    if (rule is MergeRule.EXACT and len(rest) == 1) or (rule is MergeRule.CRATE and rest and size):
        new = UseTree(rest, alias)
    elif rule is MergeRule.MODULE and not rest:
        new = UseTree(("self",), alias)
    if new is None:
        return None
    at = sorted_index(tree.items, new, orders)
    return replace(tree, items=(*tree.items[:at], new, *tree.items[at:]))


def named_leaf(tree: UseTree, path: Path) -> UseTree | None:
    """The tree in which `A as _` has its name; None where it has no such thing."""
    if tree.items is None:
        return replace(tree, alias="") if (tree.path, tree.alias) == (path, "_") else None
    size = len(tree.path)
    for number, item in enumerate(tree.items if path[:size] == tree.path else ()):
        changed = named_leaf(item, path[size:])
        if changed is not None:
            return replace(tree, items=(*tree.items[:number], changed, *tree.items[number + 1 :]))
    return None


def _merge_with_leaf(tree: UseTree, leaf: Leaf, rule: MergeRule, orders: Sequence[Compare]) -> UseTree | None:
    own, path, alias = tree.path, leaf.path, leaf.alias
    if own[-1:] in (("*",), ("self",)):
        return None
    if rule is MergeRule.SIBLING and len(own) > 1 and own[:-1] == path[:-1]:
        return _pair(own[:-1], (UseTree(own[-1:], tree.alias), UseTree(path[-1:], alias)), orders)
    if rule is MergeRule.PAIR and own == path[:-1] and own not in (("crate",), ("super",)):
        return UseTree(own, "", (UseTree(("self",), tree.alias), UseTree(path[-1:], alias)))
    if rule is MergeRule.PAIR and path == own[:-1]:
        return UseTree(path, "", (UseTree(("self",), alias), UseTree(own[-1:], tree.alias)))
    shared = _shared_size(own, path)
    if rule is MergeRule.CRATE and 0 < shared < min(len(own), len(path)):
        return _pair(own[:shared], (UseTree(own[shared:], tree.alias), UseTree(path[shared:], alias)), orders)
    return None


def _shared_size(one: Path, other: Path) -> int:
    pairs = list(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), len(pairs))


def _pair(path: Path, items: tuple[UseTree, UseTree], orders: Sequence[Compare]) -> UseTree:
    """One list of two things."""
    first, second = items
    return UseTree(path, "", items if sorted_index((first,), second, orders) == 1 else (second, first))


def without_leaf(tree: UseTree, leaf: Leaf, before: Path = ()) -> UseTree | None:
    """The tree without a thing, braces around one path taken away; None where nothing is left."""
    path = before + tree.path
    if tree.items is None:
        return None if next(leaves_in(tree, before), None) == leaf else tree
    kept = [without_leaf(item, leaf, path) for item in tree.items]
    items = tuple(item for item in kept if item is not None)
    if items == tree.items:
        return tree
    if len(items) == 1 and (tree.path or before):
        return _collapse_list(tree.path, items[0])
    return replace(tree, items=items) if items else None


def _collapse_list(path: Path, item: UseTree) -> UseTree:
    if item.path != ("self",) or item.items is not None:
        return UseTree(path + item.path, item.alias, item.items)
    if path and path[-1] not in ("crate", "super", "self", ""):
        return UseTree(path, item.alias)
    return UseTree(path, "", (item,))


def inline_text(tree: UseTree) -> str:
    """A tree on one line."""
    text = "::".join(tree.path)
    if tree.items is None:
        return f"{text} as {tree.alias}" if tree.alias else text
    inner = ", ".join(map(inline_text, tree.items))
    return f"{text}::{{{inner}}}" if tree.path else f"{{{inner}}}"


def has_comments(nodes: Sequence[Node]) -> bool:
    """Whether a comment stands inside of one of the nodes."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node.type in COMMENTS:
            return True
        waiting += node.children
    return False
