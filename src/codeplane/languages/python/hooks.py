"""What queries cannot say: names in quoted annotations, types in comments, and the forms of `__all__`."""

import re
from collections.abc import Iterator
from typing import cast

from tree_sitter import Node

from codeplane.languages.extraction.exports import Exported
from codeplane.languages.extraction.scan import ByteSpan

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_ANNOTATION = re.compile(rb"[\w\s.,|\[\]\x80-\xff]+\Z")
_ALL = re.compile(rb"(?<![\w.])__all__(?!\w)")
_MOST_ALL = 50  # mentions of __all__ that are looked at
_COMMENT = re.compile(
    rb"^[ \t]*(?:\w+\.)?\w+([ \t]*=(?!=)[^\n#]*# type:(?![ \t]*ignore)[^\n#]*)", re.MULTILINE
)
_BEHIND = re.compile(rb"(?<=[\])}\"'])[ \t]*# type:(?![ \t]*ignore)[^\n#]*")
_MOST_AROUND = 20  # nodes that end where a value ends
_ASSIGNED = ("bind.variable", "bind.member")
_IN_CLASSES = (b"__module__", b"__qualname__")  # what the body of every class has without a word about it
_KEYWORDS = (b"None", b"True", b"False")
_TYPING = re.compile(rb"\bimport\s+(typing(?:_extensions)?)\b(?:\s+as\s+(\w+))?")
_FROM_TYPING = re.compile(rb"\bfrom\s+typing(?:_extensions)?\s+import\s+(\([^)]*\)|[^\n]*)")
_NOT_TYPES = (b"Literal", b"Annotated")


def quoted_names(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The names in a quoted annotation: start, end, start of the receiver or -1."""
    if not _ANNOTATION.match(data, start, end) or _is_value(data, start):
        return
    before = -1
    last = start
    for match in _NAME.finditer(data, start, end):
        if data[last : match.start()].strip() != b".":
            before = -1
        if match.group() not in _KEYWORDS:
            yield match.start(), match.end(), before
        before = match.start() if before < 0 else before
        last = match.end()


def _is_value(data: bytes, start: int) -> bool:
    """Whether the string stands in brackets that hold values, not types."""
    head = data[max(start - 300, 0) : start]
    if not any(name in head for name in _NOT_TYPES):
        return False
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        char = head[at : at + 1]
        if char in b")]":
            depth += 1
        elif char in b"([":
            if depth == 0:
                return head[:at].rstrip().endswith(_NOT_TYPES)
            depth -= 1
        elif char in b"\n:>" and depth == 0 and at < len(head) - 200:
            return False
    return False


def adjust_captures(found: dict[str, list[Node]], data: bytes, root: Node) -> None:
    """A comment behind an assignment can declare a type: `x = None  # type: int`. A variable of the name that
    every class has may be another in the body of one. What makes types takes them in quotes."""
    for call in found.pop("hook.typing", ()):
        if _is_typing(call, data):
            found.setdefault("region.names", []).extend(_quoted_types(call))
    if any(name in data for name in _IN_CLASSES):
        variables = found.get("bind.variable", ())
        found.setdefault("doubt", []).extend(one for one in variables if one.text in _IN_CLASSES)
    if b"# type:" not in data:
        return
    ends = {node.end_byte for capture in _ASSIGNED for node in found.get(capture, ())}
    spans = [ByteSpan(*match.span(1)) for match in _COMMENT.finditer(data) if match.start(1) in ends]
    for match in _BEHIND.finditer(data):
        start = _assigned_before(root, data, match.start())
        if start in ends:
            spans.append(ByteSpan(start, match.end()))
    found.setdefault("annotation", []).extend(cast("list[Node]", spans))


def _is_typing(call: Node, data: bytes) -> bool:
    """Whether what is called comes from the module of types, by the imports of the file."""
    function = call.child_by_field_name("function")
    module, _, name = ((function.text or b"") if function is not None else b"").rpartition(b".")
    if module:
        return any((match[2] or match[1]) == module for match in _TYPING.finditer(data))
    return any(name in _NAME.findall(match[1]) for match in _FROM_TYPING.finditer(data))


def _quoted_types(call: Node) -> Iterator[Node]:
    """The texts that a call takes for types: `cast("T", x)`, `TypeVar("N", bound="T")`."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    passed_nodes = [one for one in (arguments.named_children if arguments else ()) if one.type != "comment"]
    is_cast = function is not None and (function.text or b"").endswith(b"cast")
    values = passed_nodes[:1] if is_cast else passed_nodes[1:]
    for one in values:
        value = one.child_by_field_name("value") if one.type == "keyword_argument" else one
        if value is not None and value.type == "string":
            yield from (part for part in value.named_children if part.type == "string_content")


def _assigned_before(root: Node, data: bytes, end: int) -> int:
    """Where the name ends that is given a value of several lines, which ends at a byte; -1 where none is."""
    node = root.descendant_for_byte_range(end - 1, end)
    for _ in range(_MOST_AROUND):
        if node is None or node.end_byte != end or node.type == "assignment":
            break
        node = node.parent
    if node is None or node.end_byte != end or node.type != "assignment":
        return -1
    left = node.child_by_field_name("left")
    if left is None or data.find(b"\n", node.start_byte, end) < 0:
        return -1
    member = left.child_by_field_name("attribute") if left.type == "attribute" else None
    return (left if member is None else member).end_byte


def read_exports(root: Node, data: bytes) -> list[Exported]:
    """The names in `__all__`, certain where every statement about it is a literal."""
    items: list[Exported] = []
    certain = True
    if b"__all__" not in data:
        return items
    for count, match in enumerate(_ALL.finditer(data)):
        node = root.descendant_for_byte_range(*match.span())
        if node is None or node.type != "identifier" or count >= _MOST_ALL:
            continue
        value = _all_value(node)
        if value is None:
            certain = False
            continue
        names, literal = _string_contents(value)
        certain = certain and literal
        items += [
            Exported(data[start:end], data[start:end], start, end, "all_literal", in_text=True)
            for start, end in names
            if _NAME.fullmatch(data, start, end)
        ]
    return [item._replace(certain=certain) for item in items]


def _all_value(node: Node) -> Node | None:
    """What is given to `__all__` where it is assigned, added to or extended."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type in ("assignment", "augmented_assignment"):
        return parent.child_by_field_name("right")
    call = parent.parent
    if parent.type == "attribute" and call is not None and call.type == "call":
        return call.child_by_field_name("arguments")
    return None


def _string_contents(value: Node) -> tuple[list[tuple[int, int]], bool]:
    """The contents of the strings in a list, tuple or call, and whether there is nothing else."""
    names: list[tuple[int, int]] = []
    literal = value.type in ("list", "tuple", "argument_list", "string")
    waiting = [value] if value.type == "string" else value.named_children
    for _ in range(2):
        following: list[Node] = []
        for node in waiting:
            contents = [child for child in node.named_children if child.type == "string_content"]
            if node.type == "string" and len(contents) == 1:
                names.append((contents[0].start_byte, contents[0].end_byte))
            elif node.type in ("list", "tuple"):
                following += node.named_children
                literal = literal and value.type == "argument_list"
            elif node.type != "comment":
                literal = False
        waiting = following
    return names, literal
