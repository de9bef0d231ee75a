"""What a project has installed: reachable from a copy of its tree, without being copied."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from codeplane.storage.files import read_small

_PLAIN: Final = (".venv", "venv", "vendor")
_PACKAGES: Final = "node_modules"
_LARGEST: Final = 1 << 16


def link_environments(root: Path, copy: Path, directories: Iterable[str]) -> None:
    """Makes environments beside the files of `root` reachable at the same places of its copy.

    Packages of the repository itself that are linked among the installed ones lead into the copy.
    """
    for directory in directories:
        for name in _PLAIN:
            _make_link(root / directory / name, copy / directory / name)
        _link_packages(root, copy, Path(directory) / _PACKAGES)


def python_path(root: Path, copy: Path) -> str:
    """Where Python looks first in a copy: its own files, not those that an environment has been told of.

    A project that is installed in place is named in its environment by the path of the repository.
    """
    inside = {"": None, "src": None}
    for file in sorted(root.glob(".venv/lib/*/site-packages/*.pth")) + sorted(
        root.glob("venv/lib/*/site-packages/*.pth")
    ):
        for line in (read_small(file, _LARGEST) or b"").decode("utf-8", "replace").splitlines():
            if line.startswith(f"{root}/"):
                inside[line[len(f"{root}/") :].strip()] = None
    return os.pathsep.join(str(copy / one) for one in inside if (copy / one).is_dir())


def _make_link(there: Path, here: Path) -> None:
    if there.is_dir() and not here.exists():
        here.symlink_to(there, target_is_directory=True)


def _link_packages(root: Path, copy: Path, at: Path) -> None:
    if not (root / at).is_dir() or (copy / at).exists():
        return
    (copy / at).mkdir(parents=True)
    for entry in _package_names(root / at):
        (copy / at / entry).parent.mkdir(exist_ok=True)
        (copy / at / entry).symlink_to(_resolve_package(root, copy, root / at / entry))


def _package_names(packages: Path) -> Iterator[str]:
    """The names of packages, those of scopes one by one."""
    for one in sorted(packages.iterdir()):
        if one.name.startswith("@") and one.is_dir() and not one.is_symlink():
            yield from (f"{one.name}/{inner.name}" for inner in sorted(one.iterdir()))
        else:
            yield one.name


def _resolve_package(root: Path, copy: Path, package: Path) -> Path:
    """Where a package is; one that is a directory of the repository is meant in the copy."""
    with suppress(OSError, ValueError):
        inside = package.resolve().relative_to(root.resolve())
        if package.is_symlink() and _PACKAGES not in inside.parts:
            return copy / inside
    return package
