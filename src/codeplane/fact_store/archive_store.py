"""A store in one file: a plain tar archive of its objects, which `tar` unpacks into a directory that is a
store too."""

import io
import os
import secrets
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from codeplane.core.errors import ArtifactInvalid, FactStoreUnavailable
from codeplane.fact_store.layout import is_key
from codeplane.fact_store.store import FactStore, Tagged
from codeplane.storage.files import open_plain, publish

_BLOCK: Final = 512
_MOST_OBJECTS: Final = 1_000_000
_FILE: Final = b"0"


class _Span(NamedTuple):
    start: int
    length: int


class ArchiveStore(FactStore):
    """The objects of an archive, to be read. Anything that `export` doesn't write is refused."""

    def __init__(self, file: BinaryIO, label: str, spans: dict[str, _Span]) -> None:
        self._file, self._label, self._spans = file, label, spans

    @classmethod
    def open(cls, path: Path) -> "ArchiveStore":
        file = open_plain(path)
        if file is None:
            raise FactStoreUnavailable(f"{path} is no file that can be read.", store=str(path))
        try:
            return cls(file, str(path), _list_spans(file, path))
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> "ArchiveStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def label(self) -> str:
        return self._label

    def size(self, key: str) -> int | None:
        span = self._spans.get(key)
        return span.length if span is not None else None

    def read(self, key: str, limit: int) -> Tagged | None:
        span = self._spans.get(key)
        if span is None:
            return None
        if span.length > limit:
            raise ArtifactInvalid(f"{key} is larger than {limit} bytes.", object=key)
        return Tagged(self.read_range(key, 0, span.length), key)

    def read_range(self, key: str, start: int, length: int) -> bytes:
        span = self._spans[key]
        if start + length <= span.length:
            data = os.pread(self._file.fileno(), length, span.start + start)
            if len(data) == length:
                return data
        raise ArtifactInvalid(f"{key} is cut off.", object=key)

    def create(self, key: str, data: bytes) -> bool:  # noqa: ARG002 - a store to be read
        raise AssertionError("BUG: an archive is written in one go")

    def swap(self, key: str, data: bytes, tag: str | None) -> bool:  # noqa: ARG002 - as above
        raise AssertionError("BUG: an archive is written in one go")

    def keys(self, prefix: str) -> Iterator[str]:
        return (key for key in sorted(self._spans) if key.startswith(f"{prefix.rstrip('/')}/"))


class ArchiveWriter(FactStore):
    """An archive in the making, beside its place: it gets its name when it is whole.

    The same objects give the same bytes: there is neither a time nor an owner in it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
        self._objects: dict[str, bytes] = {}
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._stream = os.fdopen(os.open(self._unfinished, flags, 0o644), "wb")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise FactStoreUnavailable(f"{path} can't be written: {reason}.", store=str(path)) from error
        self._tar = tarfile.open(fileobj=self._stream, mode="w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115

    @property
    def label(self) -> str:
        return str(self._path)

    def __enter__(self) -> "ArchiveWriter":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                for key in sorted(self._objects):
                    self._write_object(key, self._objects[key])
                self._tar.close()
                self._stream.flush()
                os.fsync(self._stream.fileno())
                publish(self._unfinished, self._path)
        finally:
            self._stream.close()
            self._unfinished.unlink(missing_ok=True)

    def size(self, key: str) -> int | None:
        return len(self._objects[key]) if key in self._objects else None

    def read(self, key: str, limit: int) -> Tagged | None:  # noqa: ARG002 - they were just made
        data = self._objects.get(key)
        return Tagged(data, key) if data is not None else None

    def read_range(self, key: str, start: int, length: int) -> bytes:
        return self._objects[key][start : start + length]

    def create(self, key: str, data: bytes) -> bool:
        """Segments are large and are written at once, the other objects at the end."""
        if key.startswith("facts/"):
            self._write_object(key, data)
        else:
            self._objects[key] = data
        return True

    def swap(self, key: str, data: bytes, tag: str | None) -> bool:  # noqa: ARG002 - nobody else is there
        self._objects[key] = data
        return True

    def keys(self, prefix: str) -> Iterator[str]:
        return (key for key in sorted(self._objects) if key.startswith(f"{prefix.rstrip('/')}/"))

    def _write_object(self, key: str, data: bytes) -> None:
        entry = tarfile.TarInfo(key)
        entry.size, entry.mode, entry.mtime = len(data), 0o644, 0
        self._tar.addfile(entry, io.BytesIO(data))


def _list_spans(file: BinaryIO, path: Path) -> dict[str, _Span]:
    """Where each object is. Headers are read here and not by `tarfile`, which follows what a header says."""
    size = os.fstat(file.fileno()).st_size
    spans: dict[str, _Span] = {}
    at = 0
    while True:
        header = os.pread(file.fileno(), _BLOCK, at)
        if len(header) == _BLOCK and not any(header):
            return spans
        key, length = _read_header(header, path)
        at += _BLOCK
        if key in spans or at + length > size or len(spans) >= _MOST_OBJECTS:
            raise _invalid_error(path, "it is cut off or has an object twice")
        spans[key] = _Span(at, length)
        at += -(-length // _BLOCK) * _BLOCK


def _read_header(header: bytes, path: Path) -> tuple[str, int]:
    """The name and the length of one object; plain files with the names of objects are all there may be."""
    try:
        if len(header) != _BLOCK or header[257:262] != b"ustar" or header[156:157] != _FILE:
            raise ValueError
        checksum = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
        if int(header[148:156].rstrip(b"\0 "), 8) != checksum:
            raise ValueError
        name, prefix = header[:100].rstrip(b"\0"), header[345:500].rstrip(b"\0")
        key = (prefix + b"/" + name if prefix else name).decode("ascii")
        length = int(header[124:136].rstrip(b"\0 "), 8)
    except ValueError as error:
        raise _invalid_error(path, "it is cut off, or no archive of facts") from error
    if length < 0 or not is_key(key):
        raise _invalid_error(path, f"it has {key[:100]!r}, which is no object of a store")
    return key, length


def _invalid_error(path: Path, reason: str) -> ArtifactInvalid:
    return ArtifactInvalid(f"{path} is not used: {reason}.", file=str(path))
