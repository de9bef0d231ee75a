"""States besides the working tree: the CPU of opening them and of the first question, on Django."""

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from tests.drive import user_env

from bench.corpora import python_package
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

QUESTION = {"symbol": "QuerySet.filter"}
FILE = "django/db/models/query.py"
RUNS = 3


def figures() -> list[Figure]:
    with _pipeline() as (pipeline, root):
        ask = _asker(pipeline)
        ask("refs_find", **QUESTION)
        baseline = _timed(lambda: ask("index_ensure_baseline"))
        file = str(next(root.rglob(FILE)).relative_to(root))
        text = (root / file).read_text()
        runs = [_run(ask, run, file, text) for run in range(RUNS)]
        opening, first, edit, virtual, again = map(min, zip(*runs, strict=True))
        plain = min(_timed(lambda: ask("refs_find", **QUESTION)) for _ in range(RUNS * 3))
    return [
        Figure("baseline of the commit", baseline * 1000, "ms", None, "objects hashed, none extracted"),
        Figure("workspace in memory", opening * 1000, "ms", 300, "made and opened, best of 3"),
        Figure("its first question", first * 1000, "ms", 500, "refs_find of QuerySet.filter"),
        Figure("an edit in it", edit * 1000, "ms", None, f"one line of {FILE}"),
        Figure("a question with a virtual file", virtual * 1000, "ms", 500, f"{FILE}, never seen"),
        Figure("asked again", again * 1000, "ms", None, ""),
        Figure("the same of the working tree", plain * 1000, "ms", None, "warm"),
    ]


def _run(ask: Callable[..., Any], run: int, file: str, text: str) -> tuple[float, ...]:
    """Seconds of CPU: a workspace, its first question, an edit, a virtual file, and that again."""
    name, files = f"w{run}", [{"path": file, "content": f"{text}\n# {run}\n"}]
    edits = [{"path": file, "expected_content": "class QuerySet(", "new_content": "class  QuerySet("}]
    return (
        _timed(lambda: _open(ask, name)),
        _timed(lambda: ask("refs_find", **QUESTION, workspace=name)),
        _timed(lambda: ask("write_source", edits=edits, workspace=name)),
        _timed(lambda: ask("refs_find", **QUESTION, virtual_files=files)),
        _timed(lambda: ask("refs_find", **QUESTION, virtual_files=files)),
    )


def _open(ask: Callable[..., Any], name: str) -> None:
    ask("workspace_create", workspace=name, kind="memory")
    ask("list_files", workspace=name)


def _asker(pipeline: Pipeline) -> Callable[..., Any]:
    def ask(tool: str, **arguments: object) -> dict[str, Any]:
        answer = anyio.run(pipeline.call, Request(tool, arguments, "bench"))
        assert not answer.is_error, answer.text
        return dict(answer.body)

    return ask


@contextmanager
def _pipeline() -> Iterator[tuple[Pipeline, Path]]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "repo"
        subprocess.run(["cp", "-r", str(python_package("django", "5.2")), str(root)], check=True)
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "django"]):
            who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
            subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)
        session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(Path(base) / "home"))))
        try:
            session.index.refresh()
            yield Pipeline(session, all_tools()), root
        finally:
            session.close()


def _timed(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started
