"""Plans carried out in copies of real packages: which changes are proven, and what their own checks say."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.delta.plans import PlanRepo
from tests.drive import user_env

from bench.measure import Figure
from codeplane.config import Places
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import Addressed, definitions_in
from codeplane.server.pipeline import Pipeline
from codeplane.session import Checkout, RepoSession
from codeplane.session.trust import give_trust
from codeplane.tools import all_tools

NAME = "added_by_plan"
_CHANGED = re.compile(r"(\d+) calls? in \d+ files? changed\.")
_IGNORED = ("*.egg-info", ".git", ".codeplane", "__pycache__", "node_modules")
_IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")


class Candidate(NamedTuple):
    """A function that may be changed, and how."""

    path: str
    address: str
    transform: dict[str, Any]

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.address.rpartition(".")[2]

    @property
    def element(self) -> dict[str, Any]:
        return {"path": self.path, "transforms": [self.transform]}


@dataclass
class Choice:
    """The functions whose calls are all proven, with how many there are, and why others are not."""

    green: list[tuple[Candidate, int]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def calls(self) -> int:
        return sum(count for _, count in self.green)

    @property
    def elements(self) -> list[dict[str, Any]]:
        return [candidate.element for candidate, _ in self.green]


class BenchRepo(PlanRepo):
    """A package in a repository of its own that its user trusts, with the programs of a search path."""

    def __init__(self, root: Path, base: Path, search_path: str | None) -> None:
        self.root = root
        path = {"PATH": search_path} if search_path else {}
        places = Places.of_user(user_env(base / "home", **path))
        give_trust(root, places)
        self.session = RepoSession.open(Checkout.find(root, places))
        self.pipeline = Pipeline(self.session, all_tools())


@contextmanager
def opened_copy(
    source: Path, toolchain: str = "", search_path: str | None = None, prepare: Callable[[Path], object] = id
) -> Iterator[BenchRepo]:
    """A copy of a package, committed after `prepare` has done its part, with a toolchain."""
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        home = Path(folder) / "repo"
        shutil.copytree(source, home, symlinks=True, ignore=shutil.ignore_patterns(*_IGNORED))
        prepare(home)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as published"]):
            subprocess.run(["git", *_IDENTITY, *command], cwd=home, check=True)
        if toolchain:
            (home / ".codeplane").mkdir()
            (home / ".codeplane" / "toolchain.toml").write_text(toolchain)
        repo = BenchRepo(home, Path(folder), search_path)
        try:
            yield repo
        finally:
            repo.session.close()


def new_parameter(path: str, address: str, argument: str, **rest: Any) -> Candidate:
    """A parameter without a default, so that a call which was not changed fails."""
    named = {"operation": "add_parameter", "target": address, "name": NAME}
    return Candidate(path, address, {**named, "argument": argument, "call_sites": True, **rest})


def functions_of(
    root: Path, pattern: str, language: str, kinds: Sequence[str]
) -> Iterator[tuple[str, Source, Addressed]]:
    """The functions of some files that have an address of their own."""
    for path in sorted(root.glob(pattern)):
        source = Source(language, path.read_bytes())
        definitions = definitions_in(source)
        addresses = {one.address for one in definitions}
        for one in definitions:
            is_alone = "#" not in one.address and f"{one.address}#2" not in addresses
            if one.node.type in kinds and is_alone:
                yield path.relative_to(root).as_posix(), source, one


def choose_proven(repo: PlanRepo, candidates: Iterable[Candidate], most: int) -> Choice:
    """The first functions that have calls and whose calls are all proven."""
    choice = Choice()
    for candidate in candidates:
        if len(choice.green) == most:
            break
        if candidate.name in {one.name for one, _ in choice.green}:
            continue  # methods that override each other get it together
        result = repo.result("delta_try", elements=[candidate.element])
        if calls := _call_count(result):
            choice.green.append((candidate, calls))
        else:
            reason = "no call" if result["outcome"] == "green" else _reason_of(result)
            choice.reasons[reason] += 1
            print(f"  {candidate.path} {candidate.address}: {reason}", file=sys.stderr)
    return choice


def missing_figure(name: str, count: int, most: int, detail: str) -> Figure:
    return Figure(f"{name} missing of {most}", max(0, most - count), "", 0, detail)


def _call_count(result: dict[str, Any]) -> int:
    """How many calls were changed; none where the task is red."""
    matches = [_CHANGED.fullmatch(note) for note in result.get("notes") or ()]
    return sum(int(match[1]) for match in matches if match is not None)


def _reason_of(result: dict[str, Any]) -> str:
    lines = "\n".join(result["problems"]).splitlines()
    places = [line.rpartition(" (")[2].removesuffix(")") for line in lines if line.endswith(")")]
    return (places[0] if places else lines[0])[:160]
