import re
from pathlib import Path
from typing import Any

import pytest

from codeplane.session import RepoSession
from codeplane.tools.search import SearchOutput
from tests.tools.conftest import Ask

TEXTS = {
    "app/core.py": "class Core:\n    def start_engine(self):\n        return engineStarter(1)\n",
    "app/util.py": "def helper():\n    return 'superuser'\n\n\nVALUE_OF_ALL = helper()\n",
    "tests/test_core.py": "from app.core import Core\n\n\ndef test_engine():\n    Core().start_engine()\n",
    "docs/guide.md": "# Engines\n\nThe engine starts. Naïveté and ünïcode.\n",
    "data/long.txt": "x" * 70 + "engine" + "y" * 70 + "\n",
    "data/odd.txt": "the ésave case\nकार्य नमस्ते\n",
}


@pytest.fixture
def repo(repo: Path) -> Path:
    for name, text in TEXTS.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    return repo


def hits(body: dict[str, Any]) -> list[tuple[str, int]]:
    return [
        (file["path"], int(re.match(r"\d+", hit)[0]))  # type: ignore[index]
        for file in body["result"]["files"]
        for hit in file["hits"]
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "engine", "ngin", "Engine",
        "(?i)ENGINE", r"start_\w+", r"\bengine\b", "_engine", r"engine\(", r"def \w+\(",
        "engineS", r"\bsave\b", "save", "ïve", "नम", "x{3}", "yyy", "e.gine", "(engine|helper)", "^from ",
        r"[A-Z]{3}_OF", "OF_ALL", r"return '", "superuse", "'superuser'", "'super", r"\(sel", r"\)$", "^$",
    ],
)  # fmt: skip
def test_a_pattern_finds_what_a_look_at_every_line_finds(ask: Ask, repo: Path, pattern: str) -> None:
    expected = {
        (name, number)
        for name, text in TEXTS.items()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line, re.ASCII)
    }
    body = ask("search", query=pattern, mode="regex", limit=100, paths=["app/", "tests/", "docs/", "data/"])
    assert set(hits(body)) == expected


@pytest.mark.parametrize("text", ["engine", "start_engine()", "'superuser'", "Naïveté", "नमस्ते", "é", "): "])
def test_literal_text_is_found_as_it_is(ask: Ask, repo: Path, text: str) -> None:
    expected = {
        (name, number)
        for name, content in TEXTS.items()
        for number, line in enumerate(content.splitlines(), 1)
        if text in line
    }
    body = ask("search", query=text, mode="literal", limit=100, paths=["app", "tests", "docs", "data"])
    assert set(hits(body)) == expected


def test_an_answer_says_which_epoch_it_is_of(ask: Ask, repo: Path) -> None:
    before = ask("search", query="engine")["meta"]["epoch"]
    (repo / "app" / "core.py").write_text("engine = 1\n")
    assert ask("search", query="engine")["meta"]["epoch"] > before
    assert "epoch" not in ask("reset_budget")["meta"]


def test_all_lines_of_few_files_that_hold_a_word_are_shown(ask: Ask, repo: Path) -> None:
    for name, count in (("one", 7), ("two", 14)):
        (repo / f"app/{name}.txt").write_text("".join(f"the zebraCrossing {i}\n" for i in range(count)))
    found = ask("search", query="zebraCrossing", limit=100)["result"]
    one, two = found["files"]
    assert (len(one["hits"]), one.get("more")) == (7, None)
    assert (len(two["hits"]), two["more"]) == (12, "2")
    assert SearchOutput.model_validate(found).render().endswith(": the zebraCrossing 11\n… 2 more")
    only = ask("search", query="zebraCrossing", limit=100, paths=["app/two.txt"])["result"]["files"]
    assert (len(only[0]["hits"]), only[0].get("more")) == (14, None)


def test_a_helper_of_tests_does_not_come_before_the_source(ask: Ask, repo: Path) -> None:
    (repo / "app/herd.py").write_text("def count(animals):\n    return animals.zebra\n")
    (repo / "tests").mkdir(exist_ok=True)
    (repo / "tests/test_herd.py").write_text("def zebra_herd():\n    ...\n")
    found = ask("search", query="zebra")["result"]["files"]
    assert [one["path"] for one in found] == ["app/herd.py", "tests/test_herd.py"]
    [only] = ask("search", query="zebra", kinds=["function"])["result"]["files"]
    assert only["path"] == "tests/test_herd.py"


def test_lines_of_many_files_that_are_not_shown_are_counted(ask: Ask, repo: Path) -> None:
    for at in range(15):
        (repo / f"app/z{at:02}.txt").write_text("zebraCrossing\n" * (5 if at else 400) + "zebra\n")
    files = ask("search", query="zebraCrossing", limit=100)["result"]["files"]
    assert [(len(one["hits"]), one["more"]) for one in files] == [(3, "297+")] + [(3, "2")] * 14


def test_lines_with_some_of_the_words_are_not_missing_where_others_hold_all(ask: Ask, repo: Path) -> None:
    (repo / "app/z.txt").write_text("zebra crossing\n" + "zebra\n" * 9)
    (repo / "app/zz.txt").write_text("crossing\n" + "zebra\n" * 9)
    whole, some = ask("search", query="zebra, +crossing")["result"]["files"]
    assert (len(whole["hits"]), whole.get("more")) == (3, None)
    assert (len(some["hits"]), some["more"]) == (3, "7")


def test_an_edit_is_found_at_once(ask: Ask, repo: Path) -> None:
    assert ask("search", query="zzq", mode="regex")["result"]["absence"] == "proven_none"
    (repo / "app" / "new.py").write_text("a_zzq_b = 1\n")
    assert hits(ask("search", query="zzq", mode="regex")) == [("app/new.py", 1)]
    assert hits(ask("search", query="zzq")) == [("app/new.py", 1)]


def test_words_are_whole_or_parts_and_source_comes_first(ask: Ask, repo: Path) -> None:
    found = hits(ask("search", query="engine"))
    assert found == [
        ("app/core.py", 2), ("app/core.py", 3), ("tests/test_core.py", 4), ("tests/test_core.py", 5),
        ("docs/guide.md", 3),
    ]  # fmt: skip
    assert ask("search", query="user")["result"]["absence"] == "proven_none"  # `superuser` is one word


def test_letters_beyond_ascii_are_found(ask: Ask, repo: Path) -> None:
    assert hits(ask("search", query="नमस्ते")) == [("data/odd.txt", 2)]
    assert ("docs/guide.md", 3) in hits(ask("search", query="naïveté engine"))


def test_pages_follow_each_other_without_gap_or_repetition(ask: Ask, repo: Path) -> None:
    (repo / "many.txt").write_text("needle\n" * 7)
    (repo / "more.txt").write_text("needle\n" * 4)
    page = ask("search", query="needle", mode="literal", limit=3)
    seen = hits(page)
    while cursor := page["result"].get("next_cursor"):
        page = ask("search", cursor=cursor)
        seen += hits(page)
    assert seen == [("many.txt", n) for n in range(1, 8)] + [("more.txt", n) for n in range(1, 5)]


def test_a_page_leaves_out_and_names_what_has_changed_since(ask: Ask, repo: Path) -> None:
    for name in "abc":
        (repo / f"{name}.txt").write_text("needle\n")
    first = ask("search", query="needle", mode="literal", limit=1)
    (repo / "b.txt").write_text("\n\nneedle\n")
    (repo / "aa.txt").write_text("needle\n")
    second = ask("search", cursor=first["result"]["next_cursor"])
    assert hits(second) == [("c.txt", 1)] and second["result"]["changed"] == ["b.txt"]


@pytest.mark.parametrize("mode", ["lexical", "literal", "regex", "symbol", "definitions"])
@pytest.mark.parametrize(("count", "listed"), [(25, 25), (26, 20)])
def test_the_last_few_hits_need_no_page_of_their_own(
    ask: Ask, repo: Path, mode: str, count: int, listed: int
) -> None:
    for at in range(count):
        (repo / f"app/n{at:02}.py").write_text("def zebra():\n    pass\n")
    body = ask("search", query="zebra", mode=mode, limit=20)
    assert len(hits(body)) == listed
    rest = body["result"].get("next_cursor")
    assert (rest is None) == (listed == count)
    assert rest is None or len(hits(ask("search", cursor=rest))) == count - listed


def test_a_cursor_is_of_one_session_and_one_tool(ask: Ask, repo: Path, session: RepoSession) -> None:
    first = ask("search", query="engine", limit=1)
    cursor = first["result"]["next_cursor"]
    assert ask("search", client="another", cursor=cursor)["error"]["name"] == "CURSOR_GONE"
    other = session.sessions.enter("a client").cursors.keep("something else")
    assert ask("search", cursor=other)["error"]["name"] == "CURSOR_GONE"


def test_a_limit_out_of_bounds_is_cut_and_told(ask: Ask, repo: Path) -> None:
    (repo / "many.txt").write_text("needle\n" * 500)
    body = ask("search", query="needle", mode="literal", limit=10**9)
    limit = {"limit": {"requested": 10**9, "hard_cap": 100}}
    assert len(hits(body)) == 100 and body["meta"]["limits_applied"] == limit


def test_a_long_line_is_shown_where_the_match_is(ask: Ask, repo: Path) -> None:
    (repo / "min.js").write_text("a" * 50_000 + " needle " + "b" * 50_000)
    [file] = ask("search", query="needle", mode="literal")["result"]["files"]
    assert "needle" in file["hits"][0] and len(file["hits"][0]) < 260


def test_binary_files_are_not_looked_through(ask: Ask, repo: Path) -> None:
    (repo / "data" / "x.bin").write_bytes(b"needle\0")
    assert ask("search", query="needle", mode="regex")["result"]["absence"] == "proven_none"


def test_a_line_is_not_shown_again_on_a_later_page(ask: Ask, repo: Path) -> None:
    page = ask("search", query="helper", limit=1)
    seen = hits(page)
    while cursor := page["result"].get("next_cursor"):
        page = ask("search", cursor=cursor)
        seen += hits(page)
    assert seen == [("app/util.py", 1), ("app/util.py", 5)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": "x = 1\n"}, "proven_none"),
        ({"notes.txt": "about wanted_thing\n"}, "language_gap"),
        ({"broken.py": "def wanted_thing(:\n  (((\n"}, "parse_partial"),
    ],
)
def test_a_name_that_is_not_found_says_why(
    ask: Ask, repo: Path, files: dict[str, str], expected: str
) -> None:
    for name, text in files.items():
        (repo / name).write_text(text)
    body = ask("search", query="wanted_thing", mode="symbol")
    assert body["result"]["files"] == [] and body["result"]["absence"] == expected
    error = ask("search", query="wanted_thing", mode="references")["error"]
    assert error["name"] == "NOT_FOUND" and error["details"]["absence"] == expected


def test_an_empty_repository_has_nothing(ask: Ask, tmp_path: Path, repo: Path) -> None:
    for path in [*TEXTS, "README.md"]:
        (repo / path).unlink()
    for mode in ("lexical", "regex", "literal", "symbol"):
        assert ask("search", query="x", mode=mode)["result"]["absence"] == "proven_none"
    assert ask("list_files")["result"]["absence"] == "proven_none"


def test_a_scope_counts_before_the_best_are_chosen(ask: Ask, repo: Path) -> None:
    (repo / "app" / "many.py").write_text("".join(f"def common{n}():\n    pass\n\n\n" for n in range(300)))
    (repo / "data" / "one.py").write_text("def uncommon_thing():\n    pass\n")
    assert hits(ask("search", query="common", mode="symbol", paths=["data/"])) == [("data/one.py", 1)]


def test_a_capital_letter_means_itself_where_that_is_found(ask: Ask, repo: Path) -> None:
    (repo / "app" / "cases.py").write_text("queryset = 1\nuse(QuerySet)\nuse(MyQuerySetting)\n")
    assert hits(ask("search", query="QuerySet")) == [("app/cases.py", 2)]
    assert hits(ask("search", query="Queryset")) == [("app/cases.py", 1), ("app/cases.py", 2)]
    assert hits(ask("search", query="queryset")) == [("app/cases.py", 1), ("app/cases.py", 2)]


def test_several_words_find_the_name_that_they_make(ask: Ask, repo: Path) -> None:
    (repo / "app" / "a.py").write_text("# start the engine, engine to start\n")
    assert hits(ask("search", query="start engine"))[0] == ("app/core.py", 2)
