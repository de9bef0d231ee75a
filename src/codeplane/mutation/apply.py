"""Carrying a batch out, and back: the only code that puts bytes into the tree.

Nothing is ever replaced unseen. What stood at a path ends up under the temporary name, is compared there with
what the edit was made for, and goes back when it is something else.
"""

import errno
from contextlib import suppress
from enum import Enum, auto

from codeplane.core.paths import Digest, RepoPath
from codeplane.mutation.batch import Batch, Kind, Step
from codeplane.mutation.directories import Directories, ancestors, name_of, parent_of
from codeplane.mutation.inspect import Seen, look
from codeplane.mutation.swap import Names
from codeplane.storage.disk import Disk
from codeplane.storage.objects import ObjectStore

# No such directory, or something else in its place: what is not there cannot be ours.
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE)
# Something is in a directory, somebody uses it, or nobody may remove it: git leaves an empty one as well.
_STAYS = (
    *_NOT_THERE, errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS,
)  # fmt: skip
# Each time somebody else is faster, one more is needed.
_MOST_SWAPS = 50


class Foreign(Exception):
    """Somebody else has changed a file that the batch is about."""

    def __init__(self, path: RepoPath, seen: Seen | None) -> None:
        super().__init__(path)
        self.path = path
        self.seen = seen


class Stray(Exception):
    """A directory has been moved away while files in it were changed."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(paths)
        self.paths = paths


class State(Enum):
    """How far a step is, as its two names tell."""

    BEFORE = auto()  # the tree has the old state, and the new content is ready
    AFTER = auto()
    UNREADY = auto()  # the tree has the old state, and the new content is not there
    FOREIGN = auto()


class Carrier:
    """One batch and the directories it works in."""

    def __init__(self, batch: Batch, directories: Directories, disk: Disk, largest: int) -> None:
        self._batch = batch
        self._directories = directories
        self._disk = disk
        self._largest = largest
        self._names = Names(disk, directories)
        self._passing = {*batch.made, *(path for path, _ in batch.emptied)}

    def forward(self) -> None:
        """Makes every step; raises `Foreign`, `Stray` or `OSError`, and then `back` is to be called."""
        self.resume({})

    def resume(self, states: dict[RepoPath, State]) -> None:
        """Goes on like `forward`, for steps of which some are made already."""
        todo = [step for step in self._batch.steps if states.get(step.path) is not State.AFTER]
        for step in todo:
            if step.kind is Kind.DELETE:
                self._delete_step(step)
        for path, _ in self._batch.emptied:
            self._remove_directory(path)
        for path in self._batch.made:
            self._make_directory(path)
        for step in todo:
            if step.kind is not Kind.DELETE:
                self._write_file(step)
        strays = self._directories.stray()
        if strays:
            raise Stray(strays)
        self.sync()

    def back(self) -> list[RepoPath]:
        """Takes back every step that was made, except for the paths that somebody else has changed since."""
        problems: list[OSError] = []
        left = self._all_back([step for step in self._batch.steps if step.kind is not Kind.DELETE], problems)
        for path in reversed(self._batch.made):
            try:
                self._remove_directory(path)
            except OSError as error:
                problems.append(error)
        for path, mode in reversed(self._batch.emptied):
            try:
                self._make_directory(path, mode)
            except OSError as error:
                problems.append(error)
        left += self._all_back([step for step in self._batch.steps if step.kind is Kind.DELETE], problems)
        if problems:
            raise problems[0]
        return left

    def _all_back(self, steps: list[Step], problems: list[OSError]) -> list[RepoPath]:
        left = []
        for step in steps:
            try:
                self._names.straighten(step)
                if not self._undo_step(step):
                    left.append(step.path)
            except OSError as error:
                # The others are taken back all the same.
                problems.append(error)
        return left

    def states(self) -> dict[RepoPath, State]:
        """How far each step is."""
        for step in self._batch.steps:
            self._names.straighten(step)
        return {step.path: self._step_state(step) for step in self._batch.steps}

    def discard(self, store: ObjectStore) -> None:
        """Removes the temporary files. One that is not known to hold our bytes goes to the store."""
        for step in self._batch.steps:
            self._names.straighten(step)
            stat = self._at_temp(step)
            if stat is None:
                continue
            home = self._directories.at(step.home)
            if stat.digest is None:
                # Somebody's link or directory that was swapped out, and its place is taken: it stays.
                continue
            is_ours = stat.digest == step.after or not stat.size
            if is_ours and stat.digest != step.before:
                self._disk.unlink(home, step.temp)
            else:
                store.adopt(home, step.temp, stat.digest)

    def leave_no_empty_homes(self) -> None:
        """Removes directories that had lost all files but a temporary one, which is gone now as well."""
        for home in {step.home for step in self._batch.steps}:
            for path in (home, *ancestors(home)):
                if path:
                    self._remove_directory(path)

    def sync(self) -> None:
        """Waits until every name is on the disk, with one wait for each directory."""
        for path in sorted(self.touched()):
            try:
                fd = self._directories.at(path)
            except OSError as error:
                # One that the batch has removed has no names; the one above it is waited for.
                if error.errno not in _NOT_THERE:
                    raise
            else:
                self._disk.sync(fd)

    def touched(self) -> set[str]:
        """The directories that get or lose a name."""
        steps = self._batch.steps
        directories = {step.home for step in steps} | {step.parent for step in steps}
        return directories | {
            parent_of(path) for path in (*self._batch.made, *(p for p, _ in self._batch.emptied))
        }

    def _delete_step(self, step: Step) -> None:
        try:
            self._names.take(step)
        except FileNotFoundError as error:
            raise Foreign(step.path, None) from error
        stat = self._at_temp(step)
        if not _is_file_of(stat, step, step.before, step.mode_before):
            # Where somebody has put something newer, that stays, and the other goes to the store.
            with suppress(FileExistsError):
                self._names.put(step)
            raise Foreign(step.path, stat)

    def _write_file(self, step: Step) -> None:
        if step.kind is Kind.CREATE:
            try:
                self._names.put(step)
            except FileExistsError as error:
                raise Foreign(step.path, self._at_path(step)) from error
            return
        ours = self._names.inode(step)
        try:
            self._names.swap(step)
            stat = self._at_temp(step)
            if _is_file_of(stat, step, step.before, step.mode_before):
                return
            self._swap_back(step, ours)
        except FileNotFoundError as error:
            raise Foreign(step.path, None) from error
        raise Foreign(step.path, stat)

    def _swap_back(self, step: Step, ours: int) -> bool:
        """Puts back what was swapped out for `ours`; something newer that came meanwhile keeps the place."""
        inode = ours
        for _ in range(_MOST_SWAPS):
            putting = self._names.inode(step)
            self._names.swap(step)
            if self._names.inode(step) == inode:
                return inode == ours
            inode = putting
        return False

    def _undo_step(self, step: Step) -> bool:
        """Whether the path is, again or still, as it was before the step."""
        here, stat = self._at_path(step), self._at_temp(step)
        if step.kind is Kind.DELETE:
            if stat is None:
                return True
            if here is not None:
                return here.inode == stat.inode
            self._names.put(step)
            return True
        if step.kind is Kind.CREATE:
            if stat is not None:
                if here is not None and here.inode == stat.inode:
                    self._disk.unlink(self._directories.at(step.parent), name_of(step.path))
                return True
            if here is None:
                return True
            return self._withdraw_file(step, here)
        if stat is None:
            return _is_file_of(here, step, step.before, step.mode_before)
        if _is_file_of(stat, step, step.after, step.mode_after):
            return True
        if here is None or not _is_file_of(here, step, step.after, step.mode_after):
            return _is_file_of(here, step, step.before, step.mode_before)
        try:
            return self._swap_back(step, here.inode)
        except FileNotFoundError:
            return False

    def _withdraw_file(self, step: Step, here: Seen) -> bool:
        """Takes a new file away again, unless somebody has written to it."""
        if not _is_file_of(here, step, step.after, step.mode_after):
            return False
        self._names.take(step)
        if _is_file_of(self._at_temp(step), step, step.after, step.mode_after):
            return True
        with suppress(FileExistsError):
            self._names.put(step)
        return False

    def _step_state(self, step: Step) -> State:
        here, backup = self._at_path(step), self._at_temp(step)
        is_ready = _is_ready(backup, step)
        if step.kind is Kind.CREATE:
            if here is None:
                return State.BEFORE if is_ready else State.UNREADY
            is_ours = _is_file_of(here, step, step.after, step.mode_after)
            return (
                State.AFTER if is_ours and (backup is None or backup.inode == here.inode) else State.FOREIGN
            )
        was_here = _is_file_of(here, step, step.before, step.mode_before)
        if step.kind is Kind.DELETE:
            if here is None:
                return (
                    State.AFTER
                    if backup is None or _is_file_of(backup, step, step.before, None)
                    else State.FOREIGN
                )
            return State.BEFORE if was_here and backup is None else State.FOREIGN
        if _is_file_of(here, step, step.after, step.mode_after) and not is_ready:
            return (
                State.AFTER
                if backup is None or _is_file_of(backup, step, step.before, None)
                else State.FOREIGN
            )
        if was_here:
            return State.BEFORE if is_ready else State.UNREADY
        return State.FOREIGN

    def _at_temp(self, step: Step) -> Seen | None:
        return self._look_at(step.home, step.temp)

    def _at_path(self, step: Step) -> Seen | None:
        stat = self._look_at(step.parent, name_of(step.path))
        # A file takes the place of this directory, or the other way round: it is the batch's own.
        is_own = stat is not None and stat.kind == "directory" and step.path in self._passing
        return None if is_own else stat

    def _look_at(self, directory: str, name: str) -> Seen | None:
        try:
            return look(self._directories.at(directory), name, self._largest)
        except OSError as error:
            if error.errno in _NOT_THERE:
                return None
            raise

    def _make_directory(self, path: str, mode: int | None = None) -> None:
        with suppress(FileNotFoundError, NotADirectoryError):
            self._directories.at(path)
            return
        with suppress(FileExistsError):
            self._disk.make_directory(self._directories.at(parent_of(path)), name_of(path), 0o777)
        if mode is not None:
            self._disk.set_mode(self._directories.at(path), mode)

    def _remove_directory(self, path: str) -> None:
        try:
            parent = self._directories.at(parent_of(path))
            self._disk.remove_directory(parent, name_of(path))
        except OSError as error:
            if error.errno not in _STAYS:
                raise
            return
        self._directories.forget(path)


def _is_ready(seen: Seen | None, step: Step) -> bool:
    """Whether that is the new file, whole and with its permissions."""
    return (
        seen is not None
        and seen.digest is not None
        and seen.digest == step.after
        and step.mode_after in (None, seen.mode)
    )


def _is_file_of(seen: Seen | None, step: Step, digest: Digest | None, mode: int | None) -> bool:
    """Whether that is the file; its mode counts only where nothing else tells before and after apart."""
    if seen is None or seen.digest is None or seen.digest != digest:
        return False
    return step.before != step.after or mode is None or seen.mode == mode
