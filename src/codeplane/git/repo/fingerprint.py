"""A fingerprint of the repository's git state, to tell whether an operation changed anything."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import MERGE_FILES, STATE_DIRECTORIES

# HEAD, index, references, and what an unfinished operation leaves.
_FILES: Final = (
    "HEAD", "index", "packed-refs", "config", "logs/refs/stash", *MERGE_FILES,
)  # fmt: skip
_DIRECTORIES: Final = ("refs", *STATE_DIRECTORIES, "worktrees", "modules")
_MOST_READ: Final = 4096


def git_fingerprint(repository: Repository) -> str:
    """Stays equal while neither HEAD nor references, index, settings or anything unfinished have changed.

    It is looked at from outside, by sizes, times and short contents, so it may differ where only a time does.
    """
    digest = hashlib.sha256()
    for place in {repository.git_dir, repository.common_dir}:
        for path in _watched_files(place):
            with suppress(OSError):
                digest.update(_describe_file(path))
    return digest.hexdigest()


def _watched_files(place: Path) -> Iterator[Path]:
    for name in _FILES:
        yield place / name
    for name in _DIRECTORIES:
        for inner, directories, files in os.walk(place / name):
            if name == "modules":
                directories.clear()
            directories.sort()
            yield from (Path(inner, file) for file in sorted([*files, *directories]))


def _describe_file(path: Path) -> bytes:
    status = path.lstat()
    if path.is_dir():
        return f"{path}/".encode("utf-8", "surrogateescape")
    if status.st_size > _MOST_READ:
        return f"{path} {status.st_size} {status.st_mtime_ns} {status.st_ino}".encode(
            "utf-8", "surrogateescape"
        )
    return os.fsencode(path) + b"\0" + path.read_bytes()
