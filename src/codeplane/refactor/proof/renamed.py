"""The comparison where names are replaced in place, and nothing moves."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.languages.facts import Occurrences
from codeplane.names import Codebase, FileFacts
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.proof.comparison import Comparison, Part, describe_places
from codeplane.refactor.text import moved

_NAMES: Final = re.compile(r"[\w$@~]+[?!]?")


class Renamed(Comparison):
    """Compares files whose names are replaced in place: everything else stays where it is.

    All that the scopes say has to be the same, and what links say wherever one of the new names plays a part.
    """

    def __init__(
        self,
        before: Codebase,
        after: Codebase,
        words: Collection[str],
        sites: Mapping[RepoPath, Collection[Site]],
    ) -> None:
        super().__init__(before, after, words)
        self._sites = sites

    def differences(self, part: Part, was: FileFacts, is_now: FileFacts) -> Iterator[Problem]:
        """What the scopes of a file say, and what the names concerned mean."""
        path, sites = part.old, self._sites.get(part.old, ())
        before, after = (code.all_occurrences(path) for code in (self.before, self.after))
        after = _without(after, _added(before, after, sites))
        if len(before) != len(after):
            yield Problem("syntax", f"{shown(path)} would have other names in it than those replaced.", path)
            return
        by_position = {(site.line, site.column): site for site in sites}
        yield from _scoped(path, (before, after), (was, is_now), by_position)
        for at in sorted(self.named(was, before) | self.named(is_now, after)):
            if text := self._differs(path, before, after, at):
                yield Problem("binding", text, path, before.at(at).line)

    def _differs(self, path: RepoPath, was: Occurrences, is_now: Occurrences, at: int) -> str:
        old, new = was.texts[was.names[at]], is_now.texts[is_now.names[at]]
        before = self.before.structural_meaning(path, old, was.at(at))
        after = self.after.structural_meaning(path, new, is_now.at(at))
        if (before.tier, before.target) == (after.tier, after.target):
            return ""
        meaning, means = (describe_places(place.path for place in one.target) for one in (before, after))
        return f"`{new}` would mean {means} instead of {meaning}."


def _added(was: Occurrences, is_now: Occurrences, sites: Collection[Site]) -> set[int]:
    """The occurrences that come to be where a name that was two things at once is written apart."""
    lines_added: set[int] = set()
    for site, start, end in moved(sites):
        if " " not in site.new:
            continue
        first = bisect_left(is_now.starts, is_now.lines[site.line - 1] + start)
        last = bisect_left(is_now.starts, is_now.lines[site.line - 1] + end)
        begin = was.lines[site.line - 1] + site.column
        size = len(site.old.encode("utf-8", "surrogateescape"))
        before_count = bisect_left(was.starts, begin + size) - bisect_left(was.starts, begin)
        lines_added.update(range(first, last - before_count))
    return lines_added


def _without(occurrences: Occurrences, left_out: Container[int]) -> Occurrences:
    """The occurrences but some."""
    if not left_out:
        return occurrences
    indices = [at for at in range(len(occurrences)) if at not in left_out]
    columns = (
        occurrences.names,
        occurrences.starts,
        occurrences.roles,
        occurrences.scopes,
        occurrences.targets,
        occurrences.receivers,
    )
    names, starts, roles, scopes, targets, receivers = ([column[at] for at in indices] for column in columns)
    return Occurrences(occurrences.texts, names, starts, roles, scopes, targets, receivers, occurrences.lines)


def _are_alike(sides: tuple[Occurrences, Occurrences], files: tuple[FileFacts, FileFacts]) -> bool:
    """Whether the scopes of both say the same about every name, column by column."""
    (was, is_now), (before, after) = sides, files
    return (
        was.roles == is_now.roles
        and was.scopes == is_now.scopes
        and was.targets == is_now.targets
        and was.receivers == is_now.receivers
        and before.binds.scopes_and_reasons == after.binds.scopes_and_reasons
        and before.binds.lines == after.binds.lines
    )


def _meanings(occurrences: Occurrences, facts: FileFacts) -> list[tuple[object, ...]]:
    """What the scopes of one file say about its names."""
    binds = _identities(facts)
    columns = zip(
        occurrences.roles, occurrences.scopes, occurrences.targets, occurrences.receivers, strict=True
    )
    return [
        (role, scope, target if receiver or not target else binds[target - 1])
        for role, scope, target, receiver in columns
    ]


def _identities(facts: FileFacts) -> list[tuple[int, ...]]:
    """What makes each bind of a file the one that it is, whatever it is called and how many there are."""
    counts: Counter[tuple[int, int]] = Counter()
    identities: list[tuple[int, ...]] = []
    for bind in facts.binds:
        beside = (bind.scope, bind.line)
        identities.append((*beside, int(bind.reason), int(bind.certain), counts[beside]))
        counts[beside] += 1
    return identities


def _scoped(
    path: RepoPath,
    sides: tuple[Occurrences, Occurrences],
    files: tuple[FileFacts, FileFacts],
    by_position: Mapping[tuple[int, int], Site],
) -> Iterator[Problem]:
    """What differs by the scopes of the file alone, and names that nobody wanted to change."""
    was, is_now = sides
    others: set[int] = set()
    if not _are_alike(sides, files):
        meanings = zip(*map(_meanings, sides, files), strict=True)
        others = {at for at, (before, after) in enumerate(meanings) if before != after}
    old, new = was.texts, is_now.texts
    pairs = enumerate(zip(was.names, is_now.names, strict=True))
    differ = {at for at, (before, after) in pairs if old[before] != new[after]}
    for at in sorted(differ | others):
        occurrence, name = was.at(at), new[is_now.names[at]]
        site = by_position.get((occurrence.line, occurrence.column))
        if at in others:
            yield Problem(
                "binding", f"`{name}` would mean something else in its file.", path, occurrence.line
            )
        elif site is None or name not in _NAMES.findall(site.new):
            text = f"`{old[was.names[at]]}` would become `{name}`."
            yield Problem("binding", text, path, occurrence.line)
