"""What can be run on its own: a test file, a package, a class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeplane.core.paths import RepoPath

Kind = Literal["unit", "integration", "e2e"]


@dataclass(frozen=True, slots=True)
class Target:
    """The smallest thing that a runner is asked to run."""

    id: str  # what an agent names it by: a path, package or class; unique within its runner
    runner: str
    language: str
    path: RepoPath  # file or directory that it stands for
    root: RepoPath  # directory that the runner is started in
    kind: Kind = "unit"
    cost: float = 1.0
    selector: str = ""  # what the runner's command line gets, relative to root
    timeout_sec: float | None = None
    only: tuple[str, ...] = ()  # single tests, by the names that the runner gives them; none for all
    files: frozenset[RepoPath] = frozenset()  # with tests that it runs, where these are not `path` alone

    def names(self, tests: Sequence[str]) -> tuple[str, ...]:
        """What stands behind the target, or a file of it, in ids of tests."""
        return tuple(dict.fromkeys(test.partition("::")[2] for test in tests))

    def runs(self, path: str) -> bool:
        """Whether the tests of a file are among those that it runs."""
        return path == self.path or path in self.files


def kind_of(path: str) -> Kind:
    """What a path says about the sort of tests below it."""
    parts = path.lower().replace("-", "_").split("/")
    if any(part in ("e2e", "end_to_end", "system", "acceptance") for part in parts):
        return "e2e"
    return "integration" if any("integration" in part for part in parts) else "unit"
