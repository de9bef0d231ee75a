"""What a tag in the body of a page opens and closes."""

from typing import Final

from codeplane.languages.html.element_tree import Element
from codeplane.languages.html.open_elements import OpenElements, is_special
from codeplane.languages.html.tag_names import (
    CELLS,
    CLOSES_PARAGRAPH,
    FORMATTING,
    HEAD_CONTENT,
    HEADINGS,
    LIST_SCOPE,
    MARKED,
    RAW_TEXT,
    SECTIONS,
    TABLE_CONTEXT,
    TABLE_PARTS,
    TABLE_SCOPE,
    VOID,
)
from codeplane.languages.html.tokens import END, SPACES, Scanner, Token

_FRESH: Final = CLOSES_PARAGRAPH - {"xmp"} | HEAD_CONTENT | TABLE_PARTS | {
    "param", "source", "track", "table", "iframe", "noembed", "textarea", "rb", "rtc", "rp", "rt"
}  # fmt: skip
"""Elements that open no formatting elements again."""
_NO_BLOCK_ENDS: Final = HEADINGS | {"p", "li", "dd", "dt", "hr", "xmp", "plaintext", "form"}
_BLOCK_ENDS: Final = CLOSES_PARAGRAPH - _NO_BLOCK_ENDS | {"button", "select", *MARKED}


_HOLDERS: Final = TABLE_CONTEXT | CELLS | {"caption", "template", "html"}


class BodyRules:
    """Opens and closes elements by the tags of the body."""

    def __init__(self, elements: OpenElements, scanner: Scanner, *, is_quirky: bool) -> None:
        self.document = elements.document
        self.open = elements
        self.scanner = scanner
        self.form: Element | None = None
        self.is_quirky = is_quirky  # tables stand inside of paragraphs then

    def start_tag(self, token: Token, name: str) -> None:
        """Takes a start tag."""
        current = self.open.current
        if name in TABLE_PARTS:
            return self._start_table_part(token, name)
        if current.is_html and current.name == "colgroup" and name not in ("template", "col"):
            self.open.pop(token.start)
        if not self._is_in_table():
            return self._start_block(token, name)
        if name == "table":
            self.open.report(token.start, "`<table>` stands directly in a table")
            if not self.open.has_in_scope(("table",), TABLE_SCOPE):
                return None  # a part of a table in a template holds none
            self.open.pop_until(("table",), token.start)
            return self.start_tag(token, name)
        if name in ("style", "script", "template") or (name == "input" and self._is_hidden(token)):
            self.insert(token, name)
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

    def _is_in_table(self) -> bool:
        """Whether a table is open, and none of its cells: what stands there is shown before the table."""
        for element in reversed(self.open.stack):
            if element.is_html and element.name in _HOLDERS:
                return element.name in TABLE_CONTEXT
        return False

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
        if self._close_options(name, offset):
            return
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
        element = self.insert(token, name)
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
            is_open = element.is_html and element.name in ("address", "div", "p")
            if element.name == "" or (is_special(element) and not is_open):
                return

    def _close_options(self, name: str, offset: int) -> bool:
        """Closes options and selects that an element can't stand in; whether its tag is used up by that."""
        stack = self.open
        is_in_select = stack.has_in_scope(("select",))
        if name in ("option", "optgroup", "hr") and is_in_select:
            stack.pop_implied(offset, but="optgroup" if name == "option" else "")
        elif name in ("option", "optgroup") and stack.current.name == "option":
            stack.pop(offset)
        elif name in ("select", "input") and is_in_select:
            stack.report(offset, f"`<{name}>` closes the `<select>` that it stands in")
            stack.pop_until(("select",), offset)
            return name == "select"
        return False

    def insert(self, token: Token, name: str) -> Element:
        """Opens an element, and closes it at once where it is void or raw text."""
        if name in ("svg", "math"):
            element = self.open.push(name, token, name)
            if token.is_self_closing:
                self.open.drop(element)
            return element
        if name == "image":
            name = "img"
        element = self.open.push(name, token)
        if name in VOID:
            self.open.drop(element)
        elif name in RAW_TEXT:
            self._take_raw_text(name)
        elif name == "template":
            self.open.add_marker()
        return element

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

    def _start_table_part(self, token: Token, name: str) -> None:
        stack, offset = self.open, token.start
        holder = next(
            (item for item in reversed(stack.stack) if item.is_html and item.name in (*TABLE_SCOPE, "")), None
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
        self.insert(token, name)
        if name in (*CELLS, "caption"):
            stack.add_marker()

    def _start_loose_part(self, token: Token, name: str) -> None:
        """A part of a table in a fragment or a template: what is around it stands elsewhere."""
        stack, offset = self.open, token.start
        closes = {"tr": {*CELLS, "tr"}, "td": CELLS, "th": CELLS}.get(name, TABLE_PARTS - {"col"})
        while stack.current.is_html and stack.current.name in closes and name != "col":
            stack.pop(offset)
        self.insert(token, name)

    def _clear(self, names: tuple[str, ...], offset: int) -> None:
        """Closes what is open inside of a part of a table."""
        while self.open.current.name not in names or not self.open.current.is_html:
            element = self.open.pop(offset)
            if element.is_html and element.name in (*CELLS, "caption"):
                self.open.clear_to_marker()

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

    def end_tag(self, token: Token, name: str) -> None:
        """Takes an end tag."""
        if name in TABLE_PARTS or name == "table":
            self._end_table_part(token, name)
        else:
            self._end_in_body(token, name)

    def _end_in_body(self, token: Token, name: str) -> None:
        stack, offset = self.open, token.start
        if name == "p" and not stack.has_in_scope(("p",), (*LIST_SCOPE - {"ol", "ul"}, "button")):
            stack.report(offset, "`</p>` closes nothing, and makes an empty paragraph")
            self._add_implied("p", offset)
        elif name == "br":
            stack.report(offset, "`</br>` is no end tag")
            stack.reconstruct_formatting()
            self._add_implied("br", offset)
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

    def _add_implied(self, name: str, offset: int) -> None:
        self.open.is_fostering = True
        self.open.push(name, None, is_implied=True)
        self.open.is_fostering = False
        self.open.pop(offset)

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


def text_of(data: bytes, start: int, end: int) -> tuple[int, bool]:
    """Where a text shows its first letter, and whether it has none."""
    rest = data[start:end].lstrip(SPACES)
    return end - len(rest), not rest
