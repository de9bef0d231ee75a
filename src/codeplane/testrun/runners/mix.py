"""mix test, by what ExUnit prints when it tells of each test."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import HIGH, IN_TURN, Ended, Place, Project, Traits
from codeplane.testrun.runners._places import first_line, first_place, relative
from codeplane.testrun.runners._tree import below, directory, file_targets, named, nearest, program
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_LONGEST: Final = 6000
_OVERWRITTEN: Final = re.compile(r"^[^\n]*\r(?!\n)", re.MULTILINE)
_MODULE: Final = re.compile(r"^([A-Z][\w.]*) \[(\S+)\]$", re.MULTILINE)
_TEST: Final = re.compile(r"^  \* (.+?) (?:\(([\d.]+)ms\)|\((skipped|excluded)\)) \[L#(\d+)\]$", re.MULTILINE)
_FAILURE: Final = re.compile(
    r"^ {2,}\d+\) ([^\n]+) \(([A-Z][\w.]*)\)\n\s+(\S+?):(\d+)\n(.*?)"
    r"(?=^ {2,}\d+\) |^[A-Z][\w.]* \[|^  \* |^Finished in|\Z)",
    re.MULTILINE | re.DOTALL,
)
_KIND: Final = re.compile(r"\*\* \(([\w.]+)\)")
_COMPILER: Final = re.compile(r"^\*\* \((\w+Error)\) (.*)", re.MULTILINE)


@dataclass(frozen=True)
class Mix:
    name: str = "mix"
    languages: tuple[str, ...] = ("elixir",)
    # All of its processes build into the same directory.
    traits: Traits = IN_TURN

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [Project(self.name, directory(path), path, HIGH) for path in named(tree, "mix.exs")]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        roots = {directory(path) for path in named(tree, "mix.exs")}
        mine = (
            path for path in below(tree, project.root, "_test.exs") if nearest(path, roots) == project.root
        )
        return file_targets(project, "elixir", mine)

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        mix = program(place, "mix", root, "Install Elixir: https://elixir-lang.org/install.html")
        argv = (mix, "test", "--trace", "--no-color", *(target.selector for target in batch))
        return Command(argv, place.root / root, {"MIX_ENV": "test"})

    def parse(self, ended: Ended) -> Sequence[Case]:
        cases = list(_parse_cases(ended))
        if not cases and not ended.finished.is_ok and ended.finished.code is not None:
            cases.append(_build_failure(ended))
        return cases


def _parse_cases(ended: Ended) -> Iterator[Case]:
    # A test is told of when it begins, and once more over that when it ends.
    said = plain(_OVERWRITTEN.sub("", ended.finished.stdout.decode("utf-8", "replace")))
    failures = {(match[1], match[2]): match for match in _FAILURE.finditer(said)}
    modules = list(_MODULE.finditer(said))
    for number, module in enumerate(modules):
        part = said[module.end() : modules[number + 1].start() if number + 1 < len(modules) else len(said)]
        for test in _TEST.finditer(part):
            yield _make_case(module, test, failures.get((test[1], module[1])), ended)


def _make_case(
    module: re.Match[str], test: re.Match[str], failure: re.Match[str] | None, ended: Ended
) -> Case:
    root, cwd = ended.place.root, ended.targets[0].root
    path = relative(module[2], root, cwd)
    target = next((one.id for one in ended.targets if one.path == path), "")
    name = f"{path}::{test[1]}"
    seconds = float(test[2]) / 1000 if test[2] else 0.0
    if failure is None:
        return Case(name, target, Status.SKIPPED if test[3] else Status.PASSED, seconds)
    text = failure[5].strip()
    frames = text.partition("stacktrace:")[2]
    at, line = first_place(frames, root, cwd)
    kind = _KIND.search(text)
    return Case(
        name,
        target,
        Status.FAILED,
        seconds,
        first_line(text),
        kind[1] if kind else "ExUnit.AssertionError",
        at or path,
        line or int(failure[4]),
        shortened(text, _LONGEST),
    )


def _build_failure(ended: Ended) -> Case:
    said = plain(ended.finished.said)
    match = _COMPILER.search(said)
    path, line = first_place(said, ended.place.root, ended.targets[0].root)
    message = match[2] if match else first_line(said)
    kind = match[1] if match else "RunnerFailed"
    target = next((one.id for one in ended.targets if one.path == path), "")
    return Case(
        "mix test", target, Status.ERROR, 0.0, message[:500], kind, path, line, shortened(said, _LONGEST)
    )


RUNNER: Final = Mix()
