"""Fills a template with what the holes of a match stand for: its indentation and its separators."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.operations.operation import Match, OperationRefused
from codeplane.languages.operations.source import Source
from codeplane.languages.patterns.holes import Hole, holes_in
from codeplane.languages.patterns.pattern import is_string_kind
from codeplane.languages.spec import specs

_SEPARATOR_BEFORE: Final = re.compile(r"[,;]\s*\Z")
_SEPARATOR_AFTER: Final = re.compile(r"\s*[,;][ \t]*")
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}
_LEADING: Final = re.compile(r"^ +", re.MULTILINE)
_OWN_LINE: Final = re.compile(r"(?:^|\n)[ \t]*\Z")


class Piece(NamedTuple):
    """What a hole became in the text: where it stands, and the node it was where it is one."""

    start: int  # in bytes of the text
    end: int
    node: Node | None


class Filling(NamedTuple):
    """The text of a template with its holes filled."""

    text: str
    pieces: Sequence[Piece]


def fill_template(source: Source, match: Match, template: str, parentheses: frozenset[int]) -> Filling:
    """The text that takes the place of a match; the holes of these numbers are put in parentheses."""
    return _Filler(source, match, template).fill(parentheses)


def check_holes(template: str, captures: Mapping[str, Sequence[Node]]) -> None:
    """Refuses a template with a hole that the match has not."""
    for hole in holes_in(template):
        if not hole.name:
            raise OperationRefused(f"`{hole.label}` in the template has no name: it stands for nothing.")
        if hole.name not in captures:
            names = ", ".join(sorted(captures)) or "none"
            raise OperationRefused(
                f"The match has no capture `{hole.name}` for the template; it has {names}."
            )


class _Filler:
    """Fills one template for one match."""

    def __init__(self, source: Source, match: Match, template: str) -> None:
        self._source = source
        self._match = match
        self._base = source.indent_at(match.node.start_byte)
        self._newline = source.newline_at(match.node.start_byte)
        self._text = self._reindented(template)

    def fill(self, parentheses: frozenset[int]) -> Filling:
        parts: list[str] = []
        pieces: list[Piece] = []
        last, size = 0, 0
        for number, hole in enumerate(holes_in(self._text)):
            nodes = self._nodes_of(hole)
            literal = self._text[last : hole.start]
            if nodes:
                literal, content, last = self._place_nodes(nodes, literal, hole)
            else:
                literal, last = self._without_separator(literal, hole.end)
                content = ""
            is_wrapped = number in parentheses and bool(content)
            parts += [f"{literal}(", content, ")"] if is_wrapped else [literal, content]
            start = size + len(_encoded(literal)) + is_wrapped
            end = start + len(_encoded(content))
            size = end + is_wrapped
            pieces.append(Piece(start, end, nodes[0] if len(nodes) == 1 else None))
        return Filling("".join((*parts, self._text[last:])), pieces)

    def _nodes_of(self, hole: Hole) -> Sequence[Node]:
        nodes = self._match.captures[hole.name]
        if not hole.is_many and len(nodes) != 1:
            raise OperationRefused(
                f"`{hole.label}` in the template is one node, but stands for {len(nodes)}; "
                f"write `$$${hole.name}`."
            )
        return nodes

    def _reindented(self, template: str) -> str:
        """The template with the file's line endings and indentation, from where the match begins."""
        text = template.replace("\r\n", "\n").strip("\n")
        unit = min((len(match[0]) for match in _LEADING.finditer(text)), default=4)
        text = _LEADING.sub(lambda match: self._source.indent_unit * (len(match[0]) // unit), text)
        first, *others = text.split("\n")
        lines = [first, *(self._base + line if line.strip() else line for line in others)]
        return self._newline.join(lines)

    def _without_separator(self, literal: str, end: int) -> tuple[str, int]:
        """What is around an empty hole, without the separator that only it needed."""
        if match := _SEPARATOR_BEFORE.search(literal):
            return literal[: match.start()], end
        if match := _SEPARATOR_AFTER.match(self._text, end):
            return literal, match.end()
        line_end = self._text.find("\n", end)
        if _OWN_LINE.search(literal) and line_end >= 0 and not self._text[end:line_end].strip():
            return literal.rstrip(" \t"), line_end + 1
        return literal, end

    def _place_nodes(self, nodes: Sequence[Node], literal: str, hole: Hole) -> tuple[str, str, int]:
        """What stands before a hole, the code in it as it is in its new place, and where the text goes on."""
        source, text = self._source, self._text
        if brackets := self._whole_brackets(nodes, literal, hole):
            opening = literal.rstrip()
            indent = self._indent_at(hole.start - len(literal) + len(opening))
            after = len(text) - len(text[hole.end :].lstrip())
            return opening, _moved(source, nodes, indent, *brackets), after
        start, end = nodes[0].start_byte, nodes[-1].end_byte
        indent = self._indent_at(hole.start)
        is_block = source.is_first_in_line(start) and "\n" in source.slice(start, end)
        ends_line = not text[hole.end :].partition("\n")[0].strip()
        follows_colon = text[: hole.start].rpartition("\n")[2].rstrip().endswith(":")
        if is_block and ends_line and follows_colon and specs()[source.language].is_indented:
            indent += source.indent_unit
            literal = f"{literal.rstrip()}{self._newline}{indent}"
        return literal, _moved(source, nodes, indent, start, end), hole.end

    def _indent_at(self, offset: int) -> str:
        """The indentation that a line of the template has in the file."""
        _, newline, line = self._text[:offset].rpartition("\n")
        return line[: len(line) - len(line.lstrip())] if newline else self._base

    def _whole_brackets(self, nodes: Sequence[Node], literal: str, hole: Hole) -> tuple[int, int] | None:
        """The bytes between two brackets where `$$$` is all between them, in the file and in the template.

        They stay as they are: line breaks, comments, a comma at the end.
        """
        return between_brackets(nodes, literal, self._text[hole.end :]) if hole.is_many else None


def between_brackets(nodes: Sequence[Node], before: str, after: str) -> tuple[int, int] | None:
    """The bytes between the brackets that nodes fill, where a template puts them into such brackets too."""
    opener = before.rstrip()[-1:]
    closer = _BRACKETS.get(opener)
    if closer is None or not after.lstrip().startswith(closer):
        return None
    first, last = nodes[0].prev_sibling, nodes[-1].next_sibling
    while first is not None and "comment" in first.type:
        first = first.prev_sibling
    while last is not None and ("comment" in last.type or last.type in (",", ";")):
        last = last.next_sibling
    if first is None or last is None or (first.type, last.type) != (opener, closer):
        return None
    return first.end_byte, last.start_byte


def used_spans(match: Match, template: str) -> list[tuple[int, int]]:
    """The bytes of a match that a template takes over."""
    spans = []
    for hole in holes_in(template):
        nodes = match.captures[hole.name]
        if nodes:
            brackets = between_brackets(nodes, template[: hole.start], template[hole.end :])
            is_whole = hole.is_many and brackets is not None
            spans.append(brackets if is_whole and brackets else (nodes[0].start_byte, nodes[-1].end_byte))
    return spans


def _moved(source: Source, nodes: Sequence[Node], indent: str, start: int, end: int) -> str:
    """Code with another indentation. What is inside a string stays as it is."""
    before = source.indent_at(start)
    strings = list(_long_strings(source, nodes))
    lines = source.slice(start, end).split("\n")
    offset = start
    result = [lines[0]]
    for previous, line in pairwise(lines):
        offset += len(_encoded(previous)) + 1
        is_text = any(first < offset <= last for first, last in strings)
        can_move = not is_text and line.startswith(before)
        result.append(
            indent + line[len(before) :] if can_move and (line.strip() or line is lines[-1]) else line
        )
    return "\n".join(result)


def _long_strings(source: Source, nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Where literals of several lines stand."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if b"\n" not in source.data[node.start_byte : node.end_byte]:
            continue
        if is_string_kind(node.type) or "heredoc" in node.type or node.type == "raw_text":
            yield node.start_byte, node.end_byte
        else:
            waiting += node.children


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
