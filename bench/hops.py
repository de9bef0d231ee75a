"""Calls between modules of CodePlane, and repeated work, in one question and one rename with apply."""

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import anyio
from tests.drive import new_repo, user_env

from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

FILES: Final = {
    "store.py": "class Store:\n    def save(self, item):\n        return item\n",
    "app.py": "from store import Store\n\n\ndef run():\n    return Store().save(1)\n",
    "test_app.py": "from app import run\n\n\ndef test_run():\n    assert run() == 1\n",
}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = new_repo(Path(base) / "repo", FILES)
        session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(Path(base) / "home"))))
        try:
            pipeline = Pipeline(session, all_tools())
            found = _traced(pipeline, "refs_find", {"symbol": "Store.save"})
            renamed = _traced(pipeline, "refactor_rename", {"symbol": "Store.save", "new_name": "keep"})
        finally:
            session.close()
        assert "keep" in (root / "store.py").read_text(), "the rename was not applied"
    return [
        Figure("refs_find, calls between modules", sum(found.values()), "", None, _most(found)),
        Figure("refactor_rename, calls between modules", sum(renamed.values()), "", None, _most(renamed)),
        Figure(
            "refactor_rename, looks at the tree", renamed[_LOOK], "", None, "with the one of the call itself"
        ),
    ]


_LOOK: Final = ("codeplane.session.repo", "codeplane.index.database", "refresh")


def _traced(pipeline: Pipeline, tool: str, arguments: dict[str, Any]) -> Counter[tuple[str, str, str]]:
    anyio.run(pipeline.call, Request("refs_find", {"symbol": "Store"}, "warm"))
    hops: Counter[tuple[str, str, str]] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_back is not None:
            to, caller = frame.f_globals.get("__name__", ""), frame.f_back.f_globals.get("__name__", "")
            if to != caller and to.startswith("codeplane.") and caller.startswith("codeplane."):
                hops[caller, to, frame.f_code.co_name] += 1

    _profiled(note, lambda: anyio.run(pipeline.call, Request(tool, arguments, "client")))
    return hops


def _profiled(note: Callable[[FrameType, str, object], None], run: Callable[[], object]) -> None:
    """Tools run on threads that the call starts: each notes its calls as well."""

    threading.setprofile_all_threads(note) if hasattr(
        threading, "setprofile_all_threads"
    ) else threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _most(hops: Counter[tuple[str, str, str]]) -> str:
    return ", ".join(
        f"{to.removeprefix('codeplane.')}.{name} {count}" for (_, to, name), count in hops.most_common(4)
    )
