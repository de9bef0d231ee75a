"""Writing files to the working tree, each whole or not at all, never through a link."""

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import pygit2
from pygit2.enums import BlobFilter, FilterMode

from codeplane.git.repo.attributes import AttributeFiles
from codeplane.git.repo.objects import EXECUTABLE, LINK, SUBMODULE
from codeplane.git.repo.outcome import Side
from codeplane.jail.beneath import open_beneath
from codeplane.storage.disk import Disk

# In the git directory, so that one left by a crash is in nobody's way; the next write reuses it.
_TEMPORARY: Final = "codeplane-placing"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY


@dataclass
class FileWriter:
    """Writes and removes files of one working tree; the caller handles system errors."""

    handle: pygit2.Repository
    root: Path
    count: int = 0
    attribute_files: AttributeFiles = field(init=False)
    _disk: Disk = field(default_factory=Disk)

    def __post_init__(self) -> None:
        self.attribute_files = AttributeFiles(self.handle)

    def remove(self, path: str) -> None:
        """Unlinks one name; a missing one is fine."""
        parent, _, name = path.rpartition("/")
        try:
            directory = open_beneath(str(self.root), parent, _DIRECTORY)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
                return
            raise
        try:
            with suppress(FileNotFoundError):
                self._disk.unlink(directory, name)
        finally:
            os.close(directory)

    def write(self, files: Mapping[str, Side]) -> None:
        """Writes every file."""
        for path in sorted(files):
            self._write_path(path, files[path])
            self.count += 1

    def _write_path(self, path: str, side: Side) -> None:
        parent, _, name = path.rpartition("/")
        directory = self._open_directory(parent)
        try:
            if side.mode == SUBMODULE:
                with suppress(FileExistsError):
                    self._disk.make_directory(directory, name, 0o777)
            elif side.mode == LINK:
                with suppress(FileNotFoundError):
                    self._disk.unlink(directory, name)
                os.symlink(self._blob_of(side).data, os.fsencode(name), dir_fd=directory)
            else:
                self._write_file(directory, path, side)
        finally:
            os.close(directory)

    def _write_file(self, directory: int, path: str, side: Side) -> None:
        name = path.rpartition("/")[2]
        mode = 0o777 if side.mode == EXECUTABLE else 0o666
        home = os.open(self.handle.path, _DIRECTORY)
        try:
            with suppress(FileNotFoundError):
                self._disk.unlink(home, _TEMPORARY)
            self._fill_file(home, _TEMPORARY, mode, self._file_content(path, side))
            self._disk.replace(home, _TEMPORARY, directory, name)
        except OSError as error:
            with suppress(FileNotFoundError):
                self._disk.unlink(home, _TEMPORARY)
            if error.errno != errno.EXDEV:
                raise
            with suppress(FileNotFoundError):
                self._disk.unlink(directory, name)
            self._fill_file(directory, name, mode, self._file_content(path, side))
        finally:
            os.close(home)

    def _fill_file(self, directory: int, name: str, mode: int, data: bytes) -> None:
        fd = self._disk.create(directory, name, mode)
        try:
            self._disk.write(fd, data)
        finally:
            os.close(fd)

    def _file_content(self, path: str, side: Side) -> bytes:
        """The blob after git's built-in filters for line endings and `$Id$`; no program is run."""
        blob = self._blob_of(side)
        data = blob.data
        if not self.attribute_files.may_convert(path):
            return data
        name = cast("str", _Name(os.fsencode(path)))
        filters = self.handle.load_filter_list(name, FilterMode.TO_WORKTREE)
        if filters is None or not data:
            return data
        if b"\0" not in data:
            return filters.apply_to_blob(blob)
        with pygit2.BlobIO(blob, as_path=path, flags=BlobFilter(0)) as stream:
            return stream.read()

    def _blob_of(self, side: Side) -> pygit2.Blob:
        return self.handle[side.oid].peel(pygit2.Blob)

    def _open_directory(self, parent: str) -> int:
        """Opens a directory, creating it if needed."""
        missing: list[str] = []
        while True:
            try:
                directory = open_beneath(str(self.root), parent, _DIRECTORY)
                break
            except FileNotFoundError:
                missing.append(parent)
                parent = parent.rpartition("/")[0]
        for path in reversed(missing):
            try:
                with suppress(FileExistsError):
                    self._disk.make_directory(directory, path.rpartition("/")[2], 0o777)
            finally:
                os.close(directory)
            directory = open_beneath(str(self.root), path, _DIRECTORY)
        return directory


@dataclass(frozen=True)
class _Name(os.PathLike[bytes]):
    """A path that reaches libgit2 as the bytes that it is, UTF-8 or not."""

    raw: bytes

    def __fspath__(self) -> bytes:
        return self.raw
