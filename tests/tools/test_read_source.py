import os
import threading
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.session import RepoSession
from tests.tools.conftest import Ask


def text(body: dict[str, Any]) -> str:
    [file] = body["result"]["files"]
    return "\n".join(span["text"] for span in file["spans"])


@pytest.mark.parametrize(
    ("name", "source", "symbol", "first"),
    [
        ("m.go", "package m\n\n// F does.\n// More.\nfunc F() {}\n", "F", 3),
        ("m.go", "package m\n\n// Of no one.\n\nfunc F() {}\n", "F", 5),
        ("m.rs", "use a::b;\n/// Doc.\n#[derive(Debug)]\npub struct P {\n    x: i32,\n}\n", "P", 2),
        ("m.ts", 'import x from "y"; // x\n/**\n * Adds.\n */\nexport function add() {}\n', "add", 2),
        ("m.ts", "class K {\n  /** Doc. */\n  @dec()\n  m() {}\n}\n", "K.m", 2),
        ("m.ts", "/* tail */ let q = 3;\nfunction add() {}\n", "add", 2),
        ("A.java", "package a;\n\n/**\n * Doc.\n */\n@Deprecated\nclass A {}\n", "A", 3),
        ("m.py", "#!/bin/python\n# Why.\n@dec\ndef f():\n    pass\n", "m.f", 2),
    ],
)
def test_a_definition_is_read_with_the_comments_right_above_it(
    ask: Ask, repo: Path, name: str, source: str, symbol: str, first: int
) -> None:
    (repo / name).write_text(source)
    shown = text(ask("read_source", targets=[symbol])).split("\n")
    assert shown[0] == f"{first}: {source.splitlines()[first - 1]}"


def test_a_long_file_is_cut_and_says_how_to_read_on(ask: Ask, repo: Path) -> None:
    (repo / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
    first = ask("read_source", targets=["long.txt"])
    [span] = first["result"]["files"][0]["spans"]
    assert span["text"].endswith("400: line 400") and first["meta"]["limits_applied"] == {
        "lines": {"hard_cap": 400}
    }
    second = ask("read_source", targets=[span["more"]])
    assert text(second).startswith("401: line 401\n")


def test_an_answer_has_room_for_so_much_and_names_the_rest(ask: Ask, repo: Path) -> None:
    for name in "abcd":
        (repo / f"{name}.txt").write_text("x" * 900 + "\n" * 2 + ("y" * 900 + "\n") * 30)
    body = ask("read_source", targets=[f"{name}.txt" for name in "abcd"])
    assert len(str(body)) < 45_000
    assert body["result"]["left"] and body["meta"]["limits_applied"]["characters"] == {"hard_cap": 40_000}


def test_a_line_without_end_is_cut(ask: Ask, repo: Path) -> None:
    (repo / "min.js").write_text("x" * 2_000_000)
    assert text(ask("read_source", targets=["min.js"])).endswith("… (1999000 characters more)")


def test_a_line_alone_shows_what_is_around_it(ask: Ask, repo: Path) -> None:
    body = "".join(f"    x{n} = {n}\n" for n in range(10))
    (repo / "a.py").write_text(f"import os\n\n\ndef first():\n{body}\n\ndef second():\n    pass\n")
    shown = text(ask("read_source", targets=["a.py:8"]))
    assert shown.startswith("4: def first():") and "second" not in shown


def test_line_ends_of_dos_are_told_and_not_shown(ask: Ask, repo: Path) -> None:
    (repo / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    body = ask("read_source", targets=["dos.txt"])
    assert text(body) == "1: one\n2: two" and body["result"]["files"][0]["newline"] == "crlf"


def test_binary_content_is_not_shown(ask: Ask, repo: Path) -> None:
    (repo / "image.bin").write_bytes(b"\0\1\2")
    assert ask("read_source", targets=["image.bin"])["error"]["name"] == "PATH_REFUSED"


def test_a_deleted_file_is_told_from_one_that_never_was(ask: Ask, repo: Path) -> None:
    (repo / "old.py").write_text("x = 1\n")
    assert text(ask("read_source", targets=["old.py"])) == "1: x = 1"
    (repo / "old.py").unlink()
    assert "is gone" in ask("read_source", targets=["old.py"])["error"]["message"]
    assert "There is no file" in ask("read_source", targets=["never.py"])["error"]["message"]


def test_a_file_that_is_kept_out_says_by_what(ask: Ask, repo: Path) -> None:
    (repo / ".gitignore").write_text("out/\n")
    (repo / "out").mkdir()
    (repo / "out" / "made.py").write_text("x = 1\n")
    error = ask("read_source", targets=["out/made.py"])["error"]
    assert error["details"]["absence"] == "not_indexed"


@pytest.mark.parametrize("name", [".npmrc", "id_ed25519", ".git-credentials"])
def test_a_secret_whose_name_might_be_a_symbol_is_said_to_be_one(ask: Ask, repo: Path, name: str) -> None:
    (repo / name).write_text("x\n")
    assert "looks like a secret" in ask("read_source", targets=[name])["error"]["message"]


def test_a_link_inside_the_repository_leads_to_its_file(ask: Ask, repo: Path) -> None:
    (repo / "real.py").write_text("x = 1\n")
    (repo / "link.py").symlink_to("real.py")
    assert ask("read_source", targets=["link.py"])["result"]["files"][0]["path"] == "real.py"


def test_a_name_that_is_not_utf8_can_be_read_through_a_symbol(ask: Ask, repo: Path) -> None:
    Path(os.fsdecode(os.fsencode(repo) + b"/b\xff.py")).write_text("def odd_one():\n    pass\n")
    [file] = ask("read_source", targets=["odd_one"])["result"]["files"]
    assert file["path"].startswith("b\ufffd") and "def odd_one" in file["spans"][0]["text"]
    assert "def odd_one" in text(ask("read_source", targets=[file["path"]]))


def test_a_file_that_changes_while_it_is_read_is_read_anew(
    ask: Ask, repo: Path, session: RepoSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = repo / "app.py"
    target.write_text("x = 1\n")
    session.index.refresh()
    read, edits = Snapshot.source, iter(["x = 22\n"])

    def source(snapshot: Snapshot, path: RepoPath) -> bytes:
        for text in edits:
            target.write_text(text)
        return read(snapshot, path)

    monkeypatch.setattr(Snapshot, "source", source)
    assert text(ask("read_source", targets=["app.py"])) == "1: x = 22"


def test_a_file_that_never_rests_ends_in_an_error_to_try_again(
    ask: Ask, repo: Path, session: RepoSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = repo / "app.py"
    target.write_text("x = 1\n")
    session.index.refresh()
    read, count = Snapshot.source, iter(range(1000))

    def source(snapshot: Snapshot, path: RepoPath) -> bytes:
        target.write_text(f"x = {next(count)}_{threading.get_ident()}\n")
        return read(snapshot, path)

    monkeypatch.setattr(Snapshot, "source", source)
    error = ask("read_source", targets=["app.py"])["error"]
    assert error["name"] == "CONTENT_CHANGED" and error["retryable"]


def test_what_was_saved_is_told_against_reading_the_whole_file(ask: Ask, repo: Path) -> None:
    (repo / "long.py").write_text("def wanted():\n    pass\n" + "x = 1\n" * 2000)
    assert ask("read_source", targets=["wanted"])["meta"]["tokens_saved"] > 2500
