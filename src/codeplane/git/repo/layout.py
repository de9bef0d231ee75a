"""The layout of git directories. Without trust, one that leads elsewhere is refused.

A working tree may have its git directory elsewhere when that points back to it: linked worktrees and
checkouts of submodules do. Links, foreign object stores and included configuration need trust.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeplane.core.errors import CodePlaneError, NotTrusted, UnsupportedRepository
from codeplane.storage.files import read_small

_LONGEST_LINK: Final = 8192
_LARGEST_CONFIG: Final = 4 << 20
_DEEPEST: Final = 40
_INCLUDE = re.compile(rb"\[\s*include(if)?[\s\].\"]", re.IGNORECASE)
_WORKTREE = re.compile(rb"(?:^|\])\s*worktree\s*=\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_PLAIN: Final = ("HEAD", "config", "config.worktree", "index", "objects", "refs", "packed-refs", "logs")
_PLACES: Final = ("info", "hooks", "modules", "worktrees", "shallow")
_WALKED: Final = ("refs", "logs")


@dataclass(frozen=True)
class Layout:
    """The git directory of a working tree, and the one that it shares with others."""

    git_dir: Path
    common: Path


def check_redirects(root: Path) -> Layout:
    """Refuses a working tree whose git directory leads to something that is not its own."""
    layout = _find_layout(root)
    for base in {layout.git_dir, layout.common}:
        for name in (*_PLAIN, *_PLACES):
            if (base / name).is_symlink():
                raise _not_trusted(root, f"{base / name} is a symbolic link")
        for name in ("config", "config.worktree"):
            _check_config(root, base / name, layout)
        for name in _WALKED:
            for link in _find_links(base / name):
                raise _not_trusted(root, f"{link} is a symbolic link")
    for store in _foreign_stores(layout.common / "objects"):
        raise _not_trusted(root, f"its objects are taken from {store}")
    return layout


def primary_checkout(root: Path) -> Path | None:
    """The primary checkout of a linked worktree, found without opening either; None where it is none."""
    try:
        layout = _find_layout(root)
    except (CodePlaneError, OSError):
        return None
    is_linked = layout.git_dir != layout.common and layout.common.name == ".git"
    return layout.common.parent if is_linked else None


def common_dir(git_dir: Path) -> Path:
    """The git directory that all worktrees share; a `commondir` that leads anywhere else is refused."""
    if not os.path.lexists(git_dir / "commondir"):
        return git_dir
    if not _is_worktree(git_dir):
        raise UnsupportedRepository(
            f"{git_dir / 'commondir'} leads to another git directory.", path=str(git_dir)
        )
    return git_dir.parent.parent


def _is_worktree(git_dir: Path) -> bool:
    """Whether a `commondir` names the git directory that has this one in its `worktrees`."""
    above = Path(os.path.realpath(git_dir.parent.parent))
    return git_dir.parent.name == "worktrees" and _read_link(git_dir / "commondir") == above


def _find_layout(root: Path) -> Layout:
    place = root / ".git"
    if place.is_symlink():
        raise _not_trusted(root, ".git is a symbolic link")
    if place.is_dir():
        if (place / "commondir").exists():
            raise _not_trusted(root, ".git/commondir leads to another git directory")
        return Layout(place, place)
    git_dir = _read_link(place, b"gitdir:")
    if git_dir is None or not git_dir.is_dir():
        raise _not_trusted(root, "the file .git names no git directory")
    if (git_dir / "commondir").exists():
        return Layout(git_dir, _common_of_worktree(root, git_dir))
    if not _is_module(root, git_dir):
        raise _not_trusted(root, f"the file .git leads to {git_dir}, which does not lead back")
    return Layout(git_dir, git_dir)


def _common_of_worktree(root: Path, git_dir: Path) -> Path:
    back, common = _read_link(git_dir / "gitdir"), git_dir.parent.parent
    if not _is_worktree(git_dir):
        raise _not_trusted(root, f"{git_dir / 'commondir'} leads to another git directory")
    if back is None or back != Path(os.path.realpath(root)) / ".git":
        raise _not_trusted(root, f"the file .git leads to {git_dir}, which does not lead back")
    if common.stat().st_uid != os.getuid():
        raise _not_trusted(root, f"{common} belongs to another user")
    return common


def _is_module(root: Path, git_dir: Path) -> bool:
    """Whether the git directory is kept in `modules` of a repository around this tree and names this tree."""
    real = Path(os.path.realpath(root))
    config = read_small(git_dir / "config", _LARGEST_CONFIG) or b""
    if "modules" not in git_dir.parts or _worktree_of(git_dir, config) != real:
        return False
    above = Path(*git_dir.parts[: git_dir.parts.index("modules")])
    while above.name != ".git" and above != above.parent:
        above = above.parent
    # A linked worktree's submodule is inside that worktree, not inside the primary checkout.
    return real.is_relative_to(above.parent) or "worktrees" in git_dir.relative_to(above).parts


def _check_config(root: Path, file: Path, layout: Layout) -> None:
    if not os.path.lexists(file):
        return
    data = read_small(file, _LARGEST_CONFIG)
    if data is None:
        raise _not_trusted(root, f"{file} is not a regular file, or is too large")
    if _INCLUDE.search(data):
        raise _not_trusted(root, f"{file} includes other files")
    worktree = _worktree_of(file.parent, data)
    is_own = worktree is None or worktree == Path(os.path.realpath(root))
    if not is_own and file.parent == layout.git_dir:
        raise _not_trusted(root, f"core.worktree of {file} names another directory")


def _worktree_of(base: Path, config: bytes) -> Path | None:
    values = _WORKTREE.findall(config)
    if not values:
        return None
    text = os.fsdecode(values[-1].strip(b'"'))
    return Path(os.path.realpath(base / text)) if "\0" not in text else Path()


def _read_link(file: Path, prefix: bytes = b"") -> Path | None:
    data = read_small(file, _LONGEST_LINK)
    if data is None or not data.startswith(prefix) or b"\0" in data:
        return None
    return Path(os.path.realpath(file.parent / os.fsdecode(data.removeprefix(prefix).strip())))


def _find_links(directory: Path, depth: int = 0) -> Iterator[Path]:
    try:
        with os.scandir(directory) as entries:
            inner = []
            for entry in entries:
                if entry.is_symlink():
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    inner.append(Path(entry.path))
    except OSError:
        return
    for directory in inner if depth < _DEEPEST else ():
        yield from _find_links(directory, depth + 1)


def _foreign_stores(objects: Path) -> Iterator[Path]:
    """Alternates and links that bring in other object stores."""
    for name in ("info", "pack"):
        if (objects / name).is_symlink():
            yield objects / name
    file = objects / "info" / "alternates"
    if os.path.lexists(file):
        data = read_small(file, _LARGEST_CONFIG)
        if data is None or data.strip():
            yield Path(os.fsdecode((data or b"").split(b"\n")[0])) if data else file


def _not_trusted(root: Path, why: str) -> NotTrusted:
    return NotTrusted(
        f"{root} is not opened: {why}.",
        hints=["cpl trust"],
        path=str(root),
    )
