"""SVG and MathML inside of HTML: their elements are nested by their own rules."""

from codeplane.languages.html.element_tree import Element
from codeplane.languages.html.open_elements import OpenElements
from codeplane.languages.html.tag_names import BREAKOUT, MATHML_TEXT, SVG_HTML, SVG_NAMES
from codeplane.languages.html.tokens import Token


def is_foreign_start(elements: OpenElements, name: str) -> bool:
    """Whether a start tag is one of SVG or MathML where it stands."""
    current: Element = elements.current
    if current.is_html:
        return False
    if current.namespace == "math" and current.name in MATHML_TEXT:
        return name in ("mglyph", "malignmark")
    if current.name == "annotation-xml":
        encoding = current.values(elements.document.data, False).get("encoding", "").lower()
        return name != "svg" and encoding not in ("text/html", "application/xhtml+xml")
    return not (current.namespace == "svg" and current.name in SVG_HTML)


def open_foreign(elements: OpenElements, token: Token, name: str) -> bool:
    """Opens an element of SVG or MathML; False where the tag ends them instead, and is one of HTML."""
    attributes = {attribute.name for attribute in token.attributes}
    if name in BREAKOUT or (name == "font" and attributes & {"color", "face", "size"}):
        elements.report(token.start, f"`<{name}>` ends the `<{elements.current.namespace}>` around it")
        while not elements.current.is_html and is_foreign_start(elements, name):
            elements.pop(token.start)
        return False
    namespace = elements.current.namespace
    element = elements.push(SVG_NAMES.get(name, name) if namespace == "svg" else name, token, namespace)
    if token.is_self_closing:
        elements.drop(element)
    return True


def close_foreign(elements: OpenElements, token: Token, name: str) -> bool:
    """Closes an element of SVG or MathML; False where the tag is one of HTML."""
    if name in ("p", "br"):
        elements.report(token.start, f"`</{name}>` ends the `<{elements.current.namespace}>` around it")
        while not elements.current.is_html and is_foreign_start(elements, name):
            elements.pop(token.start)
        return False
    for depth, element in enumerate(reversed(elements.stack)):
        if element.is_html:
            return False
        if element.name.lower() == name:
            for _ in range(depth):
                elements.pop(token.start)
            elements.pop(token.start, token)
            return True
    return False
