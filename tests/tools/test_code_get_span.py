"""A range of lines is shown whatever the lines are like."""

from pathlib import Path

import pytest

from tests.tools.conftest import Ask


def test_of_a_line_that_is_too_long_the_beginning_is_shown(ask: Ask, repo: Path) -> None:
    (repo / "min.py").write_text("x = '" + "a" * 100_000 + "'\ny = 1\n")
    span = ask("code_get_span", path="min.py")["result"]
    first, second = span["text"].split("\n")
    assert span["lines"] == "1-2 of 2" and second == "2: y = 1"
    assert first.startswith("1: x = 'aaa") and first.endswith("… (99006 characters more)")
    assert ask("symbols_get_definition_span", symbol="min.x")["result"]["text"] == first


def test_what_has_no_room_is_cut_between_lines_and_said_to_be(ask: Ask, repo: Path) -> None:
    (repo / "wide.txt").write_text(f"{'a' * 900}\n" * 100)
    span = ask("code_get_span", path="wide.txt", end_line=100)["result"]
    assert span["lines"] == "1-44 of 100" and span["truncated"] is True and len(span["text"]) <= 40_000
    [file] = ask("read_source", targets=["wide.txt"])["result"]["files"]
    assert file["spans"][0]["more"] == "wide.txt:45-100"


def test_a_link_is_followed_and_a_directory_told_as_one(ask: Ask, repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "a.py").write_text("x = 1\n")
    (repo / "link.py").symlink_to("src/a.py")
    assert ask("code_get_span", path="link.py")["result"]["path"] == "src/a.py"
    assert ask("code_get_span", path="src")["error"]["message"] == "src is a directory."
    assert ask("code_get_span", path="../a.py")["error"]["name"] == "PATH_REFUSED"


@pytest.mark.parametrize(
    ("tool", "asked"),
    [("code_get_span", {"path": "a.py"}), ("symbols_get_definition_span", {"symbol": "a.f"})],
)
def test_lines_that_were_shown_may_be_edited_by_their_numbers(
    ask: Ask, repo: Path, tool: str, asked: dict[str, str]
) -> None:
    (repo / "a.py").write_text("def f():\n    return 1\n")
    edit = {"path": "a.py", "start_line": 2, "end_line": 2, "new_content": "    return 2\n"}
    assert "error" in ask("write_source", edits=[edit])
    assert "return 1" in ask(tool, **asked)["result"]["text"]
    assert ask("write_source", edits=[edit])["result"]["operation"]
    assert (repo / "a.py").read_text() == "def f():\n    return 2\n"
