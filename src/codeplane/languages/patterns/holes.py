"""The holes of a pattern or template: `$X` is one node, `$$$X` any number; `$_` and `$$$` have no name."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LONGEST: Final = 10_000  # characters of a pattern
MOST_HOLES: Final = 60
_HOLE: Final = re.compile(r"(?<![\w$])(?:\$\$\$([A-Z_][A-Z0-9_]*)?|\$([A-Z_][A-Z0-9_]*))(?![A-Za-z0-9_$])")


class Hole(NamedTuple):
    """One hole as it is written."""

    name: str  # empty where it has none: each of them may stand for something else
    is_many: bool
    start: int
    end: int

    @property
    def label(self) -> str:
        """The hole as it is shown to people."""
        return ("$$$" if self.is_many else "$") + (self.name or ("" if self.is_many else "_"))


def holes_in(text: str) -> Iterator[Hole]:
    """The holes of a text in order. `$x` and `$Foo` are names of the languages that have them."""
    for match in _HOLE.finditer(text):
        name = match[1] or match[2] or ""
        is_many = match[0].startswith("$$$")
        yield Hole("" if name == "_" else name, is_many, match.start(), match.end())
