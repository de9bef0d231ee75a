"""What a name can turn out to mean."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from codeplane.languages.modules import Place

Target = tuple[Place, ...]
"""The places that one thing is: one for a definition or a file, several for a package or a reopened class."""

NOTHING: Final[Target] = ()
UNCLEAR: Final[Target] = (Place("", -2),)
"""Something is there, and what it is cannot be said: looking further would be a guess."""

CLASSES: Final = frozenset("class interface struct enum trait object mixin type impl message service".split())
SPACES: Final = frozenset(("namespace", "module"))
_OUTSIDE: Final = -3


def known(target: Target) -> Target:
    """The target where it is one that can be relied on."""
    return NOTHING if target == UNCLEAR else target


def outside(text: str) -> Target:
    """Something outside the repository; equal texts are the same thing."""
    return (Place(text, _OUTSIDE),)


def is_outside(target: Target) -> bool:
    return target[0].definition == _OUTSIDE


class Value(NamedTuple):
    """What an expression before a member stands for: the target itself, or an instance of it."""

    target: Target
    is_instance: bool = False
    # Whether the instance may be one of a class derived from the target.
    is_declared: bool = False
    # Whether it may be known as an instance of a base alone.
    is_bound: bool = False


NO_VALUE: Final = Value(NOTHING)


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
