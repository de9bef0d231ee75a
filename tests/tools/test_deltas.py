"""What a program that follows changes learns from the answer of a write."""

from hashlib import sha256

from codeplane.core.ids import OperationId
from tests.tools.conftest import Made

TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_an_edit_has_its_ranges_symbols_line_ending_and_fingerprints(made: Made) -> None:
    repo = made({"a.py": TEXT, "b.py": "x = 1\n"})
    repo.session.index.refresh()
    edit = {"path": "a.py", "expected_content": "return 1", "new_content": "return 2\n    pass", "all": True}
    answer = repo.result("write_source", edits=[edit])
    delta = answer["delta"]
    [file] = delta["files"]
    assert file["line_ending"] == "LF"
    assert file["edits"] == [
        {
            "start": {"line": line, "char": 1},
            "end": {"line": line + 1, "char": 1},
            "new_text": "    return 2\n    pass\n",
            "symbol": symbol,
        }
        for line, symbol in ((2, "f"), (6, "g"))
    ]
    mutation = delta["mutation"]
    assert mutation["diff_stats"] == "+4 -2"
    assert mutation["symbol_changes"] == ["body_changed function f", "body_changed function g"]
    recorded = repo.session.ledger.find(OperationId(answer["operation"]))
    assert recorded is not None and recorded.mutation_fingerprint == mutation["fingerprint"]
    assert delta["repo_fingerprint"] == repo.session.states.now().hex()


def test_a_move_has_the_hash_of_what_moved(made: Made) -> None:
    repo = made({"a.py": TEXT})
    repo.session.index.refresh()
    delta = repo.result("write_source", edits=[{"action": "move", "path": "a.py", "to": "b.py"}])["delta"]
    [file] = delta["files"]
    assert (file["old_hash"], file["file_sha256"]) == (digest(TEXT), digest(TEXT))


def test_line_endings_are_told_apart(made: Made) -> None:
    repo = made({"a.py": TEXT})
    repo.session.index.refresh()
    (repo.root / "a.py").write_bytes(TEXT.replace("\n", "\r\n").encode())
    edit = {"path": "a.py", "expected_content": "def g():", "new_content": "def h():"}
    [file] = repo.result("write_source", edits=[edit])["delta"]["files"]
    assert file["line_ending"] == "CRLF"
    assert [one["new_text"] for one in file["edits"]] == ["def h():\r\n"]


def test_a_replacement_has_a_line_end_only_where_the_file_has_one(made: Made) -> None:
    repo = made({"a.py": "x = 1"})
    repo.session.index.refresh()
    edit = {"path": "a.py", "expected_content": "1", "new_content": "2"}
    [file] = repo.result("write_source", edits=[edit])["delta"]["files"]
    assert [one["new_text"] for one in file["edits"]] == ["x = 2"]


def test_the_same_change_has_the_same_fingerprint_and_another_has_not(made: Made) -> None:
    repo = made({"a.py": TEXT})
    repo.session.index.refresh()
    there = {"path": "a.py", "expected_content": "def g():", "new_content": "def h():"}
    back = {"path": "a.py", "expected_content": "def h():", "new_content": "def g():"}
    prints = [repo.result("write_source", edits=[one])["delta"]["mutation"] for one in (there, back, there)]
    assert prints[0]["fingerprint"] == prints[2]["fingerprint"] != prints[1]["fingerprint"]


def test_a_git_operation_has_hashes_and_fingerprints(made: Made) -> None:
    repo = made({"a.py": TEXT})
    repo.session.index.refresh()
    repo.write("a.py", TEXT.replace("return 1", "return 3"))
    result = repo.result("git_checkout", paths=["a.py"], force=True)
    [file] = result["files"]
    assert (file["old_hash"], file["file_sha256"]) == (
        digest(TEXT.replace("return 1", "return 3")),
        digest(TEXT),
    )
    assert file["line_ending"] == "LF"
    assert [(one["start"]["line"], one["new_text"], one["symbol"]) for one in file["edits"]] == [
        (2, "    return 1\n", "f"),
        (6, "    return 1\n", "g"),
    ]
    assert result["repo_fingerprint"] == repo.session.states.now().hex()
    assert result["mutation"]["symbol_changes"]


def test_a_move_of_head_has_the_lines_that_it_replaced(made: Made) -> None:
    repo = made({"a.py": TEXT})
    repo.session.index.refresh()
    repo.write("a.py", TEXT.replace("g():", "h():"))
    repo.result("git_stage_and_commit", message="h")
    [file] = repo.result("git_reset", ref="HEAD~1", mode="hard")["files"]
    assert [(one["start"]["line"], one["new_text"]) for one in file["edits"]] == [(5, "def g():\n")]
