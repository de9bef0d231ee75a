"""Paths inside the repository: relative, POSIX, as bytes decoded so that any name survives."""

from typing import NewType

RepoPath = NewType("RepoPath", str)
"""A path that the jail has let in or that a scan has found: relative, `/` between segments, no `.` or `..`.

Names that are not UTF-8 carry surrogate escapes (`os.fsdecode`), so `os.fsencode` gives the bytes back.
"""

Digest = NewType("Digest", str)
"""The sha256 of a file's raw bytes, in hex."""
