from pathlib import Path

from tests.tools.conftest import Ask


def test_a_link_is_listed_with_where_it_leads(ask: Ask, repo: Path) -> None:
    (repo / "lib").mkdir()
    (repo / "lib" / "real.py").write_text("x = 1\n")
    (repo / "link.py").symlink_to("lib/real.py")
    (repo / "out.py").symlink_to("/etc/passwd")
    assert ask("list_files")["result"]["tree"] == {".": ["lib/ (1)", "README.md", "link.py -> lib/real.py"]}
    assert ask("list_files", pattern="li*.py")["result"]["tree"] == {".": ["link.py -> lib/real.py"]}


def test_a_link_to_the_repository_itself_is_listed_as_one(ask: Ask, repo: Path) -> None:
    (repo / "here").symlink_to(".")
    assert ask("list_files")["result"]["tree"] == {".": ["README.md", "here -> ."]}


def test_sizes_out_of_bounds_are_cut_and_told(ask: Ask, repo: Path) -> None:
    for number in range(30):
        (repo / f"f{number}.txt").write_text("x")
    body = ask("list_files", limit=10**9, depth=-3)
    assert body["meta"]["limits_applied"] == {
        "limit": {"requested": 10**9, "hard_cap": 1000},
        "depth": {"requested": -3, "hard_cap": 1},
    }
    assert ask("list_files", limit=4)["result"]["left"] == 27


def test_pages_of_a_list_stay_as_they_were(ask: Ask, repo: Path) -> None:
    for number in range(30):
        (repo / f"f{number:02}.txt").write_text("x")
    page = ask("list_files", limit=20)["result"]
    seen = page["tree"]["."]
    (repo / "a_new_one.txt").write_text("x")
    (repo / "f29.txt").unlink()
    page = ask("list_files", cursor=page["next_cursor"])["result"]
    assert seen + page["tree"]["."] == ["README.md", *(f"f{number:02}.txt" for number in range(30))]
    assert "next_cursor" not in page
