"""Answers that say nothing, told from short ones that do.

An empty array is an answer ("no match"), a short text is one, and so is a text with "n/a" or "TODO" inside.
No answer is: null where null is not declared, a blank text as the whole answer, an object or array in which
every leaf is null or blank, and a text that consists of a placeholder word, unless the shape lists it
(`enum`) or takes any text there (`anyText`), as a snippet that collects comments would declare.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from codeplane.sandbox.shapes import Shape
from codeplane.sandbox.values import Path, ValueRefused, leaves

_WORDS: Final = frozenset(
    (
        *("todo", "tbd", "tba", "fixme", "placeholder", "lorem ipsum", "your code here", "not implemented"),
        *("not implemented yet", "to be done", "to be determined", "fill me in", "dummy value"),
    )
)
_FRAME: Final = re.compile(r"^[\s<\[({#*\"'`]+|[\s>\])}#*\"'`.!…:]+$")
_FUNCTION: Final = re.compile(r"<[\w ]*(?:function|method|coroutine|generator)[^\n]* at 0x[0-9a-f]+>")
_FREE: Final = Shape()


def refuse_placeholder(value: object, shape: Shape) -> None:
    """Raises `ValueRefused` for an answer that says nothing, with the place of it."""
    if value is None and not shape.takes_null:
        raise ValueRefused((), "is null: the last line of the snippet has to be the answer")
    if not _is_text_declared(value, shape) and _is_blank(value):
        raise ValueRefused((), "has no content: every value in it is null or blank")
    _refuse_words(value, shape, ())


def _is_blank(value: object) -> bool:
    """Whether there are leaves and all of them are empty; an array without leaves says "none"."""
    texts = [leaf.strip() if isinstance(leaf, str) else leaf for leaf in leaves(value)]
    return value is not None and bool(texts) and all(text is None or text == "" for text in texts)


def _is_text_declared(value: object, shape: Shape) -> bool:
    return isinstance(value, str) and (shape.takes_any_text or value in (shape.choices or ()))


def _refuse_words(value: object, shape: Shape, path: Path) -> None:
    if isinstance(value, str):
        if not shape.takes_any_text and shape.choices is None and is_placeholder(value):
            raise ValueRefused(path, f"is the placeholder {value.strip()[:40]!r}")
        if _FUNCTION.fullmatch(value):
            raise ValueRefused(path, "is a function that was not called")
    elif isinstance(value, Mapping):
        properties: Mapping[str, Any] = shape.properties or {}
        for name, item in value.items():
            _refuse_words(item, properties.get(name, _FREE), (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _refuse_words(item, shape.items or _FREE, (*path, number))


def is_placeholder(text: str) -> bool:
    """Whether a text as a whole stands for an answer that somebody has yet to give."""
    content = text.strip()
    if content and not content.strip(".…"):
        return True
    return _FRAME.sub("", content).lower() in _WORDS
