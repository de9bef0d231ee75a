"""What may be shown of files in commits and in the working tree, for who compares them."""

import os
import stat

import pygit2

from codeplane.core.errors import CodePlaneError, NotFound
from codeplane.core.paths import RepoPath
from codeplane.git.history.changes import Change, changes_between, git_mode
from codeplane.git.history.patches import Patch, patch_of
from codeplane.git.repo.attributes import AttributeFiles, Attributes
from codeplane.git.repo.objects import LINK, find_commit
from codeplane.git.repo.outcome import Conflict, Side
from codeplane.git.worktree.clean_filter import clean_content
from codeplane.jail import Jail, shown
from codeplane.working_tree.rules.ignore import Ignore
from codeplane.working_tree.tree import WorkingTree


def changes(
    tree: WorkingTree, handle: pygit2.Repository, base: str | None, target: str | None, *, staged: bool
) -> list[Change]:
    """What is different from one state to another.

    A commit with a commit; with `staged`, a commit (HEAD when none is named) with the index; a commit with
    the working tree; else the index with the working tree. The old side of a conflict is ours.
    """
    old = find_commit(handle, base).tree if base is not None else None
    if target is not None:
        return changes_between(
            handle, old or find_commit(handle, "HEAD").tree, find_commit(handle, target).tree
        )
    if staged:
        return tree.git.staged_since(old if base is not None else _head_tree(handle))
    edits, conflicts = tree.git.since(old) if base is not None else tree.git.unstaged()
    conflicting = [_conflict_change(tree, one) for one in conflicts]
    return sorted([*edits, *conflicting], key=lambda one: os.fsencode(one.path))


def _head_tree(handle: pygit2.Repository) -> str | None:
    return None if handle.head_is_unborn else find_commit(handle, "HEAD").tree


def _conflict_change(tree: WorkingTree, one: Conflict) -> Change:
    try:
        mode = os.lstat(f"{tree.jail.root}/{one.path}").st_mode
    except OSError:
        return Change("U", one.path, one.ours, None)
    return Change("U", one.path, one.ours, Side("", LINK if stat.S_ISLNK(mode) else git_mode(mode)))


class Comparison:
    """Makes patches of changes. What the rules keep back is named, and no content of it is read."""

    def __init__(self, tree: WorkingTree, handle: pygit2.Repository, *, context: int = 3) -> None:
        self._tree = tree
        self._handle = handle
        self._context = context
        self._rules = tree.rules()
        self._kept: dict[str, bool] = {"": False}  # directories that the rules keep back
        self._attributes = AttributeFiles(handle, tree.git.attributed())

    def patch(self, change: Change) -> Patch:
        if any(self._keeps_back(path) for path in (change.path, change.old_path) if path is not None):
            return Patch(change, note="kept back by the rules of this checkout")
        try:
            may_have = self._attributes.may_concern(change.path)
            return patch_of(
                self._handle, change, self._read_clean, context=self._context, has_attributes=may_have
            )
        except CodePlaneError as error:
            return Patch(change, note=error.message)
        except (KeyError, pygit2.GitError):
            return Patch(change, note="its content is missing or damaged in this clone")

    def _read_clean(self, change: Change) -> bytes:
        """The content of the working tree, as git would keep it."""
        assert change.new is not None, "BUG: what is read is there"
        if stat.S_ISLNK(change.new.mode):
            return link_target(self._tree.jail, change.path)
        data = self._tree.read(RepoPath(change.path))
        oid = change.old.oid if change.old is not None else None
        if b"\r\n" not in data and not self._attributes.may_concern(change.path):
            return data
        return clean_content(Attributes(self._handle, change.path), data, oid)

    def _keeps_back(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return self._is_kept(folder) or self._rules.keeps_out_of_commits(name, path, directory=False)

    def _is_kept(self, folder: str) -> bool:
        ahead = []
        while folder not in self._kept:
            ahead.append(folder)
            folder = folder.rpartition("/")[0]
        is_kept = self._kept[folder]
        for path in reversed(ahead):
            name = path.rpartition("/")[2]
            is_kept = is_kept or self._rules.keeps_out_of_commits(name, path, directory=True)
            self._kept[path] = is_kept
        return is_kept


def link_target(jail: Jail, path: str) -> bytes:
    """Where a link in the working tree leads, as it says itself."""
    folder, _, name = path.rpartition("/")
    fd = jail.open(RepoPath(folder), directory=True)
    try:
        return os.fsencode(os.readlink(name, dir_fd=fd))
    except OSError as error:
        raise NotFound(f"{shown(path)} is no link any more.", path=shown(path)) from error
    finally:
        os.close(fd)


def kept_back(rules: Ignore, path: str, *, directory: bool = False) -> bool:
    """Whether a tracked file or directory, or a directory above it, is left out whatever git says."""
    at = path.find("/")
    while at != -1:
        inner = path[:at]
        if rules.keeps_out_of_commits(inner.rpartition("/")[2], inner, directory=True):
            return True
        at = path.find("/", at + 1)
    return rules.keeps_out_of_commits(path.rpartition("/")[2], path, directory=directory)
