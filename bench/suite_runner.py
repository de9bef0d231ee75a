"""pytest with libraries of its own, for suites that test one of them. Run as a program.

pytest itself runs on `pluggy` and imports `packaging`: where the package under test is one of them, a rename
in its interface would break the runner, whatever the suite says.
"""

import importlib
import os
import sys
from pathlib import Path


def run_suite(source: str, flags: list[str]) -> int:
    """Loads pytest with what is installed, then lets the suite import the package under test."""
    sys.path.pop(0)  # the folder of this program
    import pytest
    from _pytest.config import default_plugins

    for name in default_plugins:
        importlib.import_module(f"_pytest.{name}")
    sys.path[:0] = list(dict.fromkeys((source, os.getcwd())))
    os.environ["PYTHONPATH"] = source
    under_test = {path.stem for path in Path(source).iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in under_test]:
        del sys.modules[name]
    return int(pytest.main(flags))


if __name__ == "__main__":
    sys.exit(run_suite(sys.argv[1], sys.argv[2:]))
