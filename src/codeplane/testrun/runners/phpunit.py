"""PHPUnit, by the report that it writes in the form of JUnit."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.documents import json_object
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import HIGH, MEDIUM, Ended, Place, Project
from codeplane.testrun.runners._junit import Context, junit_cases
from codeplane.testrun.runners._places import first_line, first_place
from codeplane.testrun.runners._tree import below, directory, file_targets, named, program
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_CONFIGS: Final = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
_REPORT: Final = "phpunit.xml"
_LONGEST: Final = 6000


@dataclass(frozen=True)
class PHPUnit:
    name: str = "phpunit"
    languages: tuple[str, ...] = ("php",)

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects_by_path: dict[RepoPath, Project] = {}
        for path in named(tree, *_CONFIGS):
            projects_by_path.setdefault(directory(path), Project(self.name, directory(path), path, HIGH))
        for path in named(tree, "composer.json"):
            requirements = json_object(tree.text(path)).get("require-dev")
            if (
                directory(path) not in projects_by_path
                and isinstance(requirements, dict)
                and "phpunit/phpunit" in requirements
            ):
                projects_by_path[directory(path)] = Project(
                    self.name, directory(path), f"{path}: require-dev", MEDIUM
                )
        return list(projects_by_path.values())

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return file_targets(project, "php", below(tree, project.root, "Test.php"))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        phpunit = program(place, "phpunit", root, "composer require --dev phpunit/phpunit")
        options = ["--colors=never", f"--log-junit={place.reports / _REPORT}", "--do-not-cache-result"]
        return Command((phpunit, *options, *_selection_arguments(batch)), place.root / root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        by_path = {target.path: target.id for target in ended.targets}
        context = Context(
            ended.place.root, ended.targets[0].root, lambda _, file: by_path.get(RepoPath(file), "")
        )
        cases = [case for case in junit_cases(ended.reports / _REPORT, context) if case.target]
        if not cases and not ended.finished.is_ok and ended.finished.code is not None:
            said = plain(ended.finished.said)
            path, line = first_place(said, ended.place.root, ended.targets[0].root)
            lines = [one for one in said.splitlines() if "rror" in one]
            message = first_line("\n".join(lines)) or f"phpunit ended with code {ended.finished.code}"
            target = by_path.get(RepoPath(path), "")
            cases.append(
                Case(
                    "phpunit",
                    target,
                    Status.ERROR,
                    0.0,
                    message,
                    "RunnerFailed",
                    path,
                    line,
                    shortened(said, _LONGEST),
                )
            )
        return cases


def _selection_arguments(batch: Sequence[Target]) -> list[str]:
    """One file by its path; several by the names of their classes, since a path is taken once only."""
    if len(batch) == 1:
        return [f"./{batch[0].selector}"]
    classes = [re.escape(target.selector.rpartition("/")[2].removesuffix(".php")) for target in batch]
    folders = {target.selector.partition("/")[0] for target in batch if "/" in target.selector}
    where = [f"./{folders.pop()}"] if len(folders) == 1 else []
    return ["--filter", rf"/(^|\\)({'|'.join(classes)})::/", *where]


RUNNER: Final = PHPUnit()
