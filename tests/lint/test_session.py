"""`lint_check` and `lint_tools` in a repository that the user trusts."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.paths import RepoPath
from codeplane.lint.linters import LINTERS
from codeplane.process import Finished
from tests.drive import git, new_repo
from tests.lint.lab import DEV, program
from tests.tools.repo import Repo, trust

Trusted = Callable[..., Repo]
RUFF = '[lint]\nselect = ["E4", "F"]\n'
TEST = "from a import f\n\n\ndef test_f():\n    assert f()\n"
IGNORE = ".venv\n.codeplane\n"


@pytest.fixture
def trusted(tmp_path: Path) -> Iterator[Trusted]:
    """A repository that brings ruff and mypy along, opened by a user who trusts it."""
    made: list[Repo] = []

    def make(files: Mapping[str, str], *, is_trusted: bool = True) -> Repo:
        root = new_repo(tmp_path / "repo", {".gitignore": IGNORE, **files})
        for name in ("ruff", "mypy"):
            program(root / ".venv/bin", name, f'exec {DEV / name} "$@"')
        if is_trusted:
            trust(root, tmp_path)
        made.append(Repo.at(root, tmp_path))
        return made[-1]

    yield make
    for repo in made:
        repo.session.close()


def problems(result: Mapping[str, Any]) -> list[str]:
    return [f"{file['path']}:{one}" for file in result["files"] for one in file["problems"]]


def test_problems_are_grouped_by_file_with_totals(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\nimport re\n", "in/b.py": "x = y\n"})
    found = repo.result("lint_check")
    assert found["summary"] == "3 problems in 2 files (3 error); 2 fixable"
    assert problems(found) == [
        "a.py:1:8-10 error F401: `os` imported but unused (ruff, fixable)",
        "a.py:2:8-10 error F401: `re` imported but unused (ruff, fixable)",
        "in/b.py:1:5-6 error F821: Undefined name `y` (ruff)",
    ]
    assert (found["by_tool"], found["by_rule"]) == ({"ruff": 3}, {"F401": 2, "F821": 1})
    assert repo.result("lint_check", limit=1)["more"] == 2
    assert repo.ask("lint_check", limit=1).text.splitlines()[:4] == [
        "3 problems in 2 files (3 error); 2 fixable",
        "a.py",
        "  1:8-10 error F401: `os` imported but unused (ruff, fixable)",
        "2 more problems; by rule: F401 2, F821 1",
    ]
    assert problems(repo.result("lint_check", paths=["in"])) == problems(found)[2:]
    assert problems(repo.result("lint_check", paths=["*.py", "!in/"])) == problems(found)[:2]


def test_what_is_named_has_to_be_there(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\n"})
    assert repo.error("lint_check", paths=["b.py"])["name"] == "NOT_FOUND"
    assert repo.error("lint_check", paths=["../a.py"])["name"] == "PATH_REFUSED"
    assert repo.error("lint_check", paths=["*.rb"])["name"] == "NOT_FOUND"
    unknown = repo.error("lint_check", tools=["ruf"])
    assert unknown["name"] == "INVALID_ARGUMENT" and "ruff" in unknown["hints"][0]


def test_only_lines_that_differ_from_a_commit_are_told(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\nx = 1\nimport re\n", "b.py": "import os\n"})
    assert problems(repo.result("lint_check", changed_lines=True)) == []
    repo.write("a.py", "import os\nx = 1\ny = z\nimport re\n")
    repo.write("c.py", "import os\n")
    changed = ["a.py:3:5-6 error F821: Undefined name `z` (ruff)"]
    new = ["c.py:1:8-10 error F401: `os` imported but unused (ruff, fixable)"]
    assert problems(repo.result("lint_check", changed_lines=True)) == changed + new
    git(repo.root, "add", "a.py")
    git(repo.root, "commit", "-qm", "more")
    assert problems(repo.result("lint_check", changed_lines=True)) == new
    assert problems(repo.result("lint_check", base="HEAD~1")) == changed + new
    assert repo.error("lint_check", base="nowhere")["name"] == "REVISION_NOT_FOUND"


def test_a_fix_is_an_operation_that_can_be_undone(trusted: Trusted) -> None:
    sloppy = "import os\nimport re\n\n\ndef f():\n    return re\n"
    repo = trusted({"ruff.toml": RUFF, "a.py": sloppy, "b.py": "x = y\n", "test_a.py": TEST})
    answer = repo.ask("lint_check", fix=True, dry_run=True).body
    assert answer["meta"]["next_actions"] == ['lint_check {"fix": true}']
    shown = answer["result"]
    assert "-import os" in shown["fix"]["delta"]["files"][0]["diff"]
    assert (repo.root / "a.py").read_text() == sloppy
    fixed = repo.result("lint_check", fix=True)
    assert fixed["summary"] == "1 file fixed; left: 1 problem in 1 file (1 error)"
    assert fixed["fixed_by"] == ["ruff"]
    assert fixed["fix"]["tests"] and fixed["fix"]["operation"].startswith("op_")
    assert (repo.root / "a.py").read_text() == sloppy.removeprefix("import os\n")
    [row] = [one for one in repo.session.ledger.operations() if one.op_type == "lint_check"]
    assert row.success and [change.path for change in row.changes] == ["a.py"]
    repo.result("undo")
    assert (repo.root / "a.py").read_text() == sloppy


def test_a_fix_stays_inside_the_working_set(trusted: Trusted) -> None:
    sloppy = "import os\n"
    repo = trusted({"ruff.toml": RUFF, "a/x.py": sloppy, "b/y.py": sloppy})
    repo.result("task_open", label="confined", working_set=["a/**"])
    error = repo.error("lint_check", fix=True)
    assert error["name"] == "EDIT_REFUSED" and "b/y.py is outside the working set." in error["message"]
    repo.result("lint_check", fix=True, paths=["a"])
    assert (repo.root / "a/x.py").read_text() == ""
    assert (repo.root / "b/y.py").read_text() == sloppy


def test_nothing_to_fix_is_no_operation(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "x = y\n"})
    found = repo.result("lint_check", fix=True)
    assert found["summary"] == "nothing to fix; left: 1 problem in 1 file (1 error)"
    assert "fix" not in found


def test_lines_are_not_fixed(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\n"})
    assert repo.error("lint_check", fix=True, changed_lines=True)["name"] == "INVALID_ARGUMENT"


def test_a_file_that_changes_while_linters_run_is_not_written(
    trusted: Trusted, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\n", "b.py": "import os\n"})
    ruff = LINTERS["ruff"]

    def overtaken(finished: Finished, given: bytes) -> bytes:
        (repo.root / "b.py").write_text("import os  # mine\n")
        return finished.stdout

    monkeypatch.setattr(ruff, "fixed", overtaken)
    error = repo.error("lint_check", fix=True)
    assert error["name"] == "EDIT_CONFLICT" and "b.py" in error["message"]
    assert (repo.root / "a.py").read_text() == "import os\n"
    assert (repo.root / "b.py").read_text() == "import os  # mine\n"


def test_a_fix_counts_as_a_mutation(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\n"})
    repo.result("task_open", max_mutations=1)
    repo.result("write_source", edits=[{"path": "n.py", "action": "create", "new_content": "n = 1\n"}])
    assert repo.error("lint_check", fix=True)["name"] == "TASK_BUDGET_EXCEEDED"
    assert repo.result("lint_check")["by_tool"] == {"ruff": 1}


def test_settings_switch_linters_off_and_add_others(trusted: Trusted) -> None:
    sarif = {
        "runs": [
            {
                "results": [
                    {
                        "ruleId": "R1",
                        "level": "note",
                        "message": {"text": "Hm."},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": "a.py"},
                                    "region": {"startLine": 1},
                                }
                            }
                        ],
                    }
                ]
            }
        ]
    }
    lint = {
        "tools": {"ruff": False},
        "custom": [{"name": "mine", "cmd": ["mine", "{files}"], "paths": ["*.py"]}],
    }
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\n"})
    program(repo.root / ".venv/bin", "mine", f"cat <<'END'\n{json.dumps(sarif)}\nEND")
    (repo.root / ".codeplane/config.yaml").write_text(json.dumps({"lint": lint}))
    repo.session.close()
    again = Repo.at(repo.root, repo.root.parent)
    found = again.result("lint_check")
    listed = {one["name"]: one["status"] for one in again.result("lint_tools")["tools"]}
    again.session.close()
    assert problems(found) == ["a.py:1:1 info R1: Hm. (mine)"]
    assert found["notes"] == ["ruff is switched off by lint.tools."]
    assert listed == {"ruff": "off", "mine": "ready"}


def test_tools_are_listed_with_what_says_so_and_what_is_missing(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "web/.prettierrc": "{}", "a.py": "", "web/a.css": ""})
    ruff, prettier = repo.result("lint_tools")["tools"]
    assert ruff["version"].startswith("ruff ")
    assert {**ruff, "version": ""} == {
        "name": "ruff",
        "status": "ready",
        "roots": ["."],
        "evidence": ["ruff.toml"],
        "fixes": True,
        "program": ".venv/bin/ruff",
        "version": "",
    }
    assert (prettier["roots"], prettier["evidence"]) == (["web"], ["web/.prettierrc"])
    assert prettier["status"] in ("missing", "ready")


def test_a_missing_linter_is_told_with_what_to_do(trusted: Trusted) -> None:
    repo = trusted({"a.sh": "echo\n", ".shellcheckrc": ""})
    repo.session.checkout.programs.__dict__["env"] = {"PATH": "/nowhere"}
    found = repo.result("lint_check")
    assert found["summary"] == "No linter ran"
    assert found["missing"][0].startswith("shellcheck: Install shellcheck")


def test_files_that_no_linter_is_for_are_told(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": "", "a.py": "x = 1\n"})
    said = "No linter ran: none is set up for these files"
    assert repo.result("lint_check", paths=["ruff.toml"])["summary"] == said


def test_nothing_of_an_untrusted_repository_is_run(trusted: Trusted) -> None:
    """Every program and every configuration of it would leave a mark."""
    mark = "__import__('pathlib').Path('mark').touch()"
    files = {
        "pyproject.toml": '[tool.mypy]\nplugins = ["bad.py"]\n[tool.ruff]\n',
        "bad.py": f"{mark}\ndef plugin(version):\n    raise SystemExit\n",
        "eslint.config.mjs": 'import fs from "fs"; fs.writeFileSync("mark", ""); export default [];\n',
    }
    repo = trusted(files, is_trusted=False)
    for name in ("ruff", "mypy", "eslint"):
        program(repo.root / ".venv/bin", name, f"touch {repo.root}/mark")
    for arguments in ({}, {"fix": True}, {"changed_lines": True}, {"tools": ["ruff"]}, {"dry_run": True}):
        error = repo.error("lint_check", **arguments)
        assert (error["code"], error["hints"]) == (2005, ["cpl trust"])
    listed = repo.result("lint_tools")["tools"]
    assert {one["name"] for one in listed} == {"eslint", "mypy", "ruff"}
    assert not any("version" in one for one in listed)
    assert not (repo.root / "mark").exists()
    assert RepoPath("mark") not in repo.session.index.digests()


def test_links_that_a_repository_brings_along_lead_nowhere(trusted: Trusted, tmp_path: Path) -> None:
    repo = trusted({"mypy.ini": "[mypy]\n", "a.py": "x = 1\n"})
    other = tmp_path / "other"
    other.mkdir()
    kept = repo.root / ".codeplane/lint"
    kept.mkdir()
    (kept / "mypy").symlink_to(other)
    assert repo.result("lint_check")["summary"] == "No problems"
    assert list(other.iterdir()) == []
    (kept.rename(tmp_path / "gone"))
    kept.symlink_to(other)
    assert repo.error("lint_check")["name"] == "STATE_UNUSABLE"
    assert list(other.iterdir()) == []


def test_the_whole_repository_is_what_a_dot_names(trusted: Trusted) -> None:
    repo = trusted({"ruff.toml": RUFF, "a.py": "import os\n", "in/a.py": "import os\n"})
    assert repo.result("lint_check", paths=["."])["by_tool"] == {"ruff": 2}
    answer = repo.ask("lint_check", paths=["in"]).body
    assert answer["meta"]["next_actions"] == ['lint_check {"paths": ["in"], "fix": true, "dry_run": true}']
