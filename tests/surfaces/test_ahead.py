"""What a server prepares: answers that are those of a question, made when no call runs, and nothing without a
framework."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.languages.sites import pack_sites
from codeplane.server.pipeline import Pipeline
from codeplane.session import Checkout, RepoSession
from codeplane.session.surfaces_ahead import SurfacesAhead
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.file_sites import SITES
from codeplane.surfaces.likelihood import import_parts, may_use_frameworks
from codeplane.surfaces.rule_set import built_in_set
from codeplane.tools import all_tools
from tests.drive import new_repo, user_env

_APP = "from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get('/one')\ndef one():\n    return 1\n"
_SHOP = {"shop/app.py": _APP, "shop/plain.py": "def plain():\n    return 1\n"}


@contextmanager
def _opened(root: Path, home: Path) -> Iterator[RepoSession]:
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(home))))
    try:
        session.index.refresh()
        yield session
    finally:
        session.close()


def _routes(session: RepoSession) -> list[str]:
    with session.index.snapshot() as snapshot:
        return [one.route for one in endpoints_of(snapshot).endpoints]


def _kept(session: RepoSession) -> set[str]:
    """The files whose sites the index has."""
    with session.index.snapshot() as snapshot:
        blobs = {path: blob for path, blob in snapshot.layout.blobs.items() if blob is not None}
        missing = snapshot.without_sites(list(blobs.values()))
    return {path for path, blob in blobs.items() if blob not in missing}


def _wait(until: Callable[[], bool]) -> bool:
    due = time.monotonic() + 30
    while not until() and time.monotonic() < due:
        time.sleep(0.02)
    return until()


def test_what_is_prepared_serves_the_next_server(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", _SHOP)
    with _opened(root, tmp_path / "home") as session:
        SurfacesAhead(session).prepare()
        assert _kept(session) == {"shop/app.py"}
        assert _routes(session) == ["/one"]
    with _opened(root, tmp_path / "home") as session:
        # Had the file been read again, this would say nothing.
        with session.index.database.write() as connection:
            connection.execute("UPDATE site SET sites = ?", (pack_sites([]),))
        assert _routes(session) == []


def test_a_server_prepares_for_clients_that_have_the_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeplane.server.pipeline._LOAD_AFTER_SEC", 0)
    with _opened(new_repo(tmp_path / "repo", _SHOP), tmp_path / "home") as session:
        pipeline = Pipeline(session, all_tools())
        pipeline.listed(0, {name: tool for name, tool in all_tools().items() if tool.standard})
        assert "surfaces" not in {thread.name for thread in threading.enumerate()}
        pipeline.listed(0, all_tools())
        assert _wait(lambda: _kept(session) == {"shop/app.py"})
    assert "surfaces" not in {thread.name for thread in threading.enumerate()}


def test_only_answers_stay_in_memory(tmp_path: Path) -> None:
    with _opened(new_repo(tmp_path / "repo", _SHOP), tmp_path / "home") as session:
        SurfacesAhead(session).prepare()
        assert not _has_sites(session)
        _routes(session)
        assert not _has_sites(session)  # the answer was there


def _has_sites(session: RepoSession) -> bool:
    with session.index.snapshot() as snapshot:
        facts = snapshot.facts("shop/app.py")
        assert facts is not None
        return facts.made(SITES) is not None


def test_without_a_framework_nothing_is_read(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", {"plain.py": "import os\n\nKEY = os.environ['KEY']\n"})
    with _opened(root, tmp_path / "home") as session:
        preparation = SurfacesAhead(session)
        preparation.prepare()
        assert preparation.is_ready
        assert _kept(session) == set()


def test_of_code_without_an_endpoint_only_endpoints_are_prepared(tmp_path: Path) -> None:
    helper = "from fastapi import FastAPI\n\n\ndef title(app: FastAPI):\n    return app.title\n"
    files = {"helper.py": helper, "keys.py": "import os\n\nKEY = os.environ['KEY']\n"}
    with _opened(new_repo(tmp_path / "library", files), tmp_path / "home") as session:
        SurfacesAhead(session).prepare()
        assert "keys.py" not in _kept(session)
    with _opened(new_repo(tmp_path / "shop", {**_SHOP, **files}), tmp_path / "home") as session:
        SurfacesAhead(session).prepare()
        assert "keys.py" in _kept(session)


def test_a_preparation_that_takes_too_long_leaves_the_rest_to_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeplane.session.surfaces_ahead._MOST_CPU_SEC", -1.0)
    with _opened(new_repo(tmp_path / "repo", _SHOP), tmp_path / "home") as session:
        preparation = SurfacesAhead(session)
        preparation.start()
        try:
            assert _wait(lambda: preparation.is_ready)
        finally:
            preparation.end()
        assert _kept(session) == set()
        assert _routes(session) == ["/one"]


def test_a_file_that_uses_a_framework_is_seen_without_its_rules(tmp_path: Path) -> None:
    rules = built_in_set()
    wanted = {name for rule in rules.endpoints for name in rule.imports}
    wanted |= {name for rule in rules.flows for name in rule.imports}
    wanted |= {name for rule in rules.annotations for name in rule.imports}
    assert wanted <= import_parts()
    for number, (files, is_likely) in enumerate(
        (
            (_SHOP, True),
            ({"a.js": "const express = require('express');\n"}, True),
            ({"a.go": 'package a\n\nimport "github.com/go-chi/chi/v5"\n'}, True),
            ({"config/routes.rb": "Rails.application.routes.draw do\nend\n"}, True),
            ({"a.py": "import os\n", "b.go": 'package b\n\nimport "fmt"\n'}, False),
        )
    ):
        with _opened(new_repo(tmp_path / str(number), files), tmp_path / "home") as session:
            with session.index.snapshot() as snapshot:
                assert may_use_frameworks(snapshot) == is_likely


def test_calls_go_first(tmp_path: Path) -> None:
    with _opened(new_repo(tmp_path / "repo", _SHOP), tmp_path / "home") as session:
        preparation = SurfacesAhead(session)
        session.activity.begin()
        working = threading.Thread(target=preparation.prepare)
        working.start()
        working.join(0.5)
        assert working.is_alive()
        assert not preparation.is_ready
        session.activity.end()
        working.join(30)
        assert preparation.is_ready


def test_answers_are_brought_up_to_date_when_files_rest(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", _SHOP)
    with _opened(root, tmp_path / "home") as session:
        preparation = SurfacesAhead(session)
        preparation.start()
        try:
            assert _wait(lambda: preparation.is_ready)
            (root / "shop/app.py").write_text(_APP.replace("/one", "/two"))
            session.index.refresh()
            assert not preparation.is_ready
            assert _wait(lambda: preparation.is_ready)
            assert _routes(session) == ["/two"]
        finally:
            preparation.end()


def test_a_server_that_stops_does_not_wait_for_the_preparation(tmp_path: Path) -> None:
    with _opened(new_repo(tmp_path / "repo", _SHOP), tmp_path / "home") as session:
        preparation = SurfacesAhead(session)
        session.activity.begin()  # the preparation waits for ever
        preparation.start()
        time.sleep(1.5)
        began = time.monotonic()
        preparation.end()
        assert time.monotonic() - began < 3
        assert not preparation.is_ready
