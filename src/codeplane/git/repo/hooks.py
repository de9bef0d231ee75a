"""Git hooks: run in a trusted repository, reported as not run in any other."""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import HookRefused, ProgramFailed
from codeplane.git.repo.config import config_text
from codeplane.git.repo.layout import common_dir
from codeplane.git.repo.repository import Repository
from codeplane.process import Finished, Programs

TIMEOUT_SEC: Final = 120.0
_MOST_TOLD: Final = 4000


def run_hook(
    repository: Repository,
    programs: Programs,
    name: str,
    args: Sequence[str] = (),
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT_SEC,
    check: Callable[[], None] | None = None,
) -> tuple[str, ...]:
    """Runs a hook as git does, if there is one; returns notes for the answer.

    A hook that fails raises `HookRefused`, except for those that come after the fact. In a repository that is
    not trusted nothing runs.
    """
    with repository.opened() as handle:
        if not repository.trusted:
            return _untrusted_note(handle, name)
        file = _hooks_directory(handle) / name
    if not _is_runnable(file):
        return ()
    variables = {"GIT_DIR": str(repository.git_dir), "GIT_EDITOR": ":", "GIT_PREFIX": "", **(env or {})}
    argv = [*_command_line(file), *args]
    try:
        result = programs.run(
            argv, cwd=repository.root, timeout=timeout, env=variables, stdin=stdin, check=check
        )
    except ProgramFailed as error:
        result = Finished(127, b"", error.message.encode())
    if result.is_ok:
        return ()
    if name.startswith("post-"):
        return (f"The hook {name} {_describe_end(result, timeout)}: {result.said[:200]}",)
    raise HookRefused(
        f"The hook {name} {_describe_end(result, timeout)}.",
        hints=["Fix what it reports, then repeat the call."],
        hook=name,
        output=result.said[-_MOST_TOLD:],
    )


def has_hook(repository: Repository, name: str) -> bool:
    """Whether `run_hook` would run something."""
    with repository.opened() as handle:
        return repository.trusted and _is_runnable(_hooks_directory(handle) / name)


def _untrusted_note(handle: pygit2.Repository, name: str) -> tuple[str, ...]:
    """The note on a hook that was not run; paths outside the git directory are not even looked at."""
    if config_text(handle, "core.hooksPath") is not None:
        return ("Hooks of core.hooksPath were not run: the repository is not trusted (cpl trust).",)
    if _is_runnable(common_dir(Path(handle.path)) / "hooks" / name):
        return (f"The hook {name} was not run: the repository is not trusted (cpl trust).",)
    return ()


def _hooks_directory(handle: pygit2.Repository) -> Path:
    setting = config_text(handle, "core.hooksPath")
    if setting is None:
        return common_dir(Path(handle.path)) / "hooks"
    return Path(handle.workdir) / Path(setting).expanduser()


def _is_runnable(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.stat().st_mode) and os.access(file, os.X_OK)
    except OSError:
        return False


def _command_line(file: Path) -> list[str | Path]:
    """A script without `#!` is run by the shell, as git does."""
    try:
        with file.open("rb") as stream:
            first = stream.read(4)
    except OSError:
        return [file]
    return ["/bin/sh", file] if first[:2] != b"#!" and _is_text(first) else [file]


def _is_text(data: bytes) -> bool:
    return all(byte >= 32 or byte in b"\n\r\t" for byte in data) and data.isascii()


def _describe_end(result: Finished, timeout: float) -> str:
    return f"did not end within {timeout:.0f} s" if result.code is None else f"failed ({result.code})"
