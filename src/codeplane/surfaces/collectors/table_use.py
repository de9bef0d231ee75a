"""Tables, as the collectors hand them over, and how frameworks name them by default."""

import re
from dataclasses import dataclass, field
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place

_IRREGULAR: Final = {"person": "people", "child": "children", "man": "men", "woman": "women", "mouse": "mice"}
_UNCOUNTABLE: Final = frozenset({"equipment", "information", "money", "news", "series", "species", "sheep"})


@dataclass(frozen=True)
class Table:
    """One table that the code defines, and the class that it belongs to."""

    name: str
    schema: str | None
    path: RepoPath
    line: int
    framework: str
    pattern: str
    entity: Place | None = None


@dataclass(frozen=True)
class TableUse:
    """One place that names a table without defining it."""

    name: str
    schema: str | None
    path: RepoPath
    line: int
    statement: str
    symbol: Place | None = None


@dataclass
class TableSurface:
    """The tables of a state, and where there are tables whose names can't be worked out."""

    tables: list[Table] = field(default_factory=list)
    uses: list[TableUse] = field(default_factory=list)
    dynamic: dict[RepoPath, int] = field(default_factory=dict)

    def count_dynamic(self, path: RepoPath) -> None:
        """Notes a table whose name is only known at run time."""
        self.dynamic[path] = self.dynamic.get(path, 0) + 1


def snake_case(name: str) -> str:
    """`HTTPOrderLine` as `http_order_line`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def plural_form(name: str) -> str:
    """The plural of the last word of a name in snake case."""
    head, underscore, word = name.rpartition("_")
    if word in _UNCOUNTABLE:
        return name
    if word in _IRREGULAR:
        plural = _IRREGULAR[word]
    elif re.search(r"[^aeiou]y$", word):
        plural = f"{word[:-1]}ies"
    elif re.search(r"(s|x|z|ch|sh)$", word):
        plural = f"{word}es"
    else:
        plural = f"{word}s"
    return f"{head}{underscore}{plural}"
