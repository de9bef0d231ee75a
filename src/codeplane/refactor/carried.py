"""Every name means after a move what it meant, places moved along: the proof that a move has to pass."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.index.binding import Binding
from codeplane.index.files import FileFacts
from codeplane.index.links import Linker
from codeplane.index.targets import Target, split_path
from codeplane.jail import shown
from codeplane.languages.facts import Occurrences, Role
from codeplane.languages.modules import rules
from codeplane.languages.moving import Moving
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.text import Lines

_MOST_TOLD: Final = 20


class Edited(NamedTuple):
    """A file before a move, with what is replaced in it."""

    lines: Lines
    sites: Collection[Site]


class Carried:
    """Compares files before and after. `words` are names that the move plays a part in."""

    def __init__(self, before: Linker, after: Linker, moving: Moving, words: Collection[str]) -> None:
        self._before, self._after, self._moving = before, after, moving
        self._meant, self._means = Binding(before), Binding(after)
        self._words = frozenset(words)

    def breaches(self, files: Mapping[RepoPath, Edited | None]) -> list[Problem]:
        """What would mean something else; files are by their old paths, those without edits have none."""
        found: list[Problem] = []
        for path, edited in sorted(files.items()):
            found += self._file(path, edited)
            if len(found) >= _MOST_TOLD:
                break
        return found[:_MOST_TOLD]

    def _file(self, path: RepoPath, edited: Edited | None) -> Iterator[Problem]:
        new = self._moving.path(path)
        was, is_now = self._before.sources.facts(path), self._after.sources.facts(new)
        if was is None:
            return
        if is_now is None or (was.state == "ok" and is_now.state != "ok"):
            yield Problem("syntax", f"{shown(path)} could not be read any more.", path)
            return
        yield from self._imports(path, was, is_now)
        yield from self._names(path, new, edited)

    def _imports(self, path: RepoPath, was: FileFacts, is_now: FileFacts) -> Iterator[Problem]:
        """All that is imported, by the local name: the same things as before."""
        before = self._imported(path, was, self._before, is_old=True)
        after = self._imported(self._moving.path(path), is_now, self._after, is_old=False)
        for key in sorted(before.keys() | after.keys(), key=str):
            if before.get(key) != after.get(key):
                line = next((item.line for item in was.imports if item.alias == key[1]), None)
                told = f"What is imported as `{key[1] or key[2]}` would be {_told(after.get(key))}"
                yield Problem("binding", f"{told} instead of {_told(before.get(key))}.", path, line)

    def _imported(
        self, path: str, facts: FileFacts, linker: Linker, *, is_old: bool
    ) -> dict[tuple[int, str, str], set[Target]]:
        found: dict[tuple[int, str, str], set[Target]] = {}
        for at, item in enumerate(facts.imports):
            target = linker.imported(path, at)
            if not item.name and item.module.startswith(f"{item.alias}.") and item.alias:
                language = rules(facts.language)
                whole = item._replace(alias="")
                target = tuple(language.places(linker.sources, path, whole)) if language else ()
                key = (item.scope, "", "module")
            else:
                key = (item.scope, item.alias, "" if item.alias else item.name)
            moved = tuple(sorted(map(self._moving.place, target))) if is_old else tuple(sorted(target))
            if moved or item.alias:
                found.setdefault(key, set()).add(moved)
        return found

    def _names(self, path: RepoPath, new: str, edited: Edited | None) -> Iterator[Problem]:
        """The occurrences outside of what is replaced, one by one."""
        before, after = _occurrences(self._before, path), _occurrences(self._after, new)
        gone, come = _spans(edited)
        kept = [at for at, start in enumerate(before.starts) if not _is_in(gone, start)]
        left = [at for at, start in enumerate(after.starts) if not _is_in(come, start)]
        if len(kept) != len(left):
            yield Problem("syntax", f"{shown(path)} would have other names in it.", path)
            return
        is_moved = path in self._moving.moves
        for old, now in zip(kept, left, strict=True):
            if told := self._differs((path, before, old), (new, after, now), is_moved=is_moved):
                yield Problem("binding", told, path, before.at(old).line)

    def _differs(
        self, was: tuple[str, Occurrences, int], is_now: tuple[str, Occurrences, int], *, is_moved: bool
    ) -> str:
        name, other = _name(was), _name(is_now)
        seen, sees = was[1].at(was[2]), is_now[1].at(is_now[2])
        if name != other or seen.role != sees.role or seen.scope != sees.scope:
            return f"`{name}` would become something else."
        old, new = self._before.sources.facts(was[0]), self._after.sources.facts(is_now[0])
        assert old is not None and new is not None, "BUG: files with names have facts"
        if not seen.receiver and _bind(old, seen.target) != _bind(new, sees.target):
            return f"`{name}` would mean something else in its file."
        if seen.role is Role.IMPORT or not (is_moved or self._is_concerned(old, name, seen.receiver)):
            return ""
        before = self._meant.of(was[0], name, seen)
        after = self._means.of(is_now[0], other, sees)
        target = tuple(sorted(map(self._moving.place, before.target)))
        if (before.tier, target) == (after.tier, tuple(sorted(after.target))):
            return ""
        return f"`{name}` would mean {_told({after.target})} instead of {_told({before.target})}."

    def _is_concerned(self, facts: FileFacts, name: str, receiver: int) -> bool:
        if name in self._words:
            return True
        return bool(receiver) and not self._words.isdisjoint(split_path(facts.receivers[receiver - 1]))


def _name(one: tuple[str, Occurrences, int]) -> str:
    return one[1].texts[one[1].names[one[2]]]


def _bind(facts: FileFacts, target: int) -> tuple[object, ...]:
    """What a name is bound to in its file, whatever its number."""
    if not target:
        return ()
    bind = facts.binds[target - 1]
    return bind.scope, bind.name, bind.reason, bind.certain


def _occurrences(linker: Linker, path: str) -> Occurrences:
    blob = linker.sources.memo.layout.blobs.get(path)
    return (linker.sources.names_of(blob) if blob is not None else None) or Occurrences()


def _spans(edited: Edited | None) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The bytes that are replaced, and those that stand there afterwards."""
    gone, come, shift = [], [], 0
    for site in sorted(edited.sites) if edited is not None else ():
        assert edited is not None, "BUG: a site has a file"
        start = edited.lines.offset(site.line, site.column)
        old, new = (len(text.encode("utf-8", "surrogateescape")) for text in (site.old, site.new))
        gone.append((start, start + old))
        come.append((start + shift, start + shift + new))
        shift += new - old
    return gone, come


def _is_in(spans: list[tuple[int, int]], start: int) -> bool:
    at = bisect_right(spans, (start, 1 << 62)) - 1
    return at >= 0 and spans[at][0] <= start < spans[at][1]


def _told(targets: set[Target] | None) -> str:
    """Targets in words; nothing is what is not known."""
    places = sorted({shown(place.path) for target in targets or () for place in target if place.path})
    return " or ".join(places[:3]) or "nothing that is known"
