"""Whatever is sent, no byte of the repository changes without an accepted node that names the file."""

import random
import threading
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.runs import Run
from codeplane.controller.verb import Denied
from tests.controller.execution.runs import (
    FILES,
    RunRepo,
    begin_run,
    change,
    edit,
    side_effect,
    states_of,
    validate,
)

STRANGE = ["../x.py", ".git/config", ".codeplane/state.db", "/etc/passwd", "", "link.py", "other.py", "a\0b"]
NODES = ["n1", "n2", "n3", "v1", "s1", "zz", "../n1", ""]
EDITS: list[dict[str, Any]] = [
    edit("+ url", "+ '/' + url"),
    edit("'/' + url", "url"),
    edit("return key", "return key or None"),
    edit("return None", "return 1"),
    edit("str(value)", "repr(value)"),
    edit("import os", "import os, sys"),
    edit("", "X = 1\n"),
    {"codemodId": "rename_identifier_in_file", "params": {"from": "dump", "to": "render"}},
    {"codemodId": "rename_identifier_in_file", "params": {"from": "load", "to": "fetch"}},
    {"codemodId": "../../evil", "params": {"path": "other.py"}},
    {"symbol": "Store.drop", "newText": "    def drop(self):\n        return 2\n"},
    {"oldText": "def", "newText": "", "path": "other.py"},
]


def files_of(repo: RunRepo) -> dict[str, bytes]:
    return {
        str(file.relative_to(repo.root)): file.read_bytes()
        for file in repo.root.rglob("*")
        if file.is_file()
        and not {".git", ".codeplane", "__pycache__"} & set(file.relative_to(repo.root).parts)
    }


def random_call(dice: random.Random, work_id: str) -> tuple[str, dict[str, Any]]:
    node = dice.choice(NODES[:4] * 4 + NODES)
    home = {"n1": "app.py" if work_id == "ann" else "store.py", "n2": "new.py", "n3": "app.py"}.get(node)
    file = dice.choice(["app.py", "store.py", "new.py", *([home] * 20 if home else []), *STRANGE])
    match dice.choice(["patch"] * 5 + ["effect", "recipe"]):
        case "patch":
            edits = dice.choices(EDITS, k=dice.choice([0, 1, 1, 2]))
            return "apply_code_patch", {"planNodeId": node, "targetFile": file, "edits": edits}
        case "effect":
            effect = dice.choice(["git_commit", "git_push", "rm -rf"])
            return "execute_gated_side_effect", {"planNodeId": node, "sideEffectType": effect}
        case _:
            ref = f"{work_id}/bundles/{node}"
            recipe = dice.choice(["replace_lexeme_in_file", "run_targeted_validation", "shell"])
            params = dice.choice([{}, {"lexeme": "value", "replacement": "item"}, {"command": "rm"}])
            refs = {"artifactBundleRef": ref, "diffSummaryRef": f"{ref}/diff.summary.json"}
            return "run_automation_recipe", {"recipeId": recipe, "planNodeId": node, "params": params, **refs}


@pytest.mark.parametrize("seed", range(3))
def test_random_calls_change_only_what_accepted_nodes_name(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    repo = RunRepo(tmp_path, {**FILES, "other.py": "def untouched():\n    return 0\n"})
    (repo.root / "link.py").symlink_to("other.py")
    names = {"ann": {"app.py", "new.py"}, "bob": {"app.py", "store.py"}}
    ann = begin_run(
        repo,
        change("n1", "app.py", "load"),
        change("n2", "new.py", operation="create", depends_on=["n1"]),
        validate("v1", "n1"),
        side_effect("s1", "git_commit", side_effect_payload_ref="Ann"),
        work_id="ann",
    )
    bob = begin_run(
        repo,
        change("n1", "store.py", "Store.fetch", "Store.drop"),
        change("n3", "app.py", "dump"),
        validate("v1", "n1", hooks=["parse", "lint"]),
        work_id="bob",
    )
    done = 0
    for _ in range(250):
        run = dice.choice([ann, bob])
        verb, arguments = random_call(dice, run.work_id)
        before, head = files_of(repo), repo.git("rev-parse", "HEAD")
        open_states = states_of(repo, run)
        try:
            repo.turn(run, verb, **arguments)
            is_done = True
        except Denied:
            is_done = False
        after = files_of(repo)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert changed <= names[run.work_id], (verb, arguments)
        assert is_done or not changed, (verb, arguments)
        if changed:
            done += 1
            assert changed == {arguments.get("targetFile") or changed.copy().pop()}
            assert open_states[arguments["planNodeId"]] in ("pending", "failed", "done")
        if repo.git("rev-parse", "HEAD") != head:
            assert verb == "execute_gated_side_effect"
            assert set(repo.git("show", "--format=", "--name-only", "HEAD").split()) <= names[run.work_id]
    assert done >= 2, "the sequence does something"
    assert repo.read("other.py") == "def untouched():\n    return 0\n"


def test_two_runs_work_at_the_same_time(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path)
    ann = begin_run(
        repo, change("n1", "app.py", "load", edits=[EDITS[0]]), validate("v1", "n1"), work_id="ann"
    )
    bob = begin_run(
        repo, change("n1", "app.py", "dump", edits=[EDITS[4]]), validate("v1", "n1"), work_id="bob"
    )
    problems: list[Exception] = []

    def apply(run: Run) -> None:
        try:
            repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[])
        except Exception as error:  # noqa: BLE001 - it is shown by the assertion below
            problems.append(error)

    threads = [threading.Thread(target=apply, args=(run,)) for run in (ann, bob)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert "'/' + url" in repo.read("app.py")
    assert "repr(value)" in repo.read("app.py")
    assert set(states_of(repo, ann).values()) | set(states_of(repo, bob).values()) == {"done"}
