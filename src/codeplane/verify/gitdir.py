"""A git directory for a copy of a working tree: it reads the history of the repository and writes its own."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from codeplane.git import Repository

_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
_UNBORN: Final = "ref: refs/heads/main\n"
_SHA1: Final = 40
_COPIED: Final = ("index", "shallow")


def make_git_dir(repository: Repository, copy: Path) -> bool:
    """Makes `.git` in a copy; tells whether it could.

    Objects of the repository are read where they are. Commits, branches and staged files of the copy are its
    own, so nothing that a test does with git is seen outside.
    """
    commit = repository.head().commit
    objects = repository.common_dir / "objects"
    if (commit is not None and len(commit) != _SHA1) or "\n" in str(objects):
        return False
    git_dir = copy / ".git"
    (git_dir / "objects" / "info").mkdir(parents=True)
    (git_dir / "refs" / "heads").mkdir(parents=True)
    (git_dir / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    (git_dir / "config").write_text(_CONFIG)
    (git_dir / "HEAD").write_text(f"{commit}\n" if commit is not None else _UNBORN)
    if not any(repository.git_dir.glob("sharedindex.*")):  # of an index in parts, one alone says nothing
        for name in _COPIED:
            with suppress(FileNotFoundError):
                shutil.copyfile(repository.git_dir / name, git_dir / name)
    return True
