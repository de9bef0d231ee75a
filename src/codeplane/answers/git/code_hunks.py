"""Diffs without the hunks that change nothing that a program runs on."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import pygit2

from codeplane.git.history.patches import LARGEST, Patch
from codeplane.git.repo.outcome import Side
from codeplane.languages import language_of
from codeplane.languages.tokens import Token, code_tokens

_RANGES: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class _Ranges(NamedTuple):
    """The lines of a hunk on both sides."""

    old: range
    new: range


def code_only(handle: pygit2.Repository, patch: Patch) -> Patch:
    """The patch of two blobs without hunks that change comments, docstrings or white space alone."""
    change = patch.change
    if not patch.hunks or change.kind not in ("M", "R"):
        return patch
    old, new = (
        _find_tokens(handle, change.old_path or change.path, change.old),
        _find_tokens(handle, change.path, change.new),
    )
    if old is None or new is None:
        return patch
    hunks = tuple(hunk for hunk in patch.hunks if not _runs_the_same(_make_ranges(hunk), old, new))
    # A mark that opens a comment or a text changes what lines in no hunk are.
    ranges = [_make_ranges(hunk) for hunk in hunks]
    if _outside(old, [one.old for one in ranges]) != _outside(new, [one.new for one in ranges]):
        return patch
    return replace(patch, hunks=hunks)


def _find_tokens(handle: pygit2.Repository, path: str, side: Side | None) -> list[Token] | None:
    if side is None or not side.oid:
        return None
    data = handle.read(side.oid)[1]
    language = language_of(path, data)
    return code_tokens(language, data) if language is not None and len(data) <= LARGEST else None


def _make_ranges(hunk: str) -> _Ranges:
    place = _RANGES.match(hunk)
    assert place is not None, "BUG: a hunk begins with its place"
    was, were, now, are = (int(number) if number is not None else 1 for number in place.groups())
    return _Ranges(range(was, was + were), range(now, now + are))


def _runs_the_same(ranges: _Ranges, old: Sequence[Token], new: Sequence[Token]) -> bool:
    return _within(old, ranges.old) == _within(new, ranges.new)


def _within(tokens: Sequence[Token], lines: range) -> list[bytes]:
    return [one.text for one in tokens if one.last >= lines.start and one.first < lines.stop]


def _outside(tokens: Sequence[Token], shown: Sequence[range]) -> list[bytes]:
    numbers = {number for lines in shown for number in lines}
    return [one.text for one in tokens if one.first not in numbers and one.last not in numbers]
