"""How long refactorings take on Django's tree, in a server, through the whole pipeline."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil

from bench.corpora import python_package
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

VERSION = "5.2"
# Some 20 files, half as many again, and some 55; the last is certain, and applied.
RENAMES = (
    ("django.utils.encoding.force_bytes", "bytes_of"),
    ("django.core.exceptions.FieldDoesNotExist", "NoSuchField"),
    ("django.test.utils.isolate_apps", "apart_apps"),
)
HOMONYM = ("django.db.models.query.QuerySet.get", "obtain")
MOVE = ("django/utils/text.py", "django/utils/texts.py")
_QUIET_SEC = 20
_CHARACTERS = 20_000


def figures() -> Iterator[Figure]:
    with _server() as server:
        for number, (symbol, new_name) in enumerate(RENAMES):
            made, detail = server.call("refactor_rename", symbol=symbol, new_name=new_name)
            first = "first of all" if not number else "another"
            bound = 0.3 if not number else None
            yield Figure(f"preview of a rename, {first}", made["spent"], "s", bound, detail)
            if made["outcome"] == "ok":
                done, detail = server.call("refactor_apply", plan=made["plan"])
                yield Figure("apply", done["spent"], "s", 1, detail)
        made, detail = server.call("refactor_rename", symbol=HOMONYM[0], new_name=HOMONYM[1])
        yield Figure("a name with 5,000 homonyms", made["spent"], "s", 2, detail)
        yield Figure("its answer", made["characters"] / 1000, "kB", _CHARACTERS / 1000, "")
        made, detail = server.call(
            "refactor_move", from_path=server.path(MOVE[0]), to_path=server.path(MOVE[1])
        )
        yield Figure("preview of a move", made["spent"], "s", 1.5, detail)


class _Server:
    def __init__(self, root: Path, home: Path) -> None:
        self._top = next(path for path in root.iterdir() if (path / "django").is_dir())
        self._root = root
        checkout = Checkout.find(root, Places.of_user({"HOME": str(home), "PATH": os.environ["PATH"]}))
        self.session = RepoSession.open(checkout)
        self.session.index.refresh()
        self.session.upkeep.start(None)
        self._pipeline = Pipeline(self.session, all_tools())
        self._pipeline.listed(0, all_tools())  # a client of the full profile has asked for its tools

    def path(self, inside: str) -> str:
        return str((self._top / inside).relative_to(self._root))

    def call(self, tool: str, **arguments: str) -> tuple[dict[str, Any], str]:
        """The answer with the seconds that it took and its length, and what it says."""
        cpu, began = _cpu(), time.perf_counter()
        answer = anyio.run(self._pipeline.call, Request(tool, arguments, "bench"))
        spent = time.perf_counter() - began
        assert not answer.is_error, answer.body
        result: dict[str, Any] = answer.body["result"]
        told = f"{result.get('outcome', 'done')}: {result['summary']}; {_cpu() - cpu:.2f} s of processor time"
        return {**result, "spent": spent, "characters": len(json.dumps(result))}, told


def _cpu() -> float:
    """Processor time of this process and its workers."""
    process = psutil.Process()
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


@contextmanager
def _server() -> Iterator[_Server]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "repo"
        shutil.copytree(python_package("django", VERSION), root, symlinks=True)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        server = _Server(root, Path(base) / "home")
        time.sleep(_QUIET_SEC)  # what a server does ahead of the first question
        try:
            yield server
        finally:
            server.session.close()
