"""What merges and rebases obey, refuse and leave to git."""

import os
from pathlib import Path

import pytest
from pygit2.enums import MergeFavor

from codeplane.core.errors import GitFailed, GitUnfinished, GitUnsupported, HookRefused, WorkAtRisk
from codeplane.git import Repository, open_repository
from codeplane.git.merge.merge import MergeOptions, merge
from codeplane.git.merge.rebase import abort_rebase as abandon_rebase
from codeplane.git.merge.rebase import continue_rebase, plan_rebase, skip_commit, start_rebase
from codeplane.git.merge.rebase_todo import Step, Verb
from codeplane.git.merge.replay import RebaseOutcome, RebaseState
from codeplane.git.merge.resume import Resolution, abort_merge, continue_merge
from codeplane.git.merge.sequencer import Picking, pick_commits
from codeplane.process import Programs
from tests.git import plain

PROGRAMS = Programs({"PATH": os.environ["PATH"]})
LINES = "".join(f"{number}\n" for number in range(10))
WHO = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}


class Tree:
    """A repository with `main` checked out and `side` beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "--initial-branch=main")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.org")
        self.commit("start", f=LINES)
        self.git("branch", "side")

    def git(self, *arguments: str) -> str:
        return plain.run(self.root, *arguments, fails=True, **WHO).decode()  # type: ignore[arg-type]

    def commit(self, message: str, **files: str) -> None:
        for name, text in files.items():
            (self.root / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def fork(self, ours: str, theirs: str) -> None:
        self.git("checkout", "-q", "side")
        self.commit("theirs", f=theirs)
        self.git("checkout", "-q", "main")
        self.commit("ours", f=ours)

    def opened(self, *, trusted: bool = False) -> Repository:
        return open_repository(self.root, trusted=trusted)

    def hook(self, name: str, script: str) -> None:
        file = self.root / ".git" / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def resolution(self, *named: str) -> Resolution:
        return Resolution(lambda path: (self.root / path).read_bytes(), named)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def rebase(repository: Repository, upstream: str, steps: list[Step] | None = None) -> RebaseOutcome:
    with repository.opened() as handle:
        return start_rebase(repository, PROGRAMS, handle, plan_rebase(handle, upstream, None), steps or [])


def test_union_takes_both_sides(tree: Tree) -> None:
    tree.fork("ours\n" + LINES, "theirs\n" + LINES)
    (tree.root / ".gitattributes").write_text("f merge=union\n")
    assert merge(tree.opened(), PROGRAMS, "side", MergeOptions()).commit
    assert (tree.root / "f").read_text() == "ours\ntheirs\n" + LINES


def test_a_driver_that_is_a_program_is_not_run(tree: Tree, tmp_path: Path) -> None:
    tree.git("config", "merge.evil.driver", f"touch {tmp_path}/ran; true")
    tree.fork("ours\n" + LINES, LINES + "theirs\n")
    (tree.root / ".gitattributes").write_text("f merge=evil\n")
    done = merge(tree.opened(trusted=True), PROGRAMS, "side", MergeOptions())
    assert "'evil'" in done.notes[0] and not (tmp_path / "ran").exists()
    assert (tree.root / "f").read_text() == f"ours\n{LINES}theirs\n"


@pytest.mark.parametrize("favor", ["OURS", "THEIRS"])
def test_one_side_is_taken_where_lines_conflict(tree: Tree, favor: str) -> None:
    tree.fork("OURS\n", "THEIRS\n")
    merge(tree.opened(), PROGRAMS, "side", MergeOptions(favor=MergeFavor[favor]))
    assert (tree.root / "f").read_text() == f"{favor}\n"


def test_a_hook_may_refuse_a_merge_which_then_waits(tree: Tree) -> None:
    tree.fork("ours\n" + LINES, LINES + "theirs\n")
    tree.hook("pre-merge-commit", "echo no; exit 1")
    with pytest.raises(HookRefused):
        merge(tree.opened(trusted=True), PROGRAMS, "side", MergeOptions())
    assert (tree.root / ".git" / "MERGE_HEAD").exists()
    tree.hook("pre-merge-commit", "exit 0")
    tree.hook("commit-msg", 'echo checked >> "$1"')
    assert continue_merge(tree.opened(trusted=True), PROGRAMS, tree.resolution()).commit
    assert "checked" in tree.git("log", "-1", "--format=%B")
    assert tree.git("log", "-1", "--format=%P").count(" ") == 1


def test_hooks_of_a_repository_that_is_not_trusted_are_named(tree: Tree) -> None:
    tree.fork("ours\n" + LINES, LINES + "theirs\n")
    tree.hook("pre-merge-commit", "exit 1")
    done = merge(tree.opened(), PROGRAMS, "side", MergeOptions())
    assert done.commit and any("pre-merge-commit" in note for note in done.notes)


def test_post_rewrite_hears_of_every_commit(tree: Tree, tmp_path: Path) -> None:
    tree.fork("ours\n" + LINES, LINES + "theirs\n")
    old = tree.git("rev-parse", "HEAD").strip()
    tree.hook("post-rewrite", f"cat > {tmp_path}/told; echo $1 >> {tmp_path}/told")
    done = rebase(tree.opened(trusted=True), "side")
    assert (tmp_path / "told").read_text() == f"{old} {done.commit}\nrebase\n"


def test_a_squashed_merge_is_staged_and_can_be_left(tree: Tree) -> None:
    tree.fork("ours\n" + LINES, LINES + "theirs\n")
    merge(tree.opened(), PROGRAMS, "side", MergeOptions(squash=True))
    assert tree.git("status", "--porcelain") == "M  f\n"
    assert "theirs" in (tree.root / ".git" / "SQUASH_MSG").read_text()
    tree.git("reset", "-q", "--hard")
    tree.commit("more", f="OURS\n")
    assert merge(tree.opened(), PROGRAMS, "side", MergeOptions(squash=True)).conflicts
    abort_merge(tree.opened(), PROGRAMS)
    assert tree.git("status", "--porcelain") == "" and (tree.root / "f").read_text() == "OURS\n"


def test_a_branch_without_a_commit_goes_forward(tree: Tree) -> None:
    tree.git("checkout", "-q", "--orphan", "new")
    tree.git("rm", "-rfq", ".")
    merge(tree.opened(), PROGRAMS, "side", MergeOptions())
    assert tree.git("symbolic-ref", "HEAD") == "refs/heads/new\n"
    assert tree.git("rev-parse", "HEAD") == tree.git("rev-parse", "side")


def test_histories_without_a_common_commit_are_not_merged(tree: Tree) -> None:
    tree.git("checkout", "-q", "--orphan", "new")
    tree.commit("alone", f="x\n")
    with pytest.raises(GitFailed, match="no history in common"):
        merge(tree.opened(), PROGRAMS, "side", MergeOptions())


def test_a_series_goes_on_after_its_conflict(tree: Tree) -> None:
    tree.git("checkout", "-q", "side")
    tree.commit("one", g="1\n")
    tree.commit("two", f="THEIRS\n")
    tree.commit("three", h="3\n")
    tree.git("checkout", "-q", "main")
    tree.commit("ours", f="OURS\n")
    stopped = pick_commits(tree.opened(), PROGRAMS, ["side~2", "side~1", "side"], Picking())
    assert [one.path for one in stopped.conflicts] == ["f"]
    assert "cherry-pick" in tree.git("status")
    (tree.root / "f").write_text("BOTH\n")
    continue_merge(tree.opened(), PROGRAMS, tree.resolution())
    assert tree.git("log", "--format=%s", "-4").split() == ["three", "two", "one", "ours"]
    assert tree.git("status") == "On branch main\nnothing to commit, working tree clean\n"


def test_marks_are_not_committed_even_if_they_are_staged(tree: Tree) -> None:
    tree.fork("OURS\n", "THEIRS\n")
    merge(tree.opened(), PROGRAMS, "side", MergeOptions())
    tree.git("add", "f")
    assert [one.path for one in continue_merge(tree.opened(), PROGRAMS, tree.resolution()).conflicts] == ["f"]
    assert continue_merge(tree.opened(), PROGRAMS, tree.resolution("f")).commit


def test_a_rebase_that_git_has_begun_is_continued(tree: Tree) -> None:
    tree.fork("OURS\n", "THEIRS\n")
    tree.commit("after", g="1\n")
    tree.git("rebase", "side")
    (tree.root / "f").write_text("BOTH\n")
    assert continue_rebase(tree.opened(), PROGRAMS, tree.resolution()).state is RebaseState.DONE
    assert tree.git("log", "--format=%s", "-3").split() == ["after", "ours", "theirs"]
    assert tree.git("symbolic-ref", "HEAD") == "refs/heads/main\n"


def torn(tree: Tree) -> None:
    """Four commits to be put on `side`, of which the third is in conflict."""
    tree.git("checkout", "-q", "side")
    tree.commit("theirs", f="THEIRS\n")
    tree.git("checkout", "-q", "main")
    for name, files in (("one", "a"), ("two", "b"), ("three", "f"), ("four", "d")):
        tree.commit(name, **{files: f"{name}\n"})


@pytest.mark.parametrize("skips", [False, True])
def test_a_message_that_git_has_begun_to_meld_ends_without_its_remarks(tree: Tree, skips: bool) -> None:
    torn(tree)
    tree.git("-c", "sequence.editor=sed -i 2,3s/pick/squash/", "rebase", "-i", "side")
    assert tree.git("log", "-1", "--format=%s").startswith("# ")
    (tree.root / "f").write_text("BOTH\n")
    done = (
        skip_commit(tree.opened(), PROGRAMS)
        if skips
        else continue_rebase(tree.opened(), PROGRAMS, tree.resolution())
    )
    assert done.state is RebaseState.DONE
    assert tree.git("log", "-2", "--format=%B").split() == ["four", "one", "two", *["three"][skips:]]


def test_git_melds_nothing_that_was_skipped_before(tree: Tree) -> None:
    torn(tree)
    tree.commit("five", f="five\n")
    tree.git("-c", "sequence.editor=sed -i -e 3s/pick/squash/ -e 5s/pick/squash/", "rebase", "-i", "side")
    stopped = skip_commit(tree.opened(), PROGRAMS)
    assert stopped.state is RebaseState.CONFLICT
    (tree.root / "f").write_text("BOTH\n")
    tree.git("add", "f")
    tree.git("rebase", "--continue")
    assert tree.git("log", "-3", "--format=%B").split() == ["four", "five", "two", "one"]


def test_what_was_melded_before_a_skip_is_told_of_as_what_it_has_become(tree: Tree, tmp_path: Path) -> None:
    torn(tree)
    one, two, three, four = tree.git("rev-list", "--reverse", "side..main").split()
    tree.hook("post-rewrite", f"cat > {tmp_path}/told")
    steps = [Step(Verb.PICK, one), Step(Verb.SQUASH, two), Step(Verb.FIXUP, three), Step(Verb.PICK, four)]
    rebase(tree.opened(trusted=True), "side", steps)
    skip_commit(tree.opened(trusted=True), PROGRAMS)
    both, last = tree.git("rev-list", "--reverse", "side..main").split()
    assert (tmp_path / "told").read_text() == f"{one} {both}\n{two} {both}\n{four} {last}\n"


def test_what_is_melded_beyond_a_dropped_commit_is_told_of_as_one(tree: Tree, tmp_path: Path) -> None:
    tree.git("branch", "-f", "side")
    for name in ("one", "two", "three"):
        tree.commit(name, **{name: "1\n"})
    one, two, three = tree.git("rev-list", "--reverse", "side..main").split()
    tree.hook("post-rewrite", f"cat > {tmp_path}/told")
    rebase(
        tree.opened(trusted=True),
        "side",
        [Step(Verb.PICK, one), Step(Verb.DROP, two), Step(Verb.SQUASH, three)],
    )
    both = tree.git("rev-parse", "main").strip()
    assert (tmp_path / "told").read_text() == f"{one} {both}\n{three} {both}\n"


def test_a_refused_merge_takes_away_no_file_in_the_place_of_a_directory(tree: Tree) -> None:
    for branch in ("side", "main"):
        tree.git("checkout", "-q", branch)
        (tree.root / "x").mkdir()
        tree.commit(branch, **{"x/y": f"{branch}\n"})
    (tree.root / "x" / "y").unlink()
    (tree.root / "x").rmdir()
    (tree.root / "x").write_text("mine\n")
    with pytest.raises(WorkAtRisk, match="untracked: x"):
        merge(tree.opened(), PROGRAMS, "side", MergeOptions())
    assert (tree.root / "x").read_text() == "mine\n"


def test_steps_that_only_git_knows_are_left_to_git(tree: Tree) -> None:
    tree.fork("OURS\n", "THEIRS\n")
    tree.git("rebase", "--exec", "true", "side")
    (tree.root / "f").write_text("BOTH\n")
    with pytest.raises(GitUnsupported, match="exec"):
        continue_rebase(tree.opened(), PROGRAMS, tree.resolution())
    abandon_rebase(tree.opened(), PROGRAMS)
    assert (tree.root / "f").read_text() == "OURS\n"


def test_a_rebase_begun_as_patches_is_left_to_git(tree: Tree) -> None:
    tree.fork("OURS\n", "THEIRS\n")
    tree.git("rebase", "--apply", "side")
    with pytest.raises(GitUnfinished, match="only git"):
        continue_rebase(tree.opened(), PROGRAMS, tree.resolution())


def test_a_file_in_the_way_of_a_later_step_leaves_the_rebase_where_it_was(tree: Tree) -> None:
    tree.fork("OURS\n", "THEIRS\n")
    tree.commit("after", g="1\n")
    rebase(tree.opened(), "side")
    (tree.root / "f").write_text("BOTH\n")
    (tree.root / "g").write_text("mine\n")
    with pytest.raises(WorkAtRisk, match="untracked: g"):
        continue_rebase(tree.opened(), PROGRAMS, tree.resolution())
    assert (tree.root / "g").read_text() == "mine\n"
    (tree.root / "g").unlink()
    assert continue_rebase(tree.opened(), PROGRAMS, tree.resolution()).state is RebaseState.DONE
    assert tree.git("log", "--format=%s", "-3").split() == ["after", "ours", "theirs"]


def test_commits_for_others_are_put_behind_them(tree: Tree) -> None:
    tree.commit("one", g="1\n")
    tree.commit("two", h="2\n")
    tree.commit("fixup! one", g="11\n")
    with tree.opened().opened() as handle:
        plan = plan_rebase(handle, "side", None, autosquash=True)
        assert [step.verb for step in plan.steps] == [Verb.PICK, Verb.FIXUP, Verb.PICK]
        start_rebase(tree.opened(), PROGRAMS, handle, plan, [])
    assert tree.git("log", "--format=%s", "-3").split() == ["two", "one", "start"]


def test_a_commit_of_which_nothing_is_left_stays_and_is_told(tree: Tree) -> None:
    tree.commit("one", g="1\n")
    (tree.root / "g").unlink()
    tree.commit("fixup! one")
    with tree.opened().opened() as handle:
        done = start_rebase(
            tree.opened(), PROGRAMS, handle, plan_rebase(handle, "side", None, autosquash=True), []
        )
    assert "makes a commit empty" in done.notes[0] and tree.git("log", "-1", "--format=%s") == "one\n"


def test_what_upstream_has_already_is_left_out(tree: Tree) -> None:
    tree.fork("ours\n" + LINES, LINES + "theirs\n")
    tree.git("cherry-pick", "side")
    with tree.opened().opened() as handle:
        plan = plan_rebase(handle, "side", None)
    assert len(plan.steps) == 1 and len(plan.range.equivalents) == 1


def test_messages_and_names_that_are_not_utf_8_survive(tree: Tree) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tree.root / name).write_text("1\n")
    tree.commit("plain")
    raw = plain.run(tree.root, "cat-file", "commit", "HEAD").replace(b"plain", b"caf\xe9")
    odd = plain.run(tree.root, "hash-object", "-w", "-t", "commit", "--stdin", stdin=raw).decode().strip()
    tree.git("checkout", "-q", "side")
    pick_commits(tree.opened(), PROGRAMS, [odd], Picking())
    assert plain.run(tree.root, "cat-file", "commit", "HEAD").endswith(b"caf\xe9\n")
    assert (tree.root / name).read_text() == "1\n"
