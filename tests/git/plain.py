"""The git program, with nothing of the machine's own: what the others are compared with."""

import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATE = "1700000000 +0100"
_SETTINGS = ("-c", "core.quotePath=false", "-c", "protocol.file.allow=always", "-c", "gc.auto=0")


def environment(home: Path) -> dict[str, str]:
    """What the program sees: a user without settings, and dates that are always the same."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_EDITOR": "true",
        "GIT_AUTHOR_NAME": "A U Thor",
        "GIT_AUTHOR_EMAIL": "author@example.org",
        "GIT_AUTHOR_DATE": DATE,
        "GIT_COMMITTER_NAME": "C O Mitter",
        "GIT_COMMITTER_EMAIL": "committer@example.org",
        "GIT_COMMITTER_DATE": DATE,
    }


def run(root: Path, *arguments: str | bytes, stdin: bytes = b"", fails: bool = False, **extra: str) -> bytes:
    """What git prints. With `fails` it may end with an error, and what it says is added."""
    done = subprocess.run(
        ["git", *_SETTINGS, *arguments],
        cwd=root,
        input=stdin,
        capture_output=True,
        env={**environment(root.parent), **extra},
        check=False,
    )
    assert fails or done.returncode == 0, (arguments, done.stderr.decode(errors="replace"))
    return done.stdout + (done.stderr if fails else b"")


def text(root: Path, *arguments: str | bytes) -> str:
    return os.fsdecode(run(root, *arguments)).strip()


@dataclass(frozen=True)
class State:
    """All that two repositories have to agree in after the same operation."""

    head: bytes  # a commit, or a reference of those
    refs: bytes
    index: bytes
    status: bytes
    files: Mapping[str, tuple[int, bytes]]  # kind and executable bit, and the bytes or where a link leads


def state_of(root: Path) -> State:
    return State(
        head=(root / ".git" / "HEAD").read_bytes(),
        refs=run(root, "for-each-ref", "--format=%(refname) %(objectname)"),
        index=run(root, "ls-files", "-s", "-z"),
        status=run(root, "status", "--porcelain", "-z", "--untracked-files=all"),
        files=files_of(root),
    )


def files_of(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and link of the working tree; those of `.git` and of CodePlane's own directory are not."""
    found = {}
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name not in (".git", ".codeplane")]
        links = [name for name in names if (Path(directory) / name).is_symlink()]
        for name in (*files, *links):
            path = Path(directory) / name
            found[os.path.relpath(path, root)] = _content(path)
    return found


def _content(path: Path) -> tuple[int, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return stat.S_IFLNK, os.fsencode(path.readlink())
    return stat.S_IFREG | (mode & 0o100), path.read_bytes()
