"""Every name means afterwards what it meant before: the proof that a plan has to pass."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Final

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.languages.facts import Occurrences
from codeplane.names import Codebase, FileFacts, Snapshot
from codeplane.names.meaning import Target
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.text import moved

_MOST_TOLD: Final = 20
_NAMES: Final = re.compile(r"[\w$@~]+[?!]?")


def breaches(
    snapshot: Snapshot,
    after: Codebase,
    sites: Mapping[RepoPath, Collection[Site]],
    names: Collection[str],
    *,
    is_local: bool = False,
) -> list[Problem]:
    """What would mean something else, or could not be read any more, were the sites replaced.

    `after` links the files as they would be. Looked at are the files with sites and those that have one of
    the names in them, unless the names mean nothing outside (`is_local`); of these, all that the scopes say,
    and what links say wherever a name plays a part.
    """
    found: list[Problem] = []
    check = _Check(snapshot, after, frozenset(names))
    for path in sorted({*sites, *(() if is_local else _holding(snapshot, names))}):
        found += check.file(path, sites.get(path, ()))
        if len(found) >= _MOST_TOLD:
            break
    return found[:_MOST_TOLD]


def _holding(snapshot: Snapshot, names: Collection[str]) -> Iterator[RepoPath]:
    for name in names:
        yield from snapshot.paths_with(name)


class _Check:
    def __init__(self, snapshot: Snapshot, after: Codebase, names: frozenset[str]) -> None:
        self._before, self._after = snapshot, after
        self._names = names

    def file(self, path: RepoPath, sites: Collection[Site]) -> Iterator[Problem]:
        before, after = self._before.facts(path), self._after.facts(path)
        if before is None:
            return
        if after is None or (before.state == "ok" and after.state != "ok"):
            yield Problem("syntax", f"{shown(path)} could not be read any more.", path)
            return
        was, is_now = (code.all_occurrences(path) for code in (self._before, self._after))
        is_now = _without(is_now, _added(was, is_now, sites))
        if len(was) != len(is_now):
            yield Problem("syntax", f"{shown(path)} would have other names in it than those replaced.", path)
            return
        renamed = {(site.line, site.column): site for site in sites}
        yield from _scoped(path, (was, is_now), (before, after), renamed)
        for at in sorted(self._concerned(was, before.receivers) | self._concerned(is_now, after.receivers)):
            if told := self._differs(path, was, is_now, at):
                yield Problem("binding", told, path, was.at(at).line)

    def _concerned(self, found: Occurrences, receivers: Sequence[str]) -> set[int]:
        """The occurrences that one of the names plays a part in."""
        texts = {number for number, text in enumerate(found.texts) if text in self._names}
        behind = {
            number + 1
            for number, text in enumerate(receivers)
            if not self._names.isdisjoint(split_path(text))
        }
        return {
            at
            for at, (name, receiver) in enumerate(zip(found.names, found.receivers, strict=True))
            if name in texts or receiver in behind
        }

    def _differs(self, path: RepoPath, was: Occurrences, is_now: Occurrences, at: int) -> str:
        old, new = was.texts[was.names[at]], is_now.texts[is_now.names[at]]
        before, after = (
            self._before.meaning(path, old, was.at(at)),
            self._after.meaning(path, new, is_now.at(at)),
        )
        if (before.tier, before.target) == (after.tier, after.target):
            return ""
        return f"`{new}` would mean {_told(after.target)} instead of {_told(before.target)}."


def _added(was: Occurrences, is_now: Occurrences, sites: Collection[Site]) -> set[int]:
    """The occurrences that come to be where a name that was two things at once is written apart."""
    found: set[int] = set()
    for site, start, end in moved(sites):
        if " " not in site.new:
            continue
        first = bisect_left(is_now.starts, is_now.lines[site.line - 1] + start)
        last = bisect_left(is_now.starts, is_now.lines[site.line - 1] + end)
        begin = was.lines[site.line - 1] + site.column
        size = len(site.old.encode("utf-8", "surrogateescape"))
        stood = bisect_left(was.starts, begin + size) - bisect_left(was.starts, begin)
        found.update(range(first, last - stood))
    return found


def _without(found: Occurrences, left_out: Container[int]) -> Occurrences:
    """The occurrences but some."""
    if not left_out:
        return found
    kept = [at for at in range(len(found)) if at not in left_out]
    columns = (found.names, found.starts, found.roles, found.scopes, found.targets, found.receivers)
    names, starts, roles, scopes, targets, receivers = ([column[at] for at in kept] for column in columns)
    return Occurrences(found.texts, names, starts, roles, scopes, targets, receivers, found.lines)


def _are_alike(found: tuple[Occurrences, Occurrences], files: tuple[FileFacts, FileFacts]) -> bool:
    """Whether the scopes of both say the same about every name, column by column."""
    (was, is_now), (before, after) = found, files
    return (
        was.roles == is_now.roles
        and was.scopes == is_now.scopes
        and was.targets == is_now.targets
        and was.receivers == is_now.receivers
        and before.binds.scopes_and_reasons == after.binds.scopes_and_reasons
        and before.binds.lines == after.binds.lines
    )


def _meanings(found: Occurrences, facts: FileFacts) -> list[tuple[object, ...]]:
    """What the scopes of one file say about its names."""
    binds = _identities(facts)
    columns = zip(found.roles, found.scopes, found.targets, found.receivers, strict=True)
    return [
        (role, scope, target if receiver or not target else binds[target - 1])
        for role, scope, target, receiver in columns
    ]


def _identities(facts: FileFacts) -> list[tuple[int, ...]]:
    """What makes each bind of a file the one that it is, whatever it is called and how many there are."""
    seen: Counter[tuple[int, int]] = Counter()
    found: list[tuple[int, ...]] = []
    for bind in facts.binds:
        beside = (bind.scope, bind.line)
        found.append((*beside, int(bind.reason), int(bind.certain), seen[beside]))
        seen[beside] += 1
    return found


def _scoped(
    path: RepoPath,
    found: tuple[Occurrences, Occurrences],
    files: tuple[FileFacts, FileFacts],
    renamed: Mapping[tuple[int, int], Site],
) -> Iterator[Problem]:
    """What differs by the scopes of the file alone, and names that nobody wanted to change."""
    was, is_now = found
    others: set[int] = set()
    if not _are_alike(found, files):
        meant = zip(*map(_meanings, found, files), strict=True)
        others = {at for at, (before, after) in enumerate(meant) if before != after}
    old, new = was.texts, is_now.texts
    pairs = enumerate(zip(was.names, is_now.names, strict=True))
    differ = {at for at, (before, after) in pairs if old[before] != new[after]}
    for at in sorted(differ | others):
        seen, name = was.at(at), new[is_now.names[at]]
        site = renamed.get((seen.line, seen.column))
        if at in others:
            yield Problem("binding", f"`{name}` would mean something else in its file.", path, seen.line)
        elif site is None or name not in _NAMES.findall(site.new):
            text = f"`{old[was.names[at]]}` would become `{name}`."
            yield Problem("binding", text, path, seen.line)


def _told(target: Target) -> str:
    """A target in words; nothing is what is not known."""
    if not target:
        return "nothing that is known"
    return " or ".join(shown(place.path) for place in target[:3])
