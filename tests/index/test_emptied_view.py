"""A view that has lost all of its files has the changes of the next epoch on record."""

from pathlib import Path

from tests.drive import new_repo
from tests.tools.repo import Repo


def test_files_that_all_went_and_came_back_are_found_again(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", {"a.py": "def first(): pass\n"})
    repo = Repo.at(root, tmp_path)
    assert repo.result("symbols_search", query="first")["files"]
    names = [path for path in root.iterdir() if path.name not in (".git", ".codeplane")]
    for path in names:
        path.rename(tmp_path / path.name)
    assert repo.result("symbols_search", query="first")["absence"] == "proven_none"
    for path in names:
        (tmp_path / path.name).rename(path)
    assert repo.result("symbols_search", query="first")["files"]
    repo.session.close()
