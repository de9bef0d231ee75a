"""Trees far deeper than any that people make: an answer or a refusal, and what was done is on record."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pygit2
import pytest

from tests.drive import git
from tests.tools.repo import Repo

LEVELS = 1500


@pytest.fixture
def repo() -> Iterator[Repo]:
    """The branch `deep` has a file below many directories; `main` has not.

    Not in a directory of pytest's: it could not remove what is so deep.
    """
    base = Path(tempfile.mkdtemp())
    made = Repo(base, {"app.py": "one = 1\n"})
    git(made.root, "config", "user.name", "T")
    git(made.root, "config", "user.email", "t@example.org")
    handle = pygit2.Repository(str(made.root))
    who = pygit2.Signature("T", "t@example.org")
    top = handle.TreeBuilder(handle.head.peel(pygit2.Tree))
    top.insert("d", nested(handle, LEVELS), pygit2.enums.FileMode.TREE)
    handle.create_commit("refs/heads/deep", who, who, "deep", top.write(), [handle.head.target])
    yield made
    made.session.close()
    subprocess.run(["rm", "-rf", str(base)], check=True)


def nested(handle: pygit2.Repository, levels: int) -> pygit2.Oid:
    inner, name, mode = handle.create_blob(b"deep\n"), "f.txt", pygit2.enums.FileMode.BLOB
    for _ in range(levels):
        builder = handle.TreeBuilder()
        builder.insert(name, inner, mode)
        inner, name, mode = builder.write(), "d", pygit2.enums.FileMode.TREE
    return inner


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git_log", {"ref": "deep", "paths": ["d"]}),
        ("git_diff", {"base": "main", "target": "deep", "stat": True}),
        ("git_diff", {"base": "deep"}),
        ("git_inspect", {"ref": "deep"}),
        ("git_history", {"path": "d/d", "ref": "deep"}),
        ("git_branch", {"action": "create", "name": "b", "start": "deep"}),
        ("git_checkout", {"ref": "deep"}),
        ("git_checkout", {"ref": "deep", "paths": ["d"]}),
        ("git_reset", {"ref": "deep", "mode": "soft"}),
        ("git_reset", {"ref": "deep"}),
        ("git_reset", {"ref": "deep", "mode": "hard"}),
        ("git_reset", {"ref": "deep", "mode": "keep"}),
        ("git_merge", {"ref": "deep"}),
        ("git_merge", {"action": "cherry_pick", "commits": ["deep"]}),
        ("git_rebase", {"upstream": "deep"}),
        ("git_worktree", {"action": "add", "path": "w", "ref": "deep"}),
    ],
)
def test_a_deep_tree_is_answered_or_refused(repo: Repo, tool: str, arguments: dict[str, Any]) -> None:
    head = git(repo.root, "rev-parse", "HEAD")
    answer = repo.ask(tool, **arguments)
    assert answer.body.get("error", {}).get("name") != "INTERNAL_ERROR", answer.body
    if git(repo.root, "rev-parse", "HEAD") != head:
        row = repo.session.ledger.operations(limit=1)[0]
        assert (row.op_type, row.head_before, row.head_after) == (
            tool,
            head,
            git(repo.root, "rev-parse", "HEAD"),
        )
    for later in ("git_status", "git_diff"):
        assert repo.ask(later).body.get("error", {}).get("name") != "INTERNAL_ERROR"
