"""ruff, its formatter and mypy, as installed for development; black and basedpyright of their own."""

from pathlib import Path

import pytest

from tests.lint.lab import Lab, after, pypi_tool

SLOPPY = 'import os, sys\ndef f( a ):\n    é = "ü"; print( sys.argv, é )\n    return a\n'
RUFF = '[lint]\nselect = ["E4", "F"]\n'


def test_ruff_tells_ranges_in_code_points_and_what_it_would_fix(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "r", {"ruff.toml": RUFF, "a.py": 'é = "ü"; import os\n', "b.py": "x = 1\n"})
    assert lab.told() == [
        "a.py:1:10-19 error E402: Module level import not at top of file (ruff)",
        "a.py:1:17-19 error F401: `os` imported but unused (ruff, fixable)",
    ]
    assert lab.tree() == ["a.py", "b.py", "ruff.toml"]


def test_a_file_that_cannot_be_parsed_is_a_finding_of_its_own(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "r", {"ruff.toml": RUFF, "a.py": "def (:\n"})
    [first, *_] = lab.check().diagnostics
    assert (first.path, first.line, first.severity, first.has_fix) == ("a.py", 1, "error", False)


def test_what_the_configuration_excludes_is_left_out_even_where_it_is_named(tmp_path: Path) -> None:
    ruff = 'extend-exclude = ["gen"]\n' + RUFF
    lab = Lab(tmp_path / "r", {"ruff.toml": ruff, "gen/a.py": "import os\n", "b.py": "import os\n"})
    assert {one.path for one in lab.check().diagnostics} == {"b.py"}
    assert set(after(lab.fixes())) == {"b.py"}


def test_an_inner_configuration_has_the_files_below_it(tmp_path: Path) -> None:
    inner = '[lint]\nselect = ["E711"]\n'
    text = "import os\n\n\ndef f(a):\n    return a == None\n"
    lab = Lab(tmp_path / "r", {"ruff.toml": RUFF, "in/ruff.toml": inner, "in/a.py": text, "b.py": text})
    found = [(one.path, one.rule) for one in lab.check().diagnostics]
    assert found == [("b.py", "F401"), ("in/a.py", "E711")]


def test_a_formatter_tells_the_lines_that_it_would_write_otherwise(tmp_path: Path) -> None:
    text = "a = 1\nb  =  2\nc = 3\n\n\n\n\nd = [ 4,\n5 ]\n"
    lab = Lab(tmp_path / "r", {"ruff.toml": "[format]\n", "a.py": text, "b.py": "x = 1\n"})
    formatted = [(one.line, one.end_line, one.rule) for one in lab.check("ruff-format").diagnostics]
    assert formatted == [(2, 2, "format"), (6, 9, "format")]


def test_formatting_is_asked_for_only_where_the_repository_formats(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "r", {"ruff.toml": RUFF, "a.py": "x  =  1\n"})
    assert lab.told() == []
    more = {"Makefile": "lint:\n\truff format .\n"}
    used = Lab(tmp_path / "s", {"ruff.toml": RUFF, "a.py": "x  =  1\n", **more})
    assert [line.partition(" ")[2] for line in used.told()] == [
        "warning format: This line would be formatted otherwise. (ruff-format, fixable)"
    ]


def test_fixes_of_several_tools_go_one_upon_the_other(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "r", {"ruff.toml": f"{RUFF}[format]\n", "a.py": SLOPPY, "bad.py": "def (:\n"})
    proposed = lab.fixes()
    fixed = 'import sys\n\n\ndef f(a):\n    é = "ü"\n    print(sys.argv, é)\n    return a\n'
    assert after(proposed) == {"a.py": fixed.encode()}
    assert proposed.tools == ("ruff", "ruff-format")
    assert (lab.root / "a.py").read_text() == SLOPPY
    assert {one.path for one in proposed.left} == {"bad.py"}


@pytest.mark.parametrize("text", [b"\xef\xbb\xbfimport os\r\nx = 1\r\n", b"import os\r\nx = 1"])
def test_a_fix_keeps_line_ends_and_the_mark_before_the_text(tmp_path: Path, text: bytes) -> None:
    lab = Lab(tmp_path / "r", {"ruff.toml": RUFF, "a.py": text})
    assert after(lab.fixes()) == {"a.py": text.replace(b"import os\r\n", b"")}


def test_mypy_checks_the_files_that_are_asked_for_and_remembers_outside_of_the_tree(tmp_path: Path) -> None:
    files = {"mypy.ini": "[mypy]\nstrict = True\n", "a.py": 'x: int = "s"\n', "in/b.py": "def f(a): pass\n"}
    lab = Lab(tmp_path / "r", files)
    assert [
        (one.path, one.line, one.column, one.end_column, one.rule) for one in lab.check().diagnostics
    ] == [
        ("a.py", 1, 10, 13, "assignment"),
        ("in/b.py", 1, 1, 15, "no-untyped-def"),
    ]
    assert lab.tree() == sorted(files)


def test_black_says_which_lines_and_leaves_out_what_it_excludes(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[tool.black]\nextend-exclude = 'gen/'\n",
        "a.py": "x  = 1\n",
        "gen/b.py": "x  = 1\n",
        "bad.py": "def (:\n",
    }
    lab = Lab(tmp_path / "r", files, path=pypi_tool("black", "26.10.1"))
    assert [(one.path, one.line, one.rule) for one in lab.check("black").diagnostics] == [
        ("a.py", 1, "format"),
        ("bad.py", 1, "syntax-error"),
    ]
    assert after(lab.fixes("black")) == {"a.py": b"x = 1\n"}


def test_basedpyright_tells_columns_in_code_points(tmp_path: Path) -> None:
    files = {"pyrightconfig.json": "{}", "a.py": 'é = "😀"; x: int = "s"\n'}
    lab = Lab(tmp_path / "r", files, path=pypi_tool("basedpyright", "1.40.2"))
    [found] = [one for one in lab.check("basedpyright").diagnostics if one.severity == "error"]
    assert (found.column, found.end_column, found.rule) == (19, 22, "reportAssignmentType")
