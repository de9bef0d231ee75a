"""Commits as values: author, committer, message, subject."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import dropwhile, takewhile
from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument

_LONGEST_SUBJECT: Final = 100


@dataclass(frozen=True)
class Signature:
    """A person and a time, in the person's own time zone."""

    name: str
    email: str
    when: str  # ISO 8601 with offset

    @property
    def person(self) -> str:
        return f"{self.name} <{self.email}>"


@dataclass(frozen=True)
class CommitInfo:
    """The metadata of a commit."""

    oid: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def subject(self) -> str:
        return subject_of(self.message)

    @property
    def body(self) -> str:
        return self.message.strip().partition("\n\n")[2].strip()


def subject_of(message: str) -> str:
    """The first paragraph in one line, as git shows a commit."""
    lines = (line.rstrip() for line in message.split("\n"))
    return " ".join(takewhile(bool, dropwhile(lambda line: not line, lines)))


def short_subject(subject: str) -> str:
    """A subject that fits on a line."""
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}…"


def first_line(message: str) -> str:
    """What git quotes in reflogs, reverts and the steps of a sequence."""
    return message.lstrip("\n").partition("\n")[0]


def message_of(commit: pygit2.Commit) -> str:
    """The whole message; bytes that are not text in the commit's own encoding are kept as they are."""
    encoding = commit.message_encoding or "utf-8"
    try:
        return commit.raw_message.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return commit.raw_message.decode("utf-8", "surrogateescape")


def info_of(commit: pygit2.Commit) -> CommitInfo:
    """Reads a commit's metadata; bytes that are not text in its encoding are replaced."""
    encoding = commit.message_encoding or "utf-8"
    return CommitInfo(
        str(commit.id),
        tuple(map(str, commit.parent_ids)),
        signature_of(commit.author),
        signature_of(commit.committer),
        _decode_message(commit.raw_message, encoding),
    )


def parse_date(text: str, *, end: bool = False) -> int:
    """Seconds of an ISO date or time, UTC where it names no zone; a date is its beginning, or its `end`."""
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError as error:
        hints = ["2025-01-31", "2025-01-31T12:00:00+01:00"]
        raise InvalidArgument(f"{text[:60]!r} is not an ISO date.", hints=hints) from error
    aware = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    is_date = len(text.strip()) <= len("2025-01-31")
    return int(aware.timestamp()) + (86_399 if end and is_date else 0)


def signature_of(signature: pygit2.Signature) -> Signature:
    """A signature as text, whatever bytes the name has."""
    return Signature(
        signature.raw_name.decode("utf-8", "replace"),
        signature.raw_email.decode("utf-8", "replace"),
        _iso_time(signature),
    )


def _iso_time(signature: pygit2.Signature) -> str:
    try:
        zone = timezone(timedelta(minutes=signature.offset))
        return datetime.fromtimestamp(signature.time, zone).isoformat()
    except (ValueError, OverflowError, OSError):
        return f"@{signature.time}"


def _decode_message(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")
