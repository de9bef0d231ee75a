"""Finds the elements that a CSS selector names in an HTML file."""

from collections.abc import Callable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from tree_sitter import Node

from codeplane.core.errors import InvalidArgument
from codeplane.languages.html.element_tree import Document, Element
from codeplane.languages.html.open_elements import MOST_LEVELS, TooDeep
from codeplane.languages.html.selector_syntax import (
    AttributeTest,
    Complex,
    Compound,
    LogicalTest,
    NthTest,
    PlainTest,
    Test,
    TypeTest,
    parse_selector,
)
from codeplane.languages.html.tag_names import CASELESS_VALUES
from codeplane.languages.html.tokens import SPACES
from codeplane.languages.html.tree_builder import build_tree
from codeplane.languages.operations.operation import Match
from codeplane.languages.operations.source import Source

_TAGS: Final = frozenset(("start_tag", "self_closing_tag"))
_documents: WeakKeyDictionary[Source, Document] = WeakKeyDictionary()


def document_of(source: Source) -> Document:
    """The tree of a file, built once; `InvalidArgument` where it is deeper than browsers have it."""
    document = _documents.get(source)
    if document is None:
        is_xml = source.path.lower().endswith(".xhtml")
        try:
            document = build_tree(source.data, is_xml=is_xml)
        except TooDeep:
            raise InvalidArgument(
                f"The elements of the file are nested more than {MOST_LEVELS} deep."
            ) from None
        _documents[source] = document
    return document


def select(source: Source, selector: str) -> Sequence[Match]:
    """The elements that a selector names, each by its start tag, in the order of the file.

    What is inside of comments, raw text and templates is no element of the file, and an element that is
    implied has nothing to edit.
    """
    elements = select_elements(document_of(source), parse_selector(selector))
    tags = _tags_at(source.root, [element.start for element in elements])
    return [_match_of(source, element, tags) for element in elements]


def select_elements(document: Document, selectors: Sequence[Complex]) -> list[Element]:
    """The elements of a document that one of the selectors names, in order."""
    matcher = Matcher(document)
    return [
        element
        for element in document.elements
        if not _is_in_template(element) and matcher.matches_any(element, selectors)
    ]


def _is_in_template(element: Element) -> bool:
    return any(item.name == "template" and item.is_html for item in element.ancestors())


def _match_of(source: Source, element: Element, tags: dict[int, Node]) -> Match:
    node = tags.get(element.start)
    if node is None or node.end_byte != element.start_tag.end:
        # The grammar reads the tag in another way: the operations refuse what it could not read.
        node = node or source.root
        return Match(node)
    return Match(
        node, {"tag": [node], "name": [child for child in node.children if child.type == "tag_name"]}
    )


def _tags_at(root: Node, offsets: Sequence[int]) -> dict[int, Node]:
    """The nodes of tags by where they begin. Only nodes that hold one of the offsets are gone through."""
    tags: dict[int, Node] = {}
    waiting = [(root, list(offsets))]
    while waiting:
        node, inside = waiting.pop()
        if node.type in _TAGS:
            tags[node.start_byte] = node
            continue
        index = 0
        for child in node.children:
            while index < len(inside) and inside[index] < child.start_byte:
                index += 1
            first = index
            while index < len(inside) and inside[index] < child.end_byte:
                index += 1
            if index > first:
                waiting.append((child, inside[first:index]))
    return tags


class Matcher:
    """Matches elements of one document against selectors; remembers what it has found out."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._results: dict[tuple[int, int, int], bool] = {}
        self._positions: dict[tuple[int, int], dict[int, int]] = {}
        self._alive: list[object] = []  # keeps what ids stand for

    def matches_any(self, element: Element, selectors: Sequence[Complex]) -> bool:
        """Whether one of the selectors names an element."""
        return any(self._matches(element, item, len(item.compounds) - 1) for item in selectors)

    def _matches(self, element: Element, selector: Complex, index: int) -> bool:
        key = (id(element), id(selector), index)
        result = self._results.get(key)
        if result is None:
            result = self._results[key] = self.has_all(element, selector.compounds[index].tests) and (
                index == 0 or self._is_placed(element, selector, index)
            )
            self._alive.append(selector)
        return result

    def _is_placed(self, element: Element, selector: Complex, index: int) -> bool:
        combinator = selector.compounds[index].combinator
        if combinator == ">":
            parent = _parent_of(element)
            return parent is not None and self._matches(parent, selector, index - 1)
        siblings = _siblings_of(element)
        if combinator == "+":
            return element.position > 0 and self._matches(siblings[element.position - 1], selector, index - 1)
        others = element.ancestors() if combinator == " " else iter(siblings[: element.position])
        return any(self._matches(item, selector, index - 1) for item in others)

    def has_all(self, element: Element, tests: Sequence[Test]) -> bool:
        """Whether an element passes all tests."""
        return all(self.has_passed(element, test) for test in tests)

    def has_passed(self, element: Element, test: Test) -> bool:
        """Whether an element passes a test."""
        if isinstance(test, TypeTest):
            return element.name == (test.name.lower() if element.is_html else test.name)
        if isinstance(test, AttributeTest):
            return self._has_attribute(element, test)
        if isinstance(test, NthTest):
            return self._is_nth(element, test)
        if isinstance(test, LogicalTest):
            if test.name == "has":
                return any(self._has_relative(element, item) for item in test.selectors)
            return self.matches_any(element, test.selectors) == (test.name == "is")
        return self._is_plain(element, test)

    def _has_attribute(self, element: Element, test: AttributeTest) -> bool:
        name = test.name.lower() if element.is_html else test.name
        value = element.values(self.document.data, self.document.is_xml).get(name)
        if value is None:
            return False
        if not test.operator:
            return True
        target = test.value
        is_caseless = test.flag == "i" or (not test.flag and element.is_html and name in CASELESS_VALUES)
        if is_caseless and not test.is_short:
            value, target = ascii_lower(value), ascii_lower(target)
        return _OPERATORS[test.operator](value, target)

    def _is_nth(self, element: Element, test: NthTest) -> bool:
        if test.selectors and not self.matches_any(element, test.selectors):
            return False
        position = self._position_of(element, test)
        if test.step == 0:
            return position == test.offset
        return (position - test.offset) % test.step == 0 and (position - test.offset) // test.step >= 0

    def _position_of(self, element: Element, test: NthTest) -> int:
        key = (id(element.parent), id(test))
        positions = self._positions.get(key)
        if positions is None:
            positions = {}
            counts: dict[tuple[str, str], int] = {}
            siblings = _siblings_of(element)
            for item in reversed(siblings) if test.is_from_end else siblings:
                if test.selectors and not self.matches_any(item, test.selectors):
                    continue
                group = (item.name, item.namespace) if test.is_of_type else ("", "")
                counts[group] = positions[id(item)] = counts.get(group, 0) + 1
            self._positions[key] = positions
            self._alive.append(test)
        return positions[id(element)]

    def _is_plain(self, element: Element, test: PlainTest) -> bool:
        siblings = _siblings_of(element)
        if test.name == "root":
            return self.document.root.elements == [element] and (
                self.document.is_page or self.document.is_xml
            )
        if test.name == "only-child":
            return len(siblings) == 1
        if test.name == "only-of-type":
            same = [
                item for item in siblings if (item.name, item.namespace) == (element.name, element.namespace)
            ]
            return len(same) == 1
        return not element.children

    def _has_relative(self, element: Element, selector: Complex) -> bool:
        """Whether something that stands to the element as the selector says is there."""
        first, *rest = selector.compounds
        is_inside = first.combinator in (" ", ">")
        waiting = list(element.elements if is_inside else _siblings_of(element)[element.position + 1 :])
        is_deep = first.combinator == " " or bool(rest)
        while waiting:
            candidate = waiting.pop()
            if self._is_reached(candidate, selector, len(selector.compounds) - 1, element):
                return True
            if is_deep:
                waiting += candidate.elements
        return False

    def _is_reached(self, element: Element, selector: Complex, index: int, anchor: Element) -> bool:
        """Whether an element ends a chain of a selector that begins at the anchor."""
        compound: Compound = selector.compounds[index]
        if not self.has_all(element, compound.tests):
            return False
        siblings = _siblings_of(element)
        before: Sequence[Element]
        if compound.combinator == ">":
            parent = _parent_of(element)
            before = [parent] if parent else []
        elif compound.combinator == "+":
            before = siblings[element.position - 1 : element.position] if element.position else []
        elif compound.combinator == "~":
            before = siblings[: element.position]
        else:
            before = list(element.ancestors())
        if index == 0:
            return any(item is anchor for item in before)
        return any(self._is_reached(item, selector, index - 1, anchor) for item in before)


def _parent_of(element: Element) -> Element | None:
    return element.parent if element.parent is not None and element.parent.parent is not None else None


def _siblings_of(element: Element) -> list[Element]:
    assert element.parent is not None, "BUG: an element without a place"
    return element.parent.elements


def ascii_lower(text: str) -> str:
    """A text in lower case, as HTML compares: letters beyond ASCII stay."""
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in text)


def tokens_of(value: str) -> list[str]:
    """The tokens of a list that is separated by white space."""
    return value.translate(_SPACE_TABLE).split(" ") if value else []


_SPACE_TABLE: Final = dict.fromkeys(SPACES, " ")
_OPERATORS: Final[dict[str, Callable[[str, str], bool]]] = {
    "=": lambda value, target: value == target,
    "~=": lambda value, target: bool(target) and target in tokens_of(value),
    "|=": lambda value, target: value == target or value.startswith(f"{target}-"),
    "^=": lambda value, target: bool(target) and value.startswith(target),
    "$=": lambda value, target: bool(target) and value.endswith(target),
    "*=": lambda value, target: bool(target) and target in value,
}
