"""Plans that name odd files: links, closed and binary ones. No other takes their place by its looks."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.controller.lab import APP, Answered, Desk, open_desk
from tests.drive import git

LOAD = "def load(url):\n    return url\n"
EDIT = {"oldText": "def load(url):", "newText": "def load(url, timeout=None):"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    base = tmp_path_factory.mktemp("odd")
    files = {
        "real.py": LOAD,
        "latin.py": LOAD,
        "a/store.py": LOAD,
        "b/store.py": "x = 1\n",
        "nul.py": "a\0b\n",
    }
    with open_desk(base, {**APP, **files, ".gitignore": "build/\n"}) as desk:
        (desk.root / "link.py").symlink_to("real.py")
        (desk.root / "out.py").symlink_to("/etc/hostname")
        (desk.root / "build").mkdir()
        (desk.root / "build" / "x.py").write_text(LOAD)
        nested = desk.root / "nested"
        nested.mkdir()
        git(nested, "init", "-q")
        (nested / "s.py").write_text(LOAD)
        yield desk


def submit(desk: Desk, file: str, **fields: Any) -> Answered:
    node = {
        "file": file,
        "symbols": ["load"],
        "intent": "Time out.",
        "evidence": ["prompt"],
        "edits": [EDIT],
        **fields,
    }
    work_id = "w_" + "".join(filter(str.isalnum, file + str(fields.get("operation", ""))))
    return desk.turn(
        "submit_execution_plan", workId=work_id, originalPrompt="load needs a timeout", nodes=[node]
    )


def accepted_files(desk: Desk, refusal: Answered) -> list[str]:
    """The files of the offered plan, which is accepted as it is."""
    answer = desk.send({**refusal.suggestion, "workId": refusal.result["workId"]})
    assert answer.state == "PLAN_ACCEPTED", answer.text
    nodes = answer.result["result"]["planGraph"]["nodes"]
    return [node["targetFile"] for node in nodes if node["kind"] == "change"]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("build/x.py", "closed to plans"),
        ("nested/s.py", "closed to plans"),
        ("out.py", "closed to plans"),
        ("nul.py", "binary"),
    ],
)
def test_a_file_that_is_closed_is_not_exchanged_for_another(desk: Desk, file: str, reason: str) -> None:
    refusal = submit(desk, file)
    assert "scope.closed" in refusal.sub_codes
    assert reason in refusal.text
    assert accepted_files(desk, refusal) == []


def test_a_link_means_the_file_that_it_leads_to(desk: Desk) -> None:
    refusal = submit(desk, "link.py")
    assert "link.py is a link to real.py" in refusal.text
    assert accepted_files(desk, refusal) == ["real.py"]


@pytest.mark.parametrize(
    ("file", "meant"),
    [
        ("src/real.py", "real.py"),  # the one file of that name
        ("lattin.py", "latin.py"),  # a slip
        ("store.py", "a/store.py"),  # the one of two that has the symbol
    ],
)
def test_a_wrong_path_is_corrected_where_it_can_mean_one_file_only(desk: Desk, file: str, meant: str) -> None:
    assert accepted_files(desk, submit(desk, file)) == [meant]


def test_a_path_that_looks_like_another_is_a_new_file(desk: Desk) -> None:
    refusal = submit(desk, "lading.py")
    assert "latin.py" not in refusal.text
    assert accepted_files(desk, refusal) == ["lading.py"]


def test_a_new_file_below_a_closed_directory_is_refused(desk: Desk) -> None:
    refusal = submit(desk, "build/y.py", operation="create", symbols=[], edits=[])
    assert "scope.closed" in refusal.sub_codes
    assert accepted_files(desk, refusal) == []


def test_lines_of_any_length_are_shown_in_part(desk: Desk) -> None:
    (desk.root / "long.py").write_text(f"X = '{'a' * 1_000_000}'\n{LOAD}")
    refusal = submit(desk, "long.py", evidence=["prompt", "long.py:1-2"])
    assert "more characters" in refusal.text
    assert len(refusal.text) < 6_000
    assert accepted_files(desk, refusal) == ["long.py"]
