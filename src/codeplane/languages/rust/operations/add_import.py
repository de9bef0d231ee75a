"""Imports something into a file."""

from collections.abc import Sequence

from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.rust.operations._declarations import (
    Declaration,
    declarations_in,
    module_body,
    tree_edits,
)
from codeplane.languages.rust.operations._guards import changed_part, generated_notes, refuse_unsafe
from codeplane.languages.rust.operations._import_conflicts import refuse_conflict
from codeplane.languages.rust.operations._import_places import place_declaration
from codeplane.languages.rust.operations._import_requests import (
    MODULE,
    Request,
    bound_leaves,
    check_request,
    is_same_leaf,
    is_same_path,
    read_request,
    refuse_broken_head,
)
from codeplane.languages.rust.operations._use_trees import (
    Leaf,
    MergeRule,
    UseTree,
    inline_text,
    lists_in,
    merge_leaf,
    named_leaf,
)


@operation(
    version=2,
    target="file",
    arguments=(
        Argument("import", "text", "the `use` declaration, as source text", is_required=True),
        Argument("module", "path", MODULE),
    ),
    check_arguments=check_request,
)
def add_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Imports something at the top of a file, or of a module in it.

    It goes into a declaration of the same visibility and attributes that takes from the same module, else
    into a declaration of its own, in the group and the order of those that are there.
    """
    request = read_request(arguments)
    assert request is not None, "BUG: the arguments were not checked"
    refuse_unsafe(source)
    path = arguments.optional("module")
    body = module_body(source, path)
    declarations = declarations_in(source, body)
    refuse_broken_head(source, declarations)
    missing, notes = [], []
    for leaf in request.leaves:
        is_there, remarks = _is_imported(source, declarations, request.declaration, leaf)
        notes += remarks
        missing += [] if is_there else [leaf]
    if not missing:
        return Outcome((), notes)
    for leaf in missing:
        refuse_conflict(source, body, declarations, leaf, is_conditional=request.declaration.is_conditional)
    after = _with_leaves(source, path, request, missing)
    edits = changed_part(source, 0, len(source.data), after.slice(0, len(after.data)))
    return Outcome(edits, [*notes, *generated_notes(source)])


def _is_imported(
    source: Source, declarations: Sequence[Declaration], new: Declaration, leaf: Leaf
) -> tuple[bool, list[str]]:
    """Whether a module has an import; refused where it has it under another visibility or condition."""
    notes: list[str] = []
    for one in declarations:
        line = source.line_of(one.node.start_byte)
        for other in bound_leaves(one):
            if is_same_leaf(other, leaf) and one.is_extern == new.is_extern:
                _refuse_other_head(source, one, new, leaf)
                return True, notes
            is_module = other.is_glob and other.path[:-1] == leaf.path[:-1] and not leaf.alias
            if is_module and one.head == new.head and not one.is_conditional:
                return True, [
                    f"`{source.text(one.node)}` imports `{leaf.local_name}` if it is visible there."
                ]
            is_renamed = other.alias != leaf.alias and bool(other.alias)
            if is_same_path(other, leaf) and is_renamed and (leaf.alias or other.alias != "_"):
                notes.append(f"`{leaf.path[-1]}` is imported as `{other.alias}` too, at line {line}.")
    return False, notes


def _refuse_other_head(source: Source, one: Declaration, new: Declaration, leaf: Leaf) -> None:
    line = source.line_of(one.node.start_byte)
    if new.head != one.head and new.head.startswith("pub"):
        raise OperationRefused(
            f"`{'::'.join(leaf.path)}` is imported by `{one.head}` at line {line}; remove that first.",
            one.node,
        )
    if one.is_conditional and one.attributes != new.attributes:
        raise OperationRefused(
            f"It is imported under the condition `{one.attributes[0]}` at line {line}; remove that first.",
            one.node,
        )


def _with_leaves(source: Source, path: str | None, request: Request, leaves: Sequence[Leaf]) -> Source:
    """The file with what was missing: the declaration as it was written, where none takes a part of it."""
    body = module_body(source, path)
    declarations = declarations_in(source, body)
    is_whole = len(leaves) == len(request.leaves)
    if is_whole and all(_merge(declarations, request.declaration, leaf) is None for leaf in leaves):
        edit = place_declaration(source, body, declarations, request.declaration, request.text)
        return Source(source.language, source.apply([edit]), source.path)
    for leaf in leaves:
        source = _with_leaf(source, path, request, leaf)
    return source


def _with_leaf(source: Source, path: str | None, request: Request, leaf: Leaf) -> Source:
    body = module_body(source, path)
    declarations = declarations_in(source, body)
    merged = _merge(declarations, request.declaration, leaf)
    if merged is not None:
        edits, _ = tree_edits(source, *merged)
    else:
        tree = UseTree(leaf.path, leaf.alias)
        new = request.declaration
        lines = [*(f"#[{text}]" for text in new.attributes), f"{new.head} {inline_text(tree)};"]
        single = Declaration(new.node, tree, new.head, new.attributes, new.first)
        edits = [place_declaration(source, body, declarations, single, "\n".join(lines))]
    return Source(source.language, source.apply(edits), source.path)


def _merge(
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
    rules = [MergeRule.EXACT, MergeRule.MODULE]
    # Modules of a crate have declarations of their own: `use std::fmt;`, `use std::io;`.
    is_module = len(leaf.path) == 2 and not leaf.path[-1][:1].isupper()
    if not _has_single_items(similar, leaf) and not is_module and not _is_list_module(new, leaf):
        rules += [MergeRule.SIBLING]
    if _has_self_items([new, *declarations]):
        rules += [MergeRule.PAIR]
    if _has_crate_lists(similar, leaf):
        rules += [MergeRule.CRATE]
    for rule in rules:
        for one in similar:
            tree = merge_leaf(one.tree, leaf.path, leaf.alias, rule)
            if tree is not None:
                return one, tree
    return None


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
