"""What queries cannot say: the clauses of `use`, in groups and alone, and the files that are included."""

import re

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_LITERAL = re.compile(rb"""['"]([^'"$\\\n]+)['"]\Z""")
_HERE = re.compile(rb"""(?:__DIR__|dirname\(__FILE__\))\s*\.\s*['"]([^'"$\\\n]+)['"]\Z""")
_KINDS = {b"function": "php_use_function", b"const": "php_use_const"}


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """The names that a `use` takes, or the file that an `include` reads."""
    return (_included_files(node, data), []) if kind == "php_include" else _use_statement(node, data)


def _included_files(node: Node, data: bytes) -> list[Imported]:
    """A file in or below the directory of this one is `./…`; any other is found through the include path."""
    children = node.named_children
    while len(children) == 1 and children[0].type == "parenthesized_expression":
        children = children[0].named_children
    if len(children) != 1:
        return []
    start, end = children[0].start_byte, children[0].end_byte
    if beside := _HERE.match(data[start:end]):
        module = b"./" + beside.group(1).lstrip(b"/")
    elif match := _LITERAL.match(data[start:end]):
        module = match.group(1)
        module = module[2:] if module.startswith(b"./") else module
    else:
        return []
    return [Imported("php_include", module, b"*", b"", start, None)]


def _use_statement(node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    items: list[Imported] = []
    mentions: list[Mention] = []
    prefix = b""
    common = _use_kind(node, data)
    clauses: list[Node] = []
    for child in node.named_children:
        if child.type == "namespace_name":
            prefix = _node_text(child, data)
            mentions += _path_mentions(child.start_byte, child.end_byte, data)
        elif child.type == "namespace_use_group":
            clauses += child.named_children
        else:
            clauses.append(child)
    for clause in clauses:
        if clause.type == "namespace_use_clause":
            item, more = _use_clause(clause, data, prefix, common)
            items += item
            mentions += more
    return items, mentions


def _use_kind(node: Node, data: bytes) -> str:
    word = node.child_by_field_name("type")
    return _KINDS.get(_node_text(word, data).lower(), "") if word else ""


def _use_clause(
    clause: Node, data: bytes, prefix: bytes, common: str
) -> tuple[list[Imported], list[Mention]]:
    alias = clause.child_by_field_name("alias")
    names = [child for child in clause.named_children if child.type in ("name", "qualified_name")]
    if not names:
        return [], []
    path = names[0]
    last = path.named_children[-1] if path.type == "qualified_name" else path
    inner = data[path.start_byte : last.start_byte].replace(b" ", b"").strip(b"\\")
    module = b"\\".join(part for part in (prefix, inner) if part)
    local = alias or last
    kind = _use_kind(clause, data) or common or "php_use"
    span = (local.start_byte, local.end_byte)
    item = Imported(kind, module, _node_text(last, data), _node_text(local, data), last.start_byte, span)
    mentions = _path_mentions(path.start_byte, last.start_byte, data)
    if alias:
        mentions.append(Mention(last.start_byte, last.end_byte, -1))
    return [item], mentions


def _path_mentions(start: int, end: int, data: bytes) -> list[Mention]:
    """The parts of a namespace; what is before the first is no receiver."""
    spans = [match.span() for match in _NAME.finditer(data, start, end)]
    return [Mention(*span, spans[0][0] if at else -1) for at, span in enumerate(spans)]


def _node_text(node: Node, data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]
