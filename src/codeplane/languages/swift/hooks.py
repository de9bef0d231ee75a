"""What queries cannot say, or not in good time: imports, members, and which methods a test case runs."""

import re
from collections import defaultdict
from collections.abc import Iterator

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention
from codeplane.languages.extraction.outline import Outline
from codeplane.languages.facts import FLAG_TEST

_NAME = re.compile(rb"`[^`\n]+`|[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_TEST_CASE = re.compile(rb"\w*TestCase")
# `import struct A.B` takes one name, `import A.B` all names of a module.
_ONE_NAME = frozenset(("class", "enum", "func", "let", "protocol", "struct", "typealias", "var"))


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """All names of a module, or one."""
    path = next((child for child in node.named_children if child.type == "identifier"), None)
    names = list(_NAME.finditer(data, path.start_byte, path.end_byte)) if path else []
    if not names:
        return [], []
    start = names[0].start()
    one = len(names) > 1 and any(child.type in _ONE_NAME for child in node.children)
    module = b".".join(match.group() for match in (names[:-1] if one else names))
    mentions = [
        Mention(match.start(), match.end(), start if at else -1)
        for at, match in enumerate(names[:-1] if one else names)
    ]
    if one:
        return [
            Imported(kind, module, names[-1].group(), names[-1].group(), start, names[-1].span())
        ], mentions
    return [Imported(kind, module, b"*", b"", start, None)], mentions


def adjust_captures(found: dict[str, list[Node]], _data: bytes, _root: Node) -> None:
    """Variables of files and types. A query would carry each type along that has begun around a node."""
    drafts = defaultdict(list, found)
    for node in found.get("hook.members", ()):
        for child in node.named_children:
            if child.type == "property_declaration":
                is_let = any(
                    word.type == "let" for part in child.named_children for word in _word_nodes(part)
                )
                drafts["definition.constant" if is_let else "definition.variable"].append(child)
                drafts["name"] += _bound_names(child.children_by_field_name("name"))
    found.update(drafts)


def _word_nodes(part: Node) -> list[Node]:
    return part.children if part.type == "value_binding_pattern" else []


def _bound_names(waiting: list[Node]) -> Iterator[Node]:
    while waiting:
        part = waiting.pop()
        if part.type == "simple_identifier":
            yield part
        elif part.type == "pattern":
            waiting += part.named_children


def reshape_outline(outline: Outline, data: bytes) -> None:
    """A test case runs its methods that are named for it."""
    cases = {
        at
        for at, draft in enumerate(outline.drafts)
        if any(_TEST_CASE.fullmatch(data, *base) for base in draft.bases)
    }
    for draft in outline.drafts:
        if draft.kind == "method" and draft.parent in cases and data.startswith(b"test", draft.name[0]):
            draft.flags |= FLAG_TEST
