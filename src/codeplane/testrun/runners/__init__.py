"""One module for each test runner, found by reading the folder: its `RUNNER` is what it offers."""

from codeplane.testrun.runners._registry import RUNNERS

__all__ = ["RUNNERS"]
