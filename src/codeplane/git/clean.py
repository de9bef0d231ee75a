"""A file as git would keep it: line ends and `$Id$` by the attributes; no program is run.

An external filter is not obeyed here: who compares contents has to leave such a path undecided.
"""

import os
import re
from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.git.objects import read_blob
from codeplane.git.settings import text

_ID: Final = re.compile(rb"\$Id:[^$\n]*\$")
_TEXT_CONTROLS: Final = frozenset(b"\b\t\x1b\x0c\n\r")
_CONTROLS: Final = bytes(code for code in (*range(1, 32), 127) if code not in _TEXT_CONTROLS)


@dataclass(frozen=True)
class Attributes:
    """What git is told about one path; `line_ends` is None where they stay as they are."""

    line_ends: str | None  # "text" or "auto"
    ident: bool
    filter: str | None  # the name of an external filter
    encoding: str | None


def attributes_of(handle: pygit2.Repository, path: str) -> Attributes:
    told = {name: handle.get_attr(os.fsencode(path), name) for name in _NAMES}
    filtered, encoding = told["filter"], told["working-tree-encoding"]
    return Attributes(
        _line_ends(told, _auto_crlf(handle)),
        told["ident"] is True,
        filtered if isinstance(filtered, str) else None,
        encoding if isinstance(encoding, str) and encoding.upper() != "UTF-8" else None,
    )


def cleaned(handle: pygit2.Repository, told: Attributes, data: bytes, indexed: str | None) -> bytes:
    """The bytes that git keeps for these; `indexed` is the blob that the index has for the path."""
    if told.line_ends is not None and b"\r\n" in data:
        data = _with_line_feeds(handle, told.line_ends, data, indexed)
    return _ID.sub(b"$Id$", data) if told.ident else data


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


_NAMES: Final = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")


def _line_ends(told: dict[str, bool | str | None], auto_crlf: bool) -> str | None:
    kind = told["text"] if told["text"] in (True, False, "input", "auto") else None
    if kind is None and told["crlf"] in (True, False, "input", "auto"):
        kind = told["crlf"]
    if kind is False:
        return None
    if kind == "auto":
        return "auto"
    if kind is not None or told["eol"] in ("lf", "crlf"):
        return "text"
    return "auto" if auto_crlf else None


def _auto_crlf(handle: pygit2.Repository) -> bool:
    return (text(handle, "core.autocrlf") or "").lower() in ("input", "true", "yes", "on", "1")
