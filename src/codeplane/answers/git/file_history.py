"""The commits of one file or of some of its lines, as the git tools show them."""

from typing import NamedTuple

import pygit2
from pydantic import Field

from codeplane.answers.git.commits import CommitOutput, commit_fields
from codeplane.core.errors import CodePlaneError, InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.git.history.commit_info import CommitInfo
from codeplane.git.history.follow import Follow, Span, Step, Version, span_before
from codeplane.git.history.hunks import diff_hunks
from codeplane.git.history.walk import place_at
from codeplane.git.repo.objects import find_commit
from codeplane.jail import shown
from codeplane.session import Call

_KINDS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed"}


class FileCommit(CommitOutput):
    change: str | None = Field(default=None, description="added, modified, deleted or renamed.")
    old_path: str | None = Field(default=None, description="Path before a rename.")
    lines: str | None = Field(default=None, description="`first-last` at this commit.")


class Place(NamedTuple):
    """A file, and the lines of it that are asked about: the first and the last, counted from 1."""

    path: RepoPath
    start: int | None = None
    end: int | None = None

    @property
    def is_whole(self) -> bool:
        return self.start is None and self.end is None


def follow_at(handle: pygit2.Repository, ref: str, place: Place) -> Follow:
    """The history of lines as a commit has them, or of the whole file."""
    commit = find_commit(handle, ref).oid
    if place.is_whole:
        return _begin_follow(handle, Version(commit, place.path))
    span = _make_span(place, _find_blob(handle, commit, ref, place.path).data, f"at {ref}")
    return _begin_follow(handle, Version(commit, place.path, span))


def follow_now(call: Call, handle: pygit2.Repository, ref: str, place: Place) -> Follow:
    """The history of lines as the working tree has them, which the commit may have elsewhere."""
    commit = find_commit(handle, ref).oid
    blob = _find_blob(handle, commit, ref, place.path)
    try:
        data = call.repo.tree.read(place.path)
    except CodePlaneError:
        return follow_at(handle, ref, place)
    if b"\r\n" in data and b"\r\n" not in blob.data:
        data = data.replace(b"\r\n", b"\n")
    span = span_before(diff_hunks(blob, data), _make_span(place, data, "now"))
    if span.end <= span.start:
        raise NotFound(
            f"{ref} does not have these lines of {shown(place.path)}: they are not committed yet.",
            path=shown(place.path),
        )
    return _begin_follow(handle, Version(commit, place.path, span))


def step_fields(info: CommitInfo, step: Step, *, body: bool = False) -> dict[str, object]:
    """The fields of `FileCommit`."""
    span = step.version.span
    return {
        **commit_fields(info, body=body),
        "change": _KINDS[step.kind],
        "old_path": shown(step.old_path) if step.old_path is not None else None,
        "lines": f"{span.start + 1}-{span.end}" if span is not None else None,
    }


def _begin_follow(handle: pygit2.Repository, version: Version) -> Follow:
    follow = Follow()
    follow.begin(handle, version)
    return follow


def _find_blob(handle: pygit2.Repository, commit: str, ref: str, path: RepoPath) -> pygit2.Blob:
    place = place_at(handle, commit, path)
    blob = handle.get(place[0]) if place is not None else None
    if not isinstance(blob, pygit2.Blob):
        raise NotFound(f"{ref} has no file {shown(path)}.", path=shown(path))
    return blob


def _make_span(place: Place, data: bytes, when: str) -> Span:
    start, last = place.start or 1, data.count(b"\n") + (not data.endswith(b"\n"))
    end = place.end or last
    if end < start or start > last:
        raise InvalidArgument(
            f"{shown(place.path)} has {last} lines {when}; {start} to {end} is out of range."
        )
    return Span(start - 1, min(end, last))
