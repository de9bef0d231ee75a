from pathlib import Path

import pytest

from tests.tools.conftest import Ask


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project"),
        ("pyproject.toml", 'project = 1\n[tool]\npoetry = ["x"]\n'),
        ("pyproject.toml", "[project]\nscripts = 3\ndependencies = [1, {}]\n"),
        ("package.json", "[" * 100_000),
        ("package.json", '{"bin": [1], "scripts": {"start": 5}, "dependencies": "x"}'),
        ("setup.cfg", "no section\n"),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    a\n    b = \n"),
        ("Cargo.toml", 'bin = ["x", {name = 1}]\n'),
        ("go.mod", "require (\n\tx v\n"),
        ("composer.json", "null"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_passed_over(ask: Ask, repo: Path, name: str, text: str) -> None:
    (repo / name).write_text(text)
    assert "result" in ask("map_repo")


def test_a_wide_repository_has_a_short_map(ask: Ask, repo: Path) -> None:
    for number in range(150):
        (repo / f"d{number}").mkdir()
        (repo / f"d{number}" / "test_x.py").write_text(
            f"import outside{number}\n\n\ndef test_a():\n    pass\n"
        )
    body = ask("map_repo", depth=99)
    assert len(str(body)) < 12_000 and body["meta"]["limits_applied"] == {"depth": 10}
    assert body["result"]["left"].keys() >= {"structure", "dependencies", "test_layout"}


def test_an_empty_repository_has_a_map(ask: Ask, repo: Path) -> None:
    (repo / "README.md").unlink()
    result = ask("map_repo")["result"]
    assert result["structure"] == [] and result["languages"] == []


def test_what_only_looks_like_an_entry_point_is_none(ask: Ask, repo: Path) -> None:
    (repo / "notes.py").write_text(
        '"""\nUse if __name__ == "__main__" at the end.\n"""\n\n\ndef main():\n    pass\n'
    )
    (repo / "test_a.go").write_text("package a\n\ntype T struct{}\n\nfunc (t T) main() {}\n")
    assert ask("map_repo", include=["entry_points"])["result"]["entry_points"] == []
