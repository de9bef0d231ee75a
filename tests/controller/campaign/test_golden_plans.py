"""An executor that only sends what answers say finishes every plan; forged evidence for none is accepted."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codeplane.config import Places
from codeplane.controller.evidence import EvidenceRecord
from codeplane.controller.evidence.store import EvidenceStore
from codeplane.session.trust import give_trust
from tests.controller.forgeries import forgeries
from tests.controller.lab import APP, Answered, Desk, open_desk
from tests.drive import git, new_repo, user_env

FILES = {**APP, ".gitignore": "__pycache__/\n.pytest_cache/\n"}
PROMPT = "page_count must round up: 21 items of 10 are 3 pages."
ROUND_UP = {"oldText": "total // size", "newText": "-(-total // size)"}
CHANGE: dict[str, Any] = {"file": "pager.py", "symbols": ["page_count"], "intent": "Round up."}
COMMIT = {"kind": "side_effect", "sideEffectType": "git_commit", "payload": "Round up", "gate": "g1"}
DELTA = {
    "path": "pager.py",
    "transforms": [
        {"operation": "add_decorator", "target": "page_count", "decorator": "@cache"},
        {"operation": "add_import", "import": "from functools import cache"},
    ],
}
RENAME = {"codemodId": "rename_identifier_in_file", "params": {"from": "page.number", "to": "index"}}
NEW_TEST = "from pager import page_count\n\n\ndef test_rest():\n    assert page_count(21, 10) in (2, 3)\n"

GOLDEN: dict[str, list[dict[str, Any]]] = {
    "edits": [{**CHANGE, "edits": [ROUND_UP]}],
    "delta": [{**CHANGE, "delta": DELTA}],
    "codemod": [{"file": "pager.py", "symbols": ["page"], "intent": "Rename.", "edits": [RENAME]}],
    "create": [
        {
            "file": "tests/test_rest.py",
            "operation": "create",
            "intent": "Test the rest.",
            "edits": [{"oldText": "", "newText": NEW_TEST}],
        }
    ],
    "delete": [{"file": "README.md", "operation": "delete", "intent": "It says nothing."}],
    "several files": [
        {**CHANGE, "id": "n1", "edits": [ROUND_UP]},
        {
            "id": "n2",
            "file": "report.py",
            "symbols": ["summary"],
            "intent": "Say it in words.",
            "edits": [{"oldText": "} pages", "newText": "} pages in all"}],
            "dependsOn": ["n1"],
        },
        {
            "id": "n3",
            "file": "tests/test_rest.py",
            "operation": "create",
            "intent": "Test the rest.",
            "edits": [{"oldText": "", "newText": NEW_TEST}],
            "dependsOn": ["n2"],
        },
    ],
    "validation": [
        {**CHANGE, "id": "n1", "edits": [ROUND_UP]},
        {"kind": "validate", "mapsTo": ["n1"], "hooks": ["test:tests/test_pager.py", "parse"]},
    ],
    "commit": [{**CHANGE, "edits": [ROUND_UP]}, COMMIT],
    "commit of several": [
        {**CHANGE, "id": "n1", "edits": [ROUND_UP]},
        {"id": "n2", "file": "README.md", "operation": "delete", "intent": "It says nothing."},
        {**COMMIT, "dependsOn": ["n1", "n2"]},
    ],
}


@contextmanager
def trusted_desk(tmp_path: Path) -> Iterator[Desk]:
    """A repository whose tests and linters may run."""
    root = new_repo(tmp_path / "repo", FILES)
    for key, value in (("name", "T"), ("email", "t@example.org")):
        git(root, "config", f"user.{key}", value)
    with open_desk(tmp_path):
        pass
    give_trust(root, Places.of_user(user_env(tmp_path / "home")))
    with open_desk(tmp_path) as desk:
        yield desk


def execute(desk: Desk, answer: Answered, most: int = 20) -> list[str]:
    """Sends the suggested call after a denial, the next call otherwise, until there is none."""
    verbs: list[str] = []
    while (call := answer.suggestion if answer.codes else answer.next_call) is not None:
        assert len(verbs) < most, verbs
        verbs.append(str(call["verb"]))
        answer = desk.send({**call, "workId": "w"})
        if answer.state == "COMPLETED":
            return verbs
    return verbs


@pytest.mark.parametrize("name", GOLDEN)
def test_a_script_without_a_thought_finishes_the_plan(tmp_path: Path, name: str) -> None:
    nodes = GOLDEN[name]
    with trusted_desk(tmp_path) as desk:
        first = desk.turn("submit_execution_plan", workId="w", originalPrompt=PROMPT, nodes=nodes)
        verbs = execute(desk, first)
        run = desk.run_of("w")
        assert run.state == "COMPLETED", verbs
        assert "abandoned" not in run.body.extra
        assert verbs[-1] == "signal_task_complete"
        assert verbs.count("apply_code_patch") == sum("file" in node for node in nodes)
        dirty = {line.split()[-1] for line in git(desk.root, "status", "--porcelain", "-uall").splitlines()}
        targets = {node["file"] for node in nodes if "file" in node}
        assert dirty == (set() if "commit" in name else targets), dirty
        assert len(verbs) <= len(nodes) + 3


@pytest.mark.parametrize("name", [name for name in GOLDEN if name != "create"])
def test_no_forgery_of_an_accepted_plan_is_accepted_and_the_true_one_is(tmp_path: Path, name: str) -> None:
    """Forgeries go through the verb, each in a run of its own that has read what the true plan cites."""
    with open_desk(tmp_path, FILES) as desk:
        true_plan, records = _true_plan(desk, "true", GOLDEN[name])
        names = set()
        for number, (kind, forged) in enumerate(forgeries(true_plan, records, "AGENTS.md")):
            work = f"f{number}"
            own_plan, own_records = _true_plan(desk, work, GOLDEN[name])
            handles = {old.handle: new.handle for old, new in zip(records, own_records, strict=True)}
            denial = desk.turn("submit_execution_plan", workId=work, **_renamed(forged, handles))
            assert "PLAN_EVIDENCE_INSUFFICIENT" in denial.codes, (kind, denial.text)
            assert desk.turn("submit_execution_plan", workId=work, **own_plan).state == "PLAN_ACCEPTED"
            names.add(kind)
        assert len(names) == 10
        assert desk.turn("submit_execution_plan", workId="true", **true_plan).state == "PLAN_ACCEPTED"


def _true_plan(
    desk: Desk, work: str, nodes: list[dict[str, Any]]
) -> tuple[dict[str, Any], list[EvidenceRecord]]:
    """The corrected plan, which cites what the run was shown, and that evidence; it is not sent yet."""
    denial = desk.turn("submit_execution_plan", workId=work, originalPrompt=PROMPT, nodes=nodes)
    records = EvidenceStore(lambda: desk.session.state_db, work).list_records()
    return dict(denial.result["result"]["skeleton"]), sorted(records, key=lambda one: one[1:])


def _renamed(value: Any, handles: Mapping[str, str]) -> Any:
    """The same value with the handles of another run."""
    if isinstance(value, dict):
        return {key: _renamed(item, handles) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, handles) for item in value]
    return handles.get(value, value) if isinstance(value, str) else value
