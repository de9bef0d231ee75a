"""Whether the test runners that a repository uses are installed."""

import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import pygit2

from codeplane.core.errors import CodePlaneError, TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.process.toolbox import Toolbox
from codeplane.session.checkout import Checkout
from codeplane.testrun.discover import discover
from codeplane.testrun.runner import Place
from codeplane.working_tree import Opened, WorkingTree


class _Tracked:
    """The files that git knows; there may be no index of ours."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self._tree = WorkingTree(checkout.root, checkout.repository, Opened(checkout.opened))

    @cached_property
    def _paths(self) -> Sequence[RepoPath]:
        try:
            with self._checkout.repository.opened() as handle:
                return sorted(entry.path for entry in handle.index)
        except (pygit2.GitError, OSError):
            return ()

    def paths(self) -> Sequence[RepoPath]:
        return self._paths

    def text(self, path: RepoPath) -> str | None:
        try:
            return self._tree.read(path).decode("utf-8-sig")
        except (CodePlaneError, UnicodeDecodeError):
            return None


def used_runners(checkout: Checkout) -> list[str]:
    """The runners that the repository uses, by what its files say; no program is started."""
    return list(discover(_Tracked(checkout), checkout.settings.tests).runners)


def check_runners(checkout: Checkout) -> Iterator[tuple[str, TestRunnerNotFound | None]]:
    """Each runner of the repository, and what is missing of it. Only where the repository is trusted: to know
    it, the project's own programs are asked."""
    assert checkout.trusted, "BUG: programs of a repository that is not trusted would be started"
    discovery = discover(_Tracked(checkout), checkout.settings.tests)
    toolbox = Toolbox(checkout.programs, checkout.root)
    for name, runner in discovery.runners.items():
        first = next(target for target in discovery.targets if target.runner == name)
        with tempfile.TemporaryDirectory(prefix="codeplane-doctor-") as reports:
            try:
                runner.command(Place(checkout.root, toolbox, Path(reports)), [first])
            except TestRunnerNotFound as error:
                yield name, error
            else:
                yield name, None
