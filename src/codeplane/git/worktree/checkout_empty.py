"""Filling an empty worktree from a tree at once, for there is nothing to lose in it."""

import os
import secrets
import shutil
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import CheckoutStrategy
from pygit2.ffi import C, ffi

from codeplane.core.errors import GitFailed, ProgramError
from codeplane.git.repo.attributes import FILE_NAME, has_shared_attributes
from codeplane.git.repo.config import config_text
from codeplane.git.repo.repository import Repository, explain_error
from codeplane.git.worktree.checkout_tree import CheckoutResult, check_out_tree, refuse_closed
from codeplane.process import Programs

# What libgit2 would write otherwise than git does.
_UNUSUAL: Final = (b"filter", b"encoding")
_TIMEOUT_SEC: Final = 600.0
_MOST_WORKERS: Final = 4
_SCRATCH: Final = "codeplane-filling-"
# The settings that decide what bytes a file gets, what its name becomes and who may read it.
_PASSED_ON: Final = (
    "core.autocrlf",
    "core.eol",
    "core.symlinks",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.sharedrepository",
    "core.bigfilethreshold",
    "checkout.workers",
    "checkout.thresholdforparallelism",
)
_NOTHING: Final = "/dev/null"
_SILENT: Final = (f"core.hooksPath={_NOTHING}", f"core.attributesFile={_NOTHING}", "core.fsmonitor=false")


def fill_empty(
    repository: Repository, programs: Programs, handle: pygit2.Repository, tree_oid: str
) -> CheckoutResult:
    """Writes files and index of a worktree that has neither. Filters that are programs get their own way.

    What fails midway leaves files: the caller removes the worktree.
    """
    tree = handle[tree_oid].peel(pygit2.Tree)
    index = pygit2.Index()
    index.read_tree(tree)
    paths = _paths_of(index)
    if has_shared_attributes(handle) or _is_unusual(handle, index, paths):
        return check_out_tree(repository, programs, handle, tree_oid)
    refuse_closed(paths)
    if not _fill_by_git(repository, programs, handle, str(tree.id)):
        _fill_by_library(repository, handle, tree)
    handle.index.read(False)
    return CheckoutResult()


def _paths_of(index: pygit2.Index) -> list[str]:
    """The names alone: entries of the library are made of many objects each."""
    entries = index._index  # noqa: SLF001
    count = C.git_index_entrycount(entries)
    return [os.fsdecode(ffi.string(C.git_index_get_byindex(entries, at).path)) for at in range(count)]


def _fill_by_git(
    repository: Repository, programs: Programs, handle: pygit2.Repository, tree_oid: str
) -> bool:
    """Has the git program write it, in half of the library's time; tells whether it has.

    It sees the objects and no configuration, hook or attribute file of anybody: nothing else can be run, so
    the repository need not be trusted.
    """
    scratch = repository.git_dir / f"{_SCRATCH}{secrets.token_hex(4)}"
    env = {
        "GIT_DIR": str(scratch),
        "GIT_WORK_TREE": str(repository.root),
        "GIT_INDEX_FILE": str(repository.git_dir / "index"),
        "GIT_OBJECT_DIRECTORY": str(repository.common_dir / "objects"),
        "GIT_CONFIG_GLOBAL": _NOTHING,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    clean = Programs({name: value for name, value in programs.env.items() if not name.startswith("GIT_")})
    try:
        argv: list[str | Path] = [clean.find("git")]
        for setting in (*_SILENT, *_settings(handle)):
            argv += ["-c", setting]
        argv += ["read-tree", "--reset", "-u", "--no-recurse-submodules", tree_oid]
        (scratch / "refs").mkdir(parents=True)
        (scratch / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        result = clean.run(argv, cwd=repository.root, timeout=_TIMEOUT_SEC, env=env)
    except ProgramError:
        return False
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if result.code is None:
        raise GitFailed(f"The worktree could not be filled in {_TIMEOUT_SEC:.0f} seconds.")
    return result.is_ok


def _settings(handle: pygit2.Repository) -> list[str]:
    """What git has to be told of the configuration that it does not see."""
    values = {name: config_text(handle, name) for name in _PASSED_ON if name in handle.config}
    values = {"checkout.workers": str(min(os.cpu_count() or 1, _MOST_WORKERS)), **values}
    # A name without a value is a switch that is on.
    return [name if value is None else f"{name}={value}" for name, value in values.items()]


def _fill_by_library(repository: Repository, handle: pygit2.Repository, tree: pygit2.Tree) -> None:
    """Needs no program, and its errors say more."""
    try:
        handle.checkout_tree(tree, strategy=CheckoutStrategy.FORCE)  # type: ignore[no-untyped-call]
    except (pygit2.GitError, KeyError, OSError) as error:
        if isinstance(error, pygit2.GitError):
            raise explain_error(error, repository.root) from error
        raise GitFailed(f"The worktree could not be filled: {error}.") from error


def _is_unusual(handle: pygit2.Repository, index: pygit2.Index, paths: list[str]) -> bool:
    """Whether an attribute of the tree may ask for more than line endings and `$Id$`."""
    files = [path for path in paths if path.rpartition("/")[2] == FILE_NAME]
    for path in files:
        blob = handle.get(index[path].id)
        if not isinstance(blob, pygit2.Blob) or any(word in blob.data for word in _UNUSUAL):
            return True
    return False
