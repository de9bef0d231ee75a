"""What programs of a workspace are told, so that two of them don't take the same ports or containers."""

import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

_STEP: Final = 20  # ports that one workspace may use beside each other
_PLACES: Final = 500  # so that offsets stay below 10,000
_MOST_DIRECTORIES: Final = 50
_MANIFESTS: Final = frozenset(
    "package.json pyproject.toml setup.py requirements.txt Gemfile compose.yaml docker-compose.yml".split()
)
_UNFIT: Final = re.compile(r"[^a-z0-9_-]+")

NEEDED: Final = (
    ".env",
    ".env.local",
    ".env.development",
    ".env.development.local",
    ".env.test",
    ".envrc",
    ".venv",
    "venv",
    "node_modules",
    ".npmrc",
    "local.settings.json",
    "config/master.key",
)
"""What git usually ignores although programs need it."""


def port_offset(name: str, taken: Collection[int] = ()) -> int:
    """A number to add to every port: the same for a name each time, unless another workspace has it."""
    first = zlib.crc32(name.encode())
    offsets = ((first + step) % _PLACES * _STEP + _STEP for step in range(_PLACES))
    return next((offset for offset in offsets if offset not in taken), first % _PLACES * _STEP + _STEP)


def variables(repository: str, name: str, offset: int) -> dict[str, str]:
    """Variables for the programs of a workspace. `COMPOSE_PROJECT_NAME` keeps containers apart."""
    project = _UNFIT.sub("-", f"{repository}-{name}".lower()).strip("-_") or "workspace"
    return {"CPL_WORKSPACE": name, "CPL_PORT_OFFSET": str(offset), "COMPOSE_PROJECT_NAME": project}


def package_directories(paths: Iterable[str]) -> list[str]:
    """The directories in which programs look for what they need, the shallowest first, up to a bound."""
    directories = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in _MANIFESTS}
    return sorted(directories, key=lambda one: (one.count("/"), one))[:_MOST_DIRECTORIES]


def missing_files(home: Path, worktree: Path, directories: Iterable[str]) -> Iterator[str]:
    """Names of files and directories that programs need, that are in one checkout and not in the other."""
    for directory in dict.fromkeys(("", *directories)):
        for name in NEEDED:
            path = Path(directory, name)
            if (home / path).exists() and not (worktree / path).exists():
                yield path.as_posix()
