"""The journal: what is about to be done to the tree, on the disk before the first byte of it is."""

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from codeplane.core.documents import decode_json
from codeplane.core.errors import StateUnusable
from codeplane.core.ids import OperationId
from codeplane.jail import Jail
from codeplane.mutation.batch import Batch
from codeplane.storage import private_dir
from codeplane.storage.disk import Disk
from codeplane.storage.files import open_plain, unusable

Mark = Literal["staged", "recorded", "aborted", "undone"]
"""How far a batch is: about to touch the tree; its row is written; taken back, and the caller knows; taken
back by a start."""

FOLDER = "journal"
_NAME = "journal.log"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Entry:
    """A batch and what is known of its end."""

    batch: Batch
    is_of_this_boot: bool  # nothing of what was written after it can be missing
    marks: set[str] = field(default_factory=set)


def has_cut_off(state: Path) -> bool:
    """Whether the journal of that state directory tells of anything."""
    stream = open_plain(state / FOLDER / _NAME)
    if stream is None:
        return False
    with stream:
        return bool(stream.read(1))


class Journal:
    """Lines of JSON, each after a checksum. A line that was not written to its end counts for nothing.

    A line names the inode of its file, so one that came with a clone or a copy of the tree is not obeyed.
    """

    def __init__(self, directory: Path, jail: Jail, disk: Disk) -> None:
        self.directory = directory
        self._jail = jail
        self._disk = disk
        self._lock = threading.Lock()
        self._fd = -1
        self._is_torn = False

    @property
    def size(self) -> int:
        return os.fstat(self._fd).st_size if self._fd >= 0 else 0

    def entries(self) -> list[Entry]:
        """Every batch that has begun since the journal was last empty."""
        by_operation: dict[OperationId, Entry] = {}
        boot = _boot_id()
        for record in self._find_records():
            if "begin" in record:
                batch = Batch.from_json(record["begin"], self._jail)
                if batch is not None:
                    by_operation[batch.operation] = Entry(batch, bool(boot) and record.get("boot") == boot)
            elif (entry := by_operation.get(OperationId(str(record.get("operation"))))) is not None:
                entry.marks.add(str(record.get("mark")))
        return list(by_operation.values())

    def begin(self, batch: Batch) -> None:
        """Writes down a batch; it is on the disk when this returns."""
        self._append_record({"begin": batch.to_json(), "boot": _boot_id()}, durable=True)

    def mark(self, operation: OperationId, mark: Mark, *, durable: bool) -> None:
        self._append_record({"operation": operation, "mark": mark}, durable=durable)

    def has_content(self) -> bool:
        with self._lock:
            return self._open_file(create=False) and self.size > 0

    def clear(self) -> None:
        """Forgets everything; the caller knows that nothing is left to do."""
        with self._lock:
            if self._open_file(create=False):
                self._disk.truncate(self._fd, 0)
                self._disk.sync_data(self._fd)

    def close(self) -> None:
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _append_record(self, record: Mapping[str, Any], *, durable: bool) -> None:
        with self._lock:
            self._open_file(create=True)
            text = json.dumps({**record, "journal": os.fstat(self._fd).st_ino}).encode("ascii")
            line = b"%s %s\n" % (_checksum_of(text), text)
            # What a failed write has left must not spoil the line that comes after it.
            line, self._is_torn = (b"\n" + line if self._is_torn else line), True
            self._disk.write(self._fd, line)
            if durable:
                self._disk.sync_data(self._fd)
            self._is_torn = False

    def _open_file(self, *, create: bool) -> bool:
        if self._fd >= 0:
            return True
        if not create and not os.path.lexists(self.directory / _NAME):
            return False
        place = os.open(private_dir(self.directory), _DIRECTORY)
        try:
            with suppress(FileExistsError):
                os.close(self._disk.create(place, _NAME, 0o600))
                self._disk.sync(place)
                self._sync_above()
            self._fd = os.open(_NAME, _FLAGS, dir_fd=place)
        finally:
            os.close(place)
        size = self.size
        self._is_torn = size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"
        return True

    def _sync_above(self) -> None:
        above = os.open(self.directory.parent, _DIRECTORY)
        try:
            self._disk.sync(above)
        finally:
            os.close(above)

    def _find_records(self) -> list[dict[str, Any]]:
        file = self.directory / _NAME
        stream = open_plain(file)
        if stream is None:
            # A link is not ours. A file of ours that cannot be read must not pass for an empty one.
            if file.is_file() and not file.is_symlink() and not self.directory.is_symlink():
                raise StateUnusable(f"{file} cannot be read.", path=str(file))
            return []
        try:
            with stream:
                inode, lines = os.fstat(stream.fileno()).st_ino, stream.read().split(b"\n")
        except OSError as error:
            raise unusable(file, error) from error
        records = []
        for line in lines[:-1]:
            checksum, _, text = line.partition(b" ")
            if checksum != _checksum_of(text):
                continue
            try:
                record = decode_json(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and record.get("journal") == inode:
                records.append(record)
        return records


def _boot_id() -> str:
    """Tells one run of the machine from the next, where the system tells it."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _checksum_of(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()
