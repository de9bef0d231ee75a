"""Contents kept by their digests: what files held before they were changed."""

import errno
import hashlib
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from codeplane.core.paths import Digest
from codeplane.storage.disk import Disk
from codeplane.storage.files import open_plain, private_dir

_DIGEST = re.compile("[0-9a-f]{64}")
_UNFINISHED = ".tmp"
_CHUNK = 1 << 20
# A file of one of these is rather copied: it cannot be renamed into the store, or not made private there.
_COPIED = (errno.EXDEV, errno.EPERM, errno.EACCES)


class ObjectStore:
    """`objects/ab/cdef…`: private files, each named by the sha256 of its bytes."""

    def __init__(self, directory: Path, disk: Disk | None = None) -> None:
        self._directory = directory
        self._disk = disk or Disk()
        self._lock = threading.Lock()
        self._unsynced: set[Path] = set()

    def put(self, data: bytes, *, durable: bool = True) -> Digest:
        """Keeps the bytes; with `durable`, they are on the disk when this returns."""
        digest = Digest(hashlib.sha256(data).hexdigest())
        with self._lock:
            if not self._renew_object(digest):
                self._write_object(digest, iter((data,)), durable=durable)
        if durable:
            self.sync()
        return digest

    def adopt(self, directory: int, name: str, digest: Digest) -> None:
        """Takes a file with that digest away from where it is. It is on the disk after `sync`."""
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
        try:
            with self._lock:
                if not self._renew_object(digest) and not self._take_file(fd, directory, name, digest):
                    self._write_object(digest, _read_chunks(fd), durable=True)
                with suppress(FileNotFoundError):
                    self._disk.unlink(directory, name)
        finally:
            os.close(fd)

    def read(self, digest: Digest) -> bytes | None:
        """The bytes with that digest; a file that has others is removed and counts as absent."""
        if not _DIGEST.fullmatch(digest):
            return None
        stream = open_plain(self._object_file(digest))
        if stream is None:
            return None
        with stream:
            data = stream.read()
        if hashlib.sha256(data).hexdigest() == digest:
            return data
        self._object_file(digest).unlink(missing_ok=True)
        return None

    def sync(self) -> None:
        """Waits until all that was taken in is on the disk."""
        with self._lock:
            waiting, self._unsynced = self._unsynced, set()
        for place in sorted(waiting, reverse=True):
            _sync_directory(self._disk, place)

    def sweep(self) -> None:
        """Removes what an ended process was about to write. Nobody else may be writing."""
        if self._directory.is_dir() and not self._directory.is_symlink():
            for file in self._directory.glob(f"*{_UNFINISHED}"):
                file.unlink(missing_ok=True)

    def collect(self, keep: Callable[[Digest], bool], older_than: float, most: int = 10_000) -> int:
        """Removes objects that were taken in before that time and that nobody keeps; tells how many."""
        count = 0
        for file in self._object_files():
            if count >= most:
                break
            digest = Digest(f"{file.parent.name}{file.name}")
            # What the store has not made is not removed either.
            if not _DIGEST.fullmatch(digest) or keep(digest):
                continue
            # Under the lock an object that is just being taken in again is as new as it looks.
            with self._lock, suppress(FileNotFoundError):
                if file.lstat().st_mtime < older_than:
                    file.unlink()
                    count += 1
        return count

    def _object_files(self) -> Iterator[Path]:
        if self._directory.is_dir() and not self._directory.is_symlink():
            for inner in sorted(self._directory.iterdir()):
                if inner.is_dir() and not inner.is_symlink():
                    yield from sorted(inner.iterdir())

    def _object_file(self, digest: Digest) -> Path:
        return self._directory / digest[:2] / digest[2:]

    def _renew_object(self, digest: Digest) -> bool:
        """Whether the object is there; then it counts as taken in now."""
        stream = open_plain(self._object_file(digest))
        if stream is None:
            return False
        with stream:
            if _digest_of(stream.fileno()) != digest:
                return False
            self._disk.set_times(stream.fileno())
        return True

    def _take_file(self, fd: int, directory: int, name: str, digest: Digest) -> bool:
        """Renames the file into the store, if it has no other name by which it may be written."""
        stat_result = os.fstat(fd)
        if stat_result.st_nlink != 1 or not stat.S_ISREG(stat_result.st_mode):
            return False
        try:
            with self._open_place(digest) as place:
                self._disk.set_mode(fd, 0o600)
                self._disk.set_times(fd)
                self._disk.replace(directory, name, place.fd, digest[2:])
        except OSError as error:
            if error.errno in _COPIED:
                return False
            raise
        return True

    def _write_object(self, digest: Digest, chunks: Iterator[bytes], *, durable: bool) -> None:
        temporary_name = f"{secrets.token_hex(6)}{_UNFINISHED}"
        with self._open_place(digest) as place, _Place(self._directory) as top:
            fd = self._disk.create(top.fd, temporary_name, 0o600)
            try:
                for chunk in chunks:
                    self._disk.write(fd, chunk)
                if durable:
                    self._disk.sync(fd)
                self._disk.replace(top.fd, temporary_name, place.fd, digest[2:])
            except BaseException:
                with suppress(OSError):
                    self._disk.unlink(top.fd, temporary_name)
                raise
            finally:
                os.close(fd)

    def _open_place(self, digest: Digest) -> "_Place":
        path = self._object_file(digest).parent
        if not path.exists():
            self._unsynced |= {self._directory, self._directory.parent}
        private_dir(self._directory)
        private_dir(path)
        self._unsynced.add(path)
        return _Place(path)


class _Place:
    """An open directory of the store."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def __enter__(self) -> "_Place":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def _sync_directory(disk: Disk, path: Path) -> None:
    try:
        place = _Place(path)
    except FileNotFoundError:
        return
    with place:
        disk.sync(place.fd)


def _read_chunks(fd: int) -> Iterator[bytes]:
    at = 0
    while chunk := os.pread(fd, _CHUNK, at):
        yield chunk
        at += len(chunk)


def _digest_of(fd: int) -> str:
    digest = hashlib.sha256()
    for chunk in _read_chunks(fd):
        digest.update(chunk)
    return digest.hexdigest()
