"""Linters from outside: refused, trusted, run, fixed and undone."""

import json
from typing import Any

from tests.drive import Cpl
from tests.lint.lab import DEV, program


def asked(cpl: Cpl, tool: str, **arguments: object) -> dict[str, Any]:
    body: dict[str, Any] = cpl.json("call", tool, json.dumps(arguments))
    return body


def test_a_fix_of_a_linter_is_made_and_taken_back(cpl: Cpl) -> None:
    (cpl.repo / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    (cpl.repo / "a.py").write_text("import os\n\nx = 1\n")
    program(cpl.repo / ".venv/bin", "ruff", f'exec {DEV / "ruff"} "$@"')
    assert asked(cpl, "lint_check")["error"]["name"] == "NOT_TRUSTED"
    assert cpl.run("trust").returncode == 0
    found = asked(cpl, "lint_check", changed_lines=True)["result"]
    assert found["files"][0]["problems"] == ["1:8-10 error F401: `os` imported but unused (ruff, fixable)"]
    assert asked(cpl, "lint_check", fix=True)["result"]["fix"]["applied"]
    assert (cpl.repo / "a.py").read_text() == "\nx = 1\n"
    assert "lint_check" in cpl.run("log").stdout
    assert cpl.run("undo").returncode == 0
    assert (cpl.repo / "a.py").read_text() == "import os\n\nx = 1\n"
