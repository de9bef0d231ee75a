"""Imports, names in string templates, and which lambdas have an `it`."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention
from codeplane.languages.extraction.outline import Outline
from codeplane.languages.facts import FLAG_STATIC, ScopeKind

_TYPES = frozenset(("class", "interface", "object", "enum"))
_INNER = re.compile(rb"\binner\b")
_NAME = re.compile(rb"`[^`\n]+`|[A-Za-z_\x80-\xff][\w\x80-\xff]*")


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """A name of a package or type, under another name, or all of them."""
    path = next((child for child in node.named_children if child.type == "qualified_identifier"), None)
    names = list(_NAME.finditer(data, path.start_byte, path.end_byte)) if path is not None else []
    if path is None or not names:
        return [], []
    is_star = any(child.type == "*" for child in node.children)
    alias = next((child for child in node.named_children if child.type == "identifier"), None)
    local = (alias.start_byte, alias.end_byte) if alias else names[-1].span()
    parents = names if is_star else names[:-1]
    module = b".".join(match.group() for match in parents)
    mentions = [
        Mention(match.start(), match.end(), path.start_byte if at else -1)
        for at, match in enumerate(names)
        if is_star or match.span() != local
    ]
    if is_star:
        return [Imported(kind, module, b"*", b"", path.start_byte, None)], mentions
    return [Imported(kind, module, names[-1].group(), data[slice(*local)], path.start_byte, local)], mentions


def text_names(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The name after `$` in a string. The grammar ends the text before it there."""
    match = _NAME.match(data, start, end)
    if match and data[start - 1 : start] == b"$" and data[start - 2 : start - 1] != b"\\":
        yield match.span()


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Classes inside of classes are static unless they say `inner`; a companion belongs to no instance."""
    for draft in outline.drafts:
        if draft.kind == "object" and draft.body < 0:
            outline.shared.append((draft.start, draft.end))
        elif draft.kind in _TYPES and outline.kinds[draft.scope] == ScopeKind.CLASS:
            is_inner = _INNER.search(data, draft.start, max(draft.name[0], draft.start))
            draft.flags |= 0 if is_inner else FLAG_STATIC


def adjust_captures(found: dict[str, list[Node]], _data: bytes, _root: Node) -> None:
    """A lambda that names no parameters may have one all the same."""
    for node in found.get("hook.lambda", ()):
        first = node.named_children[:1]
        if not first or first[0].type != "lambda_parameters":
            found.setdefault("implicit.it", []).append(node)
