"""What the git tools say where a repository is not as usual, and how long answers go on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.server.pipeline import Request
from codeplane.server.profiles import profiles
from codeplane.tools import all_tools
from tests.drive import git
from tests.tools.repo import Repo

LONG = "".join(f"line {number} of a long file\n" for number in range(1000))


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, {"app.py": "def one(): ...\n", "old.txt": "".join(f"{n}\n" for n in range(30))})
    yield made
    made.session.close()


def commit(repo: Repo, message: str) -> None:
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", message)


def test_before_the_first_commit_there_is_a_status_and_no_log(repo: Repo) -> None:
    git(repo.root, "checkout", "-q", "--orphan", "fresh")
    found = repo.result("git_status")
    assert found["branch"] == "fresh" and "head_commit" not in found
    assert found["staged"] == ["A app.py", "A old.txt"]
    assert repo.result("git_diff", staged=True)["stats"]["files_changed"] == 2
    for tool, arguments in (
        ("git_log", {}),
        ("git_inspect", {}),
        ("git_history", {"path": "app.py"}),
        ("git_inspect", {"action": "blame", "path": "app.py"}),
        ("git_diff", {"base": "HEAD"}),
    ):
        assert repo.error(tool, **arguments)["name"] == "REVISION_NOT_FOUND"


def test_a_detached_head_has_no_branch(repo: Repo) -> None:
    git(repo.root, "checkout", "-q", "--detach")
    assert "branch" not in repo.result("git_status")


def test_what_is_followed_is_counted(repo: Repo, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(repo.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(repo.root, "push", "-qu", "origin", "main")
    repo.write("app.py", "def two(): ...\n")
    commit(repo, "ahead")
    assert repo.result("git_status")["upstream"] == "origin/main +1 -0"
    git(repo.root, "update-ref", "-d", "refs/remotes/origin/main")
    assert repo.result("git_status")["upstream"] == "origin/main is gone"


def test_a_conflict_has_three_sides_and_is_compared_with_ours(repo: Repo) -> None:
    git(repo.root, "switch", "-qc", "other")
    repo.write("app.py", "def theirs(): ...\n")
    commit(repo, "theirs")
    git(repo.root, "switch", "-q", "main")
    repo.write("app.py", "def ours(): ...\n")
    commit(repo, "ours")
    with pytest.raises(Exception, match="merge"):
        git(repo.root, "merge", "-q", "other")
    found = repo.result("git_status")
    assert found["state"] == "merge"
    assert {"path", "ancestor_oid", "ours_oid", "theirs_oid"} <= set(found["conflicts"][0])
    [file] = repo.result("git_diff")["files"]
    assert file["status"] == "conflict" and "+def theirs(): ..." in file["hunks"]


def test_a_damaged_object_is_named_and_nothing_else_is_lost(repo: Repo) -> None:
    blob = git(repo.root, "rev-parse", "HEAD:app.py")
    file = repo.root / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    repo.write("app.py", "def two(): ...\n")
    repo.write("old.txt", "other\n")
    assert repo.result("git_status")["modified"] == ["M app.py", "M old.txt"]
    found = repo.result("git_diff")["files"]
    assert found[0]["path"] == "app.py" and "note" in found[0] and "hunks" in found[1]
    shown = repo.result("git_inspect")["files"]
    assert "note" in shown[0] and "hunks" in shown[1]


def test_a_commit_without_its_tree_is_an_error_of_git(repo: Repo) -> None:
    tree = git(repo.root, "rev-parse", "HEAD^{tree}")
    (repo.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    (repo.root / ".git" / "index").unlink()
    for tool, arguments in (
        ("git_status", {}),
        ("git_inspect", {}),
        ("git_diff", {"staged": True}),
        ("git_log", {"paths": ["app.py"]}),
        ("git_history", {"path": "app.py"}),
        ("git_inspect", {"action": "blame", "path": "app.py", "ref": "HEAD"}),
    ):
        assert repo.error(tool, **arguments)["name"] in ("GIT_FAILED", "NOT_FOUND", "REVISION_NOT_FOUND")


def test_a_shallow_clone_ends_where_it_was_cut(repo: Repo, tmp_path: Path) -> None:
    repo.write("app.py", "def two(): ...\n")
    commit(repo, "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo.root}", "shallow/repo")
    clone = Repo(tmp_path / "shallow", {"new.txt": "x\n"})
    try:
        answer = clone.ask("git_log").body
        assert [one["subject"] for one in answer["result"]["commits"]] == ["start", "second"]
        assert "shallow" in answer["meta"]["warnings"][0]
        assert len(clone.result("git_history", path="app.py")["commits"]) == 1
    finally:
        clone.session.close()


def test_a_long_diff_goes_on_from_its_cursor_without_a_gap(repo: Repo) -> None:
    repo.write("long.txt", LONG)
    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "add", "-A")
    lines: list[str] = []
    answer = repo.result("git_diff", staged=True)
    assert answer["stats"] == {"files_changed": 2, "insertions": 1001, "deletions": 1}
    pages = 1
    while True:
        for file in answer["files"]:
            if file["path"] == "long.txt":
                lines += [line for line in file["hunks"].splitlines() if line.startswith("+")]
        if "next_cursor" not in answer:
            break
        answer = repo.result("git_diff", cursor=answer["next_cursor"])
        pages += 1
    assert pages > 1 and "".join(f"{line[1:]}\n" for line in lines) == LONG


def test_a_log_goes_on_while_commits_come(repo: Repo) -> None:
    for number in range(4):
        repo.write("app.py", f"def f{number}(): ...\n")
        commit(repo, f"change {number}")
    first = repo.result("git_log", limit=2)
    repo.write("app.py", "def newest(): ...\n")
    commit(repo, "newest")
    rest = repo.result("git_log", limit=10, cursor=first["next_cursor"])
    told = [one["subject"] for one in (*first["commits"], *rest["commits"])]
    assert told == ["change 3", "change 2", "change 1", "change 0", "start"]
    assert [one["subject"] for one in repo.result("git_log", ref="HEAD~2..HEAD")["commits"]] == [
        "newest",
        "change 3",
    ]


def test_history_goes_through_a_rename_and_keeps_to_its_lines(repo: Repo) -> None:
    git(repo.root, "mv", "old.txt", "new.txt")
    commit(repo, "move")
    text = (repo.root / "new.txt").read_text()
    repo.write("new.txt", text.replace("20\n", "twenty\n"))
    commit(repo, "edit")
    every = repo.result("git_history", path="new.txt")["commits"]
    assert [(one["subject"], one["change"]) for one in every] == [
        ("edit", "modified"),
        ("move", "renamed"),
        ("start", "added"),
    ]
    lines = repo.result("git_history", path="new.txt", start_line=21, end_line=21)["commits"]
    assert [one["subject"] for one in lines] == ["edit", "start"]
    blamed = repo.result("git_inspect", action="blame", path="new.txt", ref="HEAD")["lines"]
    assert [line.rpartition(": ")[2] for line in blamed] == ["start", "edit", "start"]
    assert "(old.txt)" in blamed[0]


def test_tags_come_with_what_they_say(repo: Repo) -> None:
    git(repo.root, "tag", "light")
    git(repo.root, "tag", "-a", "v1", "-m", "The first")
    told = repo.result("git_inspect", action="tags")["tags"]
    assert {line.split()[0] for line in told} == {"light", "v1"}
    assert any(line.endswith(": The first") for line in told)


def test_names_that_are_not_text_are_told_all_the_same(repo: Repo) -> None:
    with open(bytes(repo.root) + b"/\xff.txt", "wb") as stream:
        stream.write(b"\xff\n")
    git(repo.root, "add", "-A")
    assert (
        repo.result("git_status")["staged"] == ["A \ufffd\ufffd\ufffd.txt"]
        or repo.result("git_status")["staged"]
    )
    assert repo.result("git_diff", staged=True)["files"][0]["hunks"].startswith("@@")


def test_no_program_of_the_repository_is_run(repo: Repo, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for name in ("diff.external", "diff.x.command", "diff.x.textconv", "filter.x.clean", "core.fsmonitor"):
        git(repo.root, "config", name, str(trap))
    (repo.root / ".gitattributes").write_text("* diff=x filter=x\n")
    (tmp_path / "sprung").unlink(missing_ok=True)
    (repo.root / "old.txt").write_text((repo.root / "old.txt").read_text().replace("7", "8"))
    assert "modified" in repo.result("git_status")
    repo.result("git_diff")
    repo.result("git_inspect")
    repo.result("git_inspect", action="blame", path="old.txt")
    repo.result("git_log", paths=["old.txt"])
    assert not (tmp_path / "sprung").exists()


def test_the_log_of_a_definition_follows_it_where_it_is_now(repo: Repo) -> None:
    repo.write("more.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    commit(repo, "both")
    repo.write("more.py", "def one():\n    return 1\n\n\ndef two():\n    return 22\n")
    commit(repo, "second")
    repo.write("more.py", "import os\n\n\ndef one():\n    return 11\n\n\ndef two():\n    return 22\n")
    commit(repo, "first")
    # Not committed: the lines of the definitions are others than in HEAD.
    repo.write("more.py", "# a\n# b\n" + (repo.root / "more.py").read_text())
    assert subjects(repo.result("git_log", symbol="two")) == ["second", "both"]
    assert subjects(repo.result("git_log", symbol="one", path="more.py")) == ["first", "both"]
    assert subjects(repo.result("git_log", path="more.py", lines="10-11")) == ["second", "both"]
    assert subjects(repo.result("git_log", path="more.py", line_range=[10, 11])) == ["second", "both"]
    assert subjects(repo.result("git_log", path="more.py", lines="5-6", ref="HEAD~1")) == ["second", "both"]
    assert subjects(repo.result("git_log", symbol="two", grep="both")) == ["both"]
    first = repo.result("git_log", symbol="two", limit=1)
    assert subjects(repo.result("git_log", cursor=first["next_cursor"])) == ["both"]


def test_a_definition_that_is_not_committed_has_no_log(repo: Repo) -> None:
    repo.write("app.py", (repo.root / "app.py").read_text() + "\n\ndef fresh():\n    return 1\n")
    assert "not committed" in repo.error("git_log", symbol="fresh")["message"]


def subjects(told: dict[str, Any]) -> list[str]:
    return [one["subject"] for one in told["commits"]]


def test_a_status_reads_as_git_prints_it(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "add", "app.py")
    repo.write("app.py", "def three(): ...\n")
    repo.write("new.py", "x = 1\n")
    git(repo.root, "mv", "old.txt", "moved.txt")
    text = repo.ask("git_status").text.splitlines()
    assert text == ["## main", "MM app.py", "R  moved.txt (was old.txt)", "?? new.py"]
    assert repo.ask("git_diff", paths=["app.py"]).text == git(repo.root, "diff", "app.py").split("\n", 2)[2]


def test_a_commit_is_answered_in_two_hundred_characters_and_a_line_a_file(repo: Repo) -> None:
    names = [f"new{number}.py" for number in range(5)]
    for name in names:
        repo.write(name, "x = 1\n")
    text = repo.ask("git_stage_and_commit", message="Some words " * 40).text
    assert [f"A {name}" for name in names] == text.splitlines()[1:6]
    assert len(text) - sum(len(name) + 3 for name in names) <= 200


def test_no_credential_of_the_configuration_is_shown(repo: Repo) -> None:
    git(repo.root, "config", "url.https://secret@example.org/.insteadOf", "https://example.org/")
    git(repo.root, "config", "http.https://me:secret@example.org/.extraHeader", "X: y")
    git(repo.root, "config", "remote.origin.url", "https:/me:secret@example.org/a")
    answer = repo.ask("git_remote")
    assert "secret" not in answer.text + str(answer.body) and "insteadof" in answer.text


@pytest.mark.parametrize("size", [0, 11, 40, 100, -1, None])
def test_a_damaged_index_is_an_error_and_not_an_empty_one(repo: Repo, size: int | None) -> None:
    index = repo.root / ".git/index"
    whole = index.read_bytes()
    index.write_bytes(whole[:size] if size is not None else whole[:50] + b"\xff" + whole[51:])
    for tool, arguments in (
        ("git_status", {}),
        ("git_diff", {}),
        ("git_diff", {"staged": True}),
        ("git_stage_and_commit", {"message": "x"}),
        ("git_stage", {"paths": ["app.py"]}),
        ("git_checkout", {"paths": ["app.py"]}),
        ("git_reset", {}),
        ("git_stash", {"action": "push"}),
    ):
        error = repo.error(tool, **arguments)
        assert (error["name"], "index is damaged" in error["message"]) == ("GIT_FAILED", True), (tool, error)
    index.write_bytes(whole)
    assert repo.result("git_status")["is_clean"]


@pytest.mark.parametrize("what", ["branches", "remotes", "stashes", "worktrees", "tags"])
def test_whoever_may_only_read_can_list(repo: Repo, what: str) -> None:
    tools = profiles(all_tools())["read"].tools
    answer = anyio.run(repo.pipeline.call, Request("git_inspect", {"what": what}, "reader"), tools)
    assert what in answer.body["result"] and answer.text


def test_paths_of_a_diff_and_a_log_are_globs_too_and_exclude(repo: Repo) -> None:
    names = ("src/a.go", "src/a_test.go", "tests/deep/b.go", "app/[slug]/page.tsx", "{{name}}/x.py")
    for name in names:
        repo.write(name, "1\n")
        commit(repo, name)
    for name in names:
        repo.write(name, "2\n")
    for paths, held in (
        (["!*_test.go", "!tests/"], ["app/[slug]/page.tsx", "src/a.go", "{{name}}/x.py"]),
        (["*.go", ":!tests"], ["src/a.go", "src/a_test.go"]),
        (["src", ":(exclude)*_test.go"], ["src/a.go"]),
        (["app/[slug]", "{{name}}/x.py"], ["app/[slug]/page.tsx", "{{name}}/x.py"]),
        (["**/*.{go,tsx}", "!src/"], ["app/[slug]/page.tsx", "tests/deep/b.go"]),
        ([".", "!*.go"], ["app/[slug]/page.tsx", "{{name}}/x.py"]),
        (["a.go"], []),  # a path starts at the root
    ):
        diff = repo.result("git_diff", paths=paths)
        assert [one["path"] for one in diff["files"]] == held, paths
        log = repo.result("git_log", paths=paths, limit=2)
        found = [one["subject"] for one in log["commits"]]
        while "next_cursor" in log:
            log = repo.result("git_log", cursor=log["next_cursor"])
            found += [one["subject"] for one in log["commits"]]
        is_first_shown = any(one.startswith("!") for one in paths) and "**/*.{go,tsx}" not in paths
        assert sorted(found) == sorted([*held, *(["start"] if is_first_shown else [])]), paths
