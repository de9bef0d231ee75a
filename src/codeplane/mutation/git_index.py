"""Renames in git's index that go with moves of files, as `git mv` makes them."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codeplane.git.repo.index_file import entries, is_merged, oid_of, rename_entries
from codeplane.mutation.batch import IndexMoves
from codeplane.storage.disk import Disk
from codeplane.storage.files import read_small

_INDEX, _LOCK = "index", "index.lock"
_LARGEST = 1 << 30
# Another program holds the lock for as long as it writes a file.
_PATIENCE_SEC = 2.0


class GitIndex:
    """The index of one checkout, changed under git's own lock."""

    def __init__(self, git_dir: Path, disk: Disk) -> None:
        self._git_dir = git_dir
        self._disk = disk

    def forward(self, moves: IndexMoves) -> bool:
        """Renames the entries, unless they are already; False when the index does not allow it."""
        try:
            return self._rename_entries_to(
                moves, {os.fsencode(old): os.fsencode(new) for old, new, _ in moves.names}
            )
        except OSError:
            self.clear(moves)
            return self._is_done(moves)

    def back(self, moves: IndexMoves) -> None:
        """Gives the entries their old names again; an index that somebody has changed since stays."""
        self.clear(moves)
        if self._is_done(moves) and not self._rename_entries_to(
            moves, {os.fsencode(new): os.fsencode(old) for old, new, _ in moves.names}, _PATIENCE_SEC
        ):
            raise OSError(f"{self._git_dir / _LOCK} is held by another program")

    def clear(self, moves: IndexMoves) -> None:
        """Removes what an ended process has left: its own lock and the file for the new index."""
        with self._open_directory() as place:
            try:
                own = os.stat(moves.temp, dir_fd=place, follow_symlinks=False).st_ino
            except FileNotFoundError:
                return
            with suppress(FileNotFoundError):
                if os.stat(_LOCK, dir_fd=place, follow_symlinks=False).st_ino == own:
                    self._disk.unlink(place, _LOCK)
            self._disk.unlink(place, moves.temp)

    def sync(self) -> None:
        """Waits until the names in git's directory are on the disk, so that no file comes back there."""
        with self._open_directory() as place:
            self._disk.sync(place)

    def _is_done(self, moves: IndexMoves) -> bool:
        entries_now = self._read_entries()
        return all(
            entries_now.get(os.fsencode(new)) == oid and os.fsencode(old) not in entries_now
            for old, new, oid in moves.names
        )

    def _rename_entries_to(
        self, moves: IndexMoves, names: dict[bytes, bytes], patience_sec: float = 0
    ) -> bool:
        self.clear(moves)
        if patience_sec == 0 and self._is_done(moves):
            return True
        with self._open_directory() as place:
            fd = self._disk.create(place, moves.temp, 0o600)
            try:
                if not self._take_lock(place, moves.temp, patience_sec):
                    return False
                is_made = self._write_index(fd, place, moves, names)
                self._disk.sync(place)
                return is_made
            finally:
                os.close(fd)
                self.clear(moves)

    def _take_lock(self, place: int, temp: str, patience_sec: float) -> bool:
        """Takes git's lock: a second name of our own file, so that a start knows whose lock it is."""
        end = time.monotonic() + patience_sec
        while True:
            try:
                self._disk.link(place, temp, place, _LOCK)
            except FileExistsError:
                if time.monotonic() >= end:
                    return False
                time.sleep(0.02)
            else:
                return True

    def _write_index(self, fd: int, place: int, moves: IndexMoves, names: dict[bytes, bytes]) -> bool:
        oids = {oid for _, _, oid in moves.names}
        entries_now = self._read_entries()
        data = read_small(self._git_dir / _INDEX, _LARGEST)
        if data is None or not all(entries_now.get(name) in oids for name in names):
            return False
        stamp = os.stat(_INDEX, dir_fd=place, follow_symlinks=False)
        content = rename_entries(data, names, stamp.st_mtime_ns)
        if content is None:
            return False
        self._disk.set_mode(fd, stamp.st_mode & 0o777)
        self._disk.write(fd, content)
        self._disk.sync(fd)
        self._disk.replace(place, _LOCK, place, _INDEX)
        return True

    def _read_entries(self) -> dict[bytes, str]:
        data = read_small(self._git_dir / _INDEX, _LARGEST) or b""
        return {name: oid_of(fields) for name, fields in entries(data) if is_merged(fields)}

    @contextmanager
    def _open_directory(self) -> Iterator[int]:
        fd = os.open(self._git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)
