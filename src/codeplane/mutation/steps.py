"""From edits to a batch: which directories are made and removed, and where the temporary files lie."""

import errno
import os
from collections.abc import Mapping
from typing import Any

from codeplane.core.ids import OperationId
from codeplane.jail import shown
from codeplane.jail.names import temporary_name
from codeplane.mutation.batch import Batch, Kind, Step
from codeplane.mutation.directories import Directories, ancestors, parent_of
from codeplane.mutation.inspect import PERMISSIONS
from codeplane.mutation.prepared import Planned, Prepared
from codeplane.mutation.problems import Problems
from codeplane.working_tree import digest_of

# A file in the place of a directory is one that the same batch takes away: everything else was refused.
_ABSENT = (errno.ENOENT, errno.ENOTDIR)


def plan(
    prepared: Prepared, operation: OperationId, note: Mapping[str, Any], directories: Directories
) -> Batch:
    """The steps for edits that have just been examined."""
    changes = [one for one in prepared.planned if one.is_change]
    new_directories = _new_directories(changes, directories)
    empty_directories = _find_empty_directories(changes, directories)
    _check_room(changes, {path for path, _ in empty_directories}, directories)
    leaving = {*new_directories, *(path for path, _ in empty_directories)}
    steps = tuple(_make_step(one, leaving) for one in changes)
    return Batch(operation, note, steps, tuple(new_directories), tuple(empty_directories))


def _make_step(one: Planned, leaving: set[str]) -> Step:
    edit = one.edit
    home = parent_of(edit.path)
    # A directory that is made later, or that must become empty, cannot hold the temporary file.
    while home in leaving:
        home = parent_of(home)
    after = None if edit.after is None else digest_of(edit.after)
    return Step(
        edit.path,
        one.kind,
        home,
        temporary_name(),
        edit.before,
        after,
        one.mode_before,
        one.mode_after,
        edit.moved_from,
    )


def _new_directories(changes: list[Planned], directories: Directories) -> list[str]:
    """The directories that new files need, the outermost first."""
    missing: dict[str, None] = {}
    for one in changes:
        if one.kind is Kind.CREATE:
            for above in reversed(ancestors(one.edit.path)):
                if above in missing or not _directory_exists(above, directories):
                    missing[above] = None
    return list(missing)


def _directory_exists(path: str, directories: Directories) -> bool:
    try:
        directories.at(path)
    except OSError as error:
        if error.errno in _ABSENT:
            return False
        raise
    return True


def _find_empty_directories(changes: list[Planned], directories: Directories) -> list[tuple[str, int]]:
    """The directories that lose their last entry, as git removes them, the innermost first."""
    going = {str(one.edit.path) for one in changes if one.kind is Kind.DELETE}
    ancestors_in_use = {
        above for one in changes if one.kind is not Kind.DELETE for above in ancestors(one.edit.path)
    }
    empty_directories: list[tuple[str, int]] = []
    ahead = {parent_of(path) for path in going} - {""}
    while ahead:
        path = max(ahead, key=lambda one: (one.count("/"), one))
        ahead.discard(path)
        if path in ancestors_in_use:
            continue
        fd = directories.at(path)
        if all(f"{path}/{name}" in going for name in os.listdir(fd)):  # noqa: PTH208 - by descriptor
            empty_directories.append((path, os.fstat(fd).st_mode & PERMISSIONS))
            going.add(path)
            ahead |= {parent_of(path)} - {""}
    return empty_directories


def _check_room(changes: list[Planned], emptied: set[str], directories: Directories) -> None:
    """A new file may take the place of a directory only when nothing is left in it."""
    problems = Problems()
    for one in changes:
        path = one.edit.path
        if one.kind is Kind.CREATE and path not in emptied and _directory_exists(path, directories):
            problems.refuse(path, f"{shown(path)} is a directory with more in it than the edits remove.")
    problems.raise_worst()
