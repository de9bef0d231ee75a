"""What has changed in the structure of one file between two versions of it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from enum import StrEnum
from itertools import accumulate
from typing import Final, NamedTuple

from codeplane.graph.diff.signatures import judge, kind_breaks
from codeplane.graph.diff.versions import FUNCTIONS, Side, Version
from codeplane.languages.facts import FLAG_MORE, Definition, Span
from codeplane.languages.tokens import code_tokens, say_the_same

_MINOR: Final = 3
_MAJOR: Final = 20
_MOST_COMPARED: Final = 3_000
_MOST_SHOWN: Final = 12
_LONGEST: Final = 120
DOCSTRING: Final = "docstring_changed"
_DOCSTRING: Final = re.compile(rb"\A\s*:(?:\s*[a-zA-Z]{0,2}(\"{3}|'{3}).*?\1)?[^\S\n]*\n?", re.DOTALL)
_WORD: Final = re.compile(rb"\w+|[^\w\s]")
_ANNOTATIONS: Final = frozenset(("annotation_changed", "return_type_changed"))


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    MOVED = "moved"
    SIGNATURE = "signature_changed"
    BODY = "body_changed"


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
    old_path: str = ""  # the file of the same package that it was in
    old_kind: str = ""  # where it is something else now
    lines_changed: int | None = None
    tags: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()  # a tag, and a parameter that it is about
    preview: tuple[str, ...] = ()  # lines of code that differ, with their signs
    preview_more: int = 0  # that are not among these
    nested: tuple["Change", ...] = ()
    # Whether its users may have to change; None where a changed header does not tell.
    breaking: bool | None = False
    is_private: bool = False  # an addition that nobody outside can use
    is_quiet: bool = False  # only annotations or a docstring are others: nothing behaves otherwise


class _Difference(NamedTuple):
    """How many lines of a definition itself differ, and the first of those that are code."""

    lines: int = 0
    is_known: bool = True
    preview: tuple[str, ...] = ()
    more: int = 0


_SAME: Final = _Difference()


def compare(old: Version | None, new: Version | None) -> list[Change]:
    """The changes from one version to the other, members below what holds them, in order of position."""
    return _Comparison(Side(old), Side(new)).changes()


class _Comparison:
    def __init__(self, old: Side, new: Side) -> None:
        self._old, self._new = old, new
        new.follow(old)

    def changes(self) -> list[Change]:
        old, new = self._old, self._new
        removals = [at for key, at in old.keys.items() if key not in new.keys]
        additions = [at for key, at in new.keys.items() if key not in old.keys]
        new_numbers, old_numbers = set(additions), set(removals)
        matches: list[tuple[int, Change]] = []  # the parent in the new version, and what is below it
        remade = self._remade(removals, additions)
        matches += [self._find_renames(at, now[0], is_several=len(now) > 1) for at, now in remade.items()]
        removals = [at for at in removals if at not in remade]
        others = {at for now in remade.values() for at in now}
        additions = [at for at in additions if at not in others]
        counts = self._renamed(removals, additions)
        matches += [self._rename(before, after) for before, after in counts.items()]
        new_names = set(counts.values())
        matches += [
            self._add(at)
            for at in additions
            if at not in new_names and new.items[at].parent not in new_numbers
        ]
        matches += [
            self._remove(at)
            for at in removals
            if at not in counts and old.items[at].parent not in old_numbers
        ]
        for key, after in new.keys.items():
            if (before := old.keys.get(key)) is not None and (one := self._changed(before, after)):
                matches.append((new.items[after].parent, one))
        return self._nested(_once(matches))

    def _remade(self, removals: list[int], additions: list[int]) -> dict[int, list[int]]:
        """Definitions that kept their name and changed their kind: an attribute that became a property, with
        its setter."""
        before_by_names: dict[tuple[str, ...], list[int]] = {}
        after_by_names: dict[tuple[str, ...], list[int]] = {}
        for side, numbers, table in (
            (self._old, removals, before_by_names),
            (self._new, additions, after_by_names),
        ):
            for at in numbers:
                names, _, _ = side.key_of[at]
                table.setdefault(names, []).append(at)
        return {
            before[0]: after_by_names[names]
            for names, before in before_by_names.items()
            if names in after_by_names
            and len(before) == 1
            and all(self._new.items[at].flags & FLAG_MORE for at in after_by_names[names][1:])
        }

    def _find_renames(self, before: int, after: int, *, is_several: bool) -> tuple[int, Change]:
        was, item = self._old.items[before], self._new.items[after]
        is_private = self._old.is_private(before)
        change = Change(
            ChangeKind.SIGNATURE, item, self._new.name(after), before, after,
            old_kind=was.kind, old_signature=was.signature, tags=("kind_changed",),
            breaking=False if is_private else kind_breaks(was.kind, item.kind, is_set=is_several),
        )  # fmt: skip
        return item.parent, change

    def _renamed(self, removals: list[int], additions: list[int]) -> dict[int, int]:
        """Pairs of a removed and an added definition of one parent, alike but for the name."""
        if not removals or not additions:
            return {}
        by_text = self._old.has_text and self._new.has_text
        before_by_mark: dict[tuple[object, str], list[int]] = {}
        after_by_mark: dict[tuple[object, str], list[int]] = {}
        for side, numbers, table in (
            (self._old, removals, before_by_mark),
            (self._new, additions, after_by_mark),
        ):
            for at in numbers:
                parent = side.key_of.get(side.items[at].parent)
                table.setdefault((parent, side.footprint(at, by_text=by_text)), []).append(at)
        return {
            before[0]: after_by_mark[mark][0]
            for mark, before in before_by_mark.items()
            if len(before) == 1 and len(after_by_mark.get(mark, ())) == 1
        }

    def _rename(self, before: int, after: int) -> tuple[int, Change]:
        was, item = self._old.items[before], self._new.items[after]
        change = Change(
            ChangeKind.RENAMED, item, self._new.name(after), before, after,
            old_name=was.name, old_signature=was.signature, tags=("symbol_renamed",),
            breaking=not self._old.is_private(before),
        )  # fmt: skip
        return item.parent, change

    def _add(self, at: int) -> tuple[int, Change]:
        item = self._new.items[at]
        change = Change(
            ChangeKind.ADDED, item, self._new.name(at), None, at, tags=("symbol_added",),
            is_private=self._new.is_private(at),
        )  # fmt: skip
        return item.parent, change

    def _remove(self, at: int) -> tuple[int, Change]:
        item = self._old.items[at]
        above = self._old.key_of.get(item.parent)
        parent = self._new.keys.get(above, -1) if above else -1
        name = self._old.name(at)
        breaking = not self._old.is_private(at)
        return parent, Change(
            ChangeKind.REMOVED, item, name, at, None, tags=("symbol_removed",), breaking=breaking
        )

    def _changed(self, before: int, after: int) -> Change | None:
        was, item = self._old.items[before], self._new.items[after]
        if was.text == item.text and was.flags == item.flags:
            return None
        tags, breaking, parameters = judge((self._old.facts, before), (self._new.facts, after))
        difference = self._make_difference(before, after)
        lines, is_known = difference.lines, difference.is_known
        if not tags and not lines and is_known:
            return None
        size = ("text_gone",) if not is_known else _size_tags(lines) if lines else ()
        is_outside = is_known and bool(lines) and not (difference.preview or difference.more)
        if is_outside and not tags:
            size = (DOCSTRING,)
        return Change(
            ChangeKind.SIGNATURE if tags else ChangeKind.BODY,
            item, self._new.name(after), before, after,
            old_signature=was.signature if tags else "", lines_changed=lines or None,
            tags=(*tags, *size), parameters=parameters,
            preview=difference.preview, preview_more=difference.more,
            breaking=breaking if not self._old.is_private(before) else False,
            is_quiet=is_outside and breaking is False and not set(tags) - _ANNOTATIONS,
        )  # fmt: skip

    def _code_difference(self, before: int, after: int) -> list[str]:
        """The lines that differ outside of headers, docstrings and comments, with their signs."""
        language = self._new.facts.language
        sides = ((self._old, before), (self._new, after))
        codes = [_code(side.text(at), side.items[at]) for side, at in sides]
        if _lines(codes[0]) == _lines(codes[1]) or _run_the_same(language, *codes):
            return []
        was, now = (_code_lines(language, code) for code in codes)
        return _differing(was, now)

    def _make_difference(self, before: int, after: int) -> _Difference:
        old, new = self._old, self._new
        if old.items[before].text == new.items[after].text:
            return _SAME
        if not (old.has_text and new.has_text):
            return _Difference(is_known=False)
        texts = old.text(before), new.text(after)
        if say_the_same(new.facts.language, *texts):
            return _SAME
        was, now = _lines(texts[0]), _lines(texts[1])
        if was == now:
            return _SAME
        if max(len(was), len(now)) > _MOST_COMPARED:
            return _Difference(max(len(was), len(now)), more=max(len(was), len(now)))
        in_code = self._code_difference(before, after)
        differing = in_code or _differing(was, now)
        count = max(sum(line[0] == sign for line in differing) for sign in "+-")
        lines = in_code if len(in_code) <= _MOST_SHOWN else in_code[: _MOST_SHOWN // 2]
        preview = tuple(line[:_LONGEST] for line in lines)
        return _Difference(count, preview=preview, more=len(in_code) - len(lines))

    def _nested(self, changes: list[tuple[int, Change]]) -> list[Change]:
        """Changes below the changes of what holds them; what holds one has changed itself."""
        below: dict[int, list[Change]] = {}
        own = {one.after: one for _, one in changes if one.after is not None}
        for parent, one in changes:
            below.setdefault(parent, []).append(one)
        waiting = [parent for parent in below if parent not in own]
        while waiting:
            parent = waiting.pop()
            if parent < 0 or parent in own or parent not in self._new.key_of:
                continue
            item = self._new.items[parent]
            before = self._old.keys.get(self._new.key_of[parent])
            own[parent] = Change(ChangeKind.BODY, item, self._new.name(parent), before, parent)
            below.setdefault(item.parent, []).append(own[parent])
            waiting.append(item.parent)
        return self._ordered(below, -1)

    def _ordered(self, below: dict[int, list[Change]], top: int) -> list[Change]:
        changes: dict[int, list[Change]] = {}
        for parent in sorted(below, key=self._new.depth, reverse=True):
            results = [
                replace(one, nested=tuple(changes[one.after]))
                if one.after is not None and one.after in changes
                else one
                for one in below[parent]
            ]
            changes[parent] = sorted(results, key=lambda one: (one.definition.span, one.change))
        return changes.get(top, [])


def _once(changes: list[tuple[int, Change]]) -> list[tuple[int, Change]]:
    """Without the fields that only repeat what has changed in the function that gives them a value."""
    spans = sorted(
        one.definition.span
        for _, one in changes
        if one.after is not None and one.definition.kind in FUNCTIONS
    )
    starts = [span[:2] for span in spans]
    furthest = list(accumulate((span[2:] for span in spans), max))  # end of all that begin so far

    def is_inside(span: Span) -> bool:
        before = bisect_right(starts, span[:2])
        return before > 0 and span[2:] <= furthest[before - 1]

    return [
        (parent, one)
        for parent, one in changes
        if one.definition.kind != "field"
        or one.change is not ChangeKind.BODY
        or not is_inside(one.definition.span)
    ]


def _lines(text: bytes) -> list[str]:
    lines = (line.rstrip() for line in text.decode("utf-8", "replace").split("\n"))
    return [line for line in lines if line]


def _differing(was: Sequence[str], now: Sequence[str]) -> list[str]:
    return [line for line in unified_diff(was, now, n=0, lineterm="") if line[:1] in "+-"][2:]


def _run_the_same(language: str, one: bytes, other: bytes) -> bool:
    """Whether two pieces of code differ in nothing that a program runs on, for certain."""
    codes = [code_tokens(language, code) for code in (one, other)]
    texts = [[token.text for token in code] if code is not None else None for code in codes]
    return texts[0] is not None and texts[0] == texts[1]


def _code_lines(language: str, code: bytes) -> list[str]:
    """The lines that have more on them than comments and documentation."""
    tokens = code_tokens(language, code)
    if tokens is None:
        return _lines(code)
    lines = code.decode("utf-8", "replace").split("\n")
    numbers = sorted({number for token in tokens for number in range(token.first, token.last + 1)})
    return [lines[number - 1].rstrip() for number in numbers]


def _code(text: bytes, item: Definition) -> bytes:
    """A definition without its header and docstring."""
    words = _WORD.findall(item.signature.encode("utf-8", "surrogateescape"))
    header = re.search(rb"\s*".join(map(re.escape, words)), text) if words else None
    if header is None:
        return text
    rest = _DOCSTRING.sub(b"\n", text[header.end() :], count=1)
    return text[: header.start()] + rest


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
