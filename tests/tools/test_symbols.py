"""What the tools about symbols answer page by page, after edits, and where there is nothing to tell."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.repo import Repo

FILES = {
    "lib.py": "def used(): ...\n\n\ndef alone(): ...\n",
    "a.py": "from lib import used\n\n" + "used()\n" * 20,
    "b.py": "from lib import used\n\n" + "used()\n" * 20,
    "style.css": ".button { color: red }\n",
    "broken.py": "def f(:\n  (((  # alone\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, FILES)
    yield made
    made.session.close()


def test_references_are_listed_page_by_page(repo: Repo) -> None:
    first = repo.result("refs_find", symbol="used", limit=30)
    assert first["tiers"] == {"strong": 42} and first["more"] == 12
    second = repo.result("refs_find", symbol="used", limit=30, cursor=first["next_cursor"])
    lines = [ref for page in (first, second) for file in page["files"] for ref in file["refs"]]
    assert len(lines) == 42 and second["tiers"] == first["tiers"] and "next_cursor" not in second


@pytest.mark.parametrize(("limit", "listed"), [(34, 42), (33, 33)])
def test_the_last_few_references_need_no_page_of_their_own(repo: Repo, limit: int, listed: int) -> None:
    found = repo.result("refs_find", symbol="used", limit=limit)
    assert sum(len(file["refs"]) for file in found["files"]) == listed
    assert ("more" in found, "next_cursor" in found) == (listed < 42, listed < 42)


def test_a_file_that_changed_between_two_pages_is_left_out_and_named(repo: Repo) -> None:
    first = repo.result("refs_find", symbol="used", limit=21)
    repo.write("b.py", "# nothing\n")
    second = repo.result("refs_find", symbol="used", limit=30, cursor=first["next_cursor"])
    assert second["files"] == [] and second["changed"] == ["b.py"]
    assert repo.error("refs_find", symbol="used", cursor="cur_0")["name"] == "CURSOR_GONE"


def test_each_absence_has_its_own_reason(repo: Repo) -> None:
    assert repo.result("refs_find", symbol="alone")["absence"] == "parse_partial"
    assert repo.result("refs_find", symbol=".button")["absence"] == "language_gap"
    repo.write("broken.py", "")
    assert repo.result("refs_find", symbol="alone")["absence"] == "proven_none"
    (repo.root / "lib.py").unlink()
    assert repo.error("refs_find", symbol="lib.alone")["name"] == "NOT_FOUND"


def test_sizes_are_clamped_and_said_to_be(repo: Repo) -> None:
    answer = repo.ask("graph_callers", symbol="used", depth=10**9, limit_per_level=-5)
    assert answer.body["meta"]["limits_applied"] == {
        "depth": {"requested": 10**9, "hard_cap": 6},
        "limit_per_level": {"requested": -5, "hard_cap": 1},
    }


def test_a_symbol_that_calls_itself_ends(repo: Repo) -> None:
    repo.write("loop.py", "def one():\n    two()\n\n\ndef two():\n    one()\n    two()\n")
    up = repo.result("graph_callers", symbol="loop.one", depth=6)
    assert [[node["symbol"] for node in level["nodes"]] for level in up["levels"]] == [["loop.two"]]
    [root] = repo.result("graph_trace_feature", entry_point="loop.one", depth=6)["nodes"]
    [below] = root["children"]
    assert (below["symbol"], below["traits"], below["again"]) == ("loop.two", ["recursive"], ["one"])
    assert "children" not in below


def test_definitions_deep_inside_each_other_have_cards_and_callees(repo: Repo) -> None:
    lines = [f"{' ' * level}def f{level}():\n" for level in range(500)]
    repo.write("deep.py", "".join([*lines, f"{' ' * 500}return used()\n"]))
    assert repo.result("symbols_get_card", symbol="f499", slices=["def_use"])["kind"] == "function"
    assert repo.result("graph_callees", symbol="deep.f0")["symbol"] == "deep.f0"
    assert repo.result("symbols_get_definition_span", symbol="deep.f0")["truncated"]
