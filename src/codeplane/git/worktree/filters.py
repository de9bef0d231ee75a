"""Files with an external filter or another encoding, which libgit2 does not support.

Such a file is never staged as it is. The git program does it, which runs the user's filter, and only where
the repository is trusted.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import GitBusy, GitFailed, GitUnsupported
from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.config import config_text
from codeplane.git.repo.repository import Repository
from codeplane.jail import shown
from codeplane.process import Programs

_TIMEOUT_SEC: Final = 300.0
_MOST_TOLD: Final = 1000
_MOST_NAMED: Final = 20
_ENCODING: Final = "working-tree-encoding"
# Nothing but the filter is obeyed.
_HARDENED: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--literal-pathspecs")
_FROM_STDIN: Final = ("--pathspec-from-file=-", "--pathspec-file-nul")


def filter_drivers(handle: pygit2.Repository, paths: Iterable[str]) -> dict[str, str]:
    """The paths that have a filter, each with the filter's name."""
    drivers = {}
    for path in paths:
        attributes = Attributes(handle, path)
        if attributes.filter is not None or attributes.encoding is not None:
            drivers[path] = attributes.filter or _ENCODING
    return drivers


def add_filtered(
    repository: Repository,
    programs: Programs,
    index: Path,
    drivers: dict[str, str],
    check: Callable[[], None] | None = None,
) -> None:
    """Stages filtered files with the git program, into an index on disk; trust was checked before."""
    env = {"GIT_INDEX_FILE": str(index)}
    _by_git(repository, programs, ("add", "--force"), sorted(drivers), env, check)


def restore_filtered(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    drivers: dict[str, str],
    check: Callable[[], None] | None = None,
) -> None:
    """Restores filtered files from git's index with the git program."""
    check_filters(repository, handle, drivers)
    _by_git(repository, programs, ("checkout",), sorted(drivers), {}, check)


def changed_filtered(repository: Repository, programs: Programs, paths: Sequence[str]) -> set[str]:
    """Filtered files that differ from the index; git runs the filter to tell."""
    argv: list[str | bytes | Path] = [
        programs.find("git"),
        *_HARDENED,
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules",
        "--name-only",
        "-z",
        "--",
    ]
    env = {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.root)}
    env["GIT_OPTIONAL_LOCKS"] = "0"
    names = [os.fsencode(path) for path in paths]
    result = programs.run([*argv, *names], cwd=repository.root, timeout=_TIMEOUT_SEC, env=env)
    if not result.is_ok:
        raise GitFailed(f"git diff failed: {result.said[-_MOST_TOLD:]}")
    return {os.fsdecode(path) for path in result.stdout.split(b"\0") if path}


def check_filters(repository: Repository, handle: pygit2.Repository, drivers: dict[str, str]) -> None:
    """Refuses files whose filter may not run or is not configured."""
    labels = [f"{shown(path)} ({drivers[path]})" for path in sorted(drivers)]
    names = ", ".join(labels[:_MOST_NAMED]) + (" and more" if len(labels) > _MOST_NAMED else "")
    if drivers and not repository.trusted:
        raise GitUnsupported(
            f"No filter runs in a repository that is not trusted, and these need one: {names}.",
            hints=["cpl trust", "Or name the other paths."],
            paths=[shown(path) for path in sorted(drivers)[:_MOST_NAMED]],
        )
    missing = sorted({name for name in drivers.values() if not _is_configured(handle, name)})
    if missing:
        raise GitUnsupported(
            f"The filter {', '.join(missing)} is not set up: these would be stored unfiltered: {names}.",
            hints=[
                f"git {name} install" if name == "lfs" else f"set filter.{name}.clean" for name in missing
            ],
        )


def _is_configured(handle: pygit2.Repository, name: str) -> bool:
    if name == _ENCODING:
        return True
    return any(config_text(handle, f"filter.{name}.{kind}") for kind in ("clean", "process"))


def _by_git(
    repository: Repository,
    programs: Programs,
    command: Sequence[str],
    paths: Sequence[str],
    more: Mapping[str, str],
    check: Callable[[], None] | None,
) -> None:
    argv: list[str | Path] = [programs.find("git"), *_HARDENED, *command, *_FROM_STDIN]
    env = {
        "GIT_DIR": str(repository.git_dir),
        "GIT_WORK_TREE": str(repository.root),
        "GIT_EDITOR": ":",
        **more,
    }
    stdin = b"\0".join(os.fsencode(path) for path in paths)
    result = programs.run(argv, cwd=repository.root, timeout=_TIMEOUT_SEC, env=env, stdin=stdin, check=check)
    if result.is_ok:
        return
    if b"index.lock" in result.stderr:
        raise GitBusy("Another program holds the lock on git's index.", hints=["Try again."])
    reason = "did not end in time" if result.code is None else "failed"
    raise GitFailed(f"git {command[0]} {reason}: {result.said[-_MOST_TOLD:]}")
