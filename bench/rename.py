"""Renames of symbols drawn from real packages, judged by their own tests and by a language server.

Every rename that CodePlane calls certain is applied; afterwards the suite of the package has to pass as
before. Where it asks for a decision, every place that the server names has to be among those that it shows.
"""

import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from bench.corpora import CACHE, python_package
from bench.lsp import Server
from bench.measure import Figure
from bench.oracle import pyright
from codeplane.config import Places
from codeplane.core.paths import RepoPath
from codeplane.index import DefFact
from codeplane.refactor import Plan, Verdict
from codeplane.refactor.rename import Sweep, draft, proven
from codeplane.session import Checkout, RepoSession

# Name, version, directory of the tests.
PACKAGES = (
    ("sqlparse", "0.5.3", "tests"),
    ("marshmallow", "4.0.1", "tests"),
    ("more-itertools", "10.8.0", "tests"),
    ("packaging", "25.0", "tests"),
    ("tomlkit", "0.13.3", "tests"),
    ("itsdangerous", "2.2.0", "tests"),
)
NEEDED = ("pytest", "pretend", "simplejson", "freezegun", "pyyaml")
KINDS = ("function", "method", "class", "field", "property", "constant", "variable")
OF_A_KIND = 4
SEED = 20
_SUITE_SEC = 600

_Spot = tuple[str, int, int]
"""Path, line from 1, column in characters from 0."""


@dataclass
class Tally:
    """What came out of the renames of one package."""

    outcomes: Counter[str] = field(default_factory=Counter)
    applied: list[str] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)  # places that the server names, by kind
    certain: Counter[str] = field(default_factory=Counter)  # of these, those that are changed at once
    shown: Counter[str] = field(default_factory=Counter)  # of these, those that are changed or shown
    missed: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        for name, value in vars(other).items():
            mine = getattr(self, name)
            mine.extend(value) if isinstance(mine, list) else mine.update(value)


def figures() -> Iterator[Figure]:
    together = Tally()
    for name, version, tests in PACKAGES:
        with tempfile.TemporaryDirectory(prefix="cpl-") as base:
            yield from _package(name, _copy(python_package(name, version), Path(base)), tests, together)
    yield Figure("symbols", sum(together.outcomes.values()), "", None, _counted(together.outcomes))
    for kind in KINDS:
        if together.said[kind]:
            recall = together.certain[kind] / together.said[kind]
            shown = together.shown[kind] / together.said[kind]
            detail = f"of {together.said[kind]} places that the server names; {shown:.0%} with those shown"
            yield Figure(f"changed at once, {kind}", recall * 100, "%", None, detail)
    yield Figure("places outside of candidates", len(together.missed), "", 0, "; ".join(together.missed[:5]))
    detail = f"largest {max(together.seconds):.2f} s"
    yield Figure("preview", statistics.median(together.seconds), "s", 0.3, detail)


def _package(name: str, root: Path, tests: str, together: Tally) -> Iterator[Figure]:
    before = _failures(root, tests)
    places = Places.of_user({"HOME": str(root.parent), "PATH": os.environ["PATH"]})
    session = RepoSession.open(Checkout.find(root, places))
    oracle = pyright()
    server = Server(oracle.command, root, oracle.settings, oracle.options)
    tally = Tally()
    try:
        session.index.refresh()
        for number, (kind, uid) in enumerate(_drawn(session)):
            _rename(session, server, root, (kind, uid), f"renamed_{number}", tally)
    finally:
        server.stop()
        session.close()
    after = _failures(root, tests)
    together.add(tally)
    detail = f"{len(tally.applied)} renames applied; {_counted(tally.outcomes)}"
    yield Figure(f"tests broken, {name}", after - before, "", 0, detail)


def _copy(corpus: Path, base: Path) -> Path:
    [project] = [path for path in corpus.iterdir() if path.name != ".git"]
    root = base / "project"
    shutil.copytree(project, root, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def _drawn(session: RepoSession) -> list[tuple[str, str]]:
    """Kind and uid of symbols, drawn with a fixed seed from all that the packages define."""
    chance = random.Random(SEED)
    found = []
    with session.index.snapshot() as snapshot:
        for kind in KINDS:
            all_of = [one for one in snapshot.definitions_of_kinds([kind], 100_000).items if _is_drawn(one)]
            some = chance.sample(all_of, min(OF_A_KIND, len(all_of)))
            found += [(kind, snapshot.uid(one.path, one.position)) for one in some]
    return found


def _is_drawn(one: DefFact) -> bool:
    return one.path.endswith(".py") and not one.path.startswith("docs/") and not one.name.startswith("__")


def _rename(
    session: RepoSession, server: Server, root: Path, asked: tuple[str, str], new: str, tally: Tally
) -> None:
    kind, uid = asked
    began = time.perf_counter()
    with session.index.snapshot() as snapshot:
        subject = snapshot.definition(uid)
        plan = draft(snapshot, subject, new, Sweep()) if subject is not None else None
    if plan is None or subject is None:
        return  # an earlier rename has taken it along
    plan = proven(session.index, plan)
    tally.seconds.append(time.perf_counter() - began)
    tally.outcomes[str(plan.verdict)] += 1
    _judge(root, server, subject, plan, kind, tally)
    if plan.verdict is Verdict.OK:
        for edit in plan.edits.edits:
            assert edit.after is not None
            (root / edit.path).write_bytes(edit.after)
        tally.applied.append(plan.symbol)
        session.index.refresh()


def _judge(root: Path, server: Server, subject: DefFact, plan: Plan, kind: str, tally: Tally) -> None:
    """What the server calls the references of a symbol, against what is changed and what is shown."""
    if plan.verdict not in (Verdict.OK, Verdict.NEEDS_DECISION):
        return
    file = root / subject.path
    line = file.read_text().splitlines()[subject.name_line - 1]
    column = len(line.encode()[: subject.name_column].decode())
    server.open(file, "python")
    said = {
        (path, row, at)
        for path, row, at in _references(server, root, file, subject.name_line - 1, column)
        if (root / path).read_text().splitlines()[row - 1][at:].startswith(subject.name)
    }
    server.close_file(file)
    sites = {(site.path, site.line) for site in plan.sites}
    shown = sites | {(site.path, site.line) for group in plan.groups for site in group.sites}
    tally.said[kind] += len(said)
    if plan.verdict is Verdict.OK:
        tally.certain[kind] += sum((path, row) in sites for path, row, _ in said)
    tally.shown[kind] += sum((path, row) in shown for path, row, _ in said)
    tally.missed += [f"{plan.symbol} at {p}:{row}" for p, row, _ in sorted(said) if (p, row) not in shown]


def _references(server: Server, root: Path, file: Path, line: int, column: int) -> Iterator[_Spot]:
    found = server.ask(
        "textDocument/references",
        textDocument={"uri": file.as_uri()},
        position={"line": line, "character": column},
        context={"includeDeclaration": True},
    )
    for one in found or []:
        path = Path(unquote(one["uri"].removeprefix("file://")))
        if path.is_relative_to(root):
            start = one["range"]["start"]
            yield RepoPath(path.relative_to(root).as_posix()), start["line"] + 1, start["character"]


def _failures(root: Path, tests: str) -> int:
    """How many tests fail, errors included; a suite that cannot be run at all has them all failing."""
    source = root / "src" if (root / "src").is_dir() else root
    done = subprocess.run(
        [_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "-rN", tests],
        cwd=root,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=_SUITE_SEC,
    )
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    words = last.replace(",", "").split()
    failed = sum(int(n) for n, what in itertools.pairwise(words) if what[:5] in ("faile", "error"))
    return failed if done.returncode in (0, 1) else 1_000_000


def _python() -> str:
    """An environment with what the suites need, made once."""
    home = CACHE.parent / "suites"
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", *NEEDED], check=True)
    return str(python)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
