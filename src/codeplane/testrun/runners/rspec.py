"""RSpec, by the report that it writes as JSON."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.core.documents import json_object
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import DEFAULT, HIGH, Ended, Place, Project
from codeplane.testrun.runners import _ruby
from codeplane.testrun.runners._places import first_line, first_place, relative
from codeplane.testrun.runners._tree import below, directory, file_targets
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_REPORT: Final = "rspec.json"
_LONGEST: Final = 6000
_LARGEST: Final = 64 << 20
_RAISED: Final = re.compile(r"^\s*((?:\w+::)*\w*Error):\n\s*(.*)", re.MULTILINE)
_STATUSES: Final = {"passed": Status.PASSED, "failed": Status.FAILED, "pending": Status.SKIPPED}


@dataclass(frozen=True)
class RSpec:
    name: str = "rspec"
    languages: tuple[str, ...] = ("ruby",)

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects_by_path: dict[RepoPath, Project] = {}
        for path in (one for one in tree.paths() if one == ".rspec" or one.endswith("/.rspec")):
            projects_by_path.setdefault(directory(path), Project(self.name, directory(path), path, HIGH))
        for project in _ruby.projects(tree, self.name, "rspec"):
            projects_by_path.setdefault(project.root, project)
        if not projects_by_path and any(below(tree, RepoPath(""), "_spec.rb")):
            projects_by_path[RepoPath("")] = Project(self.name, RepoPath(""), "default", DEFAULT)
        return list(projects_by_path.values())

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return file_targets(project, "ruby", below(tree, project.root, "_spec.rb"))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        start = _ruby.starting(place, root, "rspec", "gem install rspec")
        options = ["--no-color", "--format", "json", "--out", str(place.reports / _REPORT)]
        files = [f"./{target.selector}" for target in batch]
        return Command((*start, *options, *files), place.root / root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        report = _read_report(ended)
        cases = [_case_of_example(example, ended) for example in _examples_of(report)]
        outside = report.get("summary", {}).get("errors_outside_of_examples_count", 0) if report else 0
        if outside or (not cases and not ended.finished.is_ok and ended.finished.code is not None):
            cases += _load_failures(report, ended)
        return cases


def _read_report(ended: Ended) -> Mapping[str, Any]:
    try:
        with (ended.reports / _REPORT).open("rb") as stream:
            read = json_object(stream.read(_LARGEST), _LARGEST)
    except OSError:
        return {}
    return read if isinstance(read.get("summary"), dict) else {}


def _examples_of(report: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listing = report.get("examples")
    yield from (one for one in listing if isinstance(one, dict)) if isinstance(listing, list) else ()


def _case_of_example(example: Mapping[str, Any], ended: Ended) -> Case:
    root, cwd = ended.place.root, ended.targets[0].root
    path = relative(str(example.get("file_path", "")), root, cwd)
    target = next((one.id for one in ended.targets if one.path == path), "")
    took = example.get("run_time")
    name = f"{path}::{str(example.get('full_description', '')).strip()}"
    status = _STATUSES.get(str(example.get("status")), Status.ERROR)
    seconds = float(took) if isinstance(took, int | float) else 0.0
    exception = example.get("exception")
    if status is not Status.FAILED or not isinstance(exception, dict):
        return Case(name, target, status, seconds)
    frames = exception.get("backtrace")
    message = plain(str(exception.get("message", "")))
    stack = "\n".join([message, *map(str, frames if isinstance(frames, list) else [])])
    at, line = first_place("\n".join(map(str, frames or [])) if isinstance(frames, list) else "", root, cwd)
    kind = str(exception.get("class", ""))
    line = line or int(example.get("line_number") or 0)
    return Case(
        name, target, status, seconds, first_line(message), kind, at or path, line, shortened(stack, _LONGEST)
    )


def _load_failures(report: Mapping[str, Any], ended: Ended) -> list[Case]:
    """Files that could not be loaded; RSpec runs nothing then."""
    messages = report.get("messages") if report else None
    said = plain("\n".join(map(str, messages))) if isinstance(messages, list) else plain(ended.finished.said)
    match = _RAISED.search(said)
    path, line = first_place(said, ended.place.root, ended.targets[0].root)
    target = next((one.id for one in ended.targets if one.path == path), "")
    text = match[2] if match else first_line(said)
    kind = match[1] if match else "RunnerFailed"
    message = text.strip() or f"rspec ended with code {ended.finished.code}"
    return [
        Case(path or "rspec", target, Status.ERROR, 0.0, message, kind, path, line, shortened(said, _LONGEST))
    ]


RUNNER: Final = RSpec()
