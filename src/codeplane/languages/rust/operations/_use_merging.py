"""Which declaration takes what is to be imported, by the way the file merges its imports."""

from collections.abc import Sequence

from codeplane.languages.rust.operations._declarations import Declaration, lists_of
from codeplane.languages.rust.operations._use_order import orders_by
from codeplane.languages.rust.operations._use_trees import (
    Leaf,
    MergeRule,
    UseTree,
    lists_in,
    merge_leaf,
    named_leaf,
)


def merge_into(
    declarations: Sequence[Declaration], new: Declaration, leaf: Leaf
) -> tuple[Declaration, UseTree] | None:
    """The declaration that takes an import, and its tree afterwards."""
    if new.is_extern or leaf.is_glob:
        return None
    similar = [
        one
        for one in declarations
        if not one.is_extern and (one.head, one.attributes) == (new.head, new.attributes)
    ]
    for one in similar if not leaf.alias else ():
        # A trait by its name is in scope for its methods too, as `as _` has it.
        tree = named_leaf(one.tree, leaf.path)
        if tree is not None:
            return one, tree
    orders = orders_by(lists_of(declarations))
    for rule in _rules(declarations, similar, new, leaf):
        for one in similar:
            tree = merge_leaf(one.tree, leaf, rule, orders)
            if tree is not None:
                return one, tree
    return None


def _rules(
    declarations: Sequence[Declaration], similar: Sequence[Declaration], new: Declaration, leaf: Leaf
) -> list[MergeRule]:
    """By which rules a thing goes into a declaration, as the others of the file show."""
    rules = [MergeRule.EXACT, MergeRule.MODULE]
    is_by_crate = _is_by_crate(similar, leaf)
    # Modules of a crate have declarations of their own: `use std::fmt;`, `use std::io;`.
    is_module = len(leaf.path) == 2 and not leaf.path[-1][:1].isupper() and not _has_module_lists(similar)
    if not _has_single_items(similar, leaf) and not is_module and not _is_list_module(new, leaf):
        rules += [MergeRule.SIBLING]
    if is_by_crate or _has_self_items([new, *declarations]):
        rules += [MergeRule.PAIR]
    if is_by_crate or _has_crate_lists(similar, leaf):
        rules += [MergeRule.CRATE]
    return rules


def _has_module_lists(declarations: Sequence[Declaration]) -> bool:
    """Whether modules or functions of a crate share a list: `use crate::{net, run};`."""
    trees = [one.tree for one in declarations if len(one.tree.path) == 1]
    names = [item.path[0] for tree in trees for item in tree.items or () if len(item.path) == 1]
    return any(name != "self" and not name[:1].isupper() for name in names)


def _is_by_crate(declarations: Sequence[Declaration], leaf: Leaf) -> bool:
    """Whether each crate has one declaration, and one of them paths in its list."""
    roots = [one.tree.path[:1] for one in declarations]
    has_paths = any(
        len(item.path) > 1 or item.items is not None
        for one in declarations
        if len(one.tree.path) == 1
        for item in one.tree.items or ()
    )
    return has_paths and len(set(roots)) == len(roots) and leaf.path[:1] in roots


def _has_single_items(declarations: Sequence[Declaration], leaf: Leaf) -> bool:
    """Whether each thing has a declaration: two of one module and no list, or two of this module."""
    has_lists = any(one.tree.items is not None for one in declarations)
    modules = [
        one.tree.path[:-1] for one in declarations if len(one.tree.path) > 1 and one.tree.items is None
    ]
    own = modules.count(leaf.path[:-1])
    return own > 1 if has_lists else len(set(modules)) < len(modules)


def _is_list_module(new: Declaration, leaf: Leaf) -> bool:
    """Whether a thing is the module of a list that was sent: `a` of `use a::{self, b};`."""
    return any(tree.path[-1:] == leaf.path[-1:] for tree in lists_in(new.tree))


def _has_self_items(declarations: Sequence[Declaration]) -> bool:
    """Whether a list names its own module."""
    trees = [tree for one in declarations for tree in lists_in(one.tree)]
    return any(item.path == ("self",) for tree in trees for item in tree.items or ())


def _has_crate_lists(declarations: Sequence[Declaration], leaf: Leaf) -> bool:
    """Whether the file has one declaration for each crate, with paths in its list."""
    own = [one for one in declarations if one.tree.path[:1] == leaf.path[:1]]
    if len(own) != 1 or own[0].tree.items is None or len(own[0].tree.path) != 1:
        return False
    items = [item for one in declarations if len(one.tree.path) == 1 for item in one.tree.items or ()]
    return any(len(item.path) > 1 or item.items is not None for item in items)
