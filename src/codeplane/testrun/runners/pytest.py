"""pytest, told about by a plugin of our own."""

import os
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import toml_table
from codeplane.core.errors import ProgramMissing, TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import DEFAULT, HIGH, MEDIUM, Ended, Follower, Place, Project, Traits
from codeplane.testrun.runners import _lines, _python
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import what_was_said

_HAS_PYTEST: Final = "import importlib.util as u, sys; sys.exit(u.find_spec('pytest') is None)"
_TRAITS: Final = Traits(last_words=signal.SIGUSR1)
_NOTHING_COLLECTED: Final = 5
_MISUSED: Final = 4
_INI_FILE: Final = re.compile(r"^\s*inifile: (\S+)", re.MULTILINE)


_Setting = tuple[RepoPath, str, int, Mapping[str, Any]]


@dataclass(frozen=True)
class Pytest:
    name: str = "pytest"
    languages: tuple[str, ...] = ("python",)
    traits: Traits = _TRAITS

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects_by_path: dict[RepoPath, Project] = {}
        for path, evidence, rank, _ in _read_settings(tree):
            root = _python.directory(path)
            if root not in projects_by_path or rank < projects_by_path[root].rank:
                projects_by_path[root] = Project(self.name, root, evidence, rank)
        if RepoPath("") not in projects_by_path and _python.python_files(tree, RepoPath("")):
            projects_by_path[RepoPath("")] = Project(self.name, RepoPath(""), "default", DEFAULT)
        return list(projects_by_path.values())

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        options = _read_options(tree, project.root)
        patterns = _python.words(options.get("python_files")) or _python.DEFAULT_FILES
        places = _python.words(options.get("testpaths"))
        prefix = f"{project.root}/" if project.root else ""
        return [
            Target(path, self.name, "python", path, project.root, kind_of(path), selector=path[len(prefix) :])
            for path in _python.python_files(tree, project.root, patterns)
            if not places or any(_is_in(path[len(prefix) :], place) for place in places)
        ]

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        prefix = f"{target.root}/" if target.root else ""
        return replace(target, selector="\n".join(test.removeprefix(prefix) for test in tests))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        selectors = [one for target in batch for one in target.selector.split("\n")]
        # `-rN` and `--tb=no`: nobody reads the summary. The cache would be a change of the working tree.
        options = ["-p", "codeplane_pytest", "-q", "-rN", "--tb=no", "--color=no"]
        # A file that cannot be imported is no reason to leave out the others.
        options.append("--continue-on-collection-errors")
        # Before the other one, which hides the directory that both are in.
        options[:0] = ["-p", "codeplane_learn"] if place.coverage else []
        # Ids begin at the root, wherever the tests are.
        options += ["-o", f"cache_dir={place.reports / 'cache'}", f"--rootdir={place.root / root}"]
        argv = [*_find_program(place, root), *options, "--", *selectors]
        # In a scratch copy, the files of the copy come before those that are installed.
        path = [str(_lines.REPORTERS), place.toolbox.programs.env.get("PYTHONPATH", "")]
        env = {**_lines.reporting(place), "PYTHONPATH": os.pathsep.join(filter(None, path))}
        return Command(tuple(argv), place.root / root, env)

    def reporting(self, place: Place) -> tuple[Sequence[str], Mapping[str, str]]:
        path = [str(_lines.REPORTERS), place.toolbox.programs.env.get("PYTHONPATH", "")]
        plugins = ["codeplane_pytest", place.toolbox.programs.env.get("PYTEST_PLUGINS", "")]
        environment = {
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "PYTEST_PLUGINS": ",".join(filter(None, plugins)),
        }
        return (), {**_lines.reporting(replace(place, coverage=())), **environment}

    def follow(self, place: Place, batch: Sequence[Target]) -> Follower:
        return _lines.LineFollower(place, _lines.by_file(batch), batch[0].root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        lines = _lines.read_lines(ended.reports)
        cases = _lines.cases(lines, _lines.by_file(ended.targets), ended.targets[0].root)
        if cases or _lines.has_ended(lines) or ended.finished.code in (None, _NOTHING_COLLECTED):
            return cases
        return [_usage_failure(ended.finished, ended.place.root)] if not _lines.running(lines) else cases


def _read_settings(tree: Tree, root: RepoPath | None = None) -> Iterator[_Setting]:
    """Every file that configures pytest, in one directory or in all: what shows it, how sure that is, what it
    says."""

    def named(*names: str) -> list[RepoPath]:
        paths = _python.named(tree, *names)
        return [path for path in paths if root is None or _python.directory(path) == root]

    for path in named("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"):
        text = tree.text(path)
        section = (
            toml_table(text).get("pytest") if path.endswith(".toml") else _python.section(text, "pytest")
        )
        yield path, path, HIGH, section if isinstance(section, dict) else {}
    for path in named("pyproject.toml"):
        tool = toml_table(tree.text(path)).get("tool", {})
        if isinstance(tool, dict) and isinstance(section := tool.get("pytest"), dict):
            options = section.get("ini_options", section)
            yield path, f"{path}: tool.pytest", HIGH, options if isinstance(options, dict) else {}
    for name, header in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        for path in named(name):
            if (options := _python.section(tree.text(path), header)) is not None:
                yield path, f"{path}: {header}", MEDIUM, options


def _read_options(tree: Tree, root: RepoPath) -> Mapping[str, Any]:
    return next((options for _, _, _, options in _read_settings(tree, root)), {})


def _is_in(path: str, place: str) -> bool:
    place = place.removeprefix("./").rstrip("/")
    return place in ("", ".") or path == place or path.startswith(f"{place}/") or fnmatch(path, f"{place}/*")


def _find_program(place: Place, root: RepoPath) -> list[str]:
    """The project's own pytest, else the user's. One without the project's packages would fail on imports."""
    toolbox = place.toolbox
    try:
        path = toolbox.find("pytest", root)
        if not toolbox.has_own_python(root) or path.parent == toolbox.python(root).parent:
            return [str(path)]
    except ProgramMissing:
        pass
    try:
        python = toolbox.python(root)
    except ProgramMissing as error:
        raise TestRunnerNotFound("Python is not installed.", hints=error.hints, runner="pytest") from error
    probe = toolbox.starter(root).run([python, "-c", _HAS_PYTEST], cwd=Path("/"), timeout=30)
    if probe.is_ok:
        return [str(python), "-m", "pytest"]
    raise TestRunnerNotFound(
        f"pytest is not installed for {python}.",
        hints=[f"{python} -m pip install pytest", "or set tests.runners: {python: unittest}"],
        runner="pytest",
    )


def _usage_failure(finished: Finished, root: Path) -> Case:
    """pytest has refused to begin: a wrong option, a plugin that is missing, settings that can't be read."""
    said = what_was_said(finished)
    lines = said.splitlines()
    wrong = [line.partition("error: ")[2] for line in lines if "error: " in line]
    wrong += [
        line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ") and "usage: " not in line
    ]
    message = next(filter(None, (*wrong, *reversed(lines))), "")
    kind = "UsageError" if finished.code == _MISUSED else "RunnerFailed"
    file = _INI_FILE.search(said)
    path = Path(file[1]) if file else root
    inside = str(path.relative_to(root)) if file and path.is_relative_to(root) else ""
    text = message or f"pytest ended with code {finished.code}"
    return Case("pytest", "", Status.ERROR, message=text[:500], kind=kind, path=inside, stack=said)


RUNNER: Final = Pytest()
