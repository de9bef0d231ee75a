"""Removes imports of a file."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.source import BOM
from codeplane.languages.rust.operations._declarations import (
    Declaration,
    declarations_in,
    groups_of,
    imports_of,
    module_body,
    tree_edits,
)
from codeplane.languages.rust.operations._guards import (
    COMMENTS,
    changed_part,
    generated_notes,
    lines_of,
    refuse_unsafe,
)
from codeplane.languages.rust.operations._import_conflicts import bare_names
from codeplane.languages.rust.operations._import_requests import (
    MODULE,
    bound_leaves,
    check_request,
    is_same_leaf,
    read_request,
    refuse_broken_head,
)
from codeplane.languages.rust.operations._use_trees import Leaf, without_leaf


@operation(
    version=2,
    target="file",
    arguments=(
        Argument("import", "text", "a `use` declaration of what is to go, as source text", is_required=True),
        Argument("module", "path", MODULE),
        Argument("force", "flag", "also where the file still uses it"),
    ),
    check_arguments=check_request,
)
def remove_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Removes imports of a file or of a module in it, with the comments that belong to them.

    Only declarations of the same visibility and attributes lose them; braces around a single path go.
    """
    request = read_request(arguments)
    assert request is not None, "BUG: the arguments were not checked"
    refuse_unsafe(source)
    path = arguments.optional("module")
    body = module_body(source, path)
    declarations = declarations_in(source, body)
    refuse_broken_head(source, declarations)
    notes: list[str] = []
    after = source
    for leaf in request.leaves:
        own = _declarations_with(declarations, request.declaration, leaf)
        if not own:
            _refuse_others(source, declarations, request.declaration, leaf)
            continue
        notes += _other_notes(source, declarations, own, leaf)
        if not arguments.flag("force"):
            # What a module has for itself is used in it, and by no other.
            scope = body if request.declaration.head == "use" else source.root
            _refuse_used(source, scope, leaf, is_alone=len(own) == len(_all_with(declarations, leaf)))
        notes += _use_notes(source, leaf)
        after, remarks = _without_import(after, path, request.declaration, leaf)
        notes += remarks
    edits = changed_part(source, 0, len(source.data), after.slice(0, len(after.data)))
    return Outcome(edits, [*notes, *(generated_notes(source) if edits else ())])


def _all_with(declarations: Sequence[Declaration], leaf: Leaf) -> list[Declaration]:
    return [one for one in declarations if any(is_same_leaf(other, leaf) for other in bound_leaves(one))]


def _declarations_with(
    declarations: Sequence[Declaration], new: Declaration, leaf: Leaf
) -> list[Declaration]:
    """The declarations that import a thing as it was sent: as public, under the same attributes."""
    return [
        one
        for one in _all_with(declarations, leaf)
        if (one.head, _conditions(one)) == (new.head, _conditions(new))
    ]


def _conditions(one: Declaration) -> list[str]:
    return [text for text in one.attributes if text.startswith("cfg")]


def _refuse_others(source: Source, declarations: Sequence[Declaration], new: Declaration, leaf: Leaf) -> None:
    for one in _all_with(declarations, leaf):
        line = source.line_of(one.node.start_byte)
        if one.head != new.head:
            raise OperationRefused(f"Line {line} imports it by `{one.head}`; send it so.", one.node)
        conditions = ", ".join(f"`#[{text}]`" for text in _conditions(one)) or "no condition"
        raise OperationRefused(f"Line {line} imports it under {conditions}; send it so.", one.node)


def _other_notes(
    source: Source, declarations: Sequence[Declaration], own: Sequence[Declaration], leaf: Leaf
) -> list[str]:
    return [
        f"Line {source.line_of(one.node.start_byte)} imports it too, as `{one.head}` or under a condition."
        for one in _all_with(declarations, leaf)
        if one not in own
    ]


def _refuse_used(source: Source, scope: Node, leaf: Leaf, *, is_alone: bool) -> None:
    local = leaf.local_name
    if not local or not is_alone:
        return
    uses = [node.start_byte for node in bare_names(source, scope, local)]
    uses += _relative_uses(source, scope, local)
    if uses:
        raise OperationRefused(
            f"The file still uses `{local}` at {lines_of(source, uses)}; change that first, or send `force`."
        )


def _relative_uses(source: Source, scope: Node, local: str) -> list[int]:
    """Where modules of the file take a name from the module around them: `use super::{a, b};`."""
    places = []
    waiting = list(scope.children)
    while waiting:
        node = waiting.pop()
        if node.type != "use_declaration":
            waiting += node.named_children
            continue
        text = source.text(node)
        is_relative = re.search(r"\b(?:super|self)\b\s*::", text) is not None
        if is_relative and re.search(rf"(?<!\w){re.escape(local)}(?!\w)", text):
            places += [] if node.parent == scope else [node.start_byte]
    return places


def _use_notes(source: Source, leaf: Leaf) -> list[str]:
    local = leaf.local_name
    if leaf.is_glob:
        return ["Whether the file uses names of the glob can't be told."]
    notes = []
    if not local or local[:1].isupper():
        notes.append(f"If `{leaf.path[-1]}` is a trait, its methods are no longer in scope.")
    if local and re.search(rb"//[/!].*\[`?" + re.escape(local.encode()) + rb"\b", source.data):
        notes.append(f"Documentation links to `{local}`.")
    return notes


def _without_import(
    source: Source, path: str | None, new: Declaration, leaf: Leaf
) -> tuple[Source, list[str]]:
    """The file without a thing, one declaration after the other, and what went with it."""
    notes: list[str] = []
    while True:
        declarations = declarations_in(source, module_body(source, path))
        own = _declarations_with(declarations, new, leaf)
        if not own:
            return source, notes
        exact = next(other for other in bound_leaves(own[0]) if is_same_leaf(other, leaf))
        kept = imports_of([own[0]]) - {(own[0].head, exact)}
        others = imports_of([one for one in declarations if one != own[0]])
        tree = without_leaf(own[0].tree, exact)
        if tree is not None:
            edits, remarks = tree_edits(source, own[0], tree)
        else:
            edits, remarks = _remove_declaration(source, declarations, own[0])
        notes += remarks
        source = Source(source.language, source.apply(edits), source.path)
        if imports_of(declarations_in(source, module_body(source, path))) != kept | others:
            raise OperationRefused(
                "The braces of the declaration are nested in a way that is not understood."
            )


def _remove_declaration(
    source: Source, declarations: Sequence[Declaration], one: Declaration
) -> tuple[list[TextEdit], list[str]]:
    """The edit that takes a whole declaration out, with its attributes, its comments and a blank line."""
    node = one.node
    first = _first_owned(source, declarations, one)
    if not source.is_first_in_line(first.start_byte) or not _ends_line(source, node):
        start, end = first.start_byte, node.end_byte
        while end < len(source.data) and source.data[end : end + 1] == b" ":
            end += 1
        return [source.delete(start, end)], []
    start, end = source.line_start(first.start_byte), source.next_line(node.end_byte)
    start = len(BOM) if start == 0 and source.data.startswith(BOM) else start
    is_last = not source.data[end:].strip()
    is_first = source.data[:start].removeprefix(BOM).rstrip().endswith(b"{") or start <= len(BOM)
    if _is_blank_before(source, start) or is_first:
        while end < len(source.data) and source.is_last_in_line(end) and not is_last:
            end = source.next_line(end)
            if not is_first:
                break
    if is_last and start > len(BOM):
        start = _blank_start(source, start)
    elif source.data[end:].lstrip().startswith(b"}") and _is_blank_before(source, start):
        start = source.line_start(start - 1)
    return [source.delete(start, end)], _comment_notes(source, node, start, end)


def _first_owned(source: Source, declarations: Sequence[Declaration], one: Declaration) -> Node:
    """The first node that goes with a declaration; a comment above a group of several is the group's."""
    group = next(group for group in groups_of(source, declarations) if one in group)
    if len(group) == 1 or group[0] != one:
        return one.first
    first = one.node
    sibling = first.prev_sibling
    while sibling is not None and sibling.type == "attribute_item":
        first, sibling = sibling, sibling.prev_sibling
    return first


def _ends_line(source: Source, node: Node) -> bool:
    rest = source.data[node.end_byte : source.line_end(node.end_byte)].strip()
    return not rest or rest.startswith(b"//") or (rest.startswith(b"/*") and rest.endswith(b"*/"))


def _is_blank_before(source: Source, start: int) -> bool:
    return start > 0 and source.is_last_in_line(source.line_start(start - 1))


def _blank_start(source: Source, start: int) -> int:
    while start > 0 and source.is_last_in_line(source.line_start(start - 1)):
        start = source.line_start(start - 1)
    return start


def _comment_notes(source: Source, node: Node, start: int, end: int) -> list[str]:
    siblings = node.parent.children if node.parent is not None else []
    return [
        f"The comment `{source.text(one).strip()}` belongs to `{source.text(node)}` and goes with it."
        for one in (*siblings, *node.children)
        if one.type in COMMENTS and start <= one.start_byte < end
    ]
