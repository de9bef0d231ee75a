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
    imports_of,
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
from codeplane.languages.rust.operations._use_merging import merge_into
from codeplane.languages.rust.operations._use_trees import Leaf, UseTree, inline_text


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
    _refuse_other_change(source, after, path, {(request.declaration.head, leaf) for leaf in missing})
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


def _refuse_other_change(
    source: Source, after: Source, path: str | None, wanted: set[tuple[str, Leaf]]
) -> None:
    """Refuses where the declarations would not import what they did, and what is wanted."""
    before = imports_of(declarations_in(source, module_body(source, path)))
    now = imports_of(declarations_in(after, module_body(after, path)))
    unnamed = {(head, Leaf(leaf.path, "_")) for head, leaf in wanted}
    if now - before != wanted - before or before - now - unnamed:
        raise OperationRefused("The braces of the declarations are nested in a way that is not understood.")


def _with_leaves(source: Source, path: str | None, request: Request, leaves: Sequence[Leaf]) -> Source:
    """The file with what was missing: the declaration as it was written, where none takes a part of it."""
    body = module_body(source, path)
    declarations = declarations_in(source, body)
    is_whole = len(leaves) == len(request.leaves)
    if is_whole and all(merge_into(declarations, request.declaration, leaf) is None for leaf in leaves):
        edit = place_declaration(source, body, declarations, request.declaration, request.text)
        return Source(source.language, source.apply([edit]), source.path)
    for leaf in leaves:
        source = _with_leaf(source, path, request, leaf)
    return source


def _with_leaf(source: Source, path: str | None, request: Request, leaf: Leaf) -> Source:
    body = module_body(source, path)
    declarations = declarations_in(source, body)
    merged = merge_into(declarations, request.declaration, leaf)
    if merged is not None:
        edits, _ = tree_edits(source, *merged)
    else:
        tree = UseTree(leaf.path, leaf.alias)
        new = request.declaration
        lines = [*(f"#[{text}]" for text in new.attributes), f"{new.head} {inline_text(tree)};"]
        single = Declaration(new.node, tree, new.head, new.attributes, new.first)
        edits = [place_declaration(source, body, declarations, single, "\n".join(lines))]
    return Source(source.language, source.apply(edits), source.path)
