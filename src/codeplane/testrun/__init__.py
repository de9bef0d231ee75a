"""Tests: found, put into batches, run in parallel, told as data."""

from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import Ended, Place, Project, Runner
from codeplane.testrun.target import Target

__all__ = ["Case", "Ended", "Place", "Project", "Runner", "Status", "Target"]
