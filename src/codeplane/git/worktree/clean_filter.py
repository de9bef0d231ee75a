"""The content of a file as git stores it: line endings and `$Id$` by the attributes; no program is run.

An external filter is not obeyed here: who compares contents has to leave such a path undecided.
"""

import re
from typing import Final

import pygit2

from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.objects import read_blob

_ID: Final = re.compile(rb"\$Id:[^$\n]*\$")
_TEXT_CONTROLS: Final = frozenset(b"\b\t\x1b\x0c\n\r")
_CONTROLS: Final = bytes(code for code in (*range(1, 32), 127) if code not in _TEXT_CONTROLS)


def clean_content(attributes: Attributes, data: bytes, index_blob: str | None) -> bytes:
    """The bytes that git stores for a file; `index_blob` is the path's blob in the index."""
    if b"\r\n" in data and (mode := attributes.line_ends) is not None:
        data = _with_line_feeds(attributes.handle, mode, data, index_blob)
    return _ID.sub(b"$Id$", data) if b"$Id:" in data and attributes.has_ident else data


def _with_line_feeds(handle: pygit2.Repository, mode: str, data: bytes, index_blob: str | None) -> bytes:
    if mode == "auto":
        if _is_binary(data) or (index_blob is not None and _has_crlf(read_blob(handle, index_blob) or b"")):
            return data
        return data.replace(b"\r", b"")
    return data.replace(b"\r\n", b"\n")


def _has_crlf(data: bytes) -> bool:
    return b"\r\n" in data and not _is_binary(data)


def _is_binary(data: bytes) -> bool:
    """Git's guess for converting line endings, which is not the one for showing diffs."""
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return True
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if data.endswith(b"\x1a"):
        controls -= 1
    printable = len(data) - controls - data.count(b"\n") - data.count(b"\r")
    return printable >> 7 < controls
