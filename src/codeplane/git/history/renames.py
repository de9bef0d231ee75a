"""Which deleted and which added files are renames, as the git program finds them.

First equal contents, then equal file names with much of the content, then whatever shares most; a file keeps
its identity when at least half of it is there.
"""

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple

import pygit2

from codeplane.git.repo.objects import KIND, REGULAR, blob_size, read_blob
from codeplane.git.repo.outcome import Side

MOST_PAIRS: Final = 10_000
"""Beyond so many pairs only equal contents and equal names are looked for."""

_WHOLE: Final = 60_000
_LEAST: Final = 30_000
_LEAST_BY_NAME: Final = 45_000
_CANDIDATES: Final = 4
_SPAN: Final = 64
_BEGINNING: Final = 8000
_LARGEST: Final = 8 << 20

Sides = Mapping[str, Side]


class _Match(NamedTuple):
    """A candidate for a rename; sorted best first: most in common, then same file name."""

    lost: int
    other_name: int
    old: str
    new: str


def find_renames(
    handle: pygit2.Repository,
    deletions: Sides,
    additions: Sides,
    blobs: Mapping[str, bytes] | None = None,
    targets: Collection[str] | None = None,
) -> dict[str, str]:
    """The old path for each new one that is a rename; `blobs` has contents that are not in git, by id.

    With `targets`, only those of the old paths are looked for; others may be found by the way.
    """
    similarity = _Similarity(handle, blobs or {})
    pairs = _match_equal(deletions, additions)
    pairs |= _match_by_name(
        _remaining(deletions, pairs.values()), _remaining(additions, pairs), similarity, targets
    )
    old, new = _remaining(deletions, pairs.values()), _remaining(additions, pairs)
    if targets is not None:
        old = {path: side for path, side in old.items() if path in targets}
    if 0 < len(old) * len(new) <= MOST_PAIRS:
        pairs |= _match_by_content(old, new, similarity)
    return pairs


def _remaining(sides: Sides, paths: Iterable[str]) -> Sides:
    out = set(paths)
    return {path: side for path, side in sides.items() if path not in out}


def _match_equal(deletions: Sides, additions: Sides) -> dict[str, str]:
    places: dict[str, list[str]] = {}
    for path, side in deletions.items():
        places.setdefault(side.oid, []).append(path)
    pairs: dict[str, str] = {}
    for path, side in additions.items():
        same = [path for path in places.get(side.oid, ()) if _may_be_one(deletions[path], side)]
        if same:
            best = next((one for one in same if _has_name_of(one, path)), same[0])
            pairs[path] = best
            places[side.oid].remove(best)
    return pairs


def _match_by_name(
    deletions: Sides, additions: Sides, similarity: "_Similarity", targets: Collection[str] | None
) -> dict[str, str]:
    """Pairs files whose name occurs only once on either side."""
    old, new = _unique_names(deletions), _unique_names(additions)
    return {
        new[name]: path
        for name, path in old.items()
        if name in new
        and (targets is None or path in targets)
        and similarity.score(deletions[path], additions[new[name]], _LEAST_BY_NAME) >= _LEAST_BY_NAME
    }


def _unique_names(paths: Sides) -> dict[str, str]:
    count = Counter(posixpath.basename(path) for path in paths)
    return {name: path for path in paths if count[name := posixpath.basename(path)] == 1}


def _match_by_content(deletions: Sides, additions: Sides, similarity: "_Similarity") -> dict[str, str]:
    matches: list[_Match] = []
    for path, side in additions.items():
        every = (
            _Match(-similarity.score(deletions[old], side, _LEAST), not _has_name_of(old, path), old, path)
            for old in deletions
        )
        matches += _best_matches(every)
    pairs: dict[str, str] = {}
    sources: set[str] = set()
    for match in sorted(matches, key=lambda match: match[:2]):
        if -match.lost >= _LEAST and match.new not in pairs and match.old not in sources:
            pairs[match.new] = match.old
            sources.add(match.old)
    return pairs


def _best_matches(every: Iterable[_Match]) -> list[_Match]:
    """The best few matches of one file, in the order in which they were found."""
    matches: list[_Match] = []
    for match in every:
        if len(matches) < _CANDIDATES:
            matches.append(match)
            continue
        worst = max(range(_CANDIDATES), key=lambda at: (matches[at][:2], -at))
        if matches[worst][:2] > match[:2]:
            matches[worst] = match
    return matches


def _may_be_one(old: Side, new: Side) -> bool:
    return (_is_regular(old) and _is_regular(new)) or old.mode == new.mode


def _is_regular(side: Side) -> bool:
    return side.mode & KIND == REGULAR


def _has_name_of(one: str, other: str) -> bool:
    return posixpath.basename(one) == posixpath.basename(other)


class _Similarity:
    """Measures how much of one content is in another; reads each once."""

    def __init__(self, handle: pygit2.Repository, blobs: Mapping[str, bytes]) -> None:
        self._handle = handle
        self._blobs = blobs
        self._size = cache(self._size_of)
        self._spans = cache(self._spans_of)

    def score(self, old: Side, new: Side, least: int) -> int:
        if not (_is_regular(old) and _is_regular(new)):
            return 0
        sizes = self._size(old.oid), self._size(new.oid)
        large, small = max(sizes), min(sizes)
        if large > _LARGEST or large * (_WHOLE - least) < (large - small) * _WHOLE:
            return 0
        before, after = self._spans(old.oid), self._spans(new.oid)
        common_size = sum(min(count, after[span]) for span, count in before.items() if span in after)
        return common_size * _WHOLE // large if sizes[1] else 0

    def _size_of(self, oid: str) -> int:
        return len(self._blobs[oid]) if oid in self._blobs else blob_size(self._handle, oid) or 0

    def _spans_of(self, oid: str) -> Counter[bytes]:
        """The bytes of each line, or piece of a long line, that a content consists of."""
        data = self._blobs[oid] if oid in self._blobs else read_blob(self._handle, oid) or b""
        if b"\0" not in data[:_BEGINNING]:
            data = data.replace(b"\r\n", b"\n")
        spans: Counter[bytes] = Counter()
        for line in data.splitlines(keepends=True) if b"\r" not in data else _split_lines(data):
            for at in range(0, len(line), _SPAN):
                piece = line[at : at + _SPAN]
                spans[piece] += len(piece)
        return spans


def _split_lines(data: bytes) -> list[bytes]:
    """Splits at line feeds alone."""
    *whole, last = data.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]
