"""A store in a directory, which may be shared: on a network drive, or in the cache of a CI."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeplane.core.errors import ArtifactInvalid, FactStoreUnavailable
from codeplane.fact_store.layout import is_key
from codeplane.fact_store.store import FactStore, Tagged
from codeplane.storage.files import claim, open_plain, sync_dir, write_public

_LOCK = ".lock"


class DirectoryStore(FactStore):
    """Objects are files. Nothing in the directory is followed that leads elsewhere."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @classmethod
    def open(cls, root: Path, *, is_made: bool) -> "DirectoryStore":
        """The store in a directory; one that is to be written to is made where it is not there."""
        try:
            if is_made:
                root.mkdir(parents=True, exist_ok=True)
            root = root.resolve(strict=True)
            if not root.is_dir():
                raise NotADirectoryError(20, "not a directory", str(root))
        except (OSError, RuntimeError) as error:
            raise _unavailable_error(root, error) from error
        return cls(root)

    @property
    def label(self) -> str:
        return str(self._root)

    def size(self, key: str) -> int | None:
        with self._open_object(key) as fd:
            return os.fstat(fd).st_size if fd is not None else None

    def read(self, key: str, limit: int) -> Tagged | None:
        with self._open_object(key) as fd:
            if fd is None:
                return None
            if os.fstat(fd).st_size > limit:
                raise ArtifactInvalid(f"{key} is larger than {limit} bytes.", object=key)
            data = os.pread(fd, limit, 0)
        return Tagged(data, hashlib.sha256(data).hexdigest())

    def read_range(self, key: str, start: int, length: int) -> bytes:
        with self._open_object(key) as fd:
            data = b"" if fd is None else _read_all(fd, start, length)
        if len(data) != length:
            raise ArtifactInvalid(f"{key} is cut off.", object=key)
        return data

    def create(self, key: str, data: bytes) -> bool:
        try:
            path = self._make_folder(key)
            is_new = claim(path, data, durable=True)
            if is_new:
                sync_dir(path.parent)
        except OSError as error:
            raise _unavailable_error(self._root, error) from error
        return is_new

    def swap(self, key: str, data: bytes, tag: str | None) -> bool:
        try:
            path = self._make_folder(key)
            with self._lock_store():
                current = self.read(key, 1 << 30)
                if (current.tag if current is not None else None) != tag:
                    return False
                write_public(path, data)
        except OSError as error:
            raise _unavailable_error(self._root, error) from error
        return True

    def keys(self, prefix: str) -> Iterator[str]:
        folders = [self._root.joinpath(*prefix.strip("/").split("/"))]
        while folders:
            folder = folders.pop()
            if folder.is_symlink() or not folder.is_dir():
                continue
            for entry in sorted(folder.iterdir()):
                key = entry.relative_to(self._root).as_posix()
                if entry.is_dir() and not entry.is_symlink():
                    folders.append(entry)
                elif is_key(key):
                    yield key

    @contextmanager
    def _open_object(self, key: str) -> Iterator[int | None]:
        """A descriptor of a plain file; a link, in its place or in that of a folder above it, is no
        object."""
        assert is_key(key), f"BUG: no key: {key!r}"
        folder = self._root
        for part in key.split("/")[:-1]:
            folder /= part
            if folder.is_symlink():
                raise ArtifactInvalid(f"{folder} is a link, which no store has.", object=key)
        try:
            path = folder / key.rpartition("/")[2]
            if path.is_symlink():
                raise ArtifactInvalid(f"{path} is a link, which no store has.", object=key)
            stream = open_plain(path)
            if stream is None and os.path.lexists(path):
                raise _unavailable_error(path, PermissionError(13, "it can't be read"))
        except OSError as error:
            raise _unavailable_error(self._root, error) from error
        if stream is None:
            yield None
            return
        with stream:
            yield stream.fileno()

    def _make_folder(self, key: str) -> Path:
        assert is_key(key), f"BUG: no key: {key!r}"
        folder = self._root
        for part in key.split("/")[:-1]:
            folder /= part
            folder.mkdir(exist_ok=True)
            if folder.is_symlink():
                raise ArtifactInvalid(f"{folder} is a link, which no store has.", object=key)
        return folder / key.rpartition("/")[2]

    @contextmanager
    def _lock_store(self) -> Iterator[None]:
        """Alone among those who replace objects here."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._root / _LOCK, flags, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _read_all(fd: int, start: int, length: int) -> bytes:
    parts, left = [], length
    while left and (data := os.pread(fd, left, start + length - left)):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _unavailable_error(path: Path, error: OSError | RuntimeError) -> FactStoreUnavailable:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return FactStoreUnavailable(f"The store {path} can't be used: {reason}.", store=str(path))
