"""Reading git on Django with a history: status, log and diff of the tools, against the git program."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import anyio

from bench.corpora import python_history
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

COMMITS = 1000
CHANGED = 100
RUNS = 25
BOUND = 1.5

Ask = Callable[[], Awaitable[None]]


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "django"
        shutil.copytree(python_history("django", ("5.1", "5.2")), root, symlinks=True)
        changed = _grow(root)
        session = RepoSession.open(Checkout.find(root, Places.of_user({"HOME": base, "TMPDIR": base}), []))
        session.index.refresh()
        session.upkeep.start(None)
        try:
            yield from _compared(Pipeline(session, all_tools()), root, changed)
        finally:
            session.close()


def _compared(pipeline: Pipeline, root: Path, changed: list[str]) -> Iterator[Figure]:
    touched = "django/db"
    yield _ratio("git status", root, ("status", "--porcelain"), _asking(pipeline, "git_status"))
    log = _asking(pipeline, "git_log")
    yield _ratio("git log of 50", root, ("log", "-50", "--format=%H %an %ae %aI %s"), log)
    narrow = _asking(pipeline, "git_log", paths=[touched])
    few = ("log", "-50", "--format=%H %an %ae %aI %s", "--", touched)
    yield _ratio("  of one directory", root, few, narrow, None)
    for path in changed:
        with (root / path).open("a") as stream:
            stream.write("changed = True\n")
    yield _ratio("git status, 100 changed", root, ("status", "--porcelain"), _asking(pipeline, "git_status"))
    diff = _asking(pipeline, "git_diff")
    yield _ratio(f"git diff of {CHANGED} files", root, ("diff", "--no-ext-diff", "--no-textconv"), diff)


def _ratio(
    name: str, root: Path, arguments: tuple[str, ...], ask: Ask, bound: float | None = BOUND
) -> Figure:
    """The quickest of several in turn: other work on the machine only ever adds."""
    theirs, own = anyio.run(_in_turn, root, arguments, ask)
    detail = (
        f"wall; {own.wall * 1e3:.1f} ms, git {theirs.wall * 1e3:.1f} ms;"
        f" CPU {own.cpu / theirs.cpu:.2f} ×, {own.cpu * 1e3:.1f} ms, git {theirs.cpu * 1e3:.1f} ms"
    )
    return Figure(name, own.wall / theirs.wall, "×", bound, detail)


class _Spent(NamedTuple):
    wall: float
    cpu: float

    @classmethod
    def now(cls) -> "_Spent":
        below = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(time.perf_counter(), time.process_time() + below.ru_utime + below.ru_stime)

    def since(self) -> "_Spent":
        now = self.now()
        return _Spent(now.wall - self.wall, now.cpu - self.cpu)


async def _in_turn(root: Path, arguments: tuple[str, ...], ask: Ask) -> tuple[_Spent, _Spent]:
    _run(root, *arguments)
    await ask()
    theirs, own = list[_Spent](), list[_Spent]()
    for _ in range(RUNS):
        began = _Spent.now()
        _run(root, *arguments)
        theirs.append(began.since())
        began = _Spent.now()
        await ask()
        own.append(began.since())
    return _best(theirs), _best(own)


def _best(every: list[_Spent]) -> _Spent:
    return _Spent(min(one.wall for one in every), min(one.cpu for one in every))


def _asking(pipeline: Pipeline, tool: str, **arguments: object) -> Ask:
    async def ask() -> None:
        answer = await pipeline.call(Request(tool, arguments, "bench"))
        assert not answer.is_error, answer.body

    return ask


def _grow(root: Path) -> list[str]:
    """Commits upon the releases, each with an edit of one file; the files that a change may touch."""
    _run(root, "checkout", "-q", "-f", "HEAD")
    listed = _run(root, "ls-files", "-z", "--", "django/*.py").decode().split("\0")
    files = [path for path in listed if path and (root / path).stat().st_size][: 4 * CHANGED]
    branch = _run(root, "symbolic-ref", "HEAD").decode().strip()
    stream = [f"reset {branch}\nfrom {_run(root, 'rev-parse', 'HEAD').decode()}\n"]
    for number in range(COMMITS):
        path = files[number % len(files)]
        text = f"{(root / path).read_text()}# {number}\n"
        when = 1_800_000_000 + 60 * number
        stream.append(f"commit {branch}\ncommitter Bench <bench@example.org> {when} +0000\n")
        stream.append(f"data <<END\nChange {number}\nEND\nM 100644 inline {path}\n")
        stream.append(f"data {len(text.encode())}\n{text}\n")
    _run(root, "fast-import", "--quiet", "--force", given="".join(stream).encode())
    _run(root, "reset", "-q", "--hard", branch)
    # Time stamps as young as the index prove nothing; a tree in use is older than that.
    time.sleep(2.1)
    _run(root, "update-index", "-q", "--refresh")
    return files[:: len(files) // CHANGED][:CHANGED]


def _run(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    user = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=root, input=given, capture_output=True, check=True, env=user
    )
    return done.stdout
