"""Edits through the whole pipeline: what is on the disk, in the index, in the ledger and in the answer."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.server.pipeline import Request
from codeplane.session.operation import edits as operation
from tests.tools.repo import Repo

APP = """\
def load(path):
    return open(path).read()


def save(path, text):
    open(path, 'w').write(text)
"""
Make = Callable[..., Repo]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Repo] = []

    def build(files: dict[str, str] | None = None) -> Repo:
        made.append(Repo(tmp_path, files or {"app.py": APP}))
        return made[-1]

    yield build
    for repo in made:
        repo.session.close()


def edit(repo: Repo, **one: Any) -> dict[str, Any]:
    return repo.result("write_source", edits=[one])


def sha(repo: Repo, path: str) -> str:
    return hashlib.sha256((repo.root / path).read_bytes()).hexdigest()


def test_the_next_call_sees_the_edit(make: Make) -> None:
    repo = make()
    edit(repo, path="app.py", expected_content="def save", new_content="def keep")
    assert repo.result("symbols_get_card", symbol="keep")["symbol"] == "app.keep"
    assert repo.error("symbols_get_card", symbol="save")["name"] == "NOT_FOUND"


@pytest.mark.parametrize("action", ["replace", "edit", "modify", "change"])
def test_other_words_for_an_update_are_taken(make: Make, action: str) -> None:
    repo = make()
    edit(repo, path="app.py", action=action, expected_content="def save", new_content="def keep")
    assert "def keep" in (repo.root / "app.py").read_text()


def test_the_answer_tells_hashes_symbols_and_tests(make: Make) -> None:
    repo = make(
        {"app.py": APP, "test_app.py": "from app import save\n\n\ndef test_save():\n    save('x', '')\n"}
    )
    before = sha(repo, "app.py")
    answer = edit(
        repo,
        path="app.py",
        expected_content="def save(path, text):",
        new_content="def save(path, text, mode='w'):",
    )
    [file] = answer["delta"]["files"]
    assert (file["old_hash"], file["file_sha256"]) == (before, sha(repo, "app.py"))
    assert file["symbols"] == ["signature_changed function save :5-6"]
    assert answer["tests"] == ["high exact test_app.py reaches"]
    assert (file["insertions"], file["deletions"]) == (1, 1)


def test_an_edit_by_lines_follows_a_change_elsewhere(make: Make) -> None:
    repo = make()
    seen = repo.result("read_source", targets=["app.py"])["files"][0]["file_sha256"]
    repo.write("app.py", "import os\n\n" + APP)
    answer = edit(
        repo, path="app.py", start_line=2, end_line=2, new_content="    return ''", expected_file_sha256=seen
    )
    assert (repo.root / "app.py").read_text() == "import os\n\n" + APP.replace("open(path).read()", "''")
    [correction] = answer["delta"]["files"][0]["line_corrections"]
    assert correction["corrected"] == {"start_line": 4, "end_line": 4}


def test_an_edit_at_changed_lines_shows_both_sides(make: Make) -> None:
    repo = make()
    seen = repo.result("read_source", targets=["app.py"])["files"][0]["file_sha256"]
    repo.write("app.py", APP.replace("open(path).read()", "None"))
    error = repo.error(
        "write_source",
        edits=[
            {
                "path": "app.py",
                "start_line": 2,
                "end_line": 2,
                "new_content": "x",
                "expected_file_sha256": seen,
            }
        ],
    )
    assert error["name"] == "EDIT_CONFLICT"
    assert (error["details"]["read"], error["details"]["found"]) == (
        "2:     return open(path).read()",
        "2:     return None",
    )


def test_lines_counted_before_or_after_an_own_edit_are_not_guessed(make: Make) -> None:
    repo = make()
    repo.result("read_source", targets=["app.py"])
    edit(repo, path="app.py", start_line=1, end_line=1, new_content="# first\ndef load(path):")
    error = repo.error(
        "write_source", edits=[{"path": "app.py", "start_line": 5, "end_line": 5, "new_content": "x"}]
    )
    assert error["name"] == "EDIT_CONFLICT"


def test_an_own_edit_is_followed_when_its_content_is_named(make: Make) -> None:
    repo = make()
    seen = repo.result("read_source", targets=["app.py"])["files"][0]["file_sha256"]
    edit(
        repo,
        path="app.py",
        start_line=1,
        end_line=1,
        new_content="# first\ndef load(path):",
        expected_file_sha256=seen,
    )
    edit(repo, path="app.py", start_line=6, end_line=6, new_content="    pass", expected_file_sha256=seen)
    assert (repo.root / "app.py").read_text() == "# first\n" + APP.replace(
        "    open(path, 'w').write(text)", "    pass"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"a\r\nb\r\nc\r\n",
        b"a\nb\r\nc\n",
        b"\xef\xbb\xbfa\nb\nc\n",
        b"caf\xe9\nb\nc\n",
        b"a\nb\nc",
        b"a\nb\nc\n\n\n",
    ],
    ids=["crlf", "mixed", "bom", "latin-1", "no end", "empty lines"],
)
def test_no_other_byte_moves(make: Make, data: bytes) -> None:
    repo = make()
    (repo.root / "f.txt").write_bytes(data)
    (repo.root / "f.txt").chmod(0o755)
    edit(repo, path="f.txt", expected_content="b", new_content="x")
    assert (repo.root / "f.txt").read_bytes() == data.replace(b"b", b"x")
    assert (repo.root / "f.txt").stat().st_mode & 0o777 == 0o755


def test_a_file_of_fifty_megabytes_is_edited_in_place(make: Make) -> None:
    repo = make()
    line = b"x" * 99 + b"\n"
    data = line * 250_000 + b"the one line\n" + line * 250_000
    (repo.root / "big.txt").write_bytes(data)
    edit(repo, path="big.txt", expected_content="the one line", new_content="another line")
    assert (repo.root / "big.txt").read_bytes() == data.replace(b"the one line", b"another line")


@pytest.mark.parametrize("data", [b"\xff\xfea\0b\0", b"\0\1\2"])
def test_a_file_without_lines_is_refused_and_may_be_deleted(make: Make, data: bytes) -> None:
    repo = make()
    (repo.root / "f.bin").write_bytes(data)
    error = repo.error("write_source", edits=[{"path": "f.bin", "expected_content": "a", "new_content": "b"}])
    assert error["name"] == "EDIT_REFUSED"
    edit(repo, path="f.bin", action="delete")
    assert not (repo.root / "f.bin").exists()


def test_a_link_that_leads_out_is_never_written_through(make: Make, tmp_path: Path) -> None:
    repo = make()
    (tmp_path / "outside").write_text("secret\n")
    (repo.root / "out").symlink_to(tmp_path / "outside")
    repo.error("write_source", edits=[{"path": "out", "expected_content": "secret", "new_content": "x"}])
    repo.error("write_source", edits=[{"path": "out", "action": "create", "new_content": "x"}])
    assert (tmp_path / "outside").read_text() == "secret\n"


def test_a_text_is_changed_in_the_file_that_a_link_leads_to(make: Make) -> None:
    repo = make()
    (repo.root / "in").symlink_to("app.py")
    told = edit(repo, path="in", expected_content="def save", new_content="def keep")
    assert [file["path"] for file in told["delta"]["files"]] == ["app.py"]
    assert (repo.root / "in").is_symlink() and "def keep" in (repo.root / "app.py").read_text()
    repo.error("write_source", edits=[{"path": "in", "action": "create", "new_content": "x"}])
    assert (repo.root / "in").is_symlink() and "def keep" in (repo.root / "app.py").read_text()


RUST = "/// Doc.\n#[inline]\nfn go() {}\n"


@pytest.mark.parametrize(
    ("new", "result"),
    [
        ("/// New.\n#[inline]\nfn go() { 1; }\n", "/// New.\n#[inline]\nfn go() { 1; }\n"),
        ("fn go() { 1; }\n", "/// Doc.\n#[inline]\nfn go() { 1; }\n"),
        ("#[cold]\nfn go() {}\n", "/// Doc.\n#[inline]\n#[cold]\nfn go() {}\n"),
    ],
)
def test_a_symbol_is_replaced_with_its_attributes_only_by_text_that_has_them(
    make: Make, new: str, result: str
) -> None:
    repo = make({"go.rs": RUST})
    repo.result("write_source", edits=[{"symbol": "go", "action": "replace_symbol", "new_content": new}])
    assert (repo.root / "go.rs").read_text() == result


def test_all_edits_of_a_call_or_none(make: Make) -> None:
    repo = make({"a.py": "A = 1\n", "b.py": "B = 1\n"})
    repo.error(
        "write_source",
        edits=[
            {"path": "a.py", "expected_content": "1", "new_content": "2"},
            {"path": "c.py", "action": "create", "new_content": "C = 1\n"},
            {"path": "b.py", "expected_content": "2", "new_content": "3"},
        ],
    )
    assert (repo.root / "a.py").read_text() == "A = 1\n"
    assert not (repo.root / "c.py").exists()


def test_a_preview_changes_nothing_and_costs_nothing(make: Make) -> None:
    repo = make()
    answer = repo.result(
        "write_source",
        edits=[{"path": "app.py", "expected_content": "load", "new_content": "read"}],
        dry_run=True,
    )
    assert "+def read(path):" in answer["delta"]["files"][0]["diff"]
    assert (repo.root / "app.py").read_text() == APP
    assert repo.session.ledger.operations() == []


def test_every_write_is_one_row_with_the_files_before_and_after(make: Make) -> None:
    repo = make()
    first = edit(repo, path="app.py", expected_content="load", new_content="read")["operation"]
    second = repo.result("undo")["operation"]
    [last, before] = repo.session.ledger.operations()
    assert (before.operation_id, last.operation_id, last.undoes) == (first, second, first)
    assert before.repo_before == last.repo_after != before.repo_after == last.repo_before
    assert (repo.root / "app.py").read_text() == APP
    assert repo.session.index.fingerprint().hex() == last.repo_after


def test_undo_is_refused_when_a_file_has_changed_since(make: Make) -> None:
    repo = make()
    edit(repo, path="app.py", expected_content="load", new_content="read")
    repo.write("app.py", "other\n")
    assert repo.error("undo")["name"] == "UNDO_REFUSED"
    assert (repo.root / "app.py").read_text() == "other\n"


def test_writers_side_by_side_lose_nothing(make: Make) -> None:
    """Fifty writers, each adding its lines to a file of its own and to one that all share."""
    repo = make({"shared.txt": "".join(f"slot {number}\n" for number in range(50))})

    async def work(number: int) -> None:
        own = {"path": f"own/{number}.txt", "action": "create", "new_content": f"{number}\n"}
        slot = {
            "path": "shared.txt",
            "expected_content": f"slot {number}\n",
            "new_content": f"taken {number}\n",
        }
        for one in (own, slot):
            request = Request("write_source", {"edits": [one]}, f"client {number}")
            answer = await repo.pipeline.call(request)
            assert not answer.is_error, answer.body

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(work, number)

    anyio.run(all_of_them)
    assert (repo.root / "shared.txt").read_text() == "".join(f"taken {number}\n" for number in range(50))
    assert sorted(os.listdir(repo.root / "own")) == sorted(f"{number}.txt" for number in range(50))
    history = [row for row in reversed(repo.session.ledger.operations(limit=1000)) if row.success]
    states = [change for row in history for change in row.changes if change.path == "shared.txt"]
    assert all(one.after == other.before for one, other in pairwise(states))


def test_an_edit_that_loses_every_race_is_on_record(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else writes to the file each time between the look and the write."""
    monkeypatch.setattr(operation, "_MOST_TRIES", 3)
    repo = make()
    prepare = repo.session.engine.prepare
    others: list[str] = []

    def and_somebody_writes(*arguments: Any) -> Any:
        prepared = prepare(*arguments)
        others.append(f"# {len(others)}\n")
        repo.write("app.py", "".join(others) + APP)
        return prepared

    monkeypatch.setattr(repo.session.engine, "prepare", and_somebody_writes)
    edits = [{"path": "app.py", "expected_content": "load", "new_content": "read"}]
    assert repo.error("write_source", edits=edits)["name"] == "EDIT_CONFLICT"
    assert (repo.root / "app.py").read_text() == "# 0\n# 1\n# 2\n" + APP
    [row] = repo.session.ledger.operations()
    assert (row.success, row.failure_class, row.changes) == (False, "EDIT_CONFLICT", ())
    assert repo.result("task_status")["mutations"] == "0/200"


def test_a_file_that_does_not_parse_any_more_is_told(make: Make) -> None:
    repo = make()
    answer = edit(
        repo, path="app.py", expected_content="def save(path, text):", new_content="def save(path, text:"
    )
    assert answer["delta"]["files"][0]["problem"]


def test_a_tracked_file_moves_in_the_index_of_git_too(make: Make) -> None:
    repo = make()
    answer = edit(repo, path="app.py", action="move", to="src/app.py")
    assert answer["delta"]["files"][0]["git_mv"] is True
    status = subprocess.run(
        ["git", "status", "--short"], cwd=repo.root, capture_output=True, text=True, check=True
    )
    assert status.stdout == "R  app.py -> src/app.py\n"


def test_a_refused_undo_names_the_operation_that_has_to_be_undone_first(make: Make) -> None:
    repo = make()
    first = edit(repo, path="app.py", old="load", new="read")["operation"]
    later = edit(repo, path="app.py", old="save", new="write")["operation"]
    [_, hint] = repo.error("undo", operation=first)["hints"]
    assert hint == f'Undo write_source first: undo {{"operation": "{later}"}}'


def test_a_refused_undo_tells_that_the_change_is_nobodys_on_record(make: Make) -> None:
    repo = make()
    edit(repo, path="app.py", old="load", new="read")
    repo.write("app.py", "other\n")
    assert "Nothing on record has changed" in repo.error("undo")["hints"][0]


@pytest.mark.parametrize("action", [{"action": "delete"}, {"action": "move", "to": "other.py"}])
def test_a_link_is_not_taken_for_the_file_that_is_to_be_gone(make: Make, action: dict[str, str]) -> None:
    repo = make()
    (repo.root / "in").symlink_to("app.py")
    error = repo.error("write_source", edits=[{"path": "in", **action}])
    assert error["name"] == "PATH_REFUSED" and "app.py" in error["hints"][0]
    assert (repo.root / "in").is_symlink() and (repo.root / "app.py").read_text() == APP


def test_undo_without_a_name_takes_back_nothing_of_another_session(make: Make) -> None:
    repo = make()
    first = edit(repo, path="app.py", expected_content="def save", new_content="def keep")["operation"]
    other = anyio.run(repo.pipeline.call, Request("undo", {}, "another client"))
    assert other.is_error and other.body["error"]["hints"] == [f'undo {{"operation": "{first}"}}']
    assert "write_source of app.py" in other.body["error"]["message"]
    assert "def keep" in (repo.root / "app.py").read_text()
    named = anyio.run(repo.pipeline.call, Request("undo", {"operation": "last"}, "another client"))
    assert not named.is_error and (repo.root / "app.py").read_text() == APP


def test_an_empty_file_has_nothing_that_could_be_lost(make: Make) -> None:
    repo = make({"app.py": APP, "empty.py": ""})
    edit(repo, path="empty.py", expected_content="", new_content="A = 1\n")
    assert (repo.root / "empty.py").read_text() == "A = 1\n"
    assert repo.error("write_source", edits=[{"path": "app.py", "new_content": "A = 1\n"}])


def test_an_undo_says_what_is_in_the_way_and_can_keep_it(make: Make) -> None:
    repo = make()
    first = edit(repo, path="app.py", expected_content="open(path).read()", new_content="path")["operation"]
    again = repo.result("undo", operation=first)["operation"]
    edit(repo, path="app.py", expected_content="'w'", new_content="'a'")
    error = repo.error("undo", operation=again)
    assert "app.py has changed since (line 6)" in error["message"]
    assert error["hints"][0].endswith(f'undo {{"operation": "{again}", "keep_later": true}}')
    repo.result("undo", operation=again, keep_later=True)
    assert (repo.root / "app.py").read_text() == APP.replace("'w'", "'a'").replace(
        "open(path).read()", "path"
    )


def test_an_undo_keeps_no_later_change_of_its_own_lines(make: Make) -> None:
    repo = make()
    first = edit(repo, path="app.py", expected_content="'w'", new_content="'a'")["operation"]
    edit(repo, path="app.py", expected_content="'a'", new_content="'x'")
    error = repo.error("undo", operation=first, keep_later=True)
    assert "(line 6), at lines that it would change" in error["message"]
    assert [hint for hint in error["hints"] if "keep_later" in hint] == []
    assert "'x'" in (repo.root / "app.py").read_text()
