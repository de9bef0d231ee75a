"""The stack of open elements while a tree is built, and the list of formatting elements that go on."""

from collections.abc import Collection
from typing import Final

from codeplane.languages.html.element_tree import Document, Element, Fault, Text
from codeplane.languages.html.tag_names import (
    BUTTON_SCOPE,
    IMPLIED_END,
    MATHML_TEXT,
    OPTIONAL_END,
    SCOPE,
    SPECIAL,
    SVG_HTML,
    TABLE_CONTEXT,
)
from codeplane.languages.html.tokens import END, Token

_FOREIGN_SCOPE: Final = MATHML_TEXT | SVG_HTML | {"annotation-xml"}
_ROUNDS: Final = 8  # of the adoption agency, by the standard
_EQUAL_FORMATTING: Final = 3
MOST_LEVELS: Final = 512  # browsers go no deeper


class TooDeep(Exception):
    """Elements are nested deeper than browsers have them."""


class OpenElements:
    """The open elements of a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.stack: list[Element] = [document.root]
        self.formatting: list[Element | None] = []  # None is a marker: what is before it does not go on
        self.is_fostering = False

    @property
    def current(self) -> Element:
        """The innermost open element."""
        return self.stack[-1]

    def report(self, offset: int, reason: str) -> None:
        """Remembers a fault."""
        self.document.faults.append(Fault(offset, reason))

    def has_in_scope(self, names: Collection[str], limits: Collection[str] = SCOPE) -> bool:
        """Whether an element of one of these names is open, and no boundary inside of it."""
        for element in reversed(self.stack):
            if element.is_html and element.name in names:
                return True
            if element.name in (limits if element.is_html else _FOREIGN_SCOPE):
                return False
        return False

    def has_template(self) -> bool:
        """Whether a template is open."""
        return any(element.name == "template" and element.is_html for element in self.stack)

    def push(
        self, name: str, tag: Token | None, namespace: str = "html", *, is_implied: bool = False
    ) -> Element:
        """Opens an element where the standard places it."""
        if len(self.stack) > MOST_LEVELS:
            raise TooDeep
        element = Element(name, namespace, tag, is_implied)
        self.place(element)
        if not is_implied:
            self.document.elements.append(element)
        self.stack.append(element)
        return element

    def add_text(self, offset: int, is_blank: bool) -> None:
        """Adds a run of text where the standard places it."""
        text = Text(offset, is_blank)
        self.place(text)
        self.document.texts.append(text)

    def place(self, node: Element | Text) -> None:
        """Gives a node its place: in the current element, or before the table where that can't hold it."""
        parent, index = self.current, len(self.current.children)
        if self.is_fostering and parent.is_html and parent.name in TABLE_CONTEXT:
            table = next(item for item in reversed(self.stack) if item.name in ("table", "template", ""))
            parent = table.parent or table if table.name == "table" else table
            index = (
                parent.children.index(table)
                if table.name == "table" and table.parent
                else len(parent.children)
            )
        node.parent = parent
        parent.children.insert(index, node)

    def pop(self, offset: int, end_tag: Token | None = None) -> Element:
        """Closes the innermost element: by its end tag, or because of what stands at `offset`."""
        element = self.stack.pop()
        element.end = end_tag.end if end_tag else offset
        element.end_tag = end_tag
        if end_tag is None and not element.is_implied and element.name not in OPTIONAL_END:
            self.report(offset, f"`<{element.name}>` is not closed")
        return element

    def drop(self, element: Element) -> None:
        """Closes an element that has no content and no end tag."""
        self.stack.remove(element)
        element.end = element.start_tag.end

    def pop_until(self, names: Collection[str], offset: int, end_tag: Token | None = None) -> None:
        """Closes elements up to the first of these names."""
        while not (self.current.is_html and self.current.name in names):
            self.pop(offset)
        self.pop(offset, end_tag)

    def pop_implied(self, offset: int, *, but: str = "", names: Collection[str] = IMPLIED_END) -> None:
        """Closes elements whose end tags may be left out."""
        while self.current.is_html and self.current.name in names and self.current.name != but:
            self.pop(offset)

    def close_paragraph(self, offset: int) -> None:
        """Closes the paragraph that a block element can't stand in."""
        if self.has_in_scope(("p",), BUTTON_SCOPE):
            self.pop_implied(offset, but="p")
            self.pop_until(("p",), offset)

    def add_marker(self) -> None:
        """Begins a part of the document that formatting elements don't go on into."""
        self.formatting.append(None)

    def clear_to_marker(self) -> None:
        """Ends such a part."""
        while self.formatting and self.formatting.pop() is not None:
            pass

    def last_formatting(self, name: str) -> Element | None:
        """The last formatting element of a name since the last marker."""
        for entry in reversed(self.formatting):
            if entry is None:
                return None
            if entry.name == name:
                return entry
        return None

    def add_formatting(self, element: Element) -> None:
        """Notes a formatting element: it goes on where it was not closed."""
        equal = []
        for entry in reversed(self.formatting):
            if entry is None:
                break
            if self._signature(entry) == self._signature(element):
                equal.append(entry)
        if len(equal) >= _EQUAL_FORMATTING:
            self.formatting.remove(equal[-1])
        self.formatting.append(element)

    def _signature(self, element: Element) -> tuple[str, frozenset[tuple[str, str]]]:
        return element.name, frozenset(element.values(self.document.data, False).items())

    def reconstruct_formatting(self) -> None:
        """Opens formatting elements again that were closed by the end of something around them."""
        index = len(self.formatting)
        while index and (entry := self.formatting[index - 1]) is not None and entry not in self.stack:
            index -= 1
        for position in range(index, len(self.formatting)):
            entry = self.formatting[position]
            assert entry is not None, "BUG: a marker among formatting elements"
            self.formatting[position] = self.push(entry.name, entry.tag, is_implied=True)

    def close_formatting(self, name: str, tag: Token) -> None:
        """Closes a formatting element as the adoption agency of the standard does."""
        current = self.current
        if current.name == name and current not in self.formatting:
            self.pop(tag.start, tag)
            return
        for _ in range(_ROUNDS):
            element = self.last_formatting(name)
            if element is None:
                self.close_ordinary(name, tag)
                return
            if element not in self.stack or not self.has_in_scope((name,)):
                self.report(tag.start, f"`</{name}>` closes nothing")
                if element not in self.stack:
                    self.formatting.remove(element)
                return
            if self._adopt(element, tag):
                return

    def _adopt(self, element: Element, tag: Token) -> bool:
        """One round: whether it was the last one."""
        depth = self.stack.index(element)
        block = next((item for item in self.stack[depth:] if is_special(item)), None)
        own_tag = tag if tag.kind == END else None  # a second `<a>` closes the first one
        if block is None:
            while self.current is not element:
                self.pop(tag.start)
            self.pop(tag.start, own_tag)
            self.formatting.remove(element)
            return True
        self.report(tag.start, f"`</{element.name}>` closes an element across others")
        if own_tag:
            element.end_tag, element.end = own_tag, own_tag.end
        self._move_across(element, block, depth)
        return False

    def _move_across(self, element: Element, block: Element, depth: int) -> None:
        common = self.stack[depth - 1]
        bookmark = self.formatting.index(element)
        last = block
        index = self.stack.index(block)
        for count in range(1, index - depth):
            index -= 1
            node = self.stack[index]
            if count > 3 and node in self.formatting:
                bookmark -= self.formatting.index(node) < bookmark
                self.formatting.remove(node)
            if node not in self.formatting:
                del self.stack[index]
                continue
            twin = Element(node.name, node.namespace, node.tag, True)
            self.formatting[self.formatting.index(node)] = twin
            self.stack[index] = twin
            if last is block:
                bookmark = self.formatting.index(twin) + 1
            _reparent(last, twin)
            last = twin
        _reparent(last, common)
        twin = Element(element.name, element.namespace, element.tag, True)
        for child in list(block.children):
            _reparent(child, twin)
        _reparent(twin, block)
        position = self.formatting.index(element)
        del self.formatting[position]
        self.formatting.insert(bookmark - (position < bookmark), twin)
        self.stack.remove(element)
        self.stack.insert(self.stack.index(block) + 1, twin)

    def close_ordinary(self, name: str, tag: Token) -> None:
        """Closes the innermost element of a name, unless a block is between."""
        for element in reversed(self.stack):
            if element.name == name and element.is_html:
                self.pop_implied(tag.start, but=name)
                while self.current is not element:
                    self.pop(tag.start)
                self.pop(tag.start, tag)
                return
            if element.name == "" or is_special(element):
                break
        self.report(tag.start, f"`</{name}>` closes nothing")


def is_special(element: Element) -> bool:
    """Whether end tags of others don't reach across an element."""
    return element.name in (SPECIAL if element.is_html else _FOREIGN_SCOPE)


def _reparent(node: Element | Text, parent: Element) -> None:
    if node.parent is not None:
        node.parent.children.remove(node)
    node.parent = parent
    parent.children.append(node)
