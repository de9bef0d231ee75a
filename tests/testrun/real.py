"""A project in a directory, its tests run by the real program, one batch for each root."""

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.testrun import Case, Ended, Place, Runner, Target
from codeplane.testrun.runner import Narrowing
from codeplane.testrun.runners import RUNNERS


class Files:
    """A tree that is a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def paths(self) -> Sequence[RepoPath]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(RepoPath(path.relative_to(self.root).as_posix()) for path in files)

    def text(self, path: RepoPath) -> str | None:
        file = self.root / path
        return file.read_text() if file.is_file() else None


def written(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def found_targets(runner: Runner, root: Path) -> list[Target]:
    tree = Files(root)
    return [target for project in runner.detect(tree) for target in runner.targets(tree, project)]


def run_tests(
    name: str, root: Path, reports: Path, only: Sequence[str] = (), coverage: tuple[Path, ...] = ()
) -> dict[str, Case]:
    """Every case by its id; of single tests, where some are named."""
    runner = RUNNERS[name]
    targets = found_targets(runner, root)
    if only:
        assert isinstance(runner, Narrowing)
        mine = {one: [test for test in only if one.runs(test.partition("::")[0])] for one in targets}
        targets = [runner.narrowed(one, tests) for one, tests in mine.items() if tests]
    toolbox = Toolbox(Programs(dict(os.environ)), root)
    found: dict[str, Case] = {}
    for number, (_, group) in enumerate(groupby(targets, lambda one: one.root)):
        batch = tuple(group)
        place = Place(root, toolbox, reports / str(number), coverage)
        place.reports.mkdir(parents=True)
        command = runner.command(place, batch)
        finished = toolbox.starter(batch[0].root).run(
            command.argv, cwd=command.cwd, timeout=300, env=command.env
        )
        cases = runner.parse(Ended(finished, place.reports, place, batch))
        assert cases or finished.is_ok, finished.said
        found.update({case.id: case for case in cases})
    return found
