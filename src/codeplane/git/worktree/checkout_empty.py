"""Filling an empty worktree from a tree: libgit2 writes it at once, for there is nothing to lose."""

from typing import Final

import pygit2
from pygit2.enums import CheckoutStrategy

from codeplane.core.errors import GitFailed
from codeplane.git.repo.attributes import FILE_NAME, has_shared_attributes
from codeplane.git.repo.repository import Repository, explain_error
from codeplane.git.worktree.checkout_tree import CheckoutResult, check_out_tree, refuse_closed
from codeplane.process import Programs

# What libgit2 would write otherwise than git does.
_UNUSUAL: Final = (b"filter", b"encoding")


def fill_empty(
    repository: Repository, programs: Programs, handle: pygit2.Repository, tree_oid: str
) -> CheckoutResult:
    """Writes files and index of a worktree that has neither. Filters that are programs get their own way.

    What fails midway leaves files: the caller removes the worktree.
    """
    tree = handle[tree_oid].peel(pygit2.Tree)
    index = pygit2.Index()
    index.read_tree(tree)
    paths = [entry.path for entry in index]
    if has_shared_attributes(handle) or _is_unusual(handle, index, paths):
        return check_out_tree(repository, programs, handle, tree_oid)
    refuse_closed(paths)
    try:
        handle.checkout_tree(tree, strategy=CheckoutStrategy.FORCE)  # type: ignore[no-untyped-call]
    except (pygit2.GitError, KeyError, OSError) as error:
        if isinstance(error, pygit2.GitError):
            raise explain_error(error, repository.root) from error
        raise GitFailed(f"The worktree could not be filled: {error}.") from error
    handle.index.read(False)
    return CheckoutResult()


def _is_unusual(handle: pygit2.Repository, index: pygit2.Index, paths: list[str]) -> bool:
    """Whether an attribute of the tree may ask for more than line endings and `$Id$`."""
    files = [path for path in paths if path.rpartition("/")[2] == FILE_NAME]
    for path in files:
        blob = handle.get(index[path].id)
        if not isinstance(blob, pygit2.Blob) or any(word in blob.data for word in _UNUSUAL):
            return True
    return False
