"""What stands before a definition and may make something of its name: decorators, annotations, attributes."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.places import Place
from codeplane.languages import specs
from codeplane.names import Codebase
from codeplane.refactor.text import Lines

_LOOK: Final = 600
_LAST: Final = re.compile(r"[.:\\]+")
# Marks that stand right before a definition and are no part of it.
_BEFORE: Final = re.compile(
    r"(?:(?:@[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|#?\[[^\[\]]*\]|//\w[^\n]*)\s*)+\Z"
)


def marks(snapshot: Codebase, place: Place, *, of_fields: bool = False) -> Iterator[str]:
    """The marks of a definition that may make something of its name, or of those of the fields in it."""
    spec = specs()[snapshot.definition(place).language]
    plain = spec.reflection.transparent_decorators | (
        spec.reflection.field_decorators if of_fields else frozenset()
    )
    text = marked_text(snapshot, place)
    names = [
        "".join(filter(None, one.groups()))
        for one in re.finditer(spec.reflection.decorator, text, re.MULTILINE)
    ]
    for name in dict.fromkeys(names):
        if _LAST.split(name)[-1] not in plain:
            yield spec.reflection.decorator_mark + name


def marked_text(snapshot: Codebase, place: Place) -> str:
    """What stands before the name of a definition and belongs to it."""
    lines, item = Lines(snapshot.source(place.path)), snapshot.definition(place).item
    start = lines.offset(item.span.start_line, item.span.start_column)
    name = lines.offset(item.name_line, item.name_column)
    before = lines.data[max(0, start - _LOOK) : start].decode("utf-8", "replace")
    prefix = _BEFORE.search(before)
    return (prefix[0] if prefix is not None else "") + lines.data[start:name].decode("utf-8", "replace")
