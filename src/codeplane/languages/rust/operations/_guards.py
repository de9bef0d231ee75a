"""What no operation on a Rust file may go on with, and how texts of several lines are put into one."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import OperationRefused, Source

COMMENTS: Final = ("line_comment", "block_comment")
_CONFLICT: Final = re.compile(rb"^(?:<{7} |>{7} |={7}$)", re.MULTILINE)
_SPACES: Final = re.compile(r"\A(?:    )+")
_GENERATED: Final = re.compile(rb"@generated|automatically generated|DO NOT EDIT", re.IGNORECASE)


def refuse_unsafe(source: Source) -> None:
    """Refuses a file with conflict markers of a merge."""
    if _CONFLICT.search(source.data):
        raise OperationRefused("The file holds the conflict markers of a merge; resolve it first.")


def generated_notes(source: Source) -> list[str]:
    """A remark where the first comments of a file say that a program writes it."""
    for child in source.root.children[:5]:
        text = source.data[child.start_byte : child.end_byte]
        if child.type in COMMENTS and _GENERATED.search(text):
            return ["The file says that it is generated; what makes it may undo the change."]
    return []


def with_newlines(source: Source, offset: int, text: str, indent: str = "") -> str:
    """A text of several lines with the line ending of a place in the file, lines after the first indented."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if source.indent_unit == "\t":
        lines = [_SPACES.sub(lambda match: "\t" * (len(match[0]) // 4), line) for line in lines]
    return source.newline_at(offset).join([lines[0], *(indent + line for line in lines[1:])])


def changed_part(source: Source, start: int, end: int, new: str) -> list[TextEdit]:
    """One edit for what differs between a piece of the file and its new text, if anything does."""
    old = source.slice(start, end)
    if old == new:
        return []
    shortest = min(len(old), len(new))
    head = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    first = start + len(old[:head].encode("utf-8", "surrogateescape"))
    last = end - len(old[len(old) - tail :].encode("utf-8", "surrogateescape"))
    return [source.replace(first, last, new[head : len(new) - tail])]


def compact_text(node: Node) -> str:
    """The tokens of a node without comments, with white space only where two words would touch."""
    parts: list[str] = []
    for leaf in leaves_of(node):
        text = (leaf.text or b"").decode("utf-8", "surrogateescape")
        is_word = bool(parts) and (parts[-1][-1:].isalnum() or parts[-1][-1:] == "_")
        parts.append(" " + text if is_word and (text[:1].isalnum() or text[:1] == "_") else text)
    return "".join(parts)


def leaves_of(node: Node) -> Iterator[Node]:
    """The tokens of a node in order, strings as a whole, without comments."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in COMMENTS:
            continue
        if current.child_count == 0 or current.type.endswith("string_literal"):
            yield current
        else:
            waiting += reversed(current.children)


def lines_of(source: Source, offsets: list[int]) -> str:
    """The lines of some bytes as a text: `line 3`, `lines 3, 5 and 9`."""
    lines = sorted(set(map(source.line_of, offsets)))
    numbers = [str(line) for line in lines[:5]]
    if len(lines) == 1:
        return f"line {numbers[0]}"
    if len(lines) > len(numbers):
        return f"lines {', '.join(numbers)} and {len(lines) - len(numbers)} more"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
