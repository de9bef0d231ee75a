"""What is mounted where, as far as it concerns one directory; there is a record of it on Linux."""

import os
import re
import select
from pathlib import Path

from codeplane.core.paths import RepoPath

_RECORD = "/proc/self/mountinfo"
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mounts:
    """The mount points below an open directory, and when they may be others."""

    def __init__(self, root: Path, fd: int) -> None:
        self._root = os.path.realpath(root)
        self._fd = os.open(_RECORD, os.O_RDONLY | os.O_CLOEXEC)
        # The kernel tells once of every change since the record was opened or last asked about.
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLPRI)
        self.kind = ""  # of the file system of the directory, where it can be told
        self.below: frozenset[RepoPath] = frozenset()
        try:
            self._read_mounts(_mount_of(fd))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._fd)

    def have_changed(self) -> bool:
        """Whether something was mounted or unmounted anywhere since the last call."""
        if not self._poll.poll(0):
            return False
        self._read_mounts("")
        return True

    def _read_mounts(self, mount: str) -> None:
        below = set()
        for line in os.fsdecode(Path(_RECORD).read_bytes()).rstrip("\n").split("\n"):
            fields, _, rest = line.partition(" - ")
            number, _, _, _, point, *_ = fields.split(" ")
            if number == mount:
                self.kind = rest.split(" ")[0]
            point = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), point)
            if point.startswith(f"{self._root}/"):
                below.add(RepoPath(point[len(self._root) + 1 :]))
        self.below = frozenset(below)


def _mount_of(fd: int) -> str:
    """The number of the mount through which a file was opened; its device is not always the one on record."""
    for line in Path(f"/proc/self/fdinfo/{fd}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "mnt_id":
            return value.strip()
    return ""
