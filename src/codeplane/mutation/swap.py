"""Moving names about so that nothing is ever replaced unseen, with a way for systems that offer no flags."""

import os
from contextlib import suppress

from codeplane.jail.names import TEMPORARY_PREFIX
from codeplane.mutation.batch import Step
from codeplane.mutation.directories import Directories, name_of
from codeplane.storage.disk import Disk, NoSuchRename


class Names:
    """The two names of a step, the temporary one and the one in the tree, and what moves between them."""

    def __init__(self, disk: Disk, directories: Directories) -> None:
        self._disk = disk
        self._directories = directories

    def inode(self, step: Step) -> int:
        """The inode under the temporary name."""
        return os.stat(step.temp, dir_fd=self._directories.at(step.home), follow_symlinks=False).st_ino

    def swap(self, step: Step) -> None:
        """Puts each of the two entries under the other's name."""
        home, parent = self._directories.at(step.home), self._directories.at(step.parent)
        try:
            self._disk.swap(home, step.temp, parent, name_of(step.path))
        except NoSuchRename:
            self._disk.link(parent, name_of(step.path), home, _twin_name(step.temp))
            self._disk.replace(home, step.temp, parent, name_of(step.path))
            self._disk.replace(home, _twin_name(step.temp), home, step.temp)

    def put(self, step: Step) -> None:
        """Moves the temporary file to its place in the tree; `FileExistsError` when it is taken."""
        home, parent = self._directories.at(step.home), self._directories.at(step.parent)
        self._move_name(home, step.temp, parent, name_of(step.path))

    def take(self, step: Step) -> None:
        """Moves the file of the tree to the temporary name."""
        home, parent = self._directories.at(step.home), self._directories.at(step.parent)
        self._move_name(parent, name_of(step.path), home, step.temp)

    def straighten(self, step: Step) -> None:
        """Leaves no third name behind: what `swap` needs one for may have ended half-way."""
        twin = _twin_name(step.temp)
        try:
            home = self._directories.at(step.home)
            os.stat(twin, dir_fd=home, follow_symlinks=False)
        except OSError:
            return
        with suppress(FileExistsError):
            self._disk.link(home, twin, home, step.temp)
        self._disk.unlink(home, twin)

    def _move_name(self, source: int, name: str, target: int, new: str) -> None:
        try:
            self._disk.move(source, name, target, new)
        except NoSuchRename:
            self._disk.link(source, name, target, new)
            self._disk.unlink(source, name)


def _twin_name(temp: str) -> str:
    return f"{TEMPORARY_PREFIX}{int(temp.removeprefix(TEMPORARY_PREFIX), 16) ^ 1:016x}"
