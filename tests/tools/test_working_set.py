"""A task's working set binds everything that changes files."""

from collections.abc import Iterator

import pytest

from tests.tools.conftest import Made
from tests.tools.repo import Repo

FILES = {
    "a/x.py": "def f():\n    return 1\n",
    "b/y.py": "from a.x import f\n\nf()\n",
}


@pytest.fixture
def confined(made: Made) -> Iterator[Repo]:
    """A repository with an edit of b/, where a task may change a/ alone from now on."""
    repo = made(FILES)
    repo.session.index.refresh()
    edit = {"path": "b/y.py", "expected_content": "f()\n", "new_content": "f()  # now\n"}
    repo.result("write_source", edits=[edit])
    repo.result("task_open", label="confined", working_set=["a/**"])
    yield repo
    assert (repo.root / "b/y.py").read_text().endswith("f()  # now\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_source", {"edits": [{"action": "delete", "path": "b/y.py"}]}),
        ("undo", {"operation": "last"}),
        ("git_checkout", {"paths": ["b"], "force": True}),
        ("git_checkout", {"paths": ["."], "ref": "HEAD", "force": True}),
        ("refactor_rename", {"symbol": "a.x.f", "new_name": "g"}),
        ("refactor_move", {"from_path": "b/y.py", "to_path": "a/y.py"}),
        ("refactor_delete", {"target": "b/y.py"}),
    ],
)
def test_files_outside_are_not_changed(confined: Repo, tool: str, arguments: dict[str, object]) -> None:
    error = confined.error(tool, **arguments)
    assert error["name"] == "EDIT_REFUSED"
    assert "b/y.py is outside the working set." in error["message"]


def test_files_inside_are_changed_and_restored(confined: Repo) -> None:
    edit = {"path": "a/x.py", "expected_content": "return 1", "new_content": "return 2"}
    confined.result("write_source", edits=[edit])
    confined.result("git_checkout", paths=["a"], force=True)
    assert (confined.root / "a/x.py").read_text() == FILES["a/x.py"]


def test_an_undo_of_git_is_bound_as_well(made: Made) -> None:
    repo = made(FILES)
    repo.session.index.refresh()
    repo.write("b/y.py", "1\n")
    repo.result("git_checkout", paths=["b/y.py"], force=True)
    repo.result("task_open", label="confined", working_set=["a/**"])
    assert "b/y.py is outside the working set." in repo.error("undo", operation="last")["message"]
