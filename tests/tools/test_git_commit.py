"""Staging and committing through the tools: the rules of the tree hold, and calls wait for each other."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from codeplane.server.pipeline import Request
from tests.drive import git
from tests.tools.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    files = {"app.py": "one = 1\n", "lib/part.py": "two = 2\n", ".cplignore": "private/\n"}
    made = Repo(tmp_path, files)
    git(made.root, "config", "user.name", "Ada")
    git(made.root, "config", "user.email", "ada@example.org")
    yield made
    made.session.close()


def test_what_the_tree_keeps_back_is_never_committed(repo: Repo) -> None:
    for path in (".env", "private/notes.md", "lib/__pycache__/part.pyc", "deploy.pem", "lib/new.py"):
        repo.write(path, "x\n")
    answer = repo.ask("git_stage_and_commit", message="All", force=True)
    assert answer.body["result"]["committed"] == ["A lib/new.py"]
    told = " ".join(answer.body["meta"]["warnings"])
    assert all(name in told for name in (".env", "private", "__pycache__", "deploy.pem"))
    for path in (".env", "private/notes.md", ".codeplane/ledger", ".git/config"):
        assert repo.error("git_stage", paths=[path], force=True)["name"] == "PATH_REFUSED"


def test_nothing_that_may_be_staged_is_told_with_the_reasons(repo: Repo) -> None:
    repo.write(".env", "x\n")
    refused = repo.error("git_stage_and_commit", message="All")
    assert refused["name"] == "NOTHING_TO_COMMIT" and ".env looks like a secret" in refused["message"]


def test_the_row_has_both_heads_and_leads_back(repo: Repo) -> None:
    before = git(repo.root, "rev-parse", "HEAD")
    repo.write("app.py", "one = 3\n")
    done = repo.result("git_stage_and_commit", message="Three")
    row = repo.session.ledger.find(done["operation"])
    assert row is not None and (row.head_before, (row.head_after or "")[:10]) == (before, done["oid"])
    assert (row.op_type, row.insertions, row.deletions) == ("git_stage_and_commit", 1, 1)


def test_calls_at_the_same_time_make_one_history(repo: Repo) -> None:
    names = [f"new{number}.py" for number in range(6)]
    for name in names:
        repo.write(name, "x = 1\n")

    async def one(name: str) -> None:
        arguments = {"message": name, "paths": [name]}
        answer = await repo.pipeline.call(Request("git_stage_and_commit", arguments, name))
        assert not answer.is_error, answer.body

    async def together() -> None:
        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(one, name)

    anyio.run(together)
    assert sorted(git(repo.root, "log", "-6", "--format=%s").split()) == names
    assert git(repo.root, "status", "--porcelain") == ""


def test_a_commit_is_amended_with_what_has_changed_since(repo: Repo) -> None:
    repo.write("app.py", "one = 3\n")
    repo.result("git_stage_and_commit", message="Three")
    repo.write("new.py", "x = 1\n")
    repo.write("lib/part.py", "two = 4\n")
    repo.result("git_stage_and_commit", amend=True, paths=["new.py"])
    assert git(repo.root, "log", "--format=%s") == "Three\nstart"
    assert git(repo.root, "show", "--format=", "--name-only").split() == ["app.py", "new.py"]
    assert git(repo.root, "status", "--short").strip() == "M lib/part.py"
    repo.result("git_stage_and_commit", amend=True, message="Three and a file")
    assert git(repo.root, "show", "--format=%s", "--name-only").split()[-1] == "new.py"
    assert git(repo.root, "rev-list", "--count", "HEAD") == "2"


def test_a_new_message_for_the_last_commit_takes_no_change_along(repo: Repo) -> None:
    repo.write("app.py", "one = 3\n")
    repo.result("git_stage_and_commit", message="Tree")
    repo.write("lib/part.py", "two = 4\n")
    repo.write("new.py", "x = 1\n")
    git(repo.root, "add", "new.py")
    answer = repo.ask("git_stage_and_commit", amend=True, message="Three")
    assert git(repo.root, "log", "--format=%s") == "Three\nstart"
    assert answer.body["result"]["committed"] == ["M app.py", "A new.py"]  # what is staged goes in, as in git
    assert git(repo.root, "status", "--short").strip() == "M lib/part.py"
    assert "stay uncommitted" in " ".join(answer.body["meta"]["warnings"])
    repo.result("git_stage_and_commit", amend=True, message="Four", paths=["."])
    assert git(repo.root, "status", "--short") == ""
    clean = repo.ask("git_stage_and_commit", amend=True, message="Five")
    assert not clean.body["meta"].get("warnings")


def test_all_is_every_change_as_in_git(repo: Repo) -> None:
    repo.write("app.py", "one = 3\n")
    answer = repo.ask("git_stage_and_commit", message="Three", all=True)
    assert answer.body["result"]["committed"] == ["M app.py"] and not answer.body["meta"].get("warnings")
    repo.write("lib/part.py", "two = 4\n")
    repo.result("git_stage_and_commit", message="Both", amend=True, all=True)
    assert git(repo.root, "status", "--short") == ""
    repo.write("app.py", "one = 5\n")
    repo.write("lib/part.py", "two = 6\n")
    some = repo.result("git_stage_and_commit", message="One", all=True, paths=["app.py"])
    assert some["committed"] == ["M app.py"]  # paths are the narrower wish
    assert repo.error("git_stage_and_commit", message="None", all=False)["name"] == "NOTHING_TO_COMMIT"


def test_only_an_amended_commit_goes_without_a_message(repo: Repo) -> None:
    repo.write("app.py", "one = 3\n")
    assert repo.error("git_stage_and_commit")["message"] == "A commit needs a message."


def test_a_path_that_is_too_deep_to_be_staged_is_named(repo: Repo) -> None:
    repo.write("top/" + "d/" * 120 + "deep.py", "x = 1\n")
    repo.write("app.py", "one = 3\n")
    refused = repo.error("git_stage_and_commit", message="All")
    assert (refused["name"], refused["message"].split()[0]) == ("GIT_FAILED", "top/d/d/d/d/…")
    assert refused["details"]["path"].startswith("top/d/d") and ".gitignore" in refused["hints"][0]
    repo.result("git_stage_and_commit", message="The rest", paths=["app.py"])
