from pathlib import Path

from tests.tools.conftest import Ask


def test_a_link_is_listed_with_where_it_leads(ask: Ask, repo: Path) -> None:
    (repo / "lib").mkdir()
    (repo / "lib" / "real.py").write_text("x = 1\n")
    (repo / "link.py").symlink_to("lib/real.py")
    (repo / "out.py").symlink_to("/etc/passwd")
    assert ask("list_files")["result"]["tree"] == {".": ["lib/ (1)", "README.md", "link.py -> lib/real.py"]}
    assert ask("list_files", pattern="li*.py")["result"]["tree"] == {".": ["link.py -> lib/real.py"]}


def test_sizes_out_of_bounds_are_cut_and_told(ask: Ask, repo: Path) -> None:
    for number in range(30):
        (repo / f"f{number}.txt").write_text("x")
    body = ask("list_files", limit=10**9, depth=-3)
    assert body["meta"]["limits_applied"] == {"limit": 1000, "depth": 1}
    assert ask("list_files", limit=4)["result"]["left"] == 27
