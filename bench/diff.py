"""What has changed between two releases of Django: asked first, asked again, and page by page."""

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import anyio

from bench.corpora import python_history
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

PAGES = 6
STATES = {"base": "5.1", "target": "5.2"}


def figures() -> Iterator[Figure]:
    root = python_history("django", ("5.1", "5.2"))
    with tempfile.TemporaryDirectory(prefix="cpl-") as home:
        user = {"HOME": home, "TMPDIR": home}
        session = RepoSession.open(Checkout.find(root, Places.of_user(user), []))
        try:
            session.index.refresh()
            for commit in STATES.values():
                with session.index.commit_snapshot(commit):
                    pass
            yield from _asked(Pipeline(session, all_tools()))
        finally:
            session.close()


def _asked(pipeline: Pipeline) -> Iterator[Figure]:
    first, answer = _timed(pipeline, {})
    again, answer = _timed(pipeline, {})
    told = f"CPU; {answer['total']} changes; commits were looked at before"
    yield Figure("diff of two releases, first", first * 1e3, "ms", None, told)
    yield Figure("  asked again", again * 1e3, "ms", None, "CPU")
    cursors: list[str] = []
    new = []
    while len(cursors) < PAGES:
        cursors.append(answer["next_cursor"])
        spent, answer = _timed(pipeline, {"cursor": cursors[-1]})
        new.append(spent)
    seen = [_timed(pipeline, {"cursor": cursor})[0] for cursor in cursors]
    yield Figure("  a page more", max(seen) * 1e3, "ms", 100, f"CPU, slowest of {PAGES}, seen before")
    yield Figure("  a page not seen before", max(new) * 1e3, "ms", None, "CPU; its references are new")


def _timed(pipeline: Pipeline, page: dict[str, str]) -> tuple[float, dict[str, Any]]:
    started = time.process_time()
    answer = anyio.run(pipeline.call, Request("semantic_diff", {**STATES, **page}, "bench"))
    assert not answer.is_error, answer.body
    return time.process_time() - started, answer.body["result"]
