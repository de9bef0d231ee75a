"""The comparison of files before and after a change: what each name meant, and what it would mean."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.languages.facts import Occurrences
from codeplane.names import Codebase, FileFacts
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.text import Lines

_MOST_TOLD: Final = 20
_MOST_PLACES: Final = 3
WHOLE: Final = ((0, 1 << 62),)

Spans = Collection[tuple[int, int]]


class Part(NamedTuple):
    """What is left of a file, and where it is afterwards: spans of bytes that hold the same text."""

    old: RepoPath
    new: RepoPath
    was: Spans = WHOLE
    is_now: Spans = WHOLE


class Comparison(ABC):
    """Compares files before and after. `words` are names that the change plays a part in."""

    def __init__(self, before: Codebase, after: Codebase, words: Collection[str]) -> None:
        self.before, self.after, self.words = before, after, frozenset(words)

    def breaches(self, parts: Collection[Part]) -> list[Problem]:
        """What would mean something else, or could not be read any more."""
        return list(islice(self._found(parts), _MOST_TOLD))

    def _found(self, parts: Collection[Part]) -> Iterator[Problem]:
        for part in sorted(parts):
            was, is_now = self.before.facts(part.old), self.after.facts(part.new)
            if was is None:
                continue
            if is_now is None or (was.state == "ok" and is_now.state != "ok"):
                yield Problem("syntax", f"{shown(part.old)} could not be read any more.", part.old)
                continue
            yield from self.differences(part, was, is_now)

    @abstractmethod
    def differences(self, part: Part, was: FileFacts, is_now: FileFacts) -> Iterator[Problem]:
        """What differs in a file, or in the parts of it that are left."""

    def named(self, facts: FileFacts, occurrences: Occurrences) -> set[int]:
        """The occurrences that one of the words plays a part in."""
        texts = {number for number, text in enumerate(occurrences.texts) if text in self.words}
        behind = {
            number
            for number, text in enumerate(facts.receivers, 1)
            if not self.words.isdisjoint(split_path(text))
        }
        columns = enumerate(zip(occurrences.names, occurrences.receivers, strict=True))
        return {at for at, (name, receiver) in columns if name in texts or receiver in behind}


def describe_places(paths: Iterable[str]) -> str:
    """Where something is, in words; nothing is what is not known."""
    names = sorted({shown(path) for path in paths if path})
    return " or ".join(names[:_MOST_PLACES]) or "nothing that is known"


def around(lines: Lines, sites: Collection[Site]) -> tuple[Spans, Spans]:
    """The bytes that sites leave as they are, before and after."""
    was, is_now, end, shift = [], [], 0, 0
    for site in sorted(sites):
        start = lines.offset(site.line, site.column)
        old, new = (len(text.encode("utf-8", "surrogateescape")) for text in (site.old, site.new))
        was.append((end, start))
        is_now.append((end + shift, start + shift))
        end, shift = start + old, shift + new - old
    return [*was, (end, 1 << 62)], [*is_now, (end + shift, 1 << 62)]


def inside(spans: Spans, occurrences: Occurrences) -> list[int]:
    """The occurrences that begin in one of the spans, in order."""
    return [
        at
        for start, end in sorted(spans)
        for at in range(bisect_left(occurrences.starts, start), bisect_left(occurrences.starts, end))
    ]
