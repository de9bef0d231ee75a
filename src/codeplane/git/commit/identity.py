"""Author and committer, from git's settings or from the caller."""

import re

import pygit2

from codeplane.core.errors import GitFailed, IdentityMissing, InvalidArgument
from codeplane.git.repo.config import config_text

# Characters that git removes from a name, and those that it strips from its ends.
_INSIDE = re.compile(r"[<>\n\0]")
_ENDS = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
_LONGEST = 250


def committer_signature(handle: pygit2.Repository) -> pygit2.Signature:
    """The user as committer, now."""
    return _configured_signature(handle, "committer")


def author_signature(
    handle: pygit2.Repository, name: str | None = None, email: str | None = None
) -> pygit2.Signature:
    """The user as author, now; or someone else, given by name and address."""
    if name is None and email is None:
        return _configured_signature(handle, "author")
    return _make_signature(_check_part(name, "name"), _check_part(email, "email"))


def format_signature(who: pygit2.Signature, encoding: str) -> bytes:
    """A signature in the form of a commit's or tag's header."""
    sign, minutes = "-" if who.offset < 0 else "+", abs(who.offset)
    when = f"{who.time} {sign}{minutes // 60:02}{minutes % 60:02}"
    return b"%s <%s> %s" % (encode_text(who.name, encoding), encode_text(who.email, encoding), when.encode())


def encode_text(content: str, encoding: str) -> bytes:
    """Encodes a message as the settings ask; bytes that were not text stay as they were."""
    try:
        return content.encode(encoding, "surrogateescape")
    except LookupError as error:
        raise GitFailed(f"i18n.commitEncoding names an unknown encoding: {encoding}.") from error
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"The text can't be written in {encoding}, which i18n.commitEncoding demands."
        ) from error


def _configured_signature(handle: pygit2.Repository, role: str) -> pygit2.Signature:
    identity = {}
    for part in ("name", "email"):
        setting = config_text(handle, f"{role}.{part}") or config_text(handle, f"user.{part}") or ""
        identity[part] = _INSIDE.sub("", setting).strip(_ENDS)
    missing = [part for part, value in identity.items() if not value]
    if missing:
        settings = " and ".join(f"user.{part}" for part in missing) + (" is" if len(missing) == 1 else " are")
        raise IdentityMissing(
            f"Git does not know who commits: {settings} not set.",
            hints=['git config --global user.name "NAME"', 'git config --global user.email "ADDRESS"'],
        )
    return _make_signature(identity["name"], identity["email"])


def _make_signature(name: str, email: str) -> pygit2.Signature:
    return pygit2.Signature(name, email, -1, 0, "utf-8")


def _check_part(value: str | None, part: str) -> str:
    text = (value or "").strip()
    is_good = text and len(text) <= _LONGEST and text.isprintable() and not _INSIDE.search(text)
    if not is_good or not text.strip(_ENDS):
        raise InvalidArgument(
            f"The {part} of an author is a single line without angle brackets.",
            hints=['For example "author": "A. Name <name@example.org>".'],
        )
    return text
