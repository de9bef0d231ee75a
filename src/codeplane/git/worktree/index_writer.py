"""Git's index on disk: locked as git locks it, and replaced whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pygit2
from pygit2.ffi import C, ffi

from codeplane.git.repo import index_file
from codeplane.git.repo.index_file import is_intended
from codeplane.git.repo.lock_retry import retry_locked
from codeplane.git.repo.outcome import Side
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.files import FileState, WorkTree
from codeplane.storage.files import claim, publish, read_small

_LOCK: Final = "index.lock"
# Marks a lock as CodePlane's own, for the next start.
_OWN: Final = b"codeplane\n"
_COPY: Final = "index.codeplane-"
_SUBSET: Final = "next-index-"
_EXTENDED_FROM: Final = 3  # the first index version with extended flags
_ASSUMED: Final = 0x8000
_SKIPPED: Final = 0x4000
_SECOND: Final = 1_000_000_000
_WORD: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF


@dataclass(frozen=True)
class NextIndex:
    """The next index, in its own file until it replaces git's."""

    index: pygit2.Index
    file: Path


@contextmanager
def locked_index(repository: Repository, handle: pygit2.Repository) -> Iterator[NextIndex]:
    """A copy of git's index, whose file takes its place after the block; not if the block fails.

    Meanwhile no other program can write the index: it is locked as git locks it.
    """
    lock, index = repository.git_dir / _LOCK, repository.git_dir / "index"
    file = repository.git_dir / f"{_COPY}{secrets.token_hex(6)}"
    retry_locked(lambda: _claim_lock(lock))
    try:
        data = _read_index(index)
        if data:
            tree = WorkTree(handle, repository.root)
            file.write_bytes(
                index_file.smudge_entries(data, index.stat().st_mtime_ns, lambda *one: _is_same(tree, *one))
            )
        copy = pygit2.Index(str(file))
        # pygit2 gives an index opened from a file no repository.
        copy._repo = handle  # type: ignore[assignment]  # noqa: SLF001
        yield NextIndex(copy, file)
        if file.exists():
            publish(file, index)
    finally:
        file.unlink(missing_ok=True)
        lock.unlink(missing_ok=True)


@contextmanager
def edited_index(repository: Repository, handle: pygit2.Repository) -> Iterator[pygit2.Index]:
    """A locked copy of git's index that is written after the block."""
    with locked_index(repository, handle) as next_index:
        yield next_index.index
        next_index.index.write()
    handle.index.read(False)


def drop_own_lock(repository: Repository) -> str | None:
    """Removes the lock that a crash of CodePlane left, and says so; another program's stays."""
    for copy in (*repository.git_dir.glob(f"{_COPY}*"), *repository.git_dir.glob(f"{_LOCK}.*.tmp")):
        copy.unlink()
    for subset in repository.git_dir.glob(subset_name("*")):
        if not _is_running(subset.stem.removeprefix(_SUBSET)):
            subset.unlink(missing_ok=True)
    lock = repository.git_dir / _LOCK
    if read_small(lock, len(_OWN)) != _OWN:
        return None
    lock.unlink()
    return f"{lock} was left by an interrupted change of git's index; it has been removed."


def subset_name(process: int | str) -> str:
    """The file of the index that a commit of chosen files is made of, named as git names it."""
    return f"{_SUBSET}{process}.lock"


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def check_unlocked(repository: Repository) -> None:
    """Waits a moment for a program that has the index locked; `GitBusy` when that lasts."""

    def look() -> None:
        if (repository.git_dir / _LOCK).exists():
            raise pygit2.GitError("failed to lock the index: index.lock exists")

    retry_locked(look)


def intended_paths(file: Path) -> frozenset[str]:
    """The intended paths of an index file (`git add --intent-to-add`)."""
    data = _read_index(file)
    if int.from_bytes(data[4:8]) < _EXTENDED_FROM:
        return frozenset()
    return frozenset(os.fsdecode(name) for name, fields in index_file.entries(data) if is_intended(fields))


def is_frozen(index: pygit2.Index, path: str) -> bool:
    """Whether the entry is marked assume-unchanged or skip-worktree."""
    entry = _find_entry(index, path, 0)
    return bool(entry and (entry.flags & _ASSUMED or entry.flags_extended & _SKIPPED))


def make_room(index: pygit2.Index, path: str) -> None:
    """Removes entries that clash with a new one: files below its name, or a file above it."""
    index.remove_directory(path)
    above = path.rpartition("/")[0]
    while above:
        if above in index:
            index.remove(above)
        above = above.rpartition("/")[0]


def put_entry(index: pygit2.Index, path: str, side: Side | None) -> None:
    """Sets or removes the entry of a path, and ends its conflict."""
    if any(_find_entry(index, path, stage) for stage in (1, 2, 3)) and index.conflicts is not None:
        del index.conflicts[path]
    if side is not None:
        make_room(index, path)
        index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=side.oid), pygit2.enums.FileMode(side.mode)))
    elif path in index:
        index.remove(path)


def put_file(index: pygit2.Index, path: str, side: Side, status: os.stat_result) -> None:
    """Sets the entry of a file, with the stat that it had before it was read."""
    put_entry(index, path, None)
    make_room(index, path)
    name = ffi.new("char[]", os.fsencode(path))
    entry = ffi.new("git_index_entry *", {"mode": side.mode, "path": name})
    ffi.buffer(ffi.addressof(entry, "id"))[:] = bytes.fromhex(side.oid)
    for field, stamp in (("ctime", status.st_ctime_ns), ("mtime", status.st_mtime_ns)):
        moment = getattr(entry, field)
        moment.seconds, moment.nanoseconds = stamp // _SECOND & _POSITIVE, stamp % _SECOND
    entry.dev, entry.ino = status.st_dev & _WORD, status.st_ino & _WORD
    entry.uid, entry.gid, entry.file_size = status.st_uid, status.st_gid, status.st_size & _WORD
    if C.git_index_add(index._index, entry):  # noqa: SLF001 - the library's own call takes no stat
        raise pygit2.GitError(f"cannot put {path} into the index")


def _find_entry(index: pygit2.Index, path: str, stage: int) -> Any:
    # pygit2's own calls omit flags and stages, or scan all entries.
    return C.git_index_get_bypath(index._index, os.fsencode(path), stage) or None  # noqa: SLF001


def _is_same(tree: WorkTree, name: bytes, fields: bytes) -> bool:
    side = Side(index_file.oid_of(fields), index_file.mode_of(fields))
    return tree.at(os.fsdecode(name), side) == FileState(side)


def _read_index(file: Path) -> bytes:
    """The bytes of an index; empty if there is none yet."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _claim_lock(lock: Path) -> None:
    if not claim(lock, _OWN):
        raise pygit2.GitError("failed to lock the index: index.lock exists")
