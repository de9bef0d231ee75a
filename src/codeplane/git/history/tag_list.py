"""The tags of a repository."""

from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.git.history.commit_info import info_of, signature_of, subject_of

_PREFIX: Final = b"refs/tags/"


@dataclass(frozen=True)
class TagInfo:
    """A tag and the commit it names. A lightweight tag has the time of its commit and no message."""

    name: str
    target: str
    when: str
    message: str
    seconds: int


def list_tags(handle: pygit2.Repository) -> list[TagInfo]:
    """All tags, newest first, then by name."""
    tags = [reference for reference in handle.references.iterator() if reference.raw_name.startswith(_PREFIX)]
    infos = [_tag_info(handle, tag) for tag in tags]
    return sorted(infos, key=lambda info: (-info.seconds, info.name))


def _tag_info(handle: pygit2.Repository, reference: pygit2.Reference) -> TagInfo:
    name = reference.raw_name.removeprefix(_PREFIX).decode("utf-8", "surrogateescape")
    target = reference.target
    tag = handle.get(target) if isinstance(target, pygit2.Oid) else None
    if isinstance(tag, pygit2.Tag):
        message = subject_of(tag.raw_message.decode("utf-8", "replace"))
        when = signature_of(tag.tagger).when if tag.tagger is not None else ""
        seconds = tag.tagger.time if tag.tagger is not None else 0
        return TagInfo(name, _peel_tag(tag), when, message, seconds)
    if isinstance(tag, pygit2.Commit):
        info = info_of(tag)
        return TagInfo(name, info.oid, info.committer.when, "", tag.commit_time)
    return TagInfo(name, str(target), "", "", 0)


def _peel_tag(tag: pygit2.Tag) -> str:
    try:
        return str(tag.peel(pygit2.Commit).id)
    except (pygit2.GitError, pygit2.InvalidSpecError, KeyError):
        return str(tag.target)
