"""Full diffs: kept only where the user wants them, for a while, and never a reason to fail."""

import os
import time
from pathlib import Path

import anyio
import pytest

from codeplane.config import Places
from codeplane.config.settings import LedgerSettings
from codeplane.ledger import Artifacts, Operation
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.drive import user_env

EDIT = {"edits": [{"path": "README.md", "expected_content": "hello", "new_content": "goodbye"}]}


def edited(repo: Path, home: Path, *settings: str) -> tuple[RepoSession, Operation]:
    session = RepoSession.open(Checkout.find(repo, Places.of_user(user_env(home)), settings))
    answer = anyio.run(Pipeline(session, all_tools()).call, Request("write_source", EDIT, "a client"))
    assert not answer.is_error, answer.body
    [operation] = session.ledger.operations()
    return session, operation


def test_no_full_diff_is_kept_unless_it_is_wanted(repo: Path, home: Path) -> None:
    session, operation = edited(repo, home)
    assert operation.artifact is None and not session.state.artifacts.exists()
    session.close()


def test_a_full_diff_is_kept_for_a_while(repo: Path, home: Path) -> None:
    session, operation = edited(repo, home, "ledger.artifacts=true")
    assert operation.artifact is not None
    kept = session.artifacts.read(operation.artifact)
    assert kept is not None and b"-hello\n+goodbye" in kept
    [file] = [path for path in session.state.artifacts.rglob("*") if path.is_file()]
    assert file.stat().st_mode & 0o777 == 0o600
    assert session.artifacts.tidy() == 0
    old = time.time() - 73 * 3600
    os.utime(file, (old, old))
    assert session.artifacts.tidy() == 1 and session.artifacts.read(operation.artifact) is None
    assert session.ledger.verify() == []
    session.close()


def test_an_edit_is_made_where_its_diff_cannot_be_kept(repo: Path, home: Path) -> None:
    (repo / ".codeplane").mkdir(mode=0o700)
    (repo / ".codeplane" / "artifacts").write_text("in the way")
    session, operation = edited(repo, home, "ledger.artifacts=true")
    assert operation.success and operation.artifact is None
    assert (repo / "README.md").read_text() == "goodbye\n"
    session.close()


@pytest.mark.parametrize("wanted", [True, False])
def test_what_was_kept_goes_when_it_is_not_wanted_any_more(tmp_path: Path, wanted: bool) -> None:
    digest = Artifacts(tmp_path / "a", LedgerSettings(artifacts=True)).keep(b"diff")
    assert digest is not None
    later = Artifacts(tmp_path / "a", LedgerSettings(artifacts=wanted, artifact_hours=1e-9))
    time.sleep(0.01)
    assert later.tidy() == 1 and later.read(digest) is None
