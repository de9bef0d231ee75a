"""Compares a pattern with nodes, exactly: nothing of a node may be left over but comments.

Where no list of the pattern has two `$$$`, each hole can only stand for one thing, and the comparison goes
straight through. Otherwise `_Search` tries the possible lengths, from the shortest, within a budget.
Neither goes deeper than the pattern does.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.errors import PatternInvalid
from codeplane.languages.patterns.frames import has_equal_quotes
from codeplane.languages.patterns.literals import string_value
from codeplane.languages.patterns.pattern import Part, Pattern, is_verbatim

_MOST_STEPS: Final = 20_000  # of one node: several `$$$` in one list can be given items in very many ways
_MOST_WORDS: Final = 6
_MOST_TOKENS: Final = 20_000  # of what a hole stands for a second time


class Binding(NamedTuple):
    """What a hole stands for: the nodes from one number to another of a list."""

    nodes: Sequence[Node]
    start: int
    end: int


class Difference(NamedTuple):
    """Where a node stops being what a pattern says."""

    part: Part | None  # None where the node has more than the pattern
    node: Node | None  # None where the node has less
    parent: Node
    progress: int  # how many parts agree


class Matcher:
    """Compares nodes of one file with one pattern."""

    def __init__(self, pattern: Pattern, data: bytes) -> None:
        self._pattern = pattern
        self._data = data
        self._comments, self._separators, self._strings, self._names = pattern.kinds
        self._has_equal_quotes = has_equal_quotes(pattern.language)
        self.bindings: dict[str, Binding] = {}
        self._has_choices = pattern.has_choices
        self.difference: Difference | None = None  # the first one of the last comparison
        self._progress = 0

    def match_node(
        self, node: Node, bindings: Mapping[str, Binding] | None = None
    ) -> dict[str, Binding] | None:
        """What the holes stand for where a node is what the pattern says; None where it is not."""
        self.bindings = dict(bindings) if bindings else {}
        self.difference, self._progress = None, 0
        if self._has_choices:
            bindings = _Search(self, self.bindings).run(self._pattern.root, node)
            self.difference = Difference(self._pattern.root, node, node, 0) if bindings is None else None
            return bindings
        return self.bindings if self._agrees(self._pattern.root, node) else None

    def _agrees(self, part: Part, node: Node) -> bool:
        if not part.children:
            return self.has_text_of(part, node)
        if part.kind != node.kind_id:
            return False
        items = self.items_of(part, node)
        ellipsis = part.ellipsis
        children = part.children
        if ellipsis < 0:
            if len(items) != len(children):
                return self._note_length(part, node, items)
            return self._agree_pairs(children, items, node)
        after = len(children) - ellipsis - 1
        stop = len(items) - after
        if stop < ellipsis:
            return self._note_length(part, node, items)
        many = children[ellipsis]
        return (
            self._agree_pairs(children[:ellipsis], items, node)
            and self.can_take(many, items, ellipsis, stop)
            and self._agree_pairs(children[ellipsis + 1 :], items[stop:], node)
            and (not many.hole or self.bind_hole(many.hole, items, ellipsis, stop))
        )

    def _agree_pairs(self, parts: Sequence[Part], nodes: Sequence[Node], parent: Node) -> bool:
        for part, node in zip(parts, nodes, strict=False):
            if part.hole is not None:
                if not node.is_named or (part.hole and not self.bind_hole(part.hole, (node,), 0, 1)):
                    self._note(part, node, parent)
                    return False
            elif not self._agrees(part, node):
                self._note(part, node, parent)
                return False
            self._progress += 1
        return True

    def items_of(self, part: Part, node: Node) -> list[Node]:
        """The children of a node that count: no comments, no separator at the end."""
        comments = self._comments
        items = [child for child in node.children if child.kind_id not in comments]
        if len(items) < 2 or is_verbatim(part.kind_name):
            return items
        if items[-1].kind_id in self._separators:
            return items[:-1]
        if len(items) > 2 and items[-2].kind_id in self._separators and not items[-1].is_named:
            del items[-2]
        return items

    def can_take(self, many: Part, items: Sequence[Node], start: int, stop: int) -> bool:
        """Whether `$$$` can stand for some nodes: separators beside it are there if anything is."""
        if start == stop:
            return True
        if many.has_separator_before:
            return items[start].kind_id in self._separators
        if many.has_separator_after:
            return items[stop - 1].kind_id in self._separators
        return True

    def has_text_of(self, part: Part, node: Node) -> bool:
        """Whether a token, or a string, is the one of the pattern."""
        kind = node.kind_id
        if kind != part.kind and not (kind in self._names and part.kind in self._names):
            return False
        text = self._data[node.start_byte : node.end_byte]
        if text == part.text:
            return True
        if part.value is None or kind not in self._strings:
            return False
        return string_value(node, text, has_equal_quotes=self._has_equal_quotes) == part.value

    def bind_hole(self, name: str, nodes: Sequence[Node], start: int, end: int) -> bool:
        """Lets a hole stand for nodes; one that already stands for some has to stand for equal ones."""
        before = self.bindings.get(name)
        if before is None:
            self.bindings[name] = Binding(nodes, start, end)
            return True
        return self.are_equal(before, Binding(nodes, start, end))

    def are_equal(self, one: Binding, two: Binding) -> bool:
        """Whether two pieces of code have the same tokens, whatever stands between them."""
        first, second = self.bound_items(one), self.bound_items(two)
        if [self._text(node) for node in first] == [self._text(node) for node in second]:
            return True
        tokens = zip(self._tokens(first), self._tokens(second), strict=False)
        count = [len(list(self._tokens(nodes))) for nodes in (first, second)]
        return count[0] == count[1] and all(left == right for left, right in tokens)

    def bound_items(self, binding: Binding) -> list[Node]:
        """The nodes that a hole stands for, without what separates them."""
        nodes = binding.nodes[binding.start : binding.end]
        return [node for node in nodes if node.kind_id not in self._separators or node.is_named]

    def _text(self, node: Node) -> bytes:
        return self._data[node.start_byte : node.end_byte]

    def _tokens(self, nodes: Sequence[Node]) -> Iterator[tuple[int, object]]:
        waiting, count = list(reversed(nodes)), 0
        while waiting and count < _MOST_TOKENS:
            node = waiting.pop()
            if node.kind_id in self._comments:
                continue
            is_string = node.kind_id in self._strings
            if is_string or not node.child_count:
                count += 1
                text = self._text(node)
                value = (
                    string_value(node, text, has_equal_quotes=self._has_equal_quotes) if is_string else None
                )
                yield node.kind_id, (value if value and not self._pattern.is_exact else text)
            else:
                waiting += reversed(node.children)

    def _note_length(self, part: Part, node: Node, items: Sequence[Node]) -> bool:
        """Notes the first child that has no counterpart, or the first part that has none."""
        parts = [
            inner for inner in part.children if inner.kind not in self._separators or inner.hole is not None
        ]
        items = [item for item in items if item.kind_id not in self._separators]
        is_longer = len(items) > len(parts)
        for wanted, item in zip(parts, items, strict=False):
            if not _may_be(wanted, item):
                self._note(None if is_longer else wanted, item if is_longer or item.is_named else None, node)
                return False
            self._progress += 1
        if is_longer:
            self._note(None, items[len(parts)], node)
        elif len(items) < len(parts):
            self._note(parts[len(items)], None, node)
        else:
            self._note(part, node, node)  # nothing but separators differs: `[a, , b]` has a gap
        return False

    def _note(self, part: Part | None, node: Node | None, parent: Node) -> None:
        if self.difference is None:
            self.difference = Difference(part, node, parent, self._progress)


def _may_be(part: Part, node: Node) -> bool:
    if part.hole is not None:
        return node.is_named
    return part.kind == node.kind_id or (not part.children and part.is_named and node.is_named)


class _Goal(NamedTuple):
    """Parts that have yet to be compared with items of one list, and what comes after them."""

    parts: Sequence[Part]
    part: int
    items: Sequence[Node]
    item: int
    rest: "_Goal | None"
    length: int = 0  # of the `$$$` that is next: it stands for so many items at least


class _Search:
    """Compares by trying: what can be given to `$$$` in several ways is given less first."""

    def __init__(self, matcher: Matcher, bindings: dict[str, Binding]) -> None:
        self._matcher = matcher
        self._bindings = bindings
        self._later: list[tuple[_Goal, dict[str, Binding]]] = []

    def run(self, root: Part, node: Node) -> dict[str, Binding] | None:
        goal: _Goal | None = _Goal((root,), 0, (node,), 0, None)
        for _ in range(_MOST_STEPS):
            if goal is None:
                return self._bindings
            following = self._step(goal)
            if following is not _FAILURE:
                goal = following
            elif self._later:
                goal, self._bindings = self._later.pop()
                self._matcher.bindings = self._bindings
            else:
                return None
        raise PatternInvalid(
            "The pattern can be matched in too many ways.",
            hints=["Use one `$$$` in a list, or give the parts between them names of the code."],
        )

    def _step(self, goal: _Goal) -> "_Goal | None":
        parts, number, items, position, rest, _ = goal
        if number == len(parts):
            return rest if position == len(items) else _FAILURE
        part = parts[number]
        if part.is_many:
            return self._take_items(goal)
        if position == len(items):
            return _FAILURE
        node = items[position]
        following = _Goal(parts, number + 1, items, position + 1, rest)
        if part.hole is not None:
            agrees = node.is_named and (not part.hole or self._matcher.bind_hole(part.hole, (node,), 0, 1))
            return following if agrees else _FAILURE
        if not part.children:
            return following if self._matcher.has_text_of(part, node) else _FAILURE
        if part.kind != node.kind_id:
            return _FAILURE
        return _Goal(part.children, 0, self._matcher.items_of(part, node), 0, following)

    def _take_items(self, goal: _Goal) -> "_Goal | None":
        parts, number, items, position, rest, length = goal
        stop = position + length
        fewest = sum(not part.is_many for part in parts[number + 1 :])
        if stop > len(items) - fewest:
            return _FAILURE
        if stop < len(items) - fewest:
            self._later.append((goal._replace(length=length + 1), dict(self._bindings)))
        many = parts[number]
        if not self._matcher.can_take(many, items, position, stop):
            return _FAILURE
        if many.hole and not self._matcher.bind_hole(many.hole, items, position, stop):
            return _FAILURE
        return _Goal(parts, number + 1, items, stop, rest)


_FAILURE: Final = _Goal((), 0, (), 0, None, -1)


def literal_texts(pattern: Pattern) -> list[bytes]:
    """Words that every match contains, the longest ones: a file without them needs no parser."""
    return sorted((word.encode() for word in pattern.words), key=len, reverse=True)[:_MOST_WORDS]
