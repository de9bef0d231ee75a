"""An edit that can neither be finished nor taken back: the next start settles it, files and row alike."""

from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.storage.disk import Disk
from tests.drive import user_env
from tests.tools.repo import Repo


def test_an_edit_in_doubt_has_no_row_until_a_start_settles_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path, {"a.py": "one\n", "b.py": "two\n"})
    swap, swaps = Disk.swap, list[str]()

    def failing(self: Disk, source: int, name: str, target: int, new: str) -> None:
        swaps.append(new)
        if len(swaps) > 1:
            raise OSError(5, "Input/output error")
        swap(self, source, name, target, new)

    monkeypatch.setattr(Disk, "swap", failing)
    edits = [
        {"path": name, "action": "update", "expected_content": old, "new_content": "changed\n"}
        for name, old in (("a.py", "one\n"), ("b.py", "two\n"))
    ]
    assert repo.error("write_source", edits=edits)["name"] == "EDIT_IN_DOUBT"
    assert repo.session.ledger.operations() == []
    monkeypatch.undo()
    repo.session.close()
    again = RepoSession.open(Checkout.find(repo.root, Places.of_user(user_env(tmp_path / "home"))))
    (row,) = again.ledger.operations()
    texts = {(repo.root / name).read_text() for name in ("a.py", "b.py")}
    assert texts == ({"changed\n"} if row.success else {"one\n", "two\n"})
    assert row.recovered
    again.close()
