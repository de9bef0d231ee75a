"""What has changed in the structure of one file between two versions of it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from enum import StrEnum
from typing import Final

from codeplane.graph.signatures import judge
from codeplane.index.files import FileFacts
from codeplane.languages.facts import FLAG_PRIVATE, FLAG_TEST, Definition, Span

# Parts of texts and data are no structure of code.
_NO_STRUCTURE: Final = frozenset("heading key selector block stage resource table".split())
_CALLED: Final = frozenset("function method constructor".split())
_MEMBERS: Final = frozenset("method field property".split())
_MINOR: Final = 3
_MAJOR: Final = 20
_MOST_COMPARED: Final = 3_000
_MOST_SHOWN: Final = 4
_LONGEST: Final = 120

Key = tuple[tuple[str, ...], str, int]  # the names around and its own, the kind, its number among those alike


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    SIGNATURE = "signature_changed"
    BODY = "body_changed"


@dataclass(frozen=True)
class Version:
    """One version of a file: what it says, and its bytes where they can be had."""

    facts: FileFacts
    data: bytes | None
    # What stands in for the text of a span where there are no bytes: the names in it.
    names: Mapping[int, str] = field(default_factory=dict)
    has_tests: bool = False  # the file is one where tests are


@dataclass(frozen=True)
class Change:
    """One definition that is not what it was. Positions are those of the version that has it."""

    change: ChangeKind
    definition: Definition
    name: str  # with the names around it
    before: int | None  # its number in the old version
    after: int | None
    old_name: str = ""
    old_signature: str = ""
    lines_changed: int | None = None
    tags: tuple[str, ...] = ()
    preview: tuple[str, ...] = ()
    nested: tuple["Change", ...] = ()
    # Whether its users may have to change; None where a changed header does not tell.
    breaking: bool | None = False


def has_structure(facts: FileFacts) -> bool:
    return any(item.kind not in _NO_STRUCTURE for item in facts.definitions)


def compare(old: Version | None, new: Version | None) -> list[Change]:
    """The changes from one version to the other, members below what holds them, in order of position."""
    return _Comparison(_Side(old), _Side(new)).changes()


class _Side:
    def __init__(self, version: Version | None) -> None:
        self.items: Sequence[Definition] = version.facts.definitions if version else ()
        self.facts = version.facts if version else None
        self.names = version.names if version else {}
        self.has_tests = version.has_tests if version else False
        self._data = version.data if version else None
        self.starts = _starts(self._data) if self._data is not None else []
        self.keys: dict[Key, int] = {}
        self.key_of: dict[int, Key] = {}
        self.inside: dict[int, list[int]] = {}
        depths: dict[int, int] = {-1: 0}
        for at in range(len(self.items)):
            self._measure(at, depths)
        for at in sorted(range(len(self.items)), key=lambda at: (depths[at], at)):
            if self.items[at].kind not in _NO_STRUCTURE:
                self._add(at, self.items[at])

    def _measure(self, at: int, depths: dict[int, int]) -> None:
        """Notes how deep a definition and those around it stand."""
        way = []
        while at not in depths:
            way.append(at)
            at = self.items[at].parent
        depths.update({one: number for number, one in enumerate(reversed(way), depths[at] + 1)})

    def is_private(self, at: int) -> bool:
        """Whether nobody outside can use a definition: it, or what holds it, is private, a test or local."""
        flags = FLAG_PRIVATE | (FLAG_TEST if self.has_tests else 0)
        while at >= 0:
            item, at = self.items[at], self.items[at].parent
            is_local = at >= 0 and item.kind not in _MEMBERS and self.items[at].kind in _CALLED
            if is_local or item.flags & flags:
                return True
        return False

    def depth(self, at: int) -> int:
        return len(self.key_of[at][0]) if at in self.key_of else 0

    def _add(self, at: int, item: Definition) -> None:
        above = self.key_of.get(item.parent)
        owner = (item.owner,) if item.owner not in ("", item.name) else ()
        names = (*(above[0] if above else owner), item.name)
        number = 0
        while (names, item.kind, number) in self.keys:
            number += 1
        self.keys[names, item.kind, number] = at
        self.key_of[at] = (names, item.kind, number)
        self.inside.setdefault(item.parent, []).append(at)

    def follow(self, old: "_Side") -> None:
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
            left = iter([at for at in mine if at not in numbers.values()])
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

    @property
    def has_text(self) -> bool:
        return self._data is not None

    def text(self, at: int, own: bool) -> bytes:
        """The text of a definition, with or without that of the definitions inside."""
        assert self._data is not None, "BUG: there is no text"
        begin, end = self._range(self.items[at].span)
        if not own:
            return self._data[begin:end]
        parts = []
        for child in sorted(self._range(self.items[one].span) for one in self.inside.get(at, ())):
            if child[0] >= begin:
                parts.append(self._data[begin : child[0]])
                begin = max(begin, child[1])
        return b"".join([*parts, self._data[begin:end]])

    def _range(self, span: Span) -> tuple[int, int]:
        last = len(self.starts) - 1
        begin = self.starts[min(span.start_line - 1, last)] + span.start_column
        return begin, self.starts[min(span.end_line - 1, last)] + span.end_column

    def footprint(self, at: int) -> str:
        """The same for two definitions that differ in their own names alone."""
        item = self.items[at]
        name = item.name.encode("utf-8", "surrogateescape")
        text = self.text(at, own=False).replace(name, b"\0") if self.has_text else b""
        said = text or self.names.get(at, "").replace(item.name, "\0").encode("utf-8", "surrogateescape")
        return f"{item.kind} {hashlib.sha256(said).hexdigest()}"


class _Comparison:
    def __init__(self, old: _Side, new: _Side) -> None:
        self._old, self._new = old, new
        new.follow(old)

    def changes(self) -> list[Change]:
        old, new = self._old, self._new
        removed = [at for key, at in old.keys.items() if key not in new.keys]
        added = [at for key, at in new.keys.items() if key not in old.keys]
        renamed = self._renamed(removed, added)
        found: list[tuple[int, Change]] = []  # the parent in the new version, and what is below it
        found += [self._rename(before, after) for before, after in renamed.items()]
        found += [
            self._add(at) for at in added if at not in renamed.values() and self._is_top(new, at, added)
        ]
        found += [self._remove(at) for at in removed if at not in renamed and self._is_top(old, at, removed)]
        for key, after in new.keys.items():
            if (before := old.keys.get(key)) is not None and (one := self._changed(before, after)):
                found.append((new.items[after].parent, one))
        return self._nested(found)

    def _is_top(self, side: _Side, at: int, among: list[int]) -> bool:
        return side.items[at].parent not in among

    def _renamed(self, removed: list[int], added: list[int]) -> dict[int, int]:
        """Those of which one has gone and one has come, alike but for the name, under the same parent."""
        gone: dict[tuple[object, str], list[int]] = {}
        come: dict[tuple[object, str], list[int]] = {}
        for side, numbers, table in ((self._old, removed, gone), (self._new, added, come)):
            for at in numbers:
                parent = side.key_of.get(side.items[at].parent)
                table.setdefault((parent, side.footprint(at)), []).append(at)
        return {
            before[0]: come[mark][0]
            for mark, before in gone.items()
            if len(before) == 1 and len(come.get(mark, ())) == 1
        }

    def _rename(self, before: int, after: int) -> tuple[int, Change]:
        was, item = self._old.items[before], self._new.items[after]
        change = Change(
            ChangeKind.RENAMED, item, _dotted(self._new, after), before, after,
            old_name=was.name, old_signature=was.signature, tags=("symbol_renamed",),
            breaking=not self._old.is_private(before),
        )  # fmt: skip
        return item.parent, change

    def _add(self, at: int) -> tuple[int, Change]:
        item = self._new.items[at]
        name = _dotted(self._new, at)
        return item.parent, Change(ChangeKind.ADDED, item, name, None, at, tags=("symbol_added",))

    def _remove(self, at: int) -> tuple[int, Change]:
        item = self._old.items[at]
        above = self._old.key_of.get(item.parent)
        parent = self._new.keys.get(above, -1) if above else -1
        name = _dotted(self._old, at)
        breaking = not self._old.is_private(at)
        return parent, Change(
            ChangeKind.REMOVED, item, name, at, None, tags=("symbol_removed",), breaking=breaking
        )

    def _changed(self, before: int, after: int) -> Change | None:
        was, item = self._old.items[before], self._new.items[after]
        assert self._old.facts is not None and self._new.facts is not None, "BUG: both sides have it"
        tags, breaking = judge((self._old.facts, before), (self._new.facts, after))
        lines, preview = self._difference(before, after)
        if not tags and not lines:
            return None
        size = () if not lines else _size_tags(lines)
        return Change(
            ChangeKind.SIGNATURE if tags else ChangeKind.BODY,
            item, _dotted(self._new, after), before, after,
            old_signature=was.signature if tags else "", lines_changed=lines or None,
            tags=(*tags, *size), preview=preview,
            breaking=breaking if not self._old.is_private(before) else False,
        )  # fmt: skip

    def _difference(self, before: int, after: int) -> tuple[int, tuple[str, ...]]:
        """How many lines of the definition itself differ, and the first of them."""
        old, new = self._old, self._new
        if not (old.has_text and new.has_text):
            is_same = old.names.get(before, "") == new.names.get(after, "")
            return (0 if is_same else 1), ()
        texts = [old.text(before, own=True), new.text(after, own=True)]
        if texts[0] == texts[1]:
            return 0, ()
        was, now = _lines(texts[0]), _lines(texts[1])
        if was == now:
            return 0, ()
        if max(len(was), len(now)) > _MOST_COMPARED:
            return max(len(was), len(now)), ()
        differing = [line for line in unified_diff(was, now, n=0, lineterm="") if line[:1] in "+-"][2:]
        count = max(sum(line[0] == sign for line in differing) for sign in "+-")
        return count, tuple(line[:_LONGEST] for line in differing[:_MOST_SHOWN])

    def _nested(self, found: list[tuple[int, Change]]) -> list[Change]:
        """Changes below the changes of what holds them; what holds one has changed itself."""
        below: dict[int, list[Change]] = {}
        own = {one.after: one for _, one in found if one.after is not None}
        for parent, one in found:
            below.setdefault(parent, []).append(one)
        waiting = [parent for parent in below if parent not in own]
        while waiting:
            parent = waiting.pop()
            if parent < 0 or parent in own or parent not in self._new.key_of:
                continue
            item = self._new.items[parent]
            before = self._old.keys.get(self._new.key_of[parent])
            own[parent] = Change(ChangeKind.BODY, item, _dotted(self._new, parent), before, parent)
            below.setdefault(item.parent, []).append(own[parent])
            waiting.append(item.parent)
        return self._ordered(below, -1)

    def _ordered(self, below: dict[int, list[Change]], top: int) -> list[Change]:
        done: dict[int, list[Change]] = {}
        for parent in sorted(below, key=self._new.depth, reverse=True):
            made = [
                replace(one, nested=tuple(done[one.after]))
                if one.after is not None and one.after in done
                else one
                for one in below[parent]
            ]
            done[parent] = sorted(made, key=lambda one: (one.definition.span, one.change))
        return done.get(top, [])


def _dotted(side: _Side, at: int) -> str:
    return ".".join(side.key_of[at][0])


def _starts(data: bytes) -> list[int]:
    starts = [0]
    at = data.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = data.find(b"\n", at + 1)
    return starts


def _lines(text: bytes) -> list[str]:
    lines = (line.rstrip() for line in text.decode("utf-8", "replace").split("\n"))
    return [line for line in lines if line]


def _size_tags(lines: int) -> tuple[str, ...]:
    if lines <= _MINOR:
        return ("minor_change",)
    return ("major_change",) if lines > _MAJOR else ("body_logic_changed",)


def flattened(changes: Sequence[Change]) -> Iterator[Change]:
    """All changes, those inside of others too."""
    waiting = list(reversed(changes))
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(one.nested)
