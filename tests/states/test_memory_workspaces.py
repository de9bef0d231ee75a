"""Workspaces in memory: edits that are held in the state directory and seen nowhere else."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.edits import FileChange
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.working_tree import MemoryTree, OverlaidFile, digest_of
from tests.drive import git
from tests.states.questions import ask_all
from tests.states.test_states import CONTENTS, FILES, PATHS, change, commit
from tests.tools.repo import Repo

HERE = {"workspace": "m"}
WRITES = st.lists(
    st.tuples(st.sampled_from(PATHS), st.none() | st.sampled_from(CONTENTS)), min_size=1, max_size=5
)


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, {**FILES, "run.sh": "#!/bin/sh\n"})
    made.write("app.py", "dirty = 1\n")
    made.result("workspace_create", workspace="m", kind="memory")
    yield made
    made.session.close()


def put(repo: Repo, path: str, text: str | None) -> dict[str, object]:
    """Writes or deletes a file of the workspace, whatever is there."""
    is_there = not repo.ask("read_source", targets=[path], **HERE).is_error
    if text is None:
        edit: dict[str, object] = {"path": path, "action": "delete"}
    else:
        edit = {"path": path, "action": "update" if is_there else "create", "new_content": text}
    if text is not None and is_there:
        edit |= {"start_line": 1, "end_line": 10_000}
        repo.result("write_source", edits=[{"path": path, "action": "delete"}], **HERE)
        edit = {"path": path, "action": "create", "new_content": text}
    return repo.result("write_source", edits=[edit], **HERE)


def test_edits_of_a_workspace_are_nowhere_else(repo: Repo) -> None:
    put(repo, "new.py", "def only_here(): pass\n")
    assert repo.result("search", query="only_here", **HERE)["files"]
    assert not repo.result("search", query="only_here")["files"]
    assert not repo.result("search", query="dirty", **HERE)["files"]
    repo.result("workspace_create", workspace="other", kind="memory")
    assert not repo.result("search", query="only_here", workspace="other")["files"]
    assert git(repo.root, "status", "--porcelain") == "M app.py"


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(writes=WRITES)
def test_a_workspace_is_answered_about_as_a_checkout_with_its_edits(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[str, str | None]]
) -> None:
    place = Path(mkdtemp(dir=tmp_path_factory.getbasetemp()))
    repo = Repo(place, FILES)
    git(repo.root, "tag", "v1")
    repo.result("workspace_create", workspace="m", kind="memory")
    there = dict.fromkeys(FILES)
    edits: dict[str, str | None] = {}
    for path, text in writes:
        if text is None and path not in there:
            continue
        put(repo, path, text)
        edits[path] = text
        there.pop(path, None)
        if text is not None:
            there[path] = None
    answers = ask_all(repo, **HERE)
    repo.session.close()
    again = Repo.at(repo.root, place)
    assert ask_all(again, **HERE) == answers  # a restart loses nothing
    again.session.close()
    other = Path(mkdtemp(dir=tmp_path_factory.getbasetemp()))
    git(repo.root, "clone", "-q", str(repo.root), str(other / "repo"))
    fresh = Repo.at(other / "repo", other)
    change(fresh.root, edits)
    assert answers == ask_all(fresh)
    fresh.session.close()


def test_a_batch_of_edits_is_made_whole_or_not_at_all(repo: Repo) -> None:
    edits = [
        {"path": "lib/util.py", "expected_content": "return 0", "new_content": "return 5"},
        {"path": "README.md", "action": "create", "new_content": "x\n"},
    ]
    assert repo.error("write_source", edits=edits, **HERE)["name"] == "EDIT_CONFLICT"
    assert "return 0" in repo.ask("read_source", targets=["lib/util.py"], **HERE).text
    for path in ("lib/util.py/x.py", "lib", ".git/x", "../x.py", ".env"):
        edit = {"path": path, "action": "create", "new_content": "x\n"}
        assert repo.ask("write_source", edits=[edit], **HERE).is_error, path


def test_a_stale_precondition_is_refused(repo: Repo) -> None:
    text = FILES["lib/util.py"]
    put(repo, "lib/util.py", text.replace("return 0", "return 3"))
    edit = {
        "path": "lib/util.py",
        "file_sha256": digest_of(text.encode()),
        "expected_content": "return 0",
        "new_content": "return 4",
    }
    assert repo.ask("write_source", edits=[edit], **HERE).is_error
    assert "return 3" in repo.ask("read_source", targets=["lib/util.py"], **HERE).text


def test_refactorings_and_undo_work_without_files(repo: Repo) -> None:
    before = ask_all(repo, **HERE)
    done = repo.ask(
        "refactor_rename", symbol="lib.util.helper", new_name="assist", apply="if_certain", **HERE
    )
    assert not done.is_error and "assist" in repo.ask("read_source", targets=["app.py"], **HERE).text
    moved = repo.ask(
        "refactor_move", from_path="lib/util.py", to_path="lib/tools.py", apply="if_certain", **HERE
    )
    assert "lib/tools.py" in moved.text, moved.text
    repo.result("undo", **HERE)
    repo.result("undo", **HERE)
    assert ask_all(repo, **HERE) == before
    assert "helper" in (repo.root / "lib/util.py").read_text()


def test_what_needs_files_is_refused_with_what_to_do(repo: Repo) -> None:
    for tool, arguments in (
        ("git_status", {}),
        ("git_stage_and_commit", {"message": "x"}),
        ("git_checkout", {"ref": "main"}),
        ("run_test_targets", {}),
        ("lint_check", {"fix": True}),
        ("semantic_refresh", {}),
        ("git_worktree", {}),
    ):
        error = repo.error(tool, **arguments, **HERE)
        assert error["name"] in ("STATE_UNSUPPORTED", "NOT_TRUSTED"), (tool, error)
    assert "workspace_create" in repo.error("git_status", **HERE)["hints"][0]
    step = {"tool": "git_status", "args": {}}
    [answer] = repo.result("batch", calls=[step, step], **HERE)["answers"][:1]
    assert answer["body"]["error"]["name"] == "STATE_UNSUPPORTED"


def test_modes_go_along(repo: Repo) -> None:
    (repo.root / "run.sh").chmod(0o755)
    git(repo.root, "checkout", "-q", "app.py")
    commit(repo.root)
    repo.result("workspace_create", workspace="x", kind="memory")
    edit = {"path": "run.sh", "expected_content": "#!/bin/sh", "new_content": "#!/bin/bash"}
    repo.result("write_source", edits=[edit], workspace="x")
    saved = repo.result("workspace_delete", workspace="x", force=True)["saved"]
    assert git(repo.root, "ls-tree", saved, "run.sh").startswith("100755")


def test_a_reset_saves_and_can_be_undone(repo: Repo) -> None:
    put(repo, "new.py", "kept = 1\n")
    error = repo.error("workspace_reset", workspace="m")
    assert error["name"] == "WORK_AT_RISK" and "new.py" in error["message"]
    reset = repo.result("workspace_reset", workspace="m", force=True)
    assert reset["previous_revision"] == 1 and reset["new_revision"] == 0
    assert git(repo.root, "show", f"{reset['saved']}:new.py") == "kept = 1"
    assert repo.ask("read_source", targets=["new.py"], **HERE).is_error
    repo.result("undo", operation=reset["operation"], **HERE)
    assert "kept" in repo.ask("read_source", targets=["new.py"], **HERE).text


def test_a_reset_puts_it_on_another_base(repo: Repo) -> None:
    put(repo, "new.py", "kept = 1\n")
    git(repo.root, "checkout", "-q", "app.py")
    change(repo.root, {"later.py": "later = 1\n"})
    commit(repo.root)
    assert not repo.result("search", query="later", **HERE)["files"]
    repo.result("workspace_reset", workspace="m", base="HEAD", force=True)
    assert repo.result("search", query="later", **HERE)["files"]
    assert not repo.result("search", query="kept", **HERE)["files"]


def test_what_is_deleted_is_the_base_of_a_worktree(repo: Repo) -> None:
    put(repo, "new.py", "kept = 1\n")
    put(repo, "README.md", None)
    saved = repo.result("workspace_delete", workspace="m", force=True)["saved"]
    tree = repo.result("workspace_create", workspace="w", base=saved)
    assert (Path(tree["path"]) / "new.py").read_text() == "kept = 1\n"
    assert not (Path(tree["path"]) / "README.md").exists()
    assert not (repo.root / ".codeplane/workspaces/m").exists()


def test_an_edit_that_was_cut_off_counts_if_its_row_is_written(repo: Repo, tmp_path: Path) -> None:
    done = put(repo, "new.py", "one = 1\n")
    operation = OperationId(str(done["operation"]))
    with workspaces_of(repo.session).enter("m") as place:
        tree, objects = place.repo.tree, place.repo.engine.objects
        assert isinstance(tree, MemoryTree)
        for name, op in (("late.py", operation), ("never.py", OperationId("op_00000000dead"))):
            data = b"late = 1\n"
            change_ = FileChange(RepoPath(name), None, objects.put(data))
            file = OverlaidFile(change_.after, len(data), 0o100644)
            tree.files.begin(op, {"op_type": "write_source"}, [(change_, file)])
    repo.session.close()  # as a process that ends here leaves it
    again = Repo.at(repo.root, tmp_path)
    assert "late" in again.ask("read_source", targets=["late.py"], **HERE).text
    assert again.ask("read_source", targets=["never.py"], **HERE).is_error
    assert "one" in again.ask("read_source", targets=["new.py"], **HERE).text
    again.session.close()
