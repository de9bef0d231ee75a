"""What a workspace on Django's tree costs: to make, to ask the first question, and in the index."""

import gc
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import anyio

from bench.corpora import python_package
from bench.measure import Figure, timed
from codeplane.config import Places
from codeplane.index import index_bytes
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

VERSION: Final = "5.2"
ROUNDS: Final = 5
_QUESTION: Final = {"query": "QuerySet"}


def figures() -> Iterator[Figure]:
    with _server() as server:
        server.call("search", **_QUESTION)  # what the first question of a process loads is no workspace's
        gc.freeze()  # as a server does, once it knows the repository
        one_index = server.index_size()
        ratios, first_sec, again_sec = [], [], []
        for number in range(ROUNDS):
            name = f"work-{number}"
            git_sec = server.add_by_git(number)
            create_sec = timed(lambda: server.call("workspace_create", workspace=name))  # noqa: B023 - called here
            ratios.append(create_sec / git_sec)
            first_sec.append(timed(lambda: server.call("search", workspace=name, **_QUESTION)))  # noqa: B023
            again_sec.append(timed(lambda: server.call("search", workspace=name, **_QUESTION)))  # noqa: B023
        yield Figure(
            "making a workspace",
            statistics.median(ratios),
            "x",
            1.2,
            "of `git worktree add`, median of each pair",
        )
        yield Figure("its first question", statistics.median(first_sec), "s", 0.5, "a word search")
        yield Figure("the same again", statistics.median(again_sec), "s", None, "")
        growth = (server.index_size() - one_index) / ROUNDS
        yield Figure(
            "index of 20 workspaces", (one_index + 20 * growth) / one_index, "x", 1.2,
            f"of one ({one_index / 1e6:.1f} MB); {growth / 1e6:.2f} MB for each that differs in nothing",
        )  # fmt: skip


class _Server:
    def __init__(self, root: Path, home: Path) -> None:
        self._root = root
        places = Places.of_user({"HOME": str(home), "PATH": os.environ["PATH"]})
        self.session = RepoSession.open(Checkout.find(root, places))
        self.session.index.refresh()
        self.session.index.warm()
        self._pipeline = Pipeline(self.session, all_tools())

    def call(self, tool: str, **arguments: str) -> dict[str, Any]:
        answer = anyio.run(self._pipeline.call, Request(tool, arguments, "bench"))
        assert not answer.is_error, answer.body
        result: dict[str, Any] = answer.body["result"]
        return result

    def add_by_git(self, number: int) -> float:
        """What git takes for a worktree like it."""
        place = self._root.with_name(f"git-{number}")
        start = time.perf_counter()
        subprocess.run(
            ["git", "-C", str(self._root), "worktree", "add", "-q", "-b", f"git-{number}", str(place)],
            check=True,
        )
        return time.perf_counter() - start

    def index_size(self) -> int:
        self.session.index.database.fold()
        return index_bytes(self.session.checkout.index_file)


@contextmanager
def _server() -> Iterator[_Server]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "repo"
        shutil.copytree(python_package("django", VERSION), root, symlinks=True)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            identity = ["-c", "user.name=B", "-c", "user.email=b@example.org"]
            subprocess.run(["git", "-C", str(root), *identity, *command], check=True)
        server = _Server(root, Path(base) / "home")
        try:
            yield server
        finally:
            server.session.close()
