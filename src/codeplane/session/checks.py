"""Edits tried out for a call: what they would break, before anything of the repository is touched.

Importing this loads what runs tests and linters; few calls need it.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from codeplane.config.settings import TestSettings
from codeplane.core.edits import Change
from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import links_of
from codeplane.graph.tests.impact import affected_tests
from codeplane.lint import Watch as LintWatch
from codeplane.names import Snapshot
from codeplane.session.call import Call
from codeplane.testrun.run import Options, Watch
from codeplane.verify import Check, Checked, Outcome, Verification
from codeplane.verify.linting import Style, lints_clean
from codeplane.verify.parse import parses
from codeplane.verify.testing import Suite, tests_pass
from codeplane.verify.trial import Original, Trial, trial

_MOST_WORKERS: Final = 8
_MOST_NEAR: Final = 500


def verified(call: Call, change: Change, wanted: Sequence[Check]) -> Verification:
    """The checks that are wanted, each made once; those that run something share one scratch copy."""
    with ExitStack() as stack:
        checks = _Checks(call, change, stack)
        return Verification(tuple(map(checks.made, dict.fromkeys(wanted))))


class _Checks:
    def __init__(self, call: Call, change: Change, stack: ExitStack) -> None:
        self._call, self._change, self._stack = call, change, stack
        self._watch = Watch(call.check, call.progress)
        self._trial: Trial | None = None

    def made(self, check: Check) -> Checked:
        self._call.check()
        if check == "parse":
            return parses(self._call.repo.index, self._change)
        if not self._call.repo.tree.is_on_disk:
            return Checked(check, Outcome.NOT_RUN, "It needs files on the disk: a worktree has them.")
        if not self._call.repo.checkout.trusted:
            text = "It would run code of the repository, which is not trusted (cpl trust)."
            return Checked(check, Outcome.NOT_RUN, text)
        return self._lint() if check == "lint" else self._test()

    def _test(self) -> Checked:
        impact = self._call.ask(lambda snapshot: affected_tests(snapshot, sorted(self._change.before)))
        checkout = self._call.repo.checkout
        suite = Suite(
            checkout.settings.tests, checkout.programs, _test_options(checkout.settings.tests), impact
        )
        return tests_pass(self._copy(), suite, self._watch)

    def _lint(self) -> Checked:
        checkout = self._call.repo.checkout
        style = Style(checkout.settings.lint, checkout.programs, self._call.ask(self._near))
        return lints_clean(self._copy(), style, LintWatch(self._call.check, self._call.progress))

    def _near(self, snapshot: Snapshot) -> list[RepoPath]:
        """The files that import what is edited: what they say of it may be wrong afterwards."""
        importers = links_of(snapshot).importers
        paths = {path for source in self._change.before for path in importers.get(source, ())}
        return sorted(map(RepoPath, paths))[:_MOST_NEAR]

    def _copy(self) -> Trial:
        if self._trial is None:
            repo = self._call.repo
            paths = self._call.ask(lambda snapshot: sorted(map(RepoPath, snapshot.lookup.paths)))
            original = Original(repo.tree, repo.checkout.repository, paths, repo.checkout.scratch)
            self._trial = self._stack.enter_context(trial(original, self._change, self._watch))
        return self._trial


def _test_options(settings: TestSettings) -> Options:
    return Options(
        workers=settings.workers or min(os.cpu_count() or 1, _MOST_WORKERS),
        target_timeout_sec=settings.target_timeout_sec,
        total_timeout_sec=settings.run_timeout_sec,
        fail_fast=settings.fail_fast,
        rerun_failures=settings.rerun_failures,
    )
