"""Programs of a project: its own environment first, then what the user has installed."""

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeplane.core.errors import ProgramMissing
from codeplane.core.paths import RepoPath
from codeplane.process.programs import Programs

_TOP: Final = RepoPath("")
_ENVIRONMENTS: Final = (".venv", "venv")
_OWN_PLACES: Final = (*(f"{name}/bin" for name in _ENVIRONMENTS), "node_modules/.bin", "vendor/bin")
# The repository's code has no business with these.
_WITHHELD: Final = frozenset(("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GNUPGHOME", "GIT_CONFIG_GLOBAL"))
# Output is read by a program: no colours, no pages, no questions.
_PLAIN: Final = {
    "CI": "1",
    "NO_COLOR": "1",
    "FORCE_COLOR": "0",
    "CLICOLOR": "0",
    "PY_COLORS": "0",
    "TERM": "dumb",
    "PAGER": "cat",
    "PYTHONUNBUFFERED": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


@dataclass(frozen=True)
class Toolbox:
    """What a project can start. Programs inside of the repository are for trusted repositories alone: whoever
    starts one has asked."""

    programs: Programs
    root: Path  # absolute: the repository, or a scratch copy of it

    def find(self, name: str, near: RepoPath = _TOP) -> Path:
        """A program in the environments from `near` up to the root, else on the user's search path."""
        assert "/" not in name, "BUG: a program is looked for by its name"
        return self._own_program(name, near) or self.programs.find(name)

    def python(self, near: RepoPath = _TOP) -> Path:
        """The interpreter of the project's environment, else the user's."""
        own = self._own_program("python3", near) or self._own_program("python", near)
        if own is not None:
            return own
        try:
            return self.programs.find("python3")
        except ProgramMissing:
            return self.programs.find("python")

    def _own_program(self, name: str, near: RepoPath) -> Path | None:
        paths = (place / name for place in self._program_places(near))
        return next((one for one in paths if one.is_file() and os.access(one, os.X_OK)), None)

    def has_own_python(self, near: RepoPath = _TOP) -> bool:
        """Whether the project brings an interpreter along."""
        return (self._own_program("python3", near) or self._own_program("python", near)) is not None

    def env(self, near: RepoPath = _TOP) -> Mapping[str, str]:
        """What the repository's own code sees: the user's search path with the project's programs first,
        home, locale and toolchains; no agents, no colours."""
        base = {name: value for name, value in self.programs.env.items() if name not in _WITHHELD}
        own = [str(place) for place in self._program_places(near) if place.is_dir()]
        path = os.pathsep.join([*own, *filter(None, [base.get("PATH", os.defpath)])])
        return {"LANG": "C.UTF-8", **base, **_PLAIN, "PATH": path}

    def starter(self, near: RepoPath = _TOP) -> Programs:
        """Starts programs that see `env` and nothing else."""
        return Programs(self.env(near))

    def _program_places(self, near: RepoPath) -> Iterator[Path]:
        at = self.root / near
        for directory in (at, *at.parents):
            yield from (directory / place for place in _OWN_PLACES)
            yield from self._of_poetry(directory)
            if directory == self.root:
                return

    def _of_poetry(self, directory: Path) -> list[Path]:
        """Environments that Poetry keeps with the user's caches, named by the place of the project."""
        home = self.programs.env.get("HOME", "")
        if not home or not (directory / "poetry.lock").is_file():
            return []
        place = hashlib.sha256(os.fsencode(os.path.realpath(directory))).digest()
        name = base64.urlsafe_b64encode(place).decode()[:8]
        caches = [self.programs.env.get("XDG_CACHE_HOME") or f"{home}/.cache", f"{home}/Library/Caches"]
        paths = (Path(cache, "pypoetry", "virtualenvs").glob(f"*-{name}-py*/bin") for cache in caches)
        return sorted((one for places in paths for one in places), reverse=True)
