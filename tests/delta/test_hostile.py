"""Plans that were tampered with and paths that lead elsewhere are refused by type, whenever they are."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.delta.plans import FILES, PlanRepo, annotate, element, plan_of

LOAD = element("app.py", annotate("load", "str"))
FETCH = element("store.py", annotate("Store.fetch", "int"))


@pytest.fixture
def repo(tmp_path: Path) -> PlanRepo:
    return PlanRepo(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE work_item SET fields = replace(fields, '\"str\"', '\"int\"')",
        "UPDATE work_item SET state = 'done' WHERE level = 'task'",
        "UPDATE work_item SET digest = 'x' WHERE level = 'task'",
        "UPDATE work_plan SET digest = 'x'",
        "UPDATE work_item SET fields = '{' WHERE level = 'task'",
        "DELETE FROM work_item WHERE level = 'task'",
        "DELETE FROM work_link WHERE kind = 'parent'",
        'UPDATE work_derived SET value = \'{"delta_status": "green"}\'',
        "UPDATE work_item SET level = 'plan' WHERE level = 'phase'",
        "INSERT INTO work_link SELECT plan, id, 'blocks', id, id, 0 FROM work_item WHERE level = 'task'",
    ],
)
def test_rows_that_were_changed_in_the_store_are_not_executed(repo: PlanRepo, statement: str) -> None:
    plan = repo.create([LOAD], [FETCH])
    repo.result("validate_deltas", plan=plan)
    with repo.session.state_db.write() as connection:
        assert connection.execute(statement).rowcount > 0
    for tool in ("execute_deltas", "validate_deltas", "get_delta_status"):
        assert repo.error(tool, plan=plan)["name"] in ("PLAN_DAMAGED", "NOT_FOUND")
    assert repo.read("app.py") == FILES["app.py"] and repo.read("store.py") == FILES["store.py"]
    assert not (repo.session.state.path / "delta.holder").exists()


def test_a_cycle_with_digests_that_fit_is_refused_before_execution(repo: PlanRepo) -> None:
    """The store checks links when they are written; somebody who also writes the digests is found later."""
    from dataclasses import replace

    from codeplane.plans.work_rows import write_tree

    plan = repo.create([LOAD], [FETCH])
    tree = repo.session.work_plans.load(plan)
    first, second = (tree.tasks_in_order(phase.id)[0] for phase in tree.phases_in_order())
    cycle = tree.with_items(replace(first, after=(second.id,)), replace(second, after=(first.id,)))
    with repo.session.state_db.write() as connection:
        write_tree(connection, tree, cycle)
    for tool in ("execute_deltas", "validate_deltas"):
        error = repo.error(tool, plan=plan)
        assert error["name"] == "PLAN_INVALID" and "Task 1.1" in error["message"]
    assert repo.read("app.py") == FILES["app.py"]


def test_a_delta_whose_digest_does_not_fit_it_is_stale(repo: PlanRepo) -> None:
    from dataclasses import replace

    from codeplane.plans.work_rows import write_tree

    plan = repo.create([LOAD])
    tree = repo.session.work_plans.load(plan)
    task = tree.tasks_in_order(tree.phases_in_order()[0].id)[0]
    delta = {**(task.delta or {}), "digest": "sha256:" + "0" * 64}
    with repo.session.state_db.write() as connection:
        write_tree(connection, tree, tree.with_items(replace(task, fields={**task.fields, "delta": delta})))
    error = repo.error("execute_deltas", plan=plan, confidence="validated")
    assert error["name"] == "DELTA_NOT_READY" and "not the one its digest names" in str(error["details"])
    assert repo.read("app.py") == FILES["app.py"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../outside.py",
        "a/../../outside.py",
        ".git/config",
        ".GIT/config",
        ".codeplane/config.yaml",
        "app.py\0",
        "",
        ".",
        "a" * 5000,
        "pkg/.git/hooks/x.py",
    ],
    ids=str,
)
def test_a_path_outside_is_refused_when_it_is_written(repo: PlanRepo, path: str) -> None:
    (repo.root.parent / "outside.py").write_text("def load(url): pass\n")
    document = plan_of([LOAD, element(path, annotate("load", "str"))])
    error = repo.error("plan_create", **document)
    assert error["name"] in ("DELTA_INVALID", "PLAN_INVALID", "PATH_REFUSED"), error
    assert repo.session.work_plans.summaries() == []
    refusal = repo.error("delta_try", elements=[element(path, annotate("load", "str"))])
    assert refusal["name"] in ("DELTA_INVALID", "PATH_REFUSED"), refusal


def _link_out(root: Path) -> None:
    (root.parent / "outside.py").write_text(FILES["app.py"])
    (root / "app.py").unlink()
    (root / "app.py").symlink_to(root.parent / "outside.py")


def _link_in(root: Path) -> None:
    (root / "app.py").rename(root / "real.py")
    (root / "app.py").symlink_to("real.py")


def _link_above(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root.parent / "elsewhere" / "mod.py").write_text(FILES["app.py"])
    (root / "pkg" / "mod.py").unlink()
    (root / "pkg").rmdir()
    (root / "pkg").symlink_to(root.parent / "elsewhere")


def _directory(root: Path) -> None:
    (root / "app.py").unlink()
    (root / "app.py").mkdir()


def _pipe(root: Path) -> None:
    (root / "app.py").unlink()
    os.mkfifo(root / "app.py")


def _missing(root: Path) -> None:
    (root / "app.py").unlink()


def _large(root: Path) -> None:
    (root / "app.py").write_text(FILES["app.py"] + "# x\n" * 1_400_000)


def _binary(root: Path) -> None:
    (root / "app.py").write_bytes(b"\x7fELF\0\xff" * 100 + FILES["app.py"].encode())


def _null(root: Path) -> None:
    (root / "app.py").write_bytes(FILES["app.py"].encode().replace(b"os.getcwd", b"os.\0getcwd"))


def _write_protected(root: Path) -> None:
    (root / "app.py").chmod(0o444)


KINDS = [_link_out, _link_in, _link_above, _directory, _pipe, _missing, _large, _binary, _null]


@pytest.mark.parametrize("when", ["before authoring", "before validation", "after validation"])
@pytest.mark.parametrize("spoil", KINDS, ids=lambda one: one.__name__.strip("_"))
def test_a_path_that_is_no_plain_file_is_not_executed(
    tmp_path: Path, spoil: Callable[[Path], None], when: str
) -> None:
    path = "pkg/mod.py" if spoil is _link_above else "app.py"
    repo = PlanRepo(tmp_path, {**FILES, "pkg/mod.py": FILES["app.py"]})
    if when == "before authoring":
        spoil(repo.root)
    document = plan_of([FETCH, element(path, annotate("load", "str"))])
    answer = repo.ask("plan_create", **document)
    if answer.is_error:
        assert answer.body["error"]["name"] in ("DELTA_INVALID", "PATH_REFUSED"), answer.body
        return
    plan = answer.body["result"]["plan"]
    if when == "after validation":
        repo.result("validate_deltas", plan=plan)
    if when != "before authoring":
        spoil(repo.root)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.py") if file.is_file()}
    error = repo.error("execute_deltas", plan=plan, confidence="validated", no_git=True)
    assert error["name"] == "DELTA_NOT_READY", error
    assert {file: file.read_bytes() for file in before} == before
    assert repo.states(plan)["Phase 1"] != "executing"


def test_a_file_that_becomes_a_link_right_before_the_write_is_not_followed(
    repo: PlanRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    from codeplane.session.delta.execution import _Execution

    plan = repo.create([FETCH, LOAD])
    write = _Execution._write
    victim = repo.root.parent / "outside.py"

    def spoil_and_write(self: _Execution, report: object) -> object:
        _link_out(repo.root)
        return write(self, report)  # type: ignore[arg-type]

    monkeypatch.setattr(_Execution, "_write", spoil_and_write)
    error = repo.error("execute_deltas", plan=plan, confidence="validated")
    assert error["name"] in ("EDIT_REFUSED", "EDIT_CONFLICT"), error
    assert victim.read_text() == FILES["app.py"] and repo.read("store.py") == FILES["store.py"]
    assert repo.states(plan)["Phase 1"] == "active"
    assert set(repo.statuses(plan).values()) == {"stale"}
