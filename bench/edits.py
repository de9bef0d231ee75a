"""Edits in a server, through the whole pipeline: place, commit, row, index, effects."""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from bench.corpora import python_package
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

RUNS = 21
FILES = 20
LINES = 2_000
_MARK = "# edited: "


def figures() -> Iterator[Figure]:
    with _server() as server:
        path = server.long_file()
        server.median([[_edit(path, "first")]])
        spent, syncs = server.median([[_edit(path, f"run{n}")] for n in range(RUNS)])
        told = f"median of {RUNS} on Django's tree; {syncs} waits for the disk"
        yield Figure("one line of 2,000 edited", spent * 1000, "ms", 50, told)
        files = server.other_files()
        spent, syncs = server.median([[_edit(file, f"run{n}") for file in files] for n in range(5)])
        told = f"median of 5; {syncs} waits for the disk"
        yield Figure(f"{FILES} files edited in one call", spent, "s", 1, told)


def _edit(path: str, text: str) -> dict[str, Any]:
    """A new comment in the first line, whatever it was."""
    return {"path": path, "expected_content": _MARK, "new_content": f"{_MARK}{text} "}


class _Server:
    def __init__(self, root: Path, home: Path) -> None:
        self._root = root
        checkout = Checkout.find(root, Places.of_user({"HOME": str(home)}))
        self._session = RepoSession.open(checkout)
        self._session.index.refresh()
        self._session.upkeep.start(None)
        self._pipeline = Pipeline(self._session, all_tools())

    def close(self) -> None:
        self._session.close()

    def long_file(self) -> str:
        """2,000 lines of real code."""
        [file] = self._root.glob("*/django/db/models/query.py")
        lines = file.read_text().splitlines(keepends=True)[: LINES - 1]
        file.write_text("".join([f"{_MARK}\n", *lines]))
        return str(file.relative_to(self._root))

    def other_files(self) -> list[str]:
        files = sorted(self._root.glob("*/django/db/models/**/*.py"))
        chosen = [file for file in files if 3_000 < file.stat().st_size < 40_000][:FILES]
        for file in chosen:
            file.write_text(f"{_MARK}\n{file.read_text()}")
        return [str(file.relative_to(self._root)) for file in chosen]

    async def _write(self, edits: list[dict[str, Any]]) -> tuple[float, int]:
        """The seconds that a call takes, and how often it waits for the disk."""
        before = _waits.count
        request = Request("write_source", {"edits": edits}, "bench")
        started = time.perf_counter()
        answer = await self._pipeline.call(request)
        spent = time.perf_counter() - started
        assert not answer.is_error, answer.body
        return spent, _waits.count - before + _FOR_THE_ROW

    async def _all(self, calls: list[list[dict[str, Any]]]) -> list[tuple[float, int]]:
        """One after the other, on the threads that a server keeps."""
        return [await self._write(edits) for edits in calls]

    def median(self, calls: list[list[dict[str, Any]]]) -> tuple[float, int]:
        spent, syncs = zip(*anyio.run(self._all, calls), strict=True)
        return statistics.median(spent), max(syncs)


class _Waits:
    """Counts how often this process waits for the disk by itself; SQLite is not seen."""

    def __init__(self) -> None:
        self.count = 0
        for name in ("fsync", "fdatasync"):
            vars(os)[name] = self._counted(getattr(os, name))

    def _counted(self, wait: Callable[[Any], None]) -> Callable[[Any], None]:
        def counting(fd: Any) -> None:
            self.count += 1
            wait(fd)

        return counting


# SQLite waits once for its log.
_FOR_THE_ROW = 1
_waits = _Waits()


@contextmanager
def _server() -> Iterator[_Server]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "repo"
        shutil.copytree(python_package("django", "5.2"), root, symlinks=True)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        server = _Server(root, Path(base) / "home")
        try:
            yield server
        finally:
            server.close()
