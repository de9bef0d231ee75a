"""A range of lines is shown whatever the lines are like."""

from pathlib import Path

from tests.tools.conftest import Ask


def test_of_a_line_that_is_too_long_the_beginning_is_shown(ask: Ask, repo: Path) -> None:
    (repo / "min.py").write_text("x = '" + "a" * 100_000 + "'\ny = 1\n")
    span = ask("code_get_span", path="min.py")["result"]
    assert span["lines"] == "1-1 of 2" and span["truncated"] is True
    assert span["text"].startswith("1 | x = 'aaa") and len(span["text"]) < 41_000
    assert ask("code_get_span", path="min.py", start_line=2)["result"]["text"] == "2 | y = 1"
    assert ask("symbols_get_definition_span", symbol="min.x")["result"]["text"].startswith("1 | x = 'aaa")


def test_a_link_is_followed_and_a_directory_told_as_one(ask: Ask, repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "a.py").write_text("x = 1\n")
    (repo / "link.py").symlink_to("src/a.py")
    assert ask("code_get_span", path="link.py")["result"]["path"] == "src/a.py"
    assert ask("code_get_span", path="src")["error"]["message"] == "src is a directory."
    assert ask("code_get_span", path="../a.py")["error"]["name"] == "PATH_REFUSED"
