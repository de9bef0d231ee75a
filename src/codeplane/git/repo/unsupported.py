"""Repository features that libgit2 reads only in part or cannot change safely."""

from typing import Final

import pygit2

from codeplane.core.errors import GitFailed, GitUnsupported
from codeplane.git.repo import index_file
from codeplane.git.repo.config import config_flag
from codeplane.git.repo.repository import Repository

# Index extensions that change what entries mean, and how to remove them.
_FORMS: Final = {
    b"link": ("a split index", "git update-index --no-split-index"),
    b"sdir": ("a sparse index", "git sparse-checkout reapply --no-sparse-index"),
}


def describe_limits(repository: Repository) -> list[str]:
    """What answers about this repository may lack, a sentence each."""
    with repository.opened() as handle:
        notes = []
        if handle.is_shallow:
            notes.append("The clone is shallow: history ends where it was cut off.")
        if is_partial(handle):
            notes.append("The clone is partial: contents that were never fetched can't be read.")
        if config_flag(handle, "core.sparsecheckout"):
            notes.append("The checkout is sparse: some files are not in the working tree.")
        return notes


def check_writable(repository: Repository) -> None:
    """Refuses changes to a repository that libgit2 would damage."""
    check_index(_index_of(repository))
    with repository.opened() as handle:
        if config_flag(handle, "core.sparsecheckout"):
            raise GitUnsupported(
                "The checkout is sparse: changing it could bring back files that it leaves out.",
                hints=["git sparse-checkout disable"],
            )


def check_index(data: bytes | None) -> None:
    """Refuses an index that is damaged, split or sparse.

    None stands for a file that is not there: an index without entries.
    """
    if data is None:
        return
    if not index_file.is_whole(data):
        raise GitFailed(
            "Git's index is damaged: .git/index is cut off or corrupt.",
            hints=["rm .git/index && git reset  # rebuilds it from HEAD; what was staged is lost"],
        )
    if not any(name in data for name in _FORMS):
        return
    for name, _ in index_file.extensions(data):
        if name in _FORMS:
            form, hint = _FORMS[name]
            raise GitUnsupported(f"The repository has {form}, which is not supported.", hints=[hint])


def is_partial(handle: pygit2.Repository) -> bool:
    """Whether this is a partial clone."""
    names = {entry.name for entry in handle.config if entry.name.endswith(".promisor")}
    return any(config_flag(handle, name) for name in names) or "extensions.partialclone" in handle.config


def _index_of(repository: Repository) -> bytes | None:
    try:
        return (repository.git_dir / "index").read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GitFailed(f"Git: the index cannot be read: {error.strerror or error}.") from error
