"""Operations on odd files: what can't be written is red when it is tried, and answers stay short."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.server.answer import Answer
from tests.delta.plans import PlanRepo, element, plan_of
from tests.drive import git

LOAD = "def load(url):\n    return url\n"
TIMEOUT = {"operation": "add_parameter", "target": "load", "name": "timeout", "default": "None"}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlanRepo]:
    files = {
        "real.py": LOAD,
        "broken.py": "x = 1\n\ndef load(url:\n    return url\n",
        ".gitignore": "build/\n",
    }
    repo = PlanRepo(tmp_path_factory.mktemp("odd"), files)
    for name, target in {"link.py": "real.py", "out.py": "/etc/hostname"}.items():
        (repo.root / name).symlink_to(target)
    for folder in ("build", "nested"):
        (repo.root / folder).mkdir()
        (repo.root / folder / "x.py").write_text(LOAD)
    git(repo.root / "nested", "init", "-q")
    yield repo
    repo.session.close()


def attempt(repo: PlanRepo, path: str) -> Answer:
    return repo.ask("delta_try", path=path, operations=[TIMEOUT])


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("build/x.py", "closed to edits: build usually holds built or foreign files"),
        ("nested/x.py", "closed to edits: nested is a repository of its own"),
        ("link.py", "It leads to real.py."),
        ("out.py", "symbolic link."),
        ("rael.py", "There is real.py."),
        ("broken.py", "can't be parsed (line 3)"),
    ],
)
def test_what_cannot_be_written_is_red_at_once_and_says_why(repo: PlanRepo, path: str, reason: str) -> None:
    answer = attempt(repo, path)
    assert answer.text.startswith("red") and reason in answer.text


def test_a_plan_with_a_closed_file_is_red_before_it_is_executed(repo: PlanRepo) -> None:
    plan = repo.create([element("build/x.py", TIMEOUT)])
    repo.ask("validate_deltas", plan=plan)
    assert repo.statuses(plan) == {"Task 1.1": "red"}
    assert (
        repo.error("execute_deltas", plan=plan, confidence="validated", allow_dirty=True)["name"]
        == "DELTA_NOT_READY"
    )


def test_a_byte_order_mark_is_no_part_of_the_suggested_assertions(repo: PlanRepo) -> None:
    (repo.root / "bom.py").write_bytes(b"\xef\xbb\xbf" + LOAD.encode())
    answer: dict[str, Any] = attempt(repo, "bom.py").body["result"]
    assert answer["suggested_assertions"]["bom.py"][0]["pattern"] == "def load(url, timeout=None): $$$"


def test_lines_of_any_length_are_shown_in_part(repo: PlanRepo) -> None:
    (repo.root / "long.py").write_text(f"X = '{'a' * 1_000_000}'\n{LOAD}")
    answer = attempt(repo, "long.py")
    assert answer.text.startswith("green") and "more characters" in answer.text
    assert len(answer.text) < 2_000


def test_a_plan_may_be_sent_in_one_object(tmp_path: Path) -> None:
    repo = PlanRepo(tmp_path)
    document = plan_of([element("app.py", TIMEOUT)])
    assert "Task 1.1" in repo.ask("plan_create", plan=document).text
    assert repo.error("plan_create", plan=document, title="Twice")["name"] == "INVALID_ARGUMENT"
