"""Failures that were there before the change: by earlier runs on a clean tree, or by a run at HEAD."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.graph.tests.impact import Impact
from codeplane.names import Snapshot
from codeplane.session.call import Call
from codeplane.session.test_selection import CHANGES, changed_paths
from codeplane.testrun.baseline import Baseline
from codeplane.testrun.results import Case, Report
from codeplane.testrun.run import Options, Watch
from codeplane.verify.testing import Suite, tested
from codeplane.verify.trial import Original, trial


class Before:
    """What the tree of a run is compared with: the last commit."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._commit = call.repo.checkout.repository.head().commit
        self._paths = call.ask(self._look) if self._commit is not None else []
        self._baseline = Baseline(call.repo.state_db)

    def _look(self, snapshot: Snapshot) -> Sequence[RepoPath]:
        there, head = (
            snapshot.layout.blobs,
            self._call.repo.checkout.repository.head_content,
        )
        paths = changed_paths(self._call, snapshot, CHANGES)
        # What is neither committed nor indexed, such as a link to an environment, is no part of the code.
        return [path for path in paths if path in there or head(path) is not None]

    @property
    def has_changes(self) -> bool:
        return self._commit is not None and bool(self._paths)

    def compare(self, report: Report, options: Options | None) -> Mapping[str, str]:
        """The commit at which each failure was there already, by the id of its test.

        A run on a tree without changes is remembered. With options, targets whose failures are not known yet
        are run at HEAD, in a copy.
        """
        try:
            return self._compare(report, options)
        except CodePlaneError as error:
            self._call.warn(f"It is unknown which failures are old: {error.message}")
            return {}

    def _compare(self, report: Report, options: Options | None) -> Mapping[str, str]:
        if self._commit is None:
            return {}
        earlier_failures = self._baseline.known(report.failures)
        if not self._paths:
            self._note(report)
            # At the same commit it is the same run; at another one it tells who is not to blame.
            return {test: commit for test, commit in earlier_failures.items() if commit != self._commit}
        new_targets = {
            case.target for case in report.failures if case.target and case.id not in earlier_failures
        }
        if options is None or not new_targets:
            return earlier_failures
        if (before := self._run(new_targets, options)) is not None:
            self._note(before)
        return self._baseline.known(report.failures)

    def _note(self, report: Report) -> None:
        cases: Sequence[Case] = [case for case in report.cases if case.id not in report.flaky]
        self._baseline.note(cases, report.failures, self._commit or "")

    def _run(self, targets: set[str], options: Options) -> Report | None:
        repo = self._call.repo
        suite = Suite(
            repo.checkout.settings.tests,
            repo.checkout.programs,
            replace(options, coverage=(), fail_fast=False, rerun_failures=False),
            Impact((), (), ()),
        )
        watch = Watch(self._call.check, self._call.progress)
        paths = self._call.ask(lambda snapshot: sorted(map(RepoPath, snapshot.lookup.paths)))
        head = repo.checkout.repository.head_content
        old = {path: head(path) for path in self._paths}
        # A submodule is neither a file of the commit nor one of the copy.
        files = {path for path in old if old[path] is not None} | (old.keys() & set(paths))
        edits = [FileEdit(path, None, old[path]) for path in sorted(files)]
        original = Original(repo.tree, repo.checkout.repository, paths, repo.checkout.scratch)
        with trial(original, Change(EditSet(tuple(edits)), {}), watch) as copy:
            copy.edit()
            return tested(copy, suite, targets, watch)
