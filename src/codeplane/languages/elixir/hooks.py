"""What queries cannot say: the forms of `alias`, whose names are written as one word, and clauses."""

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention
from codeplane.languages.extraction.outline import Outline
from codeplane.languages.facts import FLAG_TEST


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """The modules that are imported, required or given a shorter name."""
    target, *rest = node.named_children
    arguments = rest[0].named_children
    path, options = arguments[0], arguments[1:]
    word = data[target.start_byte : target.end_byte]
    kind = "elixir_alias" if word == b"alias" else kind
    if path.type == "alias":
        local = _alias_of(options, data) or _node_text(path, data).rpartition(b".")[2]
        return [
            Imported(
                kind, _node_text(path, data), b"", local if word == b"alias" else b"", path.start_byte, None
            )
        ], []
    left, right = path.child_by_field_name("left"), path.child_by_field_name("right")
    if left is None or right is None:
        return [], []
    names = [child for child in right.named_children if child.type == "alias"]
    return [
        Imported(
            kind,
            _node_text(left, data),
            _node_text(name, data),
            _node_text(name, data),
            name.start_byte,
            None,
        )
        for name in names
    ], []


def reshape_outline(outline: Outline, data: bytes) -> None:
    """The clauses of a function are one group, whatever they take."""
    clauses: set[tuple[int, str, bytes]] = set()
    for draft in outline.drafts:
        if draft.kind in ("function", "macro") and not draft.flags & FLAG_TEST:
            clause = (draft.parent, draft.kind, data[draft.name[0] : draft.name[1]])
            draft.more = clause in clauses
            clauses.add(clause)


def _alias_of(options: list[Node], data: bytes) -> bytes:
    pairs = [pair for option in options for pair in option.named_children if pair.type == "pair"]
    for pair in pairs:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key and value and _node_text(key, data).strip() == b"as:":
            return _node_text(value, data)
    return b""


def _node_text(node: Node, data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]
