"""How long an answer may be. A question without limits of its own, about much, fits into its budget."""

import json
from pathlib import Path
from typing import Any

import pytest

from codeplane.tools import all_tools
from tests.drive import git, new_repo
from tests.lint.lab import DEV, program
from tests.tools.conftest import Ask
from tests.tools.repo import trust

# Characters of the whole answer. About 4 make a token.
BUDGETS = {
    "batch": 14_000,
    "code_get_span": 20_000,
    "controller_turn": 6_500,
    "describe": 2_500,
    "discover_test_targets": 10_000,
    "git_status": 6_000,
    "git_diff": 29_000,
    "git_log": 12_000,
    "git_inspect": 28_000,
    "git_history": 8_000,
    "find_unused": 16_000,
    "git_branch": 16_000,
    "git_checkout": 10_000,
    "git_pull": 24_000,
    "git_reset": 10_000,
    "git_stash": 10_000,
    "git_push": 8_000,
    "git_remote": 6_000,
    "git_submodule": 6_000,
    "git_commit": 10_000,
    "git_stage": 10_000,
    "git_stage_and_commit": 10_000,
    "git_worktree": 4_000,
    "git_merge": 10_000,
    "git_rebase": 10_000,
    "graph_callees": 20_000,
    "graph_callers": 12_000,
    "graph_trace_feature": 20_000,
    "inspect_affected_tests": 6_000,
    "lint_check": 12_000,
    "lint_tools": 4_000,
    "list_files": 8_000,
    "map_repo": 12_000,
    "read_file_full": 40_000,
    "read_source": 40_000,
    "refs_find": 10_000,
    "reset_budget": 1_000,
    "run_test_targets": 24_000,
    "search": 6_000,
    "semantic_diff": 30_000,
    "semantic_refresh": 8_000,
    "semantic_status": 8_000,
    "surfaces_list": 8_000,
    "surfaces_list_config_keys": 8_000,
    "surfaces_list_db_tables": 8_000,
    "surfaces_list_endpoints": 6_000,
    "symbols_get_card": 6_000,
    "symbols_get_definition_span": 20_000,
    "symbols_search": 6_000,
    "task_close": 1_000,
    "task_open": 1_000,
    "task_status": 4_000,
    "types_hierarchy": 8_000,
    "undo": 24_000,
    "write_source": 24_000,
    "plan_create": 20_000,
    "plan_show": 20_000,
    "validate_deltas": 20_000,
    "get_delta_status": 16_000,
    "execute_deltas": 4_000,
    "delta_try": 24_000,
    "find_pattern": 20_000,
    "plan_update": 12_000,
    "decision_commit": 24_000,
    "refactor_apply": 28_000,
    "refactor_cancel": 1_000,
    "refactor_delete": 24_000,
    "refactor_impact": 12_000,
    "refactor_inspect": 40_000,
    "refactor_move": 24_000,
    "refactor_rename": 24_000,
    "repo_status": 4_000,
    "index_ensure_baseline": 4_000,
    "index_refresh_overlay": 2_000,
    "workspace_create": 4_000,
    "workspace_list": 4_000,
    "workspace_reset": 4_000,
    "workspace_delete": 4_000,
}
# Asked first; `{last}` stands for the id of the plan that it makes.
PLANS = {
    "refactor_inspect": ("big.core.shared", "common"),
    "refactor_apply": ("big.core.shared", "common"),
    "refactor_cancel": ("big.core.Base", "Root"),
    "decision_commit": ("big.core.Base", "Root"),
}
DELTA = {"elements": [{"path": "a.py", "transforms": [{"operation": "add_import", "import": "import re"}]}]}


def _delta_of(n: int) -> dict[str, Any]:
    transform = {"operation": "add_type_annotation", "target": f"use_{n}", "type": "object"}
    return {"delta": {"elements": [{"path": f"big/part{n % 12}/module{n}.py", "transforms": [transform]}]}}


MANY_TASKS = [
    {
        "title": f"Task {n} of many, with a title that is not short",
        "key": f"k{n}",
        **(_delta_of(n) if n < 300 else {}),
    }
    for n in range(500)
]
QUESTIONS: dict[str, dict[str, Any]] = {
    "batch": {"calls": [{"tool": "git_status"}, {"tool": "search", "args": {"query": "shared"}}]},
    "code_get_span": {"path": "big/wide.py"},
    "controller_turn": {"verb": "list_available_verbs"},
    "describe": {},
    "discover_test_targets": {},
    "git_status": {},
    "git_diff": {},
    "git_log": {},
    "git_inspect": {},
    "git_history": {"path": "big/core.py"},
    "git_pull": {"fetch_only": True},
    "git_push": {"dry_run": True, "tags": True},
    "git_remote": {},
    "git_submodule": {},
    "git_worktree": {},
    "graph_callees": {"symbol": "big.wide.everything", "depth": 3},
    "graph_callers": {"symbol": "big.core.shared", "depth": 3},
    "graph_trace_feature": {"entry_point": "big.wide.everything"},
    "inspect_affected_tests": {"affected_by": ["big"]},
    "lint_check": {"limit": 50},
    "lint_tools": {},
    "surfaces_list": {"kind": "exception", "limit": 100},
    "surfaces_list_config_keys": {},
    "surfaces_list_db_tables": {},
    "surfaces_list_endpoints": {},
    "semantic_refresh": {"action": "clear"},
    "semantic_status": {},
    "list_files": {"depth": 5},
    "map_repo": {},
    "read_file_full": {"path": "big/wide.py"},
    "read_source": {"targets": ["big/wide.py", "big/core.py", "big.wide.everything"]},
    "refs_find": {"symbol": "big.core.shared"},
    "reset_budget": {},
    "run_test_targets": {},
    "search": {"query": "shared"},
    "semantic_diff": {"base": "HEAD"},
    "symbols_get_card": {"symbol": "big.core.shared"},
    "symbols_get_definition_span": {"symbol": "big.wide.everything"},
    "symbols_search": {"query": "use"},
    "task_close": {"outcome": "success"},
    "task_open": {"label": "x" * 200},
    "task_status": {},
    "types_hierarchy": {"symbol": "big.core.Base"},
    "write_source": {
        "edits": [
            {"path": f"big/new/made{n}.py", "action": "create", "new_content": "def f(): pass\n" * 20}
            for n in range(200)
        ]
    },
    "undo": {},
    "plan_create": {"title": "much", "phases": [{"title": "all", "tasks": MANY_TASKS}]},
    "plan_show": {"plan": "{plan}"},
    "validate_deltas": {"plan": "{plan}", "level": "validated"},
    "get_delta_status": {"plan": "{plan}"},
    "delta_try": {
        "elements": [element for task in MANY_TASKS[:300] for element in task["delta"]["elements"]],
    },
    "find_pattern": {"pattern": "shared($A)"},
    "plan_update": {
        "plan": "{plan}",
        "updates": [{"item": f"k{n}", "state": "rejected"} for n in range(300, 500)],
    },
    "execute_deltas": {"plan": "{plan}", "confidence": "validated", "no_git": True},
    "refactor_rename": {"symbol": "big.core.shared", "new_name": "common", "apply": "never"},
    "refactor_inspect": {"plan": "{last}", "group": "proven", "limit": 200},
    "refactor_apply": {"plan": "{last}"},
    "refactor_cancel": {"plan": "{last}"},
    "decision_commit": {"plan_id": "{last}", "proof": {"symbol_identity": "big.core.Base"}},
    "refactor_impact": {"target": "big.core.common"},
    "refactor_move": {"from_path": "big/core.py", "to_path": "big/kernel.py", "apply": "never"},
    "refactor_delete": {"symbol": "big.core.common", "apply": "never"},
    "git_stage": {"paths": ["."]},
    "git_stage_and_commit": {"message": "x" * 1000},
    "git_commit": {"message": "y " * 1000, "amend": True},
    "find_unused": {},
    "git_branch": {"remote": True},
    "git_reset": {"ref": "HEAD~1", "mode": "hard", "force": True},
    "git_checkout": {"ref": "ORIG_HEAD"},
    "git_stash": {},
    "git_merge": {"ref": "start"},
    "git_rebase": {"action": "plan", "upstream": "HEAD~1"},
    "repo_status": {},
    "index_ensure_baseline": {},
    "workspace_create": {"workspace_id": "fix"},
    "workspace_list": {},
    "index_refresh_overlay": {"workspace_id": "fix"},
    "workspace_reset": {"workspace_id": "fix"},
    "workspace_delete": {"workspace_id": "fix"},
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """One function that 300 modules use, a class that all of them extend, a function that calls them all."""
    used = (
        "from big.core import Base, shared\n\n\nclass Derived{0}(Base):\n    def run(self):\n"
        "        return shared({0}) + shared('some text that is not short at all, to fill it {0}')\n\n\n"
        "def use_{0}(value):\n    return shared(value) or Derived{0}().run()\n"
    )
    files = {f"big/part{n % 12}/module{n}.py": used.format(n) for n in range(300)}
    calls = "".join(f"    use_{n}({n})\n" for n in range(300))
    imports = "".join(f"from big.part{n % 12}.module{n} import use_{n}\n" for n in range(300))
    files["big/wide.py"] = f"{imports}\n\ndef everything():\n{calls}"
    files["big/core.py"] = "class Base:\n    pass\n\n\ndef shared(value):\n    return value\n"
    files["ruff.toml"] = '[lint]\nselect = ["D", "ANN"]\n'
    repo = new_repo(tmp_path / "repo", files)
    trust(repo, tmp_path)
    program(repo / ".venv/bin", "ruff", f'exec {DEV / "ruff"} "$@"')
    for n in range(0, 300, 2):
        file = repo / f"big/part{n % 12}/module{n}.py"
        file.write_text(file.read_text().replace("value", "amount"))
    git(repo, "config", "user.name", "Ada")
    git(repo, "config", "user.email", "ada@example.org")
    git(repo, "tag", "start")
    git(tmp_path, "init", "-q", "--bare", "bare")
    git(repo, "remote", "add", "origin", f"file://{tmp_path}/bare")
    git(repo, "push", "-q", "origin", *(f"HEAD:refs/heads/branch{n}" for n in range(100)))
    return repo


def test_every_tool_has_a_budget() -> None:
    assert set(BUDGETS) == set(QUESTIONS) == set(all_tools())


def test_answers_about_much_fit_into_their_budgets(ask: Ask) -> None:
    over, plan = {}, ""
    for tool, question in QUESTIONS.items():
        if tool in PLANS:
            symbol, name = PLANS[tool]
            planned = ask("refactor_rename", symbol=symbol, new_name=name, apply="never")["result"]["plan"]
            question = json.loads(json.dumps(question).replace("{last}", planned))
        question = json.loads(json.dumps(question).replace("{plan}", plan))
        answer = ask(tool, **question)
        assert "result" in answer, (tool, answer["error"]["message"])
        plan = answer["result"]["plan"] if tool == "plan_create" else plan
        size = len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
        if size > BUDGETS[tool]:
            over[tool] = size
    assert not over
