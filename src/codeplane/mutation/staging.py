"""New contents as temporary files beside their places, on the disk before any of them gets there."""

import errno
import os
from collections.abc import Mapping

from codeplane.core.paths import RepoPath
from codeplane.mutation.batch import Batch, Step
from codeplane.mutation.directories import Directories, name_of, parent_of
from codeplane.mutation.inspect import PERMISSIONS
from codeplane.storage.disk import Disk

_SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Files are written first and waited for then, so that the disk has several at once; few stay open.
_AT_ONCE = 32
# What a file system may refuse without harm: another one's owner, a label that it gives itself.
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)
# The right to act as another user belongs to the old bytes, not to the new ones.
_OF_THE_BYTES = "security.capability"


def stage(
    batch: Batch, contents: Mapping[RepoPath, bytes], directories: Directories, disk: Disk
) -> dict[RepoPath, int]:
    """Writes the temporary files and returns the permissions that each has got."""
    writes = [step for step in batch.steps if step.after is not None]
    modes: dict[RepoPath, int] = {}
    for at in range(0, len(writes), _AT_ONCE):
        handles: list[int] = []
        try:
            for step in writes[at : at + _AT_ONCE]:
                home = directories.at(step.home)
                # A mode that the system chooses is the one that any program would get here.
                handles.append(disk.create(home, step.temp, 0o666 if step.mode_after is None else 0o600))
                modes[step.path] = _set_attributes(handles[-1], step, directories, disk)
                # The bytes come last: a start takes a file that has them all for a file that is ready.
                disk.write(handles[-1], contents[step.path])
            for fd in handles:
                disk.sync(fd)
        finally:
            for fd in handles:
                os.close(fd)
    return modes


def _set_attributes(fd: int, step: Step, directories: Directories, disk: Disk) -> int:
    """Gives the file the owner, the attributes and the mode that it is to have."""
    source = step.moved_from or (step.path if step.before is not None else None)
    if source is not None:
        old = os.open(name_of(source), _SOURCE, dir_fd=directories.at(parent_of(source)))
        try:
            _copy_owner(old, fd, disk)
            _copy_attributes(old, fd, disk)
        finally:
            os.close(old)
    if step.mode_after is not None:
        disk.set_mode(fd, step.mode_after)
    return os.fstat(fd).st_mode & PERMISSIONS


def _copy_owner(old: int, new: int, disk: Disk) -> None:
    old_stat, new_stat = os.fstat(old), os.fstat(new)
    if (old_stat.st_uid, old_stat.st_gid) == (new_stat.st_uid, new_stat.st_gid):
        return
    for user, group in ((old_stat.st_uid, old_stat.st_gid), (-1, old_stat.st_gid)):
        try:
            disk.set_owner(new, user, group)
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
        else:
            return


def _copy_attributes(old: int, new: int, disk: Disk) -> None:
    """Extended attributes, access lists among them, where the system has them."""
    if not hasattr(os, "listxattr"):
        return
    try:
        for name in os.listxattr(old):
            if name != _OF_THE_BYTES:
                _copy_attribute(old, new, name, disk)
    except OSError as error:
        if error.errno not in _REFUSED:
            raise


def _copy_attribute(old: int, new: int, name: str, disk: Disk) -> None:
    try:
        disk.set_attribute(new, name, os.getxattr(old, name))
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
