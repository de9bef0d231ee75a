"""The subject of a commit is git's, wherever it is shown."""

import subprocess
from pathlib import Path

import pygit2
import pytest

from codeplane.git import open_repository
from codeplane.git.history.commit_info import first_line, message_of, subject_of
from codeplane.git.ops.branches import list_branches
from tests.drive import new_repo

MESSAGES = [
    "one line\n",
    "two\nlines of one subject\n\nbody\n",
    "two  blanks\n   and an indented line  \n \nbody after a line of blanks\n",
    "\n\n  late and indented\nmore\n",
    "\n",
]


@pytest.mark.parametrize("message", MESSAGES)
def test_the_subject_is_that_of_git(message: str, tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo")
    repository, who = open_repository(root, trusted=False), pygit2.Signature("T", "t@example.org")
    with repository.opened() as handle:
        tree = handle.head.peel(pygit2.Tree).id
        # Not by `git commit`, which cleans the message.
        oid = handle.create_commit("refs/heads/odd", who, who, message, tree, [])
        subject = subject_of(message_of(handle[oid].peel(pygit2.Commit)))
    argv = ["git", "log", "-1", "--format=%s", str(oid)]
    expected = subprocess.check_output(argv, cwd=root, text=True).removesuffix("\n")
    (branch,), _ = list_branches(repository, remote=False, contains="odd", most=1)
    assert (subject, branch.subject) == (expected, expected)


def test_the_first_line_is_what_a_reflog_quotes() -> None:
    assert first_line("\ntwo\nlines\n\nbody\n") == "two"
