"""Builds the tree of an HTML file by the rules of the standard: what is implied, and what closes what."""

from typing import Final

from codeplane.languages.html.body_rules import BodyRules, text_of
from codeplane.languages.html.element_tree import Document, Element
from codeplane.languages.html.foreign_content import close_foreign, is_foreign_start, open_foreign
from codeplane.languages.html.open_elements import OpenElements
from codeplane.languages.html.tag_names import (
    HEAD_CONTENT,
    MATHML_TEXT,
    SVG_HTML,
    TABLE_CONTEXT,
    TABLE_IMPLIED_END,
)
from codeplane.languages.html.tokens import (
    BROKEN,
    CDATA,
    COMMENT,
    DOCTYPE,
    END,
    ISLAND,
    START,
    TEXT,
    Scanner,
    Token,
)

_PAGE_TAGS: Final = frozenset(("html", "head", "body", "frameset"))


class _IsPage(Exception):
    """What was taken for a fragment has a tag of a whole page."""


def build_tree(data: bytes, *, is_xml: bool = False) -> Document:
    """The tree of a file; `TooDeep` where it is deeper than browsers have it."""
    if is_xml:
        return _build_xml(data)
    try:
        return _TreeBuilder(data, is_page=False).build()
    except _IsPage:
        return _TreeBuilder(data, is_page=True).build()


def _build_xml(data: bytes) -> Document:
    document = Document(data, is_xml=True)
    elements, scanner = OpenElements(document), Scanner(data)
    while token := scanner.next_token(has_cdata=True):
        if token.kind == START:
            document.tags.append(token)
            elements.push(token.name, token, "xml")
            if token.is_self_closing:
                elements.pop(token.end, token)
                document.elements[-1].end_tag = None
        elif token.kind == END:
            document.tags.append(token)
            if any(item.name == token.name for item in elements.stack):
                while elements.current.name != token.name:
                    elements.pop(token.start)
                elements.pop(token.start, token)
            else:
                elements.report(token.start, f"`</{token.name}>` closes nothing")
        else:
            _add_other(document, elements, token)
    _close_all(elements, len(data))
    document.complete()
    return document


def _add_other(document: Document, elements: OpenElements, token: Token) -> None:
    """Takes a token that is no tag."""
    if token.kind == COMMENT:
        document.comments.append(token)
    elif token.kind == BROKEN:
        elements.report(token.start, "a tag is not ended")
    elif token.kind != DOCTYPE:
        if token.kind in (ISLAND, CDATA):
            document.islands.append(token)
        elements.add_text(*text_of(document.data, token.start, token.end))


def _close_all(elements: OpenElements, offset: int) -> None:
    while len(elements.stack) > 1:
        element = elements.current
        if element.end_tag is not None:
            elements.stack.pop()
        else:
            elements.pop(offset)


class _TreeBuilder:
    def __init__(self, data: bytes, *, is_page: bool) -> None:
        self.document = Document(data, is_page=is_page)
        self.open = OpenElements(self.document)
        self.scanner = Scanner(data)
        self.html: Element | None = None
        self.head: Element | None = None
        self.body: Element | None = None
        self.body_rules = BodyRules(self.open, self.scanner, is_quirky=is_page)
        self.is_framed = False

    def build(self) -> Document:
        while token := self.scanner.next_token(has_cdata=not self.open.current.is_html):
            if token.kind == START:
                self.document.tags.append(token)
                self._start(token)
            elif token.kind == END:
                self.document.tags.append(token)
                self._end(token)
            elif token.kind == DOCTYPE and not self.document.is_page and not self.document.elements:
                raise _IsPage
            elif token.kind == DOCTYPE:
                doctype = self.document.data[token.start : token.end]
                self.body_rules.is_quirky = self.body_rules.is_quirky and _is_quirky(doctype)
            elif token.kind in (TEXT, CDATA, ISLAND):
                self._text(token)
            else:
                _add_other(self.document, self.open, token)
        if self.document.is_page:
            self._open_body(len(self.document.data))
        _close_all(self.open, len(self.document.data))
        self.document.complete()
        return self.document

    def _text(self, token: Token) -> None:
        offset, is_blank = text_of(self.document.data, token.start, token.end)
        if token.kind != TEXT:
            self.document.islands.append(token)
            if token.kind == ISLAND:
                # Code of the server may write anything: it opens nothing.
                self.open.add_text(token.start, False)
                return None
        if (
            self.document.is_page
            and self.body is None
            and not self.is_framed
            and not self.open.has_template()
        ):
            if is_blank:
                return self.open.add_text(offset, True)
            self._open_body(token.start)
        self._note_content_after_body(token, is_blank)
        current = self.open.current
        if current.is_html and current.name in TABLE_CONTEXT and not is_blank:
            self.open.report(token.start, f"text in `<{current.name}>` is shown before the table")
            self.open.is_fostering = True
            self.open.reconstruct_formatting()
            self.open.add_text(offset, is_blank)
            self.open.is_fostering = False
            return None
        if current.is_html and current.name == "colgroup" and not is_blank:
            self.open.pop(token.start)
        is_open_text = current.is_html or current.name in SVG_HTML | MATHML_TEXT
        if is_open_text and current.name not in TABLE_CONTEXT | {"colgroup"}:
            self.open.reconstruct_formatting()
        self.open.add_text(offset, is_blank)
        return None

    def _note_content_after_body(self, token: Token, is_blank: bool = False) -> None:
        if self.body is not None and self.body.end_tag is not None and not is_blank:
            self.open.report(token.start, "content follows `</body>`")

    def _open_html(self, tag: Token | None = None) -> None:
        if self.html is None:
            self.html = self.open.push("html", tag, is_implied=tag is None)

    def _open_head(self, tag: Token | None = None) -> None:
        self._open_html()
        if self.head is None:
            self.head = self.open.push("head", tag, is_implied=tag is None)

    def _close_head(self, offset: int, end_tag: Token | None = None) -> None:
        self._open_head()
        if self.head in self.open.stack:
            while self.open.current is not self.head:
                self.open.pop(offset)
            self.open.pop(offset, end_tag)

    def _open_body(self, offset: int, tag: Token | None = None) -> None:
        if self.body is None and not self.is_framed:
            self._close_head(offset)
            self.body = self.open.push("body", tag, is_implied=tag is None)

    def _start_in_frame(self, token: Token, name: str) -> bool:
        """Takes a tag of the frame of a page, or of its head: whether it did."""
        if not self.document.is_page:
            if name in _PAGE_TAGS and not self.open.has_template() and self.open.current.is_html:
                raise _IsPage
            return False
        if self.open.has_template() or not self.open.current.is_html:
            return False
        if name == "html":
            self._merge(self.html, token) if self.html else self._open_html(token)
            return True
        if name == "head":
            if self.head is None:
                self._open_head(token)
            else:
                self.open.report(token.start, "a second `<head>` is ignored")
            return True
        if self.body is not None or self.is_framed:
            if name in _PAGE_TAGS and not (name == "frameset" and self.is_framed):
                self._merge(self.body if name == "body" else None, token)
                return True
            return False
        if name in HEAD_CONTENT:
            self._start_in_head(token)
            return True
        self._open_body(
            token.start, token if name == "body" else None
        ) if name != "frameset" else self._frame(token)
        return name == "body"

    def _frame(self, token: Token) -> None:
        self._close_head(token.start)
        self.is_framed = True

    def _start_in_head(self, token: Token) -> None:
        head = self.head
        if head is None or head in self.open.stack:
            self._open_head()
            self.body_rules.insert(token, token.name.lower())
            return
        self.open.report(token.start, f"`<{token.name}>` stands after `</head>`, and belongs to the head")
        self.open.stack.append(head)
        self.body_rules.insert(token, token.name.lower())
        self.open.stack.remove(head)

    def _merge(self, element: Element | None, token: Token) -> None:
        """A second `<body>` adds its attributes to the first one; the only one may come late."""
        self.open.report(token.start, f"`<{token.name}>` opens nothing: it is open already")
        if element is not None and element.tag is None:
            element.tag, element.is_implied = token, False
            self.document.elements.append(element)

    def _start(self, token: Token) -> None:
        name = token.name.lower()
        if is_foreign_start(self.open, name) and open_foreign(self.open, token, name):
            return None
        if self._start_in_frame(token, name):
            return None
        self._note_content_after_body(token)
        return self.body_rules.start_tag(token, name)

    def _end(self, token: Token) -> None:
        name, stack, offset = token.name.lower(), self.open, token.start
        if not stack.current.is_html and close_foreign(stack, token, name):
            return
        if name == "template":
            if stack.has_template():
                stack.pop_implied(offset, names=TABLE_IMPLIED_END)
                stack.pop_until(("template",), offset, token)
                stack.clear_to_marker()
            else:
                stack.report(offset, "`</template>` closes nothing")
            return
        if self.document.is_page and self._end_in_frame(token, name):
            return
        self.body_rules.end_tag(token, name)

    def _end_in_frame(self, token: Token, name: str) -> bool:
        if self.open.has_template():
            return False
        if name == "head" and self.body is None and not self.is_framed:
            self._close_head(token.start, token)
            return True
        if name in ("body", "html"):
            self._open_body(token.start)
            for element in [self.body, self.html] if name == "html" else [self.body]:
                if element is not None and element.end_tag is None and element.name == name:
                    self._note_open_elements(token)
                    element.end_tag, element.end = token, token.end
            return True
        if name == "br":
            self._open_body(token.start)
        if self.body is None and not self.is_framed:
            self.open.report(token.start, f"`</{name}>` closes nothing")
            return True
        return False

    def _note_open_elements(self, token: Token) -> None:
        stack = self.open.stack
        start = stack.index(self.body) if self.body in stack else 0
        for element in stack[start + 1 :]:
            if element.name not in TABLE_IMPLIED_END:
                self.open.report(token.start, f"`<{element.name}>` is not closed")


def _is_quirky(doctype: bytes) -> bool:
    """Whether a browser shows a page as one of the nineties: tables stand inside of paragraphs there."""
    text = b" ".join(doctype.lower().split())
    if text in (b"<!doctype html>", b"<!doctypehtml>") or b"about:legacy-compat" in text:
        return False
    if b"//dtd html 4.01 transitional" in text or b"//dtd html 4.01 frameset" in text:
        return b"http" not in text
    return b"public" not in text or not (b"xhtml" in text or b"html 4.01//" in text)
