"""Edits an item of a separated list: parameters, arguments, names of an import, derives.

A comment belongs to an item by one rule. At the end of the item's line it belongs to the item before it;
between a separator and the next item of the same line, or on lines of its own directly above an item, to the
item after it. A comment behind the opening bracket, above a blank line, or that switches a tool on or off for
the lines below belongs to none. One at the end of a line stays as long as another item of that line does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations.operation import OperationRefused, Outcome
from codeplane.languages.operations.source import Source

_OPENING: Final = frozenset(("(", "[", "{", "<", "|"))
_CLOSING: Final = frozenset((")", "]", "}", ">", "|"))
_LINE_COMMENT: Final = re.compile(r"//|#|--")
# What holds for all lines below it: `# fmt: off`, `// clang-format on`, `/* eslint-disable */`.
_REGION: Final = re.compile(
    r"(?:fmt|isort|yapf):\s*(?:off|on|split|disable|enable)|clang-format\s+(?:off|on)"
    r"|eslint-(?:disable|enable)(?!-)|pylint:\s*(?:disable|enable)"
)
_NEWLINE: Final = re.compile(rb"\r\n|\n|\r")


class Span(NamedTuple):
    """The bytes of a token or a comment."""

    start: int
    end: int


@dataclass
class ListItem:
    """One item of a list, with its separator and the comments that belong to it."""

    nodes: list[Node]  # more than one where attributes or modifiers are siblings
    separator: Span | None
    lead: list[Span]  # comments before it
    tail: list[Span]  # comments behind it, before or behind its separator

    @property
    def node(self) -> Node:
        """The last node of the item: the item itself where attributes stand before it."""
        return self.nodes[-1]

    @property
    def start(self) -> int:
        """The first byte of the item, without its comments."""
        return self.nodes[0].start_byte

    @property
    def end(self) -> int:
        """The byte behind the item, without its separator."""
        return self.nodes[-1].end_byte

    @property
    def outer_start(self) -> int:
        """The first byte of the comments before the item, or of the item."""
        return self.lead[0].start if self.lead else self.start

    @property
    def separated_end(self) -> int:
        """The byte behind the separator, or behind the item where there is none."""
        return self.separator.end if self.separator else self.end

    @property
    def outer_end(self) -> int:
        """The byte behind the item, its separator and its comments."""
        return max((self.separated_end, *(comment.end for comment in self.tail)))


@dataclass
class SeparatedList:
    """The items of a list between its brackets, if it has any."""

    source: Source
    items: Sequence[ListItem]
    opening: Node | None
    closing: Node | None
    comments: Sequence[Span]  # those that belong to no item
    separator: str = ","
    trailing: bool = False  # a list that begins with one item on a line of its own gets a separator behind it
    is_continued: bool = False  # its lines end in a backslash

    def insert(self, index: int, *texts: str) -> list[TextEdit]:
        """The edits that put texts into the list, the first as its item of that index."""
        assert 0 <= index <= len(self.items), "BUG: an index beyond the list"
        own_lines = bool(self.items) and self.has_own_lines
        joint = self.separator + self._newline + self._inner_indent if own_lines else self._joint
        text = joint.join(texts)
        if not self.items:
            return [self._insert_only(text)]
        if index == len(self.items):
            return self._append_text(text)
        following = self.items[index]
        if not self.has_own_lines:
            previous = self.items[index - 1] if index else None
            is_first = self.source.is_first_in_line(following.outer_start)
            if is_first and previous is not None and not previous.tail:
                return [self.source.insert(previous.separated_end, f" {text}{self.separator}")]
            return [self.source.insert(following.outer_start, text + self._joint)]
        is_first = self.source.is_first_in_line(following.outer_start)
        indent = self.source.indent_at((following if is_first else self.items[1]).outer_start)
        return [self.source.insert(following.outer_start, text + self.separator + self._newline + indent)]

    def remove(self, indexes: Iterable[int]) -> Outcome:
        """The edits that take items out, with the comments that belong to them."""
        numbers = sorted(set(indexes))
        if not numbers:
            return Outcome()
        removals = set(numbers)
        if len(removals) == len(self.items) and not self.comments and self.opening and self.closing:
            edits = [self.source.delete(self.opening.end_byte, self.closing.start_byte)]
            return Outcome(edits, [note for number in numbers for note in self._notes_of(number, set())])
        edits, notes = [], []
        for start, end in _merged_spans(self._removal_spans(numbers, removals)):
            edits.append(self.source.delete(start, end))
        remaining = set(range(len(self.items))) - removals
        for number in numbers:
            notes += self._notes_of(number, remaining)
        return Outcome(edits, notes)

    def replace(self, index: int, text: str) -> TextEdit:
        """The edit that puts a text in the place of an item; its comments and its separator stay."""
        item = self.items[index]
        return self.source.replace(item.start, item.end, text)

    @property
    def has_own_lines(self) -> bool:
        """Whether each item has a line of its own; the first may stand behind the bracket."""
        later = self.items[1:] or self.items
        return all(self.source.is_first_in_line(item.outer_start) for item in later)

    @property
    def has_trailing_separator(self) -> bool:
        """Whether a separator stands behind the last item."""
        return bool(self.items and self.items[-1].separator)

    @property
    def _joint(self) -> str:
        return f"{self.separator} "

    @property
    def _newline(self) -> str:
        first = self.opening or (self.items[0].nodes[0] if self.items else None)
        newline = self.source.newline_at(first.start_byte) if first else self.source.newline
        return f" \\{newline}" if self.is_continued else newline

    @property
    def _inner_indent(self) -> str:
        """The indentation of items on lines of their own, from those there are or one level more."""
        for item in self.items:
            if self.source.is_first_in_line(item.outer_start):
                return self.source.indent_at(item.outer_start)
        for comment in self.comments:
            if self.source.is_first_in_line(comment.start):
                return self.source.indent_at(comment.start)
        first = self.opening or self.items[0].nodes[0]
        return self.source.indent_at(first.start_byte) + self.source.indent_unit

    def _insert_only(self, text: str) -> TextEdit:
        assert self.opening is not None and self.closing is not None, "BUG: an empty list without brackets"
        start, end = self.opening.end_byte, self.closing.start_byte
        last = self.separator if self.trailing else ""
        if self.comments:
            last_comment = self.comments[-1]
            if self.source.is_last_in_line(last_comment.end):
                item = f"{self._newline}{self._inner_indent}{text}{last}"
                is_hanging = self.source.is_first_in_line(end)
                tail = "" if is_hanging else self._newline + self.source.indent_at(self.opening.start_byte)
                return self.source.insert(last_comment.end, item + tail)
            return self.source.insert(last_comment.end, f" {text}")
        if not _NEWLINE.search(self.source.data, start, end):
            return self.source.replace(start, end, text)
        closing_indent = self.source.indent_at(end)
        inner = f"{self._newline}{self._inner_indent}{text}{last}{self._newline}{closing_indent}"
        return self.source.replace(start, end, inner)

    def _append_text(self, text: str) -> list[TextEdit]:
        last = self.items[-1]
        own_line = self.has_own_lines or self._ends_in_line_comment(last)
        if not own_line:
            if last.separator is None:
                return [self.source.insert(last.outer_end, self._joint + text)]
            return [self.source.insert(last.separated_end, f" {text}{self.separator}")]
        start = self._newline + self._inner_indent
        if last.separator is not None:
            return [self.source.insert(last.outer_end, f"{start}{text}{self.separator}")]
        if not last.tail:
            return [self.source.insert(last.end, f"{self.separator}{start}{text}")]
        edits = [self.source.insert(last.end, self.separator)]
        return [*edits, self.source.insert(last.outer_end, start + text)]

    def _ends_in_line_comment(self, item: ListItem) -> bool:
        return bool(item.tail) and self._is_line_comment(item.tail[-1])

    def _is_line_comment(self, comment: Span) -> bool:
        return bool(_LINE_COMMENT.match(self.source.slice(comment.start, comment.end)))

    def _removal_spans(self, numbers: Sequence[int], removals: set[int]) -> Iterator[Span]:
        remaining = [number for number in range(len(self.items)) if number not in removals]
        last = remaining[-1] if remaining else None
        run = self._closing_run(last) if last is not None else None
        if run is not None:
            yield run
            numbers = [number for number in numbers if last is not None and number < last]
        for number in numbers:
            if last is not None and number > last:
                yield self._span_at_end(number, last)
            else:
                yield self._span_before_next(number, removals)
        if last is not None and last < len(self.items) - 1 and not self.has_trailing_separator:
            separator = self.items[last].separator
            assert separator is not None, "BUG: an item without a separator before another"
            yield separator

    def _closing_run(self, last: int) -> Span | None:
        """All behind the last item that stays, where the bracket closes in the line of what goes."""
        item, end = self.items[last], self.items[-1]
        if end is item or not self._closes_in_line(end) or self._ends_in_line_comment(item):
            return None
        is_free = self._is_free_between(item.outer_end, end.outer_end)
        return Span(item.outer_end, end.outer_end) if is_free else None

    def _span_before_next(self, number: int, removals: set[int]) -> Span:
        """What goes with an item that others stay behind, or that is alone with free comments."""
        item = self.items[number]
        if lines := self._whole_lines(item):
            return lines
        start = item.outer_start
        following = self.items[number + 1] if number + 1 < len(self.items) else None
        if following is None:
            return Span(start, item.outer_end)
        if not self._has_newline(item.outer_end, following.outer_start):
            return Span(start, following.outer_start)
        previous = self._end_before(number, removals)
        keeps_tail = self._shares_line(number, set(range(len(self.items))) - removals)
        end = item.separated_end if keeps_tail else item.outer_end
        if previous is not None:
            return Span(previous, end)
        if self._is_free_between(item.outer_end, following.start) and not following.lead:
            return Span(start, following.outer_start)
        return Span(start, item.outer_end)

    def _end_before(self, number: int, removals: set[int]) -> int | None:
        """Where an item before this one in its line ends, with its separator; None where that stays not."""
        if number == 0:
            return None
        previous = self.items[number - 1]
        if self._has_newline(previous.outer_end, self.items[number].outer_start):
            return None
        if number - 1 not in removals:
            return previous.outer_end
        return self._end_before(number - 1, removals)

    def _span_at_end(self, number: int, last: int) -> Span:
        """What goes with an item that none stays behind."""
        item, previous = self.items[number], self.items[number - 1]
        is_last = number == len(self.items) - 1
        if (lines := self._whole_lines(item)) and not (is_last and self._closes_in_line(item)):
            return lines
        keeps_tail = self._shares_line(number, set(range(last + 1)))
        end = item.separated_end if keeps_tail else item.outer_end
        if self._ends_in_line_comment(previous) and number - 1 == last:
            # What stands behind the comment has to stay on a line of its own.
            return Span(item.outer_start, end)
        return Span(previous.outer_end, end)

    def _closes_in_line(self, item: ListItem) -> bool:
        closing = self.closing
        return closing is not None and not self._has_newline(item.outer_end, closing.start_byte)

    def _whole_lines(self, item: ListItem) -> Span | None:
        """The lines of an item that has them for itself."""
        source = self.source
        if not (source.is_first_in_line(item.outer_start) and source.is_last_in_line(item.outer_end)):
            return None
        start, end = source.line_start(item.outer_start), source.next_line(item.outer_end)
        if end == len(source.data) and not source.data.endswith((b"\n", b"\r")):
            return None
        before = source.line_start(start - 1) if start else 0
        if start and source.is_last_in_line(before):
            after = source.data[end : source.line_end(end)].strip()
            if not after or (self.closing is not None and self.closing.start_byte <= source.line_end(end)):
                start = before
        return Span(start, end)

    def _shares_line(self, number: int, remaining: set[int]) -> bool:
        """Whether another item that stays ends or begins in the line in which an item ends."""
        item = self.items[number]
        line = self.source.line_of(item.end)
        return any(
            line in (self.source.line_of(self.items[other].start), self.source.line_of(self.items[other].end))
            for other in remaining
        )

    def _notes_of(self, number: int, remaining: set[int]) -> list[str]:
        item = self.items[number]
        comments = list(item.lead)
        for comment in item.tail:
            is_kept = comment.start > item.separated_end and self._shares_line(number, remaining)
            comments += [] if is_kept else [comment]
        name = self.source.slice(item.start, item.end)
        return [
            f"The comment `{self.source.slice(*comment).strip()}` belongs to `{name}` and goes with it."
            for comment in comments
        ]

    def _has_newline(self, start: int, end: int) -> bool:
        return _NEWLINE.search(self.source.data, start, end) is not None

    def _is_free_between(self, start: int, end: int) -> bool:
        return not any(start <= comment.start < end for comment in self.comments)


def list_of(
    source: Source,
    node: Node,
    *,
    is_item: Callable[[Node], bool] | None = None,
    separator: str = ",",
    trailing: bool = False,
) -> SeparatedList:
    """The list that the children of a node are; `is_item` says which of them are items where others are not.

    Brackets are found among the children. What stands between two separators is one item, so that attributes
    before a parameter and paths in a token tree belong to it.
    """
    children = node.children
    opening, closing, inner = _list_window(children, is_item)
    items: list[ListItem] = []
    group: list[Node] = []
    comments: list[Node] = []
    for child in inner:
        if child.is_extra and not child.is_error:
            comments += [child] if "comment" in child.type else []
        elif child.type == separator and not child.is_named:
            if not group:
                raise OperationRefused("The list has an empty place between two separators.", child)
            items.append(ListItem(group, Span(child.start_byte, child.end_byte), [], []))
            group = []
        else:
            group.append(child)
    if group:
        items.append(ListItem(group, None, [], []))
    result = SeparatedList(source, items, opening, closing, [], separator, trailing)
    result.is_continued = any(child.type == "line_continuation" for child in inner)
    result.comments = _assign_comments(result, [_comment_span(source, one) for one in comments])
    return result


def _list_window(
    children: Sequence[Node], is_item: Callable[[Node], bool] | None
) -> tuple[Node | None, Node | None, Sequence[Node]]:
    """The brackets of a list, and what stands between them; from the first item on where there are none."""
    numbers = [number for number, child in enumerate(children) if is_item and is_item(child)]
    first = numbers[0] if numbers else len(children)
    last = numbers[-1] if numbers else -1
    openings = [number for number, child in enumerate(children[:first]) if child.type in _OPENING]
    if openings:
        start = openings[0]
        closings = [
            number
            for number, child in enumerate(children)
            if number > max(start, last) and child.type in _CLOSING
        ]
        if closings:
            return children[start], children[closings[-1]], children[start + 1 : closings[-1]]
    if is_item is None:
        return None, None, children
    return None, None, children[first : _end_of_bare_list(children, last)] if numbers else []


def _end_of_bare_list(children: Sequence[Node], last: int) -> int:
    """One behind the last item, or behind the separator that follows it."""
    end = last + 1
    return end + 1 if end < len(children) and children[end].type == "," else end


def _comment_span(source: Source, node: Node) -> Span:
    # A node of a doc comment may hold the end of its line.
    text = source.data[node.start_byte : node.end_byte].rstrip()
    return Span(node.start_byte, node.start_byte + len(text))


def _assign_comments(items_of: SeparatedList, comments: Sequence[Span]) -> list[Span]:
    """Gives comments to the items that they belong to, and returns those that belong to none."""
    free = []
    for comment in comments:
        if any(item.start < comment.start < item.end for item in items_of.items):
            continue  # inside of an item, it goes wherever that goes
        previous = next((item for item in reversed(items_of.items) if item.end <= comment.start), None)
        following = next((item for item in items_of.items if comment.end <= item.start), None)
        if previous is not None and _is_tail(items_of, previous, following, comment):
            previous.tail.append(comment)
        elif following is None or not _is_lead(items_of, comment):
            free.append(comment)
        else:
            following.lead.append(comment)
    return _drop_detached(items_of, free)


def _is_tail(items_of: SeparatedList, item: ListItem, following: ListItem | None, comment: Span) -> bool:
    source = items_of.source
    if item.separator and comment.end <= item.separator.start:
        return True
    if _NEWLINE.search(source.data, item.separated_end, comment.start):
        return False
    if following is None or source.is_last_in_line(comment.end):
        return True
    return _NEWLINE.search(source.data, comment.end, following.start) is not None


def _is_lead(items_of: SeparatedList, comment: Span) -> bool:
    source = items_of.source
    if not source.is_first_in_line(comment.start):
        return not source.is_last_in_line(comment.end)
    return _REGION.search(source.slice(*comment)) is None


def _drop_detached(items_of: SeparatedList, free: list[Span]) -> list[Span]:
    """Takes from items the comments that a blank line, or a comment that belongs to none, stands behind."""
    data = items_of.source.data
    for item in items_of.items:
        ends = [*(comment.start for comment in item.lead), item.start]
        starts = [comment.end for comment in item.lead]
        for number in reversed(range(len(starts))):
            start, end = starts[number], ends[number + 1]
            is_apart = len(_NEWLINE.findall(data, start, end)) > 1
            if is_apart or any(start <= comment.start < end for comment in free):
                free = [*free, *item.lead[: number + 1]]
                item.lead = item.lead[number + 1 :]
                break
    return sorted(free)


def _merged_spans(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap or touch as one."""
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.start <= result[-1].end:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return result
