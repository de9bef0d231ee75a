"""Gradle, by the reports of its test tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case
from codeplane.testrun.runner import IN_TURN, MEDIUM, Ended, Place, Project, Traits
from codeplane.testrun.runners import _jvm
from codeplane.testrun.runners._tree import directory, named, program
from codeplane.testrun.target import Target

_BUILDS: Final = ("build.gradle", "build.gradle.kts")


@dataclass(frozen=True)
class Gradle:
    name: str = "gradle"
    languages: tuple[str, ...] = _jvm.LANGUAGES
    # All of its processes build into the same directory.
    traits: Traits = IN_TURN

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [Project(self.name, directory(path), path, MEDIUM) for path in named(tree, *_BUILDS)]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return _jvm.targets(tree, project, {directory(path) for path in named(tree, *_BUILDS)})

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        wrapper = place.root / "gradlew"
        gradle = str(wrapper) if wrapper.is_file() else program(place, "gradle", root, "Install Gradle.")
        # A daemon would outlive the run.
        options = ["--no-daemon", "--console=plain", "--continue", "--stacktrace", "test"]
        which = [word for target in batch for word in ("--tests", target.selector)]
        return Command((gradle, *options, *which), place.root / root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        return _jvm.cases(ended, "build/test-results/*", self.name)


RUNNER: Final = Gradle()
