"""Builds the tree of an HTML file by the rules of the standard: what is implied, and what closes what."""

from typing import Final

from codeplane.languages.html.element_tree import Document, Element
from codeplane.languages.html.open_elements import OpenElements
from codeplane.languages.html.tag_names import (
    BREAKOUT,
    CELLS,
    CLOSES_PARAGRAPH,
    FORMATTING,
    HEAD_CONTENT,
    HEADINGS,
    LIST_SCOPE,
    MARKED,
    MATHML_TEXT,
    RAW_TEXT,
    SECTIONS,
    SPECIAL,
    SVG_HTML,
    SVG_NAMES,
    TABLE_CONTEXT,
    TABLE_IMPLIED_END,
    TABLE_PARTS,
    TABLE_SCOPE,
    VOID,
)
from codeplane.languages.html.tokens import (
    BROKEN,
    CDATA,
    COMMENT,
    DOCTYPE,
    END,
    ISLAND,
    SPACES,
    START,
    TEXT,
    Scanner,
    Token,
)

_PAGE_TAGS: Final = frozenset(("html", "head", "body", "frameset"))
_FRESH: Final = CLOSES_PARAGRAPH - {"xmp"} | HEAD_CONTENT | TABLE_PARTS | {
    "param", "source", "track", "table", "iframe", "noembed", "textarea", "rb", "rtc", "rp", "rt"
}  # fmt: skip
"""Elements that open no formatting elements again."""
_NO_BLOCK_ENDS: Final = HEADINGS | {"p", "li", "dd", "dt", "hr", "xmp", "plaintext", "form"}
_BLOCK_ENDS: Final = CLOSES_PARAGRAPH - _NO_BLOCK_ENDS | {"button", "select", *MARKED}


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
            if any(one.name == token.name for one in elements.stack):
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


def text_of(data: bytes, start: int, end: int) -> tuple[int, bool]:
    """Where a text shows its first letter, and whether it has none."""
    rest = data[start:end].lstrip(SPACES)
    return end - len(rest), not rest


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
        self.form: Element | None = None
        self.is_quirky = is_page
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
                self.is_quirky = self.is_quirky and _is_quirky(self.document.data[token.start : token.end])
            elif token.kind in (TEXT, CDATA, ISLAND):
                self._text(token)
            else:
                _add_other(self.document, self.open, token)
        if self.document.is_page:
            self._open_body(len(self.document.data))
        _close_all(self.open, len(self.document.data))
        self.document.complete()
        return self.document

    # Text

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
        if current.name == "colgroup" and not is_blank:
            self.open.pop(token.start)
        if current.is_html and current.name not in TABLE_CONTEXT:
            self.open.reconstruct_formatting()
        self.open.add_text(offset, is_blank)
        return None

    def _note_content_after_body(self, token: Token, is_blank: bool = False) -> None:
        if self.body is not None and self.body.end_tag is not None and not is_blank:
            self.open.report(token.start, "content follows `</body>`")

    # The frame of a page

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
            self._insert(token, token.name.lower())
            return
        self.open.report(token.start, f"`<{token.name}>` stands after `</head>`, and belongs to the head")
        self.open.stack.append(head)
        self._insert(token, token.name.lower())
        self.open.stack.remove(head)

    def _merge(self, element: Element | None, token: Token) -> None:
        """A second `<body>` adds its attributes to the first one; the only one may come late."""
        self.open.report(token.start, f"`<{token.name}>` opens nothing: it is open already")
        if element is not None and element.tag is None:
            element.tag, element.is_implied = token, False
            self.document.elements.append(element)

    # Start tags

    def _start(self, token: Token) -> None:
        name = token.name.lower()
        if self._is_foreign(name):
            return self._start_foreign(token, name)
        if self._start_in_frame(token, name):
            return None
        self._note_content_after_body(token)
        return self._start_in_body(token, name)

    def _start_in_body(self, token: Token, name: str) -> None:
        current = self.open.current
        if name in TABLE_PARTS:
            return self._start_table_part(token, name)
        if current.is_html and current.name == "colgroup" and name not in ("template", "col"):
            self.open.pop(token.start)
            current = self.open.current
        if not (current.is_html and current.name in TABLE_CONTEXT) or self.open.is_fostering:
            return self._start_block(token, name)
        if name == "table":
            self.open.report(token.start, "`<table>` stands directly in a table")
            self.open.pop_until(("table",), token.start)
            return self._start_in_body(token, name)
        if name in ("style", "script", "template") or (name == "input" and self._is_hidden(token)):
            self._insert(token, name)
            return None
        self.open.report(token.start, f"`<{name}>` stands in a table, outside of its cells")
        if name == "form":
            if self.form is None:
                self.form = self.open.push(name, token)
                self.open.pop(token.end)
            return None
        self.open.is_fostering = True
        self._start_block(token, name)
        self.open.is_fostering = False
        return None

    def _is_hidden(self, token: Token) -> bool:
        element = Element("input", "html", token, True)
        return element.values(self.document.data, False).get("type", "").lower() == "hidden"

    def _start_block(self, token: Token, name: str) -> None:
        stack, offset = self.open, token.start
        if name in ("li", "dd", "dt"):
            self._close_item(name, offset)
        if name == "form" and self.form is not None and not stack.has_template():
            stack.report(offset, "`<form>` stands in a form, and is ignored")
            return
        if name in CLOSES_PARAGRAPH or (name == "table" and not self.is_quirky):
            stack.close_paragraph(offset)
        if name in HEADINGS and stack.current.is_html and stack.current.name in HEADINGS:
            stack.pop(offset)
        if name in ("button", "nobr") and stack.has_in_scope((name,)):
            stack.report(offset, f"`<{name}>` stands in another one")
            stack.pop_implied(offset)
            stack.pop_until((name,), offset) if name == "button" else stack.close_formatting(name, token)
        self._close_options(name, offset)
        if name == "a" and (anchor := stack.last_formatting("a")):
            stack.report(offset, "`<a>` stands in another one")
            stack.close_formatting("a", token)
            if anchor in stack.formatting:
                stack.formatting.remove(anchor)
            if anchor in stack.stack:
                stack.stack.remove(anchor)
        if name in ("rb", "rtc", "rp", "rt") and stack.has_in_scope(("ruby",)):
            stack.pop_implied(offset, but="rtc" if name in ("rp", "rt") else "")
        if name not in _FRESH:
            stack.reconstruct_formatting()
        element = self._insert(token, name)
        if name in FORMATTING:
            stack.add_formatting(element)
        elif name in MARKED:
            stack.add_marker()
        elif name == "form" and not stack.has_template():
            self.form = element

    def _close_item(self, name: str, offset: int) -> None:
        names = ("li",) if name == "li" else ("dd", "dt")
        for element in reversed(self.open.stack):
            if element.is_html and element.name in names:
                self.open.pop_implied(offset, but=element.name)
                self.open.pop_until((element.name,), offset)
                return
            if element.name == "" or (
                element.name in SPECIAL and element.name not in ("address", "div", "p")
            ):
                return

    def _close_options(self, name: str, offset: int) -> None:
        stack = self.open
        if name in ("option", "optgroup", "hr") and stack.current.name == "option":
            stack.pop(offset)
        if name in ("optgroup", "hr") and stack.current.name == "optgroup":
            stack.pop(offset)
        if name in ("select", "input", "keygen", "textarea") and stack.has_in_scope(("select",)):
            stack.report(offset, f"`<{name}>` closes the `<select>` that it stands in")
            stack.pop_until(("select",), offset)

    def _insert(self, token: Token, name: str) -> Element:
        if name in ("svg", "math"):
            element = self.open.push(name, token, name)
            if token.is_self_closing:
                self._drop(element, token)
            return element
        if name == "image":
            name = "img"
        element = self.open.push(name, token)
        if name in VOID:
            self._drop(element, token)
        elif name in RAW_TEXT:
            self._take_raw_text(name)
        elif name == "template":
            self.open.add_marker()
        return element

    def _drop(self, element: Element, token: Token) -> None:
        """Closes an element that has no content and no end tag."""
        self.open.stack.remove(element)
        element.end = token.end

    def _take_raw_text(self, name: str) -> None:
        start = self.scanner.position
        end = self.scanner.raw_text_end(name)
        if end > start:
            self.open.add_text(*text_of(self.document.data, start, end))
        self.scanner.position = end
        tag = self.scanner.next_token() if end < len(self.document.data) else None
        if tag is not None and tag.kind == END:
            self.document.tags.append(tag)
            self.open.pop(end, tag)
        else:
            self.open.pop(len(self.document.data))

    # Tables

    def _start_table_part(self, token: Token, name: str) -> None:
        stack, offset = self.open, token.start
        holder = next(
            (one for one in reversed(stack.stack) if one.is_html and one.name in (*TABLE_SCOPE, "")), None
        )
        if holder is None or holder.name != "table":
            is_loose = holder is None or holder.name == "template" or not self.document.is_page
            self._start_loose_part(token, name) if is_loose else stack.report(
                offset, f"`<{name}>` stands outside of a table, and is ignored"
            )
            return
        if name in CELLS:
            self._clear(("tr", *SECTIONS, "table"), offset)
            if stack.current.name == "table":
                stack.push("tbody", None, is_implied=True)
            if stack.current.name in SECTIONS:
                stack.push("tr", None, is_implied=True)
        elif name == "tr":
            self._clear((*SECTIONS, "table"), offset)
            if stack.current.name == "table":
                stack.push("tbody", None, is_implied=True)
        elif name == "col" and stack.current.name == "colgroup":
            pass
        else:
            self._clear(("table",), offset)
            if name == "col":
                stack.push("colgroup", None, is_implied=True)
        self._insert(token, name)
        if name in (*CELLS, "caption"):
            stack.add_marker()

    def _start_loose_part(self, token: Token, name: str) -> None:
        """A part of a table in a fragment or a template: what is around it stands elsewhere."""
        stack, offset = self.open, token.start
        closes = {"tr": {*CELLS, "tr"}, "td": CELLS, "th": CELLS}.get(name, TABLE_PARTS - {"col"})
        while stack.current.is_html and stack.current.name in closes and name != "col":
            stack.pop(offset)
        self._insert(token, name)

    def _clear(self, names: tuple[str, ...], offset: int) -> None:
        """Closes what is open inside of a part of a table."""
        while self.open.current.name not in names or not self.open.current.is_html:
            element = self.open.pop(offset)
            if element.is_html and element.name in (*CELLS, "caption"):
                self.open.clear_to_marker()

    # End tags

    def _end(self, token: Token) -> None:
        name, stack, offset = token.name.lower(), self.open, token.start
        if not stack.current.is_html and self._end_foreign(token, name):
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
        if name in TABLE_PARTS or name == "table":
            self._end_table_part(token, name)
        else:
            self._end_in_body(token, name)

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

    def _end_table_part(self, token: Token, name: str) -> None:
        stack, offset = self.open, token.start
        is_loose = not self.document.is_page or stack.has_template()
        limits = (*TABLE_SCOPE, "") if name == "table" or not is_loose else ("table", "template", "")
        if name == "col" or not stack.has_in_scope((name,), limits):
            stack.report(offset, f"`</{name}>` closes nothing")
            return
        while not (stack.current.is_html and stack.current.name == name):
            element = stack.pop(offset)
            if element.is_html and element.name in (*CELLS, "caption"):
                stack.clear_to_marker()
        stack.pop(offset, token)
        if name in (*CELLS, "caption"):
            stack.clear_to_marker()

    def _end_in_body(self, token: Token, name: str) -> None:
        stack, offset = self.open, token.start
        if name == "p" and not stack.has_in_scope(("p",), (*LIST_SCOPE - {"ol", "ul"}, "button")):
            stack.report(offset, "`</p>` closes nothing, and makes an empty paragraph")
        elif name == "br":
            stack.report(offset, "`</br>` is no end tag")
        elif name == "form" and not stack.has_template():
            self._end_form(token)
        elif name in FORMATTING:
            stack.close_formatting(name, token)
        elif name in HEADINGS and stack.has_in_scope(HEADINGS):
            stack.pop_implied(offset)
            if stack.current.name != name:
                stack.report(offset, f"`</{name}>` closes another heading")
            stack.pop_until(HEADINGS, offset, token)
        elif name in _BLOCK_ENDS or name in ("p", "li", "dd", "dt"):
            limits = LIST_SCOPE if name == "li" else LIST_SCOPE - {"ol", "ul"}
            if not stack.has_in_scope((name,), (*limits, "button") if name == "p" else limits):
                stack.report(offset, f"`</{name}>` closes nothing")
                return
            stack.pop_implied(offset, but=name)
            stack.pop_until((name,), offset, token)
            if name in MARKED:
                stack.clear_to_marker()
        else:
            stack.close_ordinary(name, token)

    def _end_form(self, token: Token) -> None:
        form, self.form = self.form, None
        if form is None or form not in self.open.stack or not self.open.has_in_scope(("form",)):
            self.open.report(token.start, "`</form>` closes nothing")
            return
        self.open.pop_implied(token.start)
        if self.open.current is form:
            self.open.pop(token.start, token)
            return
        self.open.report(token.start, "`</form>` closes an element across others")
        self.open.stack.remove(form)
        form.end_tag, form.end = token, token.end

    # SVG and MathML

    def _is_foreign(self, name: str) -> bool:
        current = self.open.current
        if current.is_html:
            return False
        if current.namespace == "math" and current.name in MATHML_TEXT:
            return name in ("mglyph", "malignmark")
        if current.name == "annotation-xml":
            encoding = current.values(self.document.data, False).get("encoding", "").lower()
            return name != "svg" and encoding not in ("text/html", "application/xhtml+xml")
        return not (current.namespace == "svg" and current.name in SVG_HTML)

    def _start_foreign(self, token: Token, name: str) -> None:
        attributes = {one.name for one in token.attributes}
        if name in BREAKOUT or (name == "font" and attributes & {"color", "face", "size"}):
            self.open.report(token.start, f"`<{name}>` ends the `<{self.open.current.namespace}>` around it")
            while not self.open.current.is_html and self._is_foreign(name):
                self.open.pop(token.start)
            self._start(token)
            return
        namespace = self.open.current.namespace
        spelled = SVG_NAMES.get(name, name) if namespace == "svg" else name
        element = self.open.push(spelled, token, namespace)
        if token.is_self_closing:
            self._drop(element, token)

    def _end_foreign(self, token: Token, name: str) -> bool:
        """Closes an element of SVG or MathML; whether the tag is not one of HTML."""
        for depth, element in enumerate(reversed(self.open.stack)):
            if element.is_html:
                return False
            if element.name.lower() == name:
                for _ in range(depth):
                    self.open.pop(token.start)
                self.open.pop(token.start, token)
                return True
        return False


def _is_quirky(doctype: bytes) -> bool:
    """Whether a browser shows a page as one of the nineties: tables stand inside of paragraphs there."""
    text = b" ".join(doctype.lower().split())
    if text in (b"<!doctype html>", b"<!doctypehtml>") or b"about:legacy-compat" in text:
        return False
    if b"//dtd html 4.01 transitional" in text or b"//dtd html 4.01 frameset" in text:
        return b"http" not in text
    return b"public" not in text or not (b"xhtml" in text or b"html 4.01//" in text)
