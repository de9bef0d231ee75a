"""The linters, found by reading the folder: `LINTER` of each module."""

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from codeplane.lint.linter import Formatter, Linter


def _load_linters() -> dict[str, Linter]:
    """All linters by name; formatters come last: they have to lay out what the others have fixed."""
    folder = Path(__file__).parent
    names = sorted(one.name for one in pkgutil.iter_modules([str(folder)]) if not one.name.startswith("_"))
    linters: list[Linter] = [import_module(f"codeplane.lint.linters.{name}").LINTER for name in names]
    return {linter.name: linter for linter in sorted(linters, key=lambda one: isinstance(one, Formatter))}


LINTERS: Final[Mapping[str, Linter]] = _load_linters()
