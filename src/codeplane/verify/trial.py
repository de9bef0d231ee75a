"""A copy of the working tree with edits in it, as if they had been made."""

import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeplane.core.edits import Change, FileEdit
from codeplane.core.paths import RepoPath
from codeplane.git import Repository
from codeplane.storage.files import read_small
from codeplane.testrun.run import Watch
from codeplane.verify.copying import Copy
from codeplane.verify.environments import link_environments
from codeplane.verify.gitdir import make_git_dir
from codeplane.verify.scratch import scratch_dir
from codeplane.working_tree import WorkingTree

_LARGEST: Final = 1 << 20
_LARGEST_DATA: Final = 64 << 20


Stamp = tuple[int, int, int, int] | None
"""Mode, size, time of the last change and inode of a file; None where there is none."""


def _stamp_of(file: Path) -> Stamp:
    try:
        status = file.lstat()
    except OSError:
        return None
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino


@dataclass(frozen=True)
class Original:
    """The working tree that copies are made of."""

    tree: WorkingTree
    repository: Repository
    paths: Collection[RepoPath]  # of its files
    home: Path  # the directory for copies, outside of the repository


@dataclass
class Trial:
    """A scratch copy of the tree; what is done there is not done here."""

    root: Path  # of the copy
    original: Path  # of what it is a copy of
    reports: Path  # an empty directory beside it
    change: Change
    tree_paths: frozenset[RepoPath]
    is_edited: bool = False

    def paths(self) -> list[RepoPath]:
        """The files of the copy as it is, sorted."""
        if not self.is_edited:
            return sorted(self.tree_paths)
        removals = {edit.path for edit in self.change.edits.edits if edit.after is None}
        return sorted((self.tree_paths - removals) | self.change.contents.keys())

    def data(self, path: RepoPath) -> bytes | None:
        """The bytes of a file; None where there is none, or a very large one."""
        return read_small(self.root / path, _LARGEST_DATA)

    def text(self, path: RepoPath) -> str | None:
        """The text of a file; None where it is none, or too large to be read for what it says."""
        data = read_small(self.root / path, _LARGEST)
        if data is None or b"\0" in data:
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    def edit(self) -> None:
        """Makes the edits in the copy."""
        if not self.is_edited:
            for edit in sorted(self.change.edits.edits, key=lambda edit: edit.after is not None):
                self._set_content(edit, edit.path, edit.after)
        self.is_edited = True

    def restore(self) -> None:
        """Takes the edits back."""
        if self.is_edited:
            for edit in sorted(self.change.edits.edits, key=lambda edit: edit.before is not None):
                self._set_content(edit, edit.path, self.change.before.get(edit.path))
        self.is_edited = False

    def stamps(self) -> dict[RepoPath, Stamp]:
        """What the files of the copy are by their looks, to compare with later."""
        return {path: _stamp_of(self.root / path) for path in self.paths()}

    def repair(self, stamps: Mapping[RepoPath, Stamp]) -> list[RepoPath]:
        """Brings files back that a program has changed in the copy; which these were."""
        changed_paths = [path for path, stamp in stamps.items() if _stamp_of(self.root / path) != stamp]
        for path in changed_paths:
            data = self.change.contents.get(path)
            if data is None:
                data = read_small(self.original / path, _LARGEST_DATA)
            self._replace_file(path, data, stamps[path])
        return changed_paths

    def _replace_file(self, path: RepoPath, data: bytes | None, stamp: Stamp) -> None:
        """Writes a file, whatever is in its place or in that of a directory above it. No link is followed."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            directory = self.root.joinpath(*parts[:depth])
            if directory.is_symlink() or directory.is_file():
                directory.unlink()
            directory.mkdir(exist_ok=True)
        file = self.root / path
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        file.unlink(missing_ok=True)
        if data is not None and stamp is not None:
            file.write_bytes(data)
            file.chmod(stat.S_IMODE(stamp[0]))

    def _set_content(self, edit: FileEdit, path: RepoPath, content: bytes | None) -> None:
        file = self.root / path
        if content is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        if edit.mode is not None:
            file.chmod(edit.mode)


@contextmanager
def trial(original: Original, change: Change, watch: Watch) -> Iterator[Trial]:
    """Copies the working tree as it is now; the copy is gone when the block ends."""
    tree = original.tree
    with scratch_dir(original.home) as base:
        root, reports = base / "tree", base / "reports"
        root.mkdir()
        reports.mkdir()
        copy = Copy(tree.jail, root)
        copy.files(original.paths, watch)
        copy.links(tree.links())
        link_environments(tree.jail.root, root, tree.directories())
        make_git_dir(original.repository, root)
        yield Trial(root, tree.jail.root, reports, change, frozenset(original.paths))
