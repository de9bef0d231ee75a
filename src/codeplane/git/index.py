"""Git's index on disk: written whole, not over another program's change, and put back when a step fails."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import GitBusy
from codeplane.git import index_file
from codeplane.git.outcome import Side
from codeplane.git.patience import patiently
from codeplane.git.repository import Repository
from codeplane.storage.files import publish

_LOCK: Final = "index.lock"
_NOTE: Final = "codeplane-index"
_LONGEST_WRITE_NS: Final = 5_000_000_000


@contextmanager
def edited_index(repository: Repository, handle: pygit2.Repository) -> Iterator[pygit2.Index]:
    """The index as it is on disk, which is written after the block.

    When another program has written it meanwhile, its change stays and this one is refused.
    """
    before = _stamp(repository)
    index = handle.index
    index.read()
    yield index
    if _stamp(repository) != before:
        raise GitBusy("Another program has changed git's index meanwhile.", hints=["Try again."])
    write_index(repository, index.write)


def write_index(repository: Repository, act: Callable[[], object]) -> None:
    """Has libgit2 write the index, with a note beside it while the lock may be this process's own."""
    patiently(lambda: _noted(repository, act))


def drop_own_lock(repository: Repository) -> str | None:
    """Removes the lock that a crash of this program left; one of another program stays. What it was.

    The note is there only while the index is written, and made when there is no lock: one that is younger,
    by no more than such a write takes, is of the process that made the note.
    """
    note, lock = (repository.git_dir / name for name in (_NOTE, _LOCK))
    try:
        age = lock.lstat().st_mtime_ns - note.lstat().st_mtime_ns
    except FileNotFoundError:
        note.unlink(missing_ok=True)
        return None
    note.unlink()
    if not 0 <= age < _LONGEST_WRITE_NS:
        return None
    lock.unlink()
    return f"{lock} was left by a write of git's index that was cut off; it has been removed."


def check_unlocked(repository: Repository) -> None:
    """Waits a moment for a program that has the index locked; `GitBusy` when that lasts."""

    def look() -> None:
        _check_unlocked(repository)

    patiently(look)


@contextmanager
def kept_index(repository: Repository) -> Iterator[Callable[[], None]]:
    """Puts the index back as it was, byte for byte, when the block fails.

    The block calls what it gets once it has written the index itself. What the index is made into after that
    is a hook's doing in a trusted repository; in one that is not, it is another program's, and stays.
    """
    file = repository.git_dir / "index"
    before = written = _data(file)

    def note() -> None:
        nonlocal written
        written = _data(file)

    try:
        yield note
    except BaseException:
        now = _data(file)
        if now != before and (repository.trusted or now == written):
            _put_back(repository, before)
        raise


def flagged(file: Path, has: Callable[[bytes], bool]) -> frozenset[str]:
    """The paths of an index file whose fixed part says something that libgit2 does not tell."""
    return frozenset(os.fsdecode(name) for name, fixed in index_file.entries(_data(file)) if has(fixed))


def make_room(index: pygit2.Index, path: str) -> None:
    """Takes out what cannot be beside a new entry: files below its name, and a file above it."""
    index.remove_directory(path)
    above = path.rpartition("/")[0]
    while above:
        if above in index:
            index.remove(above)
        above = above.rpartition("/")[0]


def put_entry(index: pygit2.Index, path: str, side: Side | None) -> None:
    """Makes a path what a side says, or takes it out; a conflict that it has is over."""
    if index.conflicts is not None and path in index.conflicts:
        del index.conflicts[path]
    if side is not None:
        make_room(index, path)
        index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=side.oid), pygit2.enums.FileMode(side.mode)))
    elif path in index:
        index.remove(path)


def _noted(repository: Repository, act: Callable[[], object]) -> None:
    note = repository.git_dir / _NOTE
    _check_unlocked(repository)
    note.touch()
    try:
        act()
    finally:
        note.unlink(missing_ok=True)


def _check_unlocked(repository: Repository) -> None:
    if (repository.git_dir / _LOCK).exists():
        raise pygit2.GitError("failed to lock the index: index.lock exists")


def _put_back(repository: Repository, data: bytes) -> None:
    lock, index = repository.git_dir / "index.lock", repository.git_dir / "index"
    patiently(lambda: _locked(lock))
    try:
        if data:
            lock.write_bytes(data)
            publish(lock, index)
        else:
            index.unlink(missing_ok=True)
    finally:
        lock.unlink(missing_ok=True)


def _data(file: Path) -> bytes:
    """The bytes of an index; none where there is none yet."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _locked(lock: "os.PathLike[str]") -> None:
    try:
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
    except FileExistsError as error:
        raise pygit2.GitError("the index is locked") from error


def _stamp(repository: Repository) -> tuple[int, ...]:
    try:
        found = (repository.git_dir / "index").lstat()
    except FileNotFoundError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
