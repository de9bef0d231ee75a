"""Renames in projects of compiled languages, each judged by the compiler and by tests that run alone."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import CACHE, debian_package, debian_source
from bench.measure import Figure
from bench.rename import copied, fresh_name, variables
from bench.rename_corpora import typescript_project
from bench.renamers import answer_of, planned
from bench.suites import BROKEN, Kept, Trial, tsc
from codeplane.config import Places
from codeplane.refactor.subject import Subject
from codeplane.refactor.variables import is_argument
from codeplane.session import Checkout, RepoSession

KINDS = (
    *("function", "method", "class", "interface", "struct", "enum", "trait", "type"),
    *("field", "property", "constant", "variable", "member", "variant", "module"),
)
SYMBOLS = 30
SEED = 7
_BUILD_SEC = 600


@dataclass(frozen=True)
class Project:
    """A project, how it is had, and what says whether it still builds."""

    name: str
    fetch: Callable[[], Path]
    ending: str
    inside: str  # the part of the project that symbols are drawn from
    check: Callable[[Path, int], int]
    known: int = 0  # errors that it has as it is


def _run(home: Path, *commands: list[str], **more: str) -> int:
    """How many of some commands fail."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **more}
    failed = 0
    for command in commands:
        done = subprocess.run(command, cwd=home, env=env, capture_output=True, timeout=_BUILD_SEC)
        failed += done.returncode != 0
    return failed


def _go(home: Path, _: int) -> int:
    return _run(
        home, ["go", "build", "./..."], ["go", "test", "-vet=off", "./..."], GOFLAGS="-mod=mod", GOPROXY="off"
    )


def _rust(home: Path, _: int) -> int:
    target = str(CACHE.parent / "rust-target")
    return _run(home, ["cargo", "check", "--offline", "--all-targets", "-q"], CARGO_TARGET_DIR=target)


def _java(home: Path, _: int) -> int:
    sources = [str(path) for path in sorted((home / "src" / "main").rglob("*.java"))]
    with tempfile.TemporaryDirectory(prefix="cpl-") as out:
        return _run(home, ["javac", "-nowarn", "-proc:none", "-d", out, *sources])


def pflag() -> Path:
    inside = "usr/share/gocode/src/github.com/spf13/pflag"
    return debian_package("golang-github-spf13-pflag-dev", "1.0.6~git20210604-d5e0c0615ace-1", inside)


def regex_syntax() -> Path:
    inside = "usr/share/cargo/registry/regex-syntax-0.6.27"
    return debian_package("librust-regex-syntax-dev", "0.6.27-1", inside)


PROJECTS = (
    Project("mobx", lambda: typescript_project("mobx", "6.13.7"), ".ts", "src/", tsc, known=3),
    Project("pflag", pflag, ".go", "", _go),
    Project("regex-syntax", regex_syntax, ".rs", "src/", _rust),
    Project("commons-csv", lambda: debian_source("commons-csv", "1.9.0-1"), ".java", "src/main/", _java),
)


def figures(chosen: tuple[str, ...] = (), symbols: int = SYMBOLS, seed: int = SEED) -> Iterator[Figure]:
    for project in PROJECTS:
        if not chosen or project.name in chosen:
            yield from _project(project, symbols, seed)


def _project(project: Project, symbols: int, seed: int) -> Iterator[Figure]:
    kept = Kept(CACHE.parent / "renames" / f"{project.name}.jsonl")
    outcomes: Counter[str] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = copied(project.fetch(), Path(base))
        trial = Trial(root, Path(base) / "trial", project.check, kept)
        if trial.before > project.known:
            yield Figure(f"builds, {project.name}", BROKEN, "", 0, "it does not build as it is")
            return
        places = Places.of_user({"HOME": base, "PATH": os.environ["PATH"]})
        session = RepoSession.open(Checkout.find(root, places))
        try:
            session.index.refresh()
            for number, (kind, subject) in enumerate(_drawn(session, project, symbols, seed)):
                plan = planned(session, subject, fresh_name(subject.name, number))
                outcomes[f"{kind} {plan.verdict}"] += 1
                files = answer_of(plan).files
                if files and trial.broken(files):
                    broken.append(f"{kind} {plan.symbol}")
        finally:
            session.close()
    told = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    applied = sum(count for name, count in outcomes.items() if name.endswith(" ok"))
    yield Figure(f"applied, {project.name}", applied, "", None, f"of {sum(outcomes.values())}: {told}")
    yield Figure(f"builds broken, {project.name}", len(broken), "", 0, "; ".join(broken))


def _drawn(session: RepoSession, project: Project, symbols: int, seed: int) -> list[tuple[str, Subject]]:
    """Kinds and symbols, in turn of each kind, drawn with a fixed seed."""
    chance = random.Random(seed)
    with session.index.snapshot() as snapshot:
        found: dict[str, list[Subject]] = {
            kind: [
                one for one in snapshot.definitions_of_kinds([kind], 100_000).items if _is_of(one, project)
            ]
            for kind in KINDS
        }
        for one in variables(snapshot):
            kind = "parameter" if is_argument(snapshot, one) else "local"
            if _is_of(one, project):
                found.setdefault(kind, []).append(one)
    mixed = {kind: chance.sample(some, len(some)) for kind, some in found.items()}
    turns = range(symbols)
    return [(kind, some[at]) for at in turns for kind, some in mixed.items() if at < len(some)][:symbols]


def _is_of(one: Subject, project: Project) -> bool:
    return one.path.endswith(project.ending) and one.path.startswith(project.inside) and one.name != "_"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("projects", nargs="*", help="names of projects; all where none is given")
    parser.add_argument("--symbols", type=int, default=SYMBOLS)
    parser.add_argument("--seed", type=int, default=SEED)
    said = parser.parse_args()
    missed = False
    for figure in figures(tuple(said.projects), said.symbols, said.seed):
        mark = "" if figure.holds else "  MISSED"
        print(f"{figure.name:<30} {figure.value:>8.2f} {figure.detail}{mark}", flush=True)
        missed |= not figure.holds
    sys.exit(missed)


if __name__ == "__main__":
    main()
