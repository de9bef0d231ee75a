"""One version of a file as its definitions: which is which, and the text of each."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from codeplane.languages.facts import FLAG_PRIVATE, FLAG_TEST, Definition, Span
from codeplane.languages.headers import style_of
from codeplane.names import FileFacts

# Parts of texts and data are no structure of code.
_NO_STRUCTURE: Final = frozenset("heading key selector block stage resource table".split())
FUNCTIONS: Final = frozenset("function method constructor".split())
_MEMBERS: Final = frozenset("method field property".split())

Key = tuple[tuple[str, ...], str, int]  # the names around and its own, the kind, its number among those alike


@dataclass(frozen=True)
class Version:
    """What one version of a file says, and how to get at its bytes; None where they are gone."""

    facts: FileFacts
    read: Callable[[], bytes | None]
    has_tests: bool = False  # the file is one where tests are


def has_structure(facts: FileFacts) -> bool:
    return any(item.kind not in _NO_STRUCTURE for item in facts.definitions)


class Side:
    """The definitions of a version by what they are known as from one version to the next."""

    def __init__(self, version: Version | None) -> None:
        self._version = version
        # Read once: each look at one unpacks it.
        self.items: Sequence[Definition] = tuple(version.facts.definitions) if version else ()
        self.keys: dict[Key, int] = {}
        self.key_of: dict[int, Key] = {}
        self.inside: dict[int, list[int]] = {}
        self._alike: Counter[tuple[tuple[str, ...], str]] = Counter()
        for at in self._outer_first():
            if self.items[at].kind not in _NO_STRUCTURE:
                self._add(at, self.items[at])

    @property
    def facts(self) -> FileFacts:
        assert self._version is not None, "BUG: there is no such version"
        return self._version.facts

    def _outer_first(self) -> Sequence[int]:
        """The numbers of all definitions, what holds others before these."""
        if all(item.parent < at for at, item in enumerate(self.items)):
            return range(len(self.items))
        depths: dict[int, int] = {-1: 0}
        for at in range(len(self.items)):
            way = []
            while at not in depths:
                way.append(at)
                at = self.items[at].parent
            depths.update({one: number for number, one in enumerate(reversed(way), depths[at] + 1)})
        return sorted(range(len(self.items)), key=lambda at: (depths[at], at))

    def _add(self, at: int, item: Definition) -> None:
        above = self.key_of.get(item.parent)
        owner = (item.owner,) if item.owner not in ("", item.name) else ()
        names = (*(above[0] if above else owner), item.name)
        number = self._alike[names, item.kind]
        self._alike[names, item.kind] += 1
        self.keys[names, item.kind, number] = at
        self.key_of[at] = (names, item.kind, number)
        self.inside.setdefault(item.parent, []).append(at)

    def follow(self, old: "Side") -> None:
        """Numbers those alike as the old version does, by their headers: an overload may come in between."""
        several = {key[:2] for key in (*self.keys, *old.keys) if key[2]}
        for names, kind in several:
            mine, theirs = ([*side.alike(names, kind)] for side in (self, old))
            headers = {old.items[at].signature: number for number, at in reversed([*enumerate(theirs)])}
            numbers: dict[int, int] = {}
            for at in mine:
                number = headers.pop(self.items[at].signature, None)
                if number is not None:
                    numbers[number] = at
            partners = set(numbers.values())
            left = iter([at for at in mine if at not in partners])
            free = (number for number in range(len(mine) + len(theirs)) if number not in numbers)
            numbers |= dict(zip(free, left, strict=False))
            for number in range(len(mine)):
                del self.keys[names, kind, number]
            for number, at in numbers.items():
                self.keys[names, kind, number] = at
                self.key_of[at] = (names, kind, number)

    def alike(self, names: tuple[str, ...], kind: str) -> Iterator[int]:
        """The definitions of one name and kind, in order."""
        number = 0
        while (at := self.keys.get((names, kind, number))) is not None:
            yield at
            number += 1

    def name(self, at: int) -> str:
        """The names around a definition and its own."""
        return ".".join(self.key_of[at][0])

    def depth(self, at: int) -> int:
        return len(self.key_of[at][0]) if at in self.key_of else 0

    def is_private(self, at: int) -> bool:
        """Whether nobody outside can use a definition: it, or what holds it, is private, a test or local."""
        has_tests = self._version is not None and self._version.has_tests
        flags = FLAG_PRIVATE | (FLAG_TEST if has_tests else 0)
        while at >= 0:
            item, at = self.items[at], self.items[at].parent
            if item.owner and self._is_private_name(item.owner):
                return True
            is_local = at >= 0 and item.kind not in _MEMBERS and self.items[at].kind in FUNCTIONS
            if is_local or item.flags & flags:
                return True
        return False

    def _is_private_name(self, name: str) -> bool:
        """Whether the type that a method stands apart from is private by its name."""
        pattern = self.facts.spec.private
        return bool(pattern) and re.fullmatch(pattern, name) is not None

    @cached_property
    def _data(self) -> bytes | None:
        return self._version.read() if self._version is not None else None

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        starts = [0]
        for line in (self._data or b"").split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts[:-1]

    @property
    def has_text(self) -> bool:
        return self._data is not None

    def text(self, at: int) -> bytes:
        """The text of a definition without that of the definitions inside."""
        begin, end = self._find_range(self.items[at].span)
        data = self._data or b""
        parts = []
        for child in sorted(self._find_range(self.items[one].span) for one in self.inside.get(at, ())):
            if child[0] >= begin:
                parts.append(data[begin : child[0]])
                begin = max(begin, child[1])
        text = b"".join([*parts, data[begin:end]])
        style = style_of(self.facts.language)
        for pattern, spelling in style.spellings if style is not None else ():
            text = re.sub(pattern.encode(), spelling.encode(), text)
        return text

    def _find_range(self, span: Span) -> tuple[int, int]:
        last = len(self._starts) - 1
        begin = self._starts[min(span.start_line - 1, last)] + span.start_column
        return begin, self._starts[min(span.end_line - 1, last)] + span.end_column

    def footprint(self, at: int, *, by_text: bool) -> str:
        """Equal for two definitions that differ in their own names alone."""
        item = self.items[at]
        own = hashlib.sha256()
        if by_text:
            begin, end = self._find_range(item.span)
            name = item.name.encode("utf-8", "surrogateescape")
            own.update((self._data or b"")[begin:end].replace(name, b"\0"))
        else:
            waiting = [at]
            while waiting:
                one = waiting.pop()
                own.update(f"{self.items[one].text} {self.items[one].name if one != at else ''}\0".encode())
                waiting += self.inside.get(one, ())
        return f"{item.kind} {own.hexdigest()}"
