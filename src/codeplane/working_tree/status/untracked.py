"""What is in the working tree and unknown to git, by git's own rules alone."""

import os
from collections.abc import Iterator

from codeplane.git.worktree.index_snapshot import IndexSnapshot
from codeplane.jail import Jail
from codeplane.working_tree.folders import Folder, Folders
from codeplane.working_tree.rules.ignore import GITIGNORE, Ignore, Scope, Standing

_Extra = tuple[Folder, tuple[str, ...], tuple[str, ...]]


class Untracked:
    """Finds what one index does not have. Names in directories that stay the same are remembered."""

    def __init__(self, jail: Jail, ignore: Ignore, folders: Folders, staged: IndexSnapshot) -> None:
        self._jail = jail
        self._ignore = ignore
        self._folders = folders
        self._index = staged
        self._extra: dict[str, _Extra] = {}
        self._has_rules: set[str] = set()
        self._scopes: dict[str, tuple[Scope, bool]] = {}

    def begin(self) -> None:
        """Forgets the rules of the last look."""
        self._has_rules.clear()
        self._scopes.clear()

    def within(self, path: str, found: Folder) -> Iterator[str]:
        """The files and directories in a directory that git tracks something in; outer ones come first."""
        if GITIGNORE in found.files:
            self._has_rules.add(path)
        extra = self._extra.get(path)
        if extra is None or extra[0] is not found:
            extra = self._extra[path] = (found, *self._unknown_names(path, found))
        _, files, folders = extra
        if not files and not folders:
            return
        scope, is_ignored = self._scope_of_folder(path)
        if is_ignored:
            return
        prefix = f"{path}/" if path else ""
        for name in files:
            if not scope.git_ignores(name, prefix + name, directory=False):
                yield prefix + name
        for name in folders:
            inner = prefix + name
            if not scope.git_ignores(name, inner, directory=True) and self._is_seen(inner, scope):
                yield f"{inner}/"

    def _unknown_names(self, path: str, found: Folder) -> tuple[tuple[str, ...], tuple[str, ...]]:
        index, prefix = self._index, f"{path}/" if path else ""

        def is_known(name: str) -> bool:
            return prefix + name in index.entries or prefix + name in index.sides

        files = tuple(name for name in found.files if not is_known(name))
        folders = tuple(
            name for name in found.folders if prefix + name not in index.folders and not is_known(name)
        )
        return files, folders

    def _scope_of_folder(self, path: str) -> tuple[Scope, bool]:
        """The rules inside a directory, and whether it is ignored as a whole."""
        scope = self._scopes.get(path)
        if scope is None:
            scope = self._scopes[path] = self._scope_of(path)
        return scope

    def _scope_of(self, path: str) -> tuple[Scope, bool]:
        has_rules = path in self._has_rules
        if not path:
            return self._ignore.top().inside("", Standing.IN, has_rules=has_rules), False
        above, _, name = path.rpartition("/")
        outer, is_ignored = self._scope_of_folder(above)
        is_ignored = is_ignored or outer.git_ignores(name, path, directory=True)
        return outer.inside(path, Standing.IN, has_rules=has_rules), is_ignored

    def _is_seen(self, top: str, scope: Scope) -> bool:
        """Whether a directory that is not tracked has anything in it that git would tell of."""
        ahead = [(top, scope)]
        while ahead:
            path, outer = ahead.pop()
            folder = self._folders.at(path)
            if folder is None:
                continue
            if folder.has_git and is_repository(self._jail, path):
                return True
            inner = outer.inside(path, Standing.IN, has_rules=GITIGNORE in folder.files)
            if any(not inner.git_ignores(one, f"{path}/{one}", directory=False) for one in folder.files):
                return True
            ahead += [
                (f"{path}/{one}", inner)
                for one in folder.folders
                if not inner.git_ignores(one, f"{path}/{one}", directory=True)
            ]
        return False


def is_repository(jail: Jail, path: str) -> bool:
    """Whether a directory is a repository of its own."""
    place = f"{jail.root}/{path}/.git"
    # These raise nothing, whatever is closed on the way.
    return os.path.isfile(place) or os.path.isfile(f"{place}/HEAD")  # noqa: PTH113
