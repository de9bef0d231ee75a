"""Which files a question is about: globs, languages, and what a file is for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final

from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.core.suggest import nearest
from codeplane.languages import specs

_TEST: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|testdata|fixtures)/|(?:^|/)(?:test_[^/]*|conftest)\.[^/.]+\Z"
    r"|[_.-](?:tests?|spec)\.[^/.]+\Z|Tests?\.[^/.]+\Z",
)
_DOCS: Final = re.compile(
    r"(?:^|/)(?:docs?|documentation|examples?|samples)/|\.(?:md|mdx|rst|txt|adoc|po|pot|html?)\Z"
    r"|(?:^|/)(?:CHANGELOG|CHANGES|HISTORY|NEWS|LICENSE|AUTHORS)[^/]*\Z",
    re.IGNORECASE,
)


class Purpose(IntEnum):
    """What a file is for, as its path tells; in the order in which results are ranked."""

    SOURCE = 0
    TEST = 1
    DOCS = 2


@lru_cache(maxsize=200_000)
def purpose(path: str) -> Purpose:
    if _TEST.search(path):
        return Purpose.TEST
    return Purpose.DOCS if _DOCS.search(path) else Purpose.SOURCE


@dataclass(frozen=True)
class Scope:
    """Where to look. Without a condition, everywhere."""

    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def globs(self) -> Globs | None:
        return Globs(self.paths) if self.paths else None

    def language_names(self) -> frozenset[str]:
        """The languages that are named, by name, family or file extension."""
        return frozenset(name for said in self.languages for name in _languages(said))


def _languages(said: str) -> Iterable[str]:
    known = specs()
    word = said.strip().lower().removeprefix(".")
    found = [
        name for name, spec in known.items() if word in (name, spec.family) or f".{word}" in spec.extensions
    ]
    if not found:
        near = nearest(word, known)
        raise InvalidArgument(
            f"There is no language {said[:50]!r}.", hints=[f"Did you mean {one!r}?" for one in near]
        )
    return found
