"""Source as a commit has it."""

from typing import Any

from tests.drive import git
from tests.tools.conftest import Made


def spans(answer: dict[str, Any]) -> dict[str, list[str]]:
    return {file["path"]: [span["text"] for span in file["spans"]] for file in answer["files"]}


def test_a_target_is_read_at_the_commit_behind_it(made: Made) -> None:
    repo = made({"app.py": "def run():\n    return 1\n", "a@b.txt": "one\n"})
    git(repo.root, "tag", "v1.0")
    repo.write("app.py", "# New.\n\n\ndef run():\n    return 2\n")
    git(repo.root, "commit", "-qam", "two")
    targets = ["app.py@v1.0", "app.py:4-5", "a@b.txt"]
    assert spans(repo.result("read_source", targets=targets)) == {
        "app.py@v1.0": ["1: def run():\n2:     return 1"],
        "app.py": ["4: def run():\n5:     return 2"],
        "a@b.txt": ["1: one"],
    }
    first = {"app.py@v1.0": ["2:     return 1"]}
    assert spans(repo.result("read_source", targets=["app.py:2-2@v1.0"])) == first
    assert spans(repo.result("read_source", targets=["app.py@v1.0:2-2"])) == first
    assert spans(repo.result("read_source", path="app.py", start_line=2, ref="v1.0")) == first
    apart = {"path": "app.py", "start_line": 2, "end_line": 2, "ref": "v1.0"}
    assert spans(repo.result("read_source", targets=[apart])) == first
    assert spans(repo.result("read_source", symbol="run@v1.0"))["app.py@v1.0"] == [
        "1: def run():\n2:     return 1"
    ]


def test_what_was_cut_goes_on_at_the_same_commit(made: Made) -> None:
    repo = made({"long.txt": "".join(f"line {n}\n" for n in range(1, 1001))})
    [file] = repo.result("read_source", targets=["long.txt@HEAD"])["files"]
    assert file["spans"][0]["more"] == "long.txt:401-1000@HEAD"
    assert spans(repo.result("read_source", targets=["long.txt:401-402@HEAD"])) == {
        "long.txt@HEAD": ["401: line 401\n402: line 402"]
    }


def test_a_commit_opens_neither_secrets_nor_what_is_outside(made: Made) -> None:
    repo = made({"app.py": "", ".env": "KEY=hunter2\n"})
    for target in (".env@HEAD", "../repo/.env@HEAD", ".git/config@HEAD", "/etc/passwd@HEAD"):
        assert "hunter2" not in str(repo.error("read_source", targets=[target]))
    assert (
        repo.error("read_source", targets=["app.py@gone"])["code"]
        == repo.error("git_log", ref="gone")["code"]
    )


def test_lines_of_a_commit_are_no_ground_for_an_edit_by_lines(made: Made) -> None:
    repo = made({"app.py": "one = 1\n"})
    repo.write("app.py", "two = 2\n")
    repo.result("read_source", targets=["app.py@HEAD"])
    edit = {"path": "app.py", "start_line": 1, "end_line": 1, "new_content": "three = 3"}
    repo.error("write_source", edits=[edit])
    assert (repo.root / "app.py").read_text() == "two = 2\n"
