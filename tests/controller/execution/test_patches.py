"""Patches are bound to their node, go through the one writer, and are settled after a kill."""

import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.verb import Denied
from tests.controller.execution.kill import KILLED
from tests.controller.execution.runs import FILES, RunRepo, begin_run, change, edit, states_of, validate

ROOT = Path(__file__).parents[3]
SLASH = edit("+ url", "+ '/' + url")


@pytest.fixture
def repo(tmp_path: Path) -> RunRepo:
    return RunRepo(tmp_path)


def denied(repo: RunRepo, *arguments: object, **args: object) -> Denied:
    with pytest.raises(Denied) as caught:
        repo.turn(*arguments, **args)  # type: ignore[arg-type]
    denial = caught.value
    assert denial.suggestion is not None
    if denial.suggestion.verb not in ("list_available_verbs", "read_file_lines"):
        pytest.fail(f"a suggestion that may be denied: {denial.suggestion}")
    return denial


def sub_codes(denial: Denied) -> list[str]:
    return [problem["subCode"] for problem in denial.result["problems"]]


def test_a_patch_is_written_with_a_row_of_its_node_and_can_be_undone(repo: RunRepo) -> None:
    run = begin_run(repo, change("n1", "app.py", "load"))
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
    assert "os.getcwd() + '/' + url" in repo.read("app.py")
    assert states_of(repo, run) == {"n1": "done"}
    one = load_plan(repo.session, run).node("n1")
    operation = repo.session.ledger.of_plan_item(one.item_id)
    assert operation is not None
    assert operation.operation_id == answer.result["operation"]
    assert operation.op_type == "apply_code_patch"
    repo.result("undo", operation=str(operation.operation_id))
    assert repo.read("app.py") == FILES["app.py"]
    assert states_of(repo, run) == {"n1": "pending"}, "what was taken back has to be done again"


def test_the_bundle_of_a_node_has_its_diff(repo: RunRepo) -> None:
    run = begin_run(repo, change("n1", "app.py", "load"))
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
    folder = repo.root / ".codeplane" / "work" / "w_1" / "bundles" / "n1"
    assert answer.result["artifactBundleRef"] == "w_1/bundles/n1"
    assert "+    return os.getcwd() + '/' + url" in (folder / "diff.summary.json").read_text()
    assert answer.result["operation"] in (folder / "trace.refs.json").read_text()


@pytest.mark.parametrize(
    ("file", "edits", "codes", "text"),
    [
        ("store.py", [SLASH], ["scope.file"], "Node n1 is for app.py"),
        ("app.py", [edit("str(value)", "repr(value)")], ["scope.symbol"], "Allowed: load (lines 6-7)"),
        ("app.py", [edit("import os", "import os, re")], ["scope.symbol"], "outside of the node's symbols"),
        ("app.py", [edit("+ uri", "+ x")], ["exec.edit_not_placed"], "does not contain the expected text"),
        ("app.py", [edit("  return os.getcwd()+url", "x")], ["exec.edit_not_placed"], ""),
        ("app.py", [edit("o", "O")], ["exec.edit_not_placed"], "in 4 places"),
        ("../app.py", [SLASH], ["scope.file"], ""),
        ("app.py", [], ["exec.invalid_argument"], "does not say what to write"),
        ("app.py", [{"codemodId": "nope"}], ["exec.codemod_refused"], "There is no codemod"),
    ],
)
def test_what_is_out_of_bounds_is_refused_and_nothing_changes(
    repo: RunRepo, file: str, edits: list[dict[str, str]], codes: list[str], text: str
) -> None:
    run = begin_run(repo, change("n1", "app.py", "load"))
    denial = denied(repo, run, "apply_code_patch", planNodeId="n1", targetFile=file, edits=edits)
    assert set(sub_codes(denial)) <= set(codes)
    assert text in denial.message
    assert repo.read("app.py") == FILES["app.py"]
    assert repo.git("status", "--porcelain") == ""
    assert states_of(repo, run) == {"n1": "pending"}
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
    assert answer.result["nodeState"] == "done"


def test_a_text_that_the_file_has_twice_is_that_of_the_nodes_symbol(repo: RunRepo) -> None:
    repo.write("twice.py", "def a():\n    return 1\n\n\ndef b():\n    return 1\n")
    run = begin_run(repo, change("n1", "twice.py", "b"))
    repo.turn(
        run, "apply_code_patch", planNodeId="n1", targetFile="twice.py", edits=[edit("return 1", "return 2")]
    )
    assert repo.read("twice.py") == "def a():\n    return 1\n\n\ndef b():\n    return 2\n"


def test_nodes_come_in_their_order_and_only_once(repo: RunRepo) -> None:
    run = begin_run(
        repo,
        change("n1", "app.py", "load", edits=[SLASH]),
        change("n2", "store.py", "Store", depends_on=["n1"]),
    )
    early = denied(
        repo,
        run,
        "apply_code_patch",
        planNodeId="n2",
        targetFile="store.py",
        edits=[edit("key\n", "key or 1\n")],
    )
    assert sub_codes(early) == ["scope.node"]
    assert "comes after n1 (pending)" in early.message
    repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[])
    again = denied(repo, run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
    assert "is done" in again.message
    unknown = denied(repo, run, "apply_code_patch", planNodeId="n3", targetFile="app.py", edits=[SLASH])
    assert sub_codes(unknown) == ["scope.node"]


def test_files_are_created_deleted_and_moved(repo: RunRepo) -> None:
    run = begin_run(
        repo,
        change("n1", "new/mod.py", operation="create", edits=[edit("", "X = 1\n")]),
        change("n2", "store.py", operation="delete"),
        change("n3", "app.py", operation="move", move_to="main.py"),
    )
    for node, file in (("n1", "new/mod.py"), ("n2", "store.py"), ("n3", "app.py")):
        repo.turn(run, "apply_code_patch", planNodeId=node, targetFile=file, edits=[])
    assert repo.read("new/mod.py") == "X = 1\n"
    assert not (repo.root / "store.py").exists()
    assert repo.read("main.py") == FILES["app.py"]
    assert set(states_of(repo, run).values()) == {"done"}


def test_a_file_that_changed_since_the_plan_is_not_deleted(repo: RunRepo) -> None:
    run = begin_run(repo, change("n1", "store.py", operation="delete"))
    repo.write("store.py", "X = 1\n")
    denial = denied(repo, run, "apply_code_patch", planNodeId="n1", targetFile="store.py", edits=[])
    assert denial.codes == ("EDIT_CONFLICT",)
    assert repo.read("store.py") == "X = 1\n"


def test_a_change_elsewhere_in_the_file_is_told_and_kept(repo: RunRepo) -> None:
    run = begin_run(repo, change("n1", "app.py", "load"))
    repo.write("app.py", FILES["app.py"].replace("str(value)", "repr(value)"))
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
    assert any("has changed since the plan was accepted" in note for note in answer.result["notes"])
    assert "repr(value)" in repo.read("app.py")
    assert "'/' + url" in repo.read("app.py")


def test_a_delta_and_a_codemod_of_the_node_are_carried_out(repo: RunRepo) -> None:
    annotate = {"operation": "add_type_annotation", "target": "Store.fetch", "type": "str"}
    rename = {"codemodId": "rename_identifier_in_file", "params": {"from": "dump", "to": "render"}}
    run = begin_run(
        repo,
        change("n1", "store.py", "Store.fetch", delta={"path": "store.py", "transforms": [annotate]}),
        change("n2", "app.py", "dump", edits=[rename]),
    )
    repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="store.py", edits=[])
    repo.turn(run, "apply_code_patch", planNodeId="n2", targetFile="app.py", edits=[])
    assert "def fetch(self, key) -> str:" in repo.read("store.py")
    assert "def render(value):" in repo.read("app.py")


def test_a_delta_of_another_file_is_refused(repo: RunRepo) -> None:
    annotate = {"operation": "add_type_annotation", "target": "load", "type": "str"}
    run = begin_run(
        repo, change("n1", "store.py", "Store", delta={"path": "app.py", "transforms": [annotate]})
    )
    denial = denied(repo, run, "apply_code_patch", planNodeId="n1", targetFile="store.py", edits=[])
    assert "also changes app.py" in denial.message
    assert repo.read("app.py") == FILES["app.py"]


def test_two_runs_meet_at_a_symbol_and_not_beside_it(repo: RunRepo) -> None:
    ann = begin_run(
        repo, change("n1", "app.py", "load"), validate("v1", "n1", hooks=["tests/no_such.py"]), work_id="ann"
    )
    bob = begin_run(repo, change("m1", "app.py", "load"), change("m2", "app.py", "dump"), work_id="bob")
    repo.turn(ann, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
    assert states_of(repo, ann)["v1"] == "failed", "what is not checked yet is still held"
    denial = denied(
        repo, bob, "apply_code_patch", planNodeId="m1", targetFile="app.py", edits=[edit("'/' + url", "url")]
    )
    assert denial.codes == ("EXEC_SIDE_EFFECT_COLLISION",)
    assert denial.result["holders"][0]["workId"] == "ann"
    assert "endsAt" in denial.result["holders"][0]
    repo.turn(
        bob,
        "apply_code_patch",
        planNodeId="m2",
        targetFile="app.py",
        edits=[edit("str(value)", "repr(value)")],
    )
    assert "repr(value)" in repo.read("app.py")


@pytest.mark.parametrize("moment", ["before the write", "after the write"])
def test_a_kill_around_the_write_leaves_the_node_as_the_file_is(tmp_path: Path, moment: str) -> None:
    repo = RunRepo(tmp_path)
    run = begin_run(repo, change("n1", "app.py", "load"))
    repo.session.close()
    program = [sys.executable, "-m", "tests.controller.execution.kill", str(tmp_path), moment, str(run.plan)]
    assert subprocess.run(program, cwd=ROOT).returncode == KILLED
    repo = RunRepo.of(tmp_path)
    is_written = "'/' + url" in repo.read("app.py")
    assert is_written == (moment == "after the write")
    assert states_of(repo, run) == {"n1": "done" if is_written else "pending"}
    if not is_written:
        repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[SLASH])
        assert states_of(repo, run) == {"n1": "done"}
