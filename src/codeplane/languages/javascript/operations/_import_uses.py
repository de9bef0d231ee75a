"""Whether a file needs an import, judged by what it names."""

import re
from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._contents import dynamic_code, nodes_in
from codeplane.languages.javascript.operations._imports import ImportedName, ImportStatement
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.bindings import bind_at, facts_of, lines_of, offset_of

_JSX: Final = ("jsx_element", "jsx_self_closing_element")
_PRAGMA: Final = re.compile(rb"@jsx(?:Frag)?\s+([\w$]+)")


def refuse_needed(source: Source, statement: ImportStatement, name: ImportedName) -> None:
    """Refuses to remove a name that the file still uses."""
    uses = _uses(source, name)
    if uses:
        raise OperationRefused(
            f"`{name.local}` is used at {lines_of(source, uses)}; change that first, or send `force`.",
            statement.node,
        )
    if name.local in _factories(source) and next(nodes_in(source.root, *_JSX), None) is not None:
        raise OperationRefused(
            f"The elements of the file may be made by `{name.local}`; send `force` where they are not.",
            statement.node,
        )
    if places := dynamic_code(source, source.root):
        raise OperationRefused(
            f"Code at {lines_of(source, places)} may use `{name.local}` without naming it; send `force`.",
            statement.node,
        )


def _uses(source: Source, name: ImportedName) -> list[int]:
    facts = facts_of(source)
    token = local_token(source, name)
    bind = bind_at(source, facts, token)
    if bind is None:
        raise OperationRefused(f"What `{name.local}` means can't be told; send `force`.", name.node)
    return [
        offset_of(source, one)
        for one in facts.named(name.local)
        if not one.receiver and one.target == bind + 1 and offset_of(source, one) != token.start_byte
    ]


def local_token(source: Source, name: ImportedName) -> Node:
    """The identifier that a name is bound by."""
    node = name.node
    for field in ("alias", "value", "name") if node.type != "variable_declarator" else ("name",):
        inner = node.child_by_field_name(field)
        if inner is not None:
            return inner
    own = [one for one in node.named_children if source.text(one) == name.local]
    return own[0] if own else node


def _factories(source: Source) -> set[str]:
    """The names that elements are turned into calls of, where a comment or an old compiler says so."""
    pragmas = {match[1].decode() for match in _PRAGMA.finditer(source.data)}
    return pragmas or {"React"}
