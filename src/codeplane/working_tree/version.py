"""The version of a repository as git sees it, and the tripwire that tells when it has moved."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.git import Repository
from codeplane.working_tree.plain_file import read_plain

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REFERENCE = re.compile(r"refs/[^\s~^:?*\[\\]+")
_LARGEST_PACK = 64 << 20


@dataclass(frozen=True)
class RepoVersion:
    """Two equal versions have the same commit, the same staged state and the same submodule commits."""

    head: str | None
    index_mtime_ns: int
    index_size: int
    submodules: Mapping[RepoPath, str | None]


def version_of(repository: Repository, submodules: Iterable[RepoPath]) -> RepoVersion:
    """The version now; HEAD of an unborn branch is None, an index that is not there has size 0."""
    try:
        index = os.lstat(repository.git_dir / "index")
        mtime, size = index.st_mtime_ns, index.st_size
    except OSError:
        mtime, size = 0, 0
    heads = {path: submodule_head(repository, path) for path in sorted(submodules)}
    return RepoVersion(repository.head().commit, mtime, size, heads)


def submodule_head(repository: Repository, path: RepoPath) -> str | None:
    """The commit that a nested repository has checked out; None when it cannot be told.

    A `.git` file is followed only into the modules of this repository: what it says is the repository's word.
    """
    place = repository.root / path / ".git"
    # These raise nothing, whatever is closed on the way.
    if os.path.isdir(place) and not os.path.islink(place):  # noqa: PTH112, PTH114
        return _head_commit(place)
    git_dir = _read_text(place).partition("gitdir:")[2].strip()
    modules = os.path.realpath(repository.common_dir / "modules")
    aim = os.path.realpath(repository.root / path / git_dir)
    return _head_commit(Path(aim)) if git_dir and aim.startswith(f"{modules}/") else None


def _head_commit(git_dir: Path) -> str | None:
    text = _read_text(git_dir / "HEAD").strip()
    if not text.startswith("ref:"):
        return text if _COMMIT.fullmatch(text) else None
    name = text.removeprefix("ref:").strip()
    if not _REFERENCE.fullmatch(name) or ".." in name:
        return None
    loose = _read_text(git_dir / name).strip()
    if _COMMIT.fullmatch(loose):
        return loose
    refs = _read_text(git_dir / "packed-refs", _LARGEST_PACK)
    match = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", refs, re.MULTILINE)
    return match[1] if match else None


def _read_text(path: Path, largest: int = 4096) -> str:
    return (read_plain(str(path), largest) or b"").decode("utf-8", "replace")
