"""A file as git would keep it: line ends and `$Id$` by the attributes; no program is run.

An external filter is not obeyed here: who compares contents has to leave such a path undecided.
"""

import os
import re
from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.git.repo.config import text
from codeplane.git.repo.objects import read_blob

_ID: Final = re.compile(rb"\$Id:[^$\n]*\$")
_TEXT_CONTROLS: Final = frozenset(b"\b\t\x1b\x0c\n\r")
_CONTROLS: Final = bytes(code for code in (*range(1, 32), 127) if code not in _TEXT_CONTROLS)


@dataclass(frozen=True)
class Attributes:
    """What git is told about one path; each attribute is looked up when it is asked for."""

    handle: pygit2.Repository
    path: str

    @property
    def line_ends(self) -> str | None:
        """`text` or `auto`; None where they stay as they are."""
        told = (self._value(name) for name in ("text", "crlf"))
        kind = next((one for one in told if one in (True, False, "input", "auto")), None)
        if kind is False or kind == "auto":
            return "auto" if kind else None
        if kind is not None or self._value("eol") in ("lf", "crlf"):
            return "text"
        return "auto" if _auto_crlf(self.handle) else None

    @property
    def ident(self) -> bool:
        return self._value("ident") is True

    @property
    def filter(self) -> str | None:
        """The name of an external filter."""
        told = self._value("filter")
        return told if isinstance(told, str) else None

    @property
    def encoding(self) -> str | None:
        """The encoding of the file, where it is another than that of git."""
        told = self._value("working-tree-encoding")
        return told if isinstance(told, str) and told.upper() != "UTF-8" else None

    def _value(self, name: str) -> bool | str | None:
        return self.handle.get_attr(os.fsencode(self.path), name)


def attributes_of(handle: pygit2.Repository, path: str) -> Attributes:
    return Attributes(handle, path)


def cleaned(told: Attributes, data: bytes, indexed: str | None) -> bytes:
    """The bytes that git keeps for these; `indexed` is the blob that the index has for the path."""
    if b"\r\n" in data and (how := told.line_ends) is not None:
        data = _with_line_feeds(told.handle, how, data, indexed)
    return _ID.sub(b"$Id$", data) if b"$Id:" in data and told.ident else data


def _with_line_feeds(handle: pygit2.Repository, how: str, data: bytes, indexed: str | None) -> bytes:
    if how == "auto":
        if _is_binary(data) or (indexed is not None and _has_crlf(read_blob(handle, indexed) or b"")):
            return data
        return data.replace(b"\r", b"")
    return data.replace(b"\r\n", b"\n")


def _has_crlf(data: bytes) -> bool:
    return b"\r\n" in data and not _is_binary(data)


def _is_binary(data: bytes) -> bool:
    """As git guesses it where it converts line ends: other signs than where it shows a difference."""
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return True
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if data.endswith(b"\x1a"):
        controls -= 1
    printable = len(data) - controls - data.count(b"\n") - data.count(b"\r")
    return printable >> 7 < controls


def _auto_crlf(handle: pygit2.Repository) -> bool:
    return (text(handle, "core.autocrlf") or "").lower() in ("input", "true", "yes", "on", "1")
