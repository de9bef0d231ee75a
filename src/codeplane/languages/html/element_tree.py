"""The elements of an HTML file as a browser sees them, each with the bytes that it is written with."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.languages.html.tag_names import SVG_ATTRIBUTES
from codeplane.languages.html.tokens import Attribute, Token, decode_value

_TEMPLATE: Final = re.compile(rb"\{\{|\{%|%\}|\{#|<\?|<%|%>")


class Fault(NamedTuple):
    """A place where the tags of a file are not what its tree is: a stray end tag, an element left open."""

    offset: int
    reason: str


class Text:
    """A run of text."""

    __slots__ = ("is_blank", "offset", "parent")

    def __init__(self, offset: int, is_blank: bool) -> None:
        self.offset = offset
        self.is_blank = is_blank
        self.parent: Element | None = None


class Element:
    """An element. One that is implied, such as a `tbody`, has no tag of its own and is never a target."""

    __slots__ = (
        "_values", "children", "elements", "end", "end_tag", "is_implied", "name", "namespace", "parent",
        "position", "tag",
    )  # fmt: skip

    def __init__(self, name: str, namespace: str, tag: Token | None, is_implied: bool) -> None:
        self.name = name
        self.namespace = namespace
        self.tag = tag
        self.is_implied = is_implied
        self.parent: Element | None = None
        self.children: list[Element | Text] = []
        self.elements: list[Element] = []  # its child elements, once the tree is complete
        self.position = 0  # among the elements of its parent
        self.end_tag: Token | None = None
        self.end = 0
        self._values: dict[str, str] | None = None

    @property
    def start_tag(self) -> Token:
        """The tag that it begins with; only for an element that is written."""
        assert self.tag is not None, f"BUG: {self.name} is implied"
        return self.tag

    @property
    def start(self) -> int:
        """The first byte of its start tag."""
        return self.start_tag.start

    @property
    def is_html(self) -> bool:
        """Whether it is of HTML itself, not of SVG, MathML or XML."""
        return self.namespace == "html"

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of a name, in lower case; the first one where it is written twice."""
        return next((item for item in self.tag.attributes if item.name == name), None) if self.tag else None

    def values(self, data: bytes, is_xml: bool) -> dict[str, str]:
        """The values of the attributes by name, spelled as selectors have to spell it."""
        if self._values is None:
            self._values = {}
            for item in self.tag.attributes if self.tag else ():
                raw = data[item.value_start : item.value_end].decode("utf-8", "surrogateescape")
                self._values.setdefault(self._spelled(item, data, is_xml), decode_value(raw))
        return self._values

    def _spelled(self, attribute: Attribute, data: bytes, is_xml: bool) -> str:
        if is_xml:
            return data[attribute.start : attribute.name_end].decode("utf-8", "surrogateescape")
        return (
            SVG_ATTRIBUTES.get(attribute.name, attribute.name) if self.namespace == "svg" else attribute.name
        )

    def ancestors(self) -> Iterator["Element"]:
        """The elements around it, from the innermost one."""
        node = self.parent
        while node is not None and node.parent is not None:
            yield node
            node = node.parent


@dataclass
class Document:
    """A file as a tree. `root` stands for the file itself and is no element."""

    data: bytes
    is_xml: bool = False
    is_page: bool = False  # with `html`, `head` and `body`; otherwise a fragment
    root: Element = field(default_factory=lambda: Element("", "html", None, True))
    elements: list[Element] = field(default_factory=list)  # those that are written, in order
    texts: list[Text] = field(default_factory=list)
    comments: list[Token] = field(default_factory=list)
    islands: list[Token] = field(default_factory=list)  # code of the server, CDATA
    tags: list[Token] = field(default_factory=list)  # all tags, those without an element among them
    faults: list[Fault] = field(default_factory=list)

    @cached_property
    def template_tag(self) -> Token | None:
        """The first tag with template syntax inside: what is an attribute there is not to be known."""
        if not _TEMPLATE.search(self.data) and b"{" not in self.data:
            return None
        return next((tag for tag in self.tags if has_template(tag, self.data)), None)

    @cached_property
    def quote(self) -> str:
        """How most values of the file are quoted."""
        quotes = Counter(
            item.quote for tag in self.tags[:5_000] for item in tag.attributes if item.quote is not None
        )
        return quotes.most_common(1)[0][0] or "" if quotes else '"'

    def complete(self) -> None:
        """Numbers the elements once all of them have their place."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            node.elements = [child for child in node.children if isinstance(child, Element)]
            for position, child in enumerate(node.elements):
                child.position = position
            waiting += node.elements
        self.elements.sort(key=_start_of)
        self.faults.sort()

    def element_at(self, offset: int) -> Element | None:
        """The element whose start tag begins at a byte."""
        index = bisect_left(self.elements, offset, key=_start_of)
        is_there = index < len(self.elements) and self.elements[index].start == offset
        return self.elements[index] if is_there else None

    def fault_between(self, start: int, end: int) -> Fault | None:
        """The first fault from one byte to another, both included."""
        index = bisect_left(self.faults, (start, ""))
        return self.faults[index] if index < len(self.faults) and self.faults[index].offset <= end else None

    def comment_before(self, offset: int) -> Token | None:
        """The last comment that ends at a byte or before."""
        index = bisect_right(self.comments, offset, key=_end_of)
        return self.comments[index - 1] if index else None

    def comment_after(self, offset: int) -> Token | None:
        """The first comment that begins at a byte or after."""
        index = bisect_left(self.comments, offset, key=_token_start)
        return self.comments[index] if index < len(self.comments) else None


def has_template(tag: Token, data: bytes) -> bool:
    """Whether a tag has syntax of a template language inside."""
    if _TEMPLATE.search(data, tag.start + 1, tag.end):
        return True
    return any(
        "{" in item.name or (item.quote == "" and data[item.value_start] == 0x7B) for item in tag.attributes
    )


def _start_of(element: Element) -> int:
    return element.start


def _end_of(token: Token) -> int:
    return token.end


def _token_start(token: Token) -> int:
    return token.start
