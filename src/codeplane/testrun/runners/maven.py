"""Maven, by the reports of Surefire."""

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


@dataclass(frozen=True)
class Maven:
    name: str = "maven"
    languages: tuple[str, ...] = _jvm.LANGUAGES
    # All of its processes build into the same directory.
    traits: Traits = IN_TURN

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [Project(self.name, directory(path), path, MEDIUM) for path in named(tree, "pom.xml")]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return _jvm.targets(tree, project, {directory(path) for path in named(tree, "pom.xml")})

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        wrapper = place.root / "mvnw"
        mvn = str(wrapper) if wrapper.is_file() else program(place, "mvn", root, "Install Maven.")
        options = ["-B", "-ntp", "-DtrimStackTrace=false", "-DfailIfNoTests=false"]
        options += ["-Dsurefire.failIfNoSpecifiedTests=false", "-Dstyle.color=never"]
        which = ",".join(target.selector for target in batch)
        return Command((mvn, *options, f"-Dtest={which}", "test"), place.root / root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        return _jvm.cases(ended, "target/surefire-reports", self.name)


RUNNER: Final = Maven()
