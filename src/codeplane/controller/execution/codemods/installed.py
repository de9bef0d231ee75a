"""Codemods that the user has installed into CodePlane's own environment, as entry points.

An entry point of the group `codeplane.codemods` loads an object with `description`, `check_params(params)`,
which returns problems as texts, and `rewrite(path, text, params)`, which returns the new text. Packages that
are importable for another reason, such as a directory of the repository, don't count.
"""

import inspect
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from codeplane.controller.execution.codemods.codemod import Origin, Rewrite
from codeplane.core.errors import CodemodRefused

GROUP: Final = "codeplane.codemods"


@dataclass(frozen=True)
class InstalledCodemod:
    """An entry point; its code is loaded when it is used."""

    entry: EntryPoint
    root: Path  # of the repository: code from there is never loaded
    origin: Origin = "installed"

    @property
    def codemod_id(self) -> str:
        return self.entry.name

    @property
    def description(self) -> str:
        return f"Installed: {self.entry.value}"

    def rewrite(self, path: str, data: bytes, params: Mapping[str, Any]) -> Rewrite:
        """The text that the installed function makes of a file."""
        codemod_object = self._load()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CodemodRefused(f"{self.codemod_id}: {path} is not UTF-8.") from error
        try:
            problems: Sequence[str] = list(codemod_object.check_params(dict(params)))
            if problems:
                raise CodemodRefused(f"{self.codemod_id}: {'; '.join(map(str, problems))}.")
            result = codemod_object.rewrite(path, text, dict(params))
        except CodemodRefused:
            raise
        except Exception as error:  # foreign code may raise anything; it is told, not passed on
            raise CodemodRefused(f"{self.codemod_id} failed: {type(error).__name__}: {error}") from error
        if not isinstance(result, str):
            raise CodemodRefused(f"{self.codemod_id} returned no text.")
        return Rewrite(result.encode("utf-8"))

    def _load(self) -> Any:
        try:
            codemod_object = self.entry.load()
        except Exception as error:
            raise CodemodRefused(
                f"{self.codemod_id} can't be loaded: {type(error).__name__}: {error}"
            ) from error
        module = inspect.getmodule(
            codemod_object if inspect.isclass(codemod_object) else type(codemod_object)
        ) or inspect.getmodule(codemod_object)
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).resolve().is_relative_to(self.root.resolve()):
            raise CodemodRefused(f"{self.codemod_id} is code of this repository; install it to use it.")
        if not all(callable(getattr(codemod_object, name, None)) for name in ("check_params", "rewrite")):
            raise CodemodRefused(f"{self.codemod_id} has no check_params and rewrite.")
        return codemod_object


def installed_codemods(
    root: Path, entries: Callable[[], Sequence[EntryPoint]] = lambda: tuple(entry_points(group=GROUP))
) -> Iterator[InstalledCodemod]:
    """The codemods of packages in CodePlane's own environment."""
    homes = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    for entry in entries():
        place = Path(str(entry.dist.locate_file(""))).resolve() if entry.dist is not None else None
        if place is not None and place in homes:
            yield InstalledCodemod(entry, root)
