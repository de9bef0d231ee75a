"""The runners, found by reading the folder: `RUNNER` of each module."""

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from codeplane.testrun.runner import Runner


def _load_runners() -> dict[str, Runner]:
    folder = Path(__file__).parent
    names = sorted(one.name for one in pkgutil.iter_modules([str(folder)]) if not one.name.startswith("_"))
    runners: list[Runner] = [import_module(f"codeplane.testrun.runners.{name}").RUNNER for name in names]
    return {runner.name: runner for runner in runners}


RUNNERS: Final[Mapping[str, Runner]] = _load_runners()
