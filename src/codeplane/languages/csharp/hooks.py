"""The forms of `using`."""

import re

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_PATH = re.compile(rb"(?:global\s*::\s*)?([\w\x80-\xff]+(?:\s*\.\s*[\w\x80-\xff]+)*)")


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """All names of a namespace, all static members of a type, or an alias of either."""
    alias = node.child_by_field_name("name")
    targets = [child for child in node.named_children if child != alias]
    target = targets[-1] if targets else None
    path = _PATH.match(data, target.start_byte, target.end_byte) if target else None
    if target is None or path is None:
        return [], []
    module = b"".join(path.group(1).split())
    mentions = _path_mentions(data, *path.span(1))
    if alias is None:
        if any(child.type == "static" for child in node.children):
            kind = "csharp_static"
        return [Imported(kind, module, b"*", b"", target.start_byte, None)], mentions
    local = (alias.start_byte, alias.end_byte)
    before, _, name = module.rpartition(b".")
    item = Imported("csharp_alias", before, name, data[slice(*local)], target.start_byte, local)
    return [item], mentions


def _path_mentions(data: bytes, start: int, end: int) -> list[Mention]:
    return [
        Mention(match.start(), match.end(), start if match.start() > start else -1)
        for match in _NAME.finditer(data, start, end)
    ]
