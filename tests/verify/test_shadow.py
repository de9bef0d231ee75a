"""Refactorings whose tests are run before they are offered, in a copy of the tree."""

import sys
from pathlib import Path
from typing import Any

from tests.drive import new_repo
from tests.tools.repo import Repo, trust

FILES = {
    ".gitignore": ".venv\n",
    "store.py": "def load(path):\n    return [path]\n\n\ndef other():\n    return 1\n",
    "names.py": "NAMES = ['load']\n\n\ndef named(module):\n    return [getattr(module, n) for n in NAMES]\n",
    "test_store.py": (
        "import store\nfrom names import named\n\n\n"
        "def test_load():\n    assert store.load(1) == [1]\n\n\n"
        "def test_names():\n    assert named(store) == [store.load]\n\n\n"
        "def test_broken():\n    assert store.load(1) == []\n"
    ),
    "test_other.py": "def test_nothing():\n    assert False\n",
}


def opened(tmp_path: Path, files: dict[str, str] = FILES) -> Repo:
    root = new_repo(tmp_path / "repo", files)
    (root / ".venv").symlink_to(sys.prefix)
    trust(root, tmp_path)
    return Repo.at(root, tmp_path)


def check(answer: dict[str, Any], name: str = "tests") -> dict[str, Any]:
    [found] = [one for one in answer["verified"] if one["check"] == name]
    assert isinstance(found, dict)
    return found


def test_a_test_that_the_edits_break_is_told_and_one_that_was_broken_is_not(tmp_path: Path) -> None:
    repo = opened(tmp_path)
    asked: dict[str, Any] = {"symbol": "store.load", "new_name": "read", "mode": "force_syntactic"}
    answer = repo.result("refactor_rename", **asked, apply="if_certain", verify=["parse", "tests"])
    found = check(answer)
    assert found["outcome"] == "failed"
    assert "1 fail without the edits too" in found["text"] and "in 1 files" in found["text"]
    [broken] = found["findings"]
    assert "test_store.py::test_names" in broken and "AttributeError" in broken
    assert "applied" not in answer
    assert (repo.root / "store.py").read_text() == FILES["store.py"]
    assert repo.result("refactor_inspect", plan=answer["plan"])["verified"] == answer["verified"]
    assert list((tmp_path / "home/.local/state/codeplane/scratch").iterdir()) == []


def test_what_passes_is_applied_at_once_where_that_was_asked_for(tmp_path: Path) -> None:
    repo = opened(tmp_path, {**FILES, "test_more.py": "import store\n\n\ndef test():\n    store.other()\n"})
    (repo.root / "test_store.py").unlink()
    answer = repo.result(
        "refactor_rename", symbol="store.other", new_name="another", apply="if_certain", verify=["tests"]
    )
    assert check(answer)["outcome"] == "passed" and "1 passed, 0 failed" in check(answer)["text"]
    assert answer["applied"]["applied"]


def test_tests_that_move_are_run_where_they_will_be(tmp_path: Path) -> None:
    repo = opened(tmp_path, {**FILES, "pytest.ini": "[pytest]\npythonpath = .\n"})
    answer = repo.result(
        "refactor_move", from_path="test_store.py", to_path="sub/test_store.py", verify=["tests"]
    )
    found = check(answer)
    assert found["outcome"] == "passed" and "1 fail without the edits too" in found["text"]


def test_nothing_of_a_repository_runs_that_is_not_trusted(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    files = {**FILES, "conftest.py": f"open({str(mark)!r}, 'w').close()\n"}
    root = new_repo(tmp_path / "repo", files)
    (root / ".venv").symlink_to(sys.prefix)
    repo = Repo.at(root, tmp_path)
    answer = repo.result("refactor_rename", symbol="store.other", new_name="another", verify=["tests"])
    assert check(answer)["outcome"] == "not_run" and "cpl trust" in check(answer)["text"]
    assert not mark.exists()


def test_a_runner_that_is_missing_is_told(tmp_path: Path) -> None:
    repo = opened(tmp_path)
    (repo.root / ".venv").unlink()
    (repo.root / ".venv" / "bin").mkdir(parents=True)
    for name in ("python", "python3"):
        (repo.root / ".venv" / "bin" / name).symlink_to("/bin/false")
    repo.write("test_store.py", "import store\n\n\ndef test():\n    store.other()\n")
    answer = repo.result("refactor_rename", symbol="store.other", new_name="another", verify=["tests"])
    assert check(answer)["outcome"] == "not_run" and "installed" in check(answer)["text"]


RUFF = '[tool.ruff]\nline-length = 40\n[tool.ruff.lint]\nselect = ["E501", "F401"]\n'


def test_what_linters_find_beyond_what_they_found_is_told(tmp_path: Path) -> None:
    files = {
        ".gitignore": ".venv\n",
        "pyproject.toml": RUFF,
        "app.py": "import os\n\n\ndef load(path):\n    return path\n",
        "main.py": "from app import load\n\nprint(load('a'), load('b'))\n",
    }
    repo = opened(tmp_path, files)
    asked: dict[str, Any] = {"symbol": "app.load", "verify": ["lint"], "apply": "if_certain"}
    answer = repo.result("refactor_rename", **asked, new_name="load_all_of_it_at_once")
    found = check(answer, "lint")
    assert found["outcome"] == "failed" and "ruff" in found["text"] and "applied" not in answer
    assert all("E501" in one and "F401" not in one for one in found["findings"])
    assert [one.split(":")[:2] for one in found["findings"]] == [["main.py", "3"]]
    answer = repo.result("refactor_rename", **asked, new_name="read")
    assert check(answer, "lint")["outcome"] == "passed" and answer["applied"]["applied"]


def test_a_repository_without_linters_passes(tmp_path: Path) -> None:
    repo = opened(tmp_path)
    answer = repo.result("refactor_rename", symbol="store.other", new_name="another", verify=["lint"])
    assert check(answer, "lint") == {
        "check": "lint",
        "outcome": "passed",
        "text": "No linter is set up for these files.",
    }


RUN_TIME: dict[str, Any] = {"symbol": "store.load", "new_name": "read", "apply": "if_verified"}


def test_tests_decide_about_names_that_are_made_at_run_time(tmp_path: Path) -> None:
    repo = opened(tmp_path)
    asked = repo.result("refactor_rename", symbol="store.load", new_name="read")
    assert asked["outcome"] == "needs_decision" and "applied" not in asked
    answer = repo.ask("refactor_rename", **RUN_TIME)
    found = check(answer.body["result"])
    assert found["outcome"] == "failed" and "test_names" in found["findings"][0]
    assert "the tests did not pass with it" in answer.text
    assert (repo.root / "store.py").read_text() == FILES["store.py"]
    # The text that the tests need is one of the places that were shown.
    done = repo.result("refactor_rename", plan=asked["plan"], accept="all")
    assert done["applied"]["applied"] and "['read']" in (repo.root / "names.py").read_text()


def test_what_is_certain_is_applied_where_the_tests_pass(tmp_path: Path) -> None:
    text = (
        "import store\nimport names\n\n\ndef test():\n    assert store.load(1) and not names.named(store)\n"
    )
    names = (
        "NAMES = []\n\n\ndef named(module):\n    return [getattr(module, n) for n in NAMES or ['load'][1:]]\n"
    )
    repo = opened(tmp_path, {**FILES, "test_store.py": text, "names.py": names})
    asked = repo.result("refactor_rename", symbol="store.load", new_name="read")
    assert asked["outcome"] == "needs_decision"
    answer = repo.result("refactor_rename", plan=asked["plan"], apply="if_verified")
    assert check(answer)["outcome"] == "passed" and answer["applied"]["applied"]
    assert "['load'][1:]" in (repo.root / "names.py").read_text()


def test_what_tests_cannot_settle_is_not_left_to_them(tmp_path: Path) -> None:
    files = {
        "store.py": "class Store:\n    def fetch(self):\n        return 1\n",
        "app.py": "def run(x):\n    x.fetch()\n",
    }
    repo = opened(tmp_path, files)
    answer = repo.ask("refactor_rename", symbol="Store.fetch", new_name="get", apply="if_verified")
    assert "tests cannot settle the open places" in answer.text and "applied" not in answer.body["result"]


def test_a_repository_that_is_not_trusted_is_not_verified(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    answer = repo.result("refactor_rename", **RUN_TIME)
    assert check(answer)["outcome"] == "not_run" and "applied" not in answer
