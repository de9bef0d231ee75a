"""Tests run by the tool in a server, against plain pytest in the same environment."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.trust import give_trust
from codeplane.tools import all_tools

RUNS = 3
# Work by count, not by the clock: as much of it is done on a busy machine. Files differ in what they cost.
BUSY = "def spin(n):\n    x = 0\n    for i in range(n * 1_000_000):\n        x += i * i\n    return x\n\n\n"
WEIGHTS = (1, 1, 2, 2, 3, 3, 4, 4, 6, 8)


def figures() -> Iterator[Figure]:
    busy = {
        f"tests/test_busy{number}.py": BUSY
        + "".join(f"def test_{one}():\n    assert spin({weight}) > 0\n\n\n" for one in range(3))
        for number, weight in enumerate(WEIGHTS)
    }
    with _server(busy) as server:
        server.run()  # what each file costs is known from here on
        pairs = [(server.plain(), server.run()) for _ in range(RUNS)]
        plain, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
        told = f"{ours:.1f} s with two workers, plain pytest {plain:.1f} s, medians of {RUNS} in turn"
        yield Figure("tests that need a processor", ours / plain, "×", 1 / 1.7, told)
        assert server.told == f"{3 * len(WEIGHTS)} passed", server.told
    short = {"tests/test_short.py": "import time\n\n\ndef test_short():\n    time.sleep(1)\n"}
    with _server(short) as server:
        server.run()
        pairs = [(server.plain(), server.run()) for _ in range(2 * RUNS + 1)]
        plain, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
        told = f"{ours:.2f} s, plain pytest {plain:.2f} s, medians of {2 * RUNS + 1} in turn"
        yield Figure("overhead of a run", ours - plain, "s", 0.5, told)


class _Server:
    def __init__(self, root: Path, session: RepoSession) -> None:
        self._root = root
        self._pipeline = Pipeline(session, all_tools())
        self.told = ""

    def run(self) -> float:
        began = time.perf_counter()
        answer = anyio.run(self._pipeline.call, Request("run_test_targets", {}, "bench"))
        took = time.perf_counter() - began
        body: dict[str, Any] = dict(answer.body)
        assert not answer.is_error and body["result"]["ok"], body
        self.told = str(body["result"]["summary"]).partition(" in ")[0]
        return took

    def plain(self) -> float:
        began = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        subprocess.run(command, cwd=self._root, check=True, capture_output=True, env=_env(self._root.parent))
        return time.perf_counter() - began


@contextmanager
def _server(files: dict[str, str]) -> Iterator[_Server]:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "repo"
        for name, text in {
            ".gitignore": "__pycache__/\n.venv\n",
            "pytest.ini": "[pytest]\n",
            **files,
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / ".venv").symlink_to(sys.prefix)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        places = Places.of_user(_env(Path(scratch)))
        give_trust(root, places)
        assignments = ["tests.workers=2", "tests.target_timeout_sec=600"]
        session = RepoSession.open(Checkout.find(root, places, assignments))
        try:
            yield _Server(root, session)
        finally:
            session.close()


def _env(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"]}
