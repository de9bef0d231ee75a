"""Kinds of definitions that several layers tell apart, and the parts of qualified names."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

CLASSES: Final = frozenset("class interface struct enum trait object mixin type impl message service".split())
SPACES: Final = frozenset(("namespace", "module"))


@lru_cache(maxsize=4096)
def split_path(text: str) -> tuple[str, ...]:
    """The names of a dotted path, whatever the language puts between them."""
    for separator in ("::", "\\", "->", "?."):
        text = text.replace(separator, ".")
    return tuple(text.strip(".").split("."))


def split_head(text: str, keywords: Sequence[str]) -> tuple[str, list[str]]:
    """What a path begins with, keywords together and `::` before it kept, and the names behind."""
    first = 1 if text.startswith("::") else 0
    words = text.split("::")[first:]
    count = next((at for at, word in enumerate(words) if word not in keywords), len(words)) or 1
    return "::" * first + "::".join(words[:count]), words[count:]
