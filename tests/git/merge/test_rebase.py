"""A rebase ends or stops as that of the git program; where it has stopped, either goes on."""

from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import GitFailure
from codeplane.git import Repository
from codeplane.git.merge.rebase import abort_rebase, continue_rebase, plan_rebase, skip_commit, start_rebase
from codeplane.git.merge.rebase_todo import Step, Verb
from codeplane.git.merge.replay import RebaseOutcome, RebaseState
from codeplane.git.merge.resume import Resolution
from codeplane.process import Programs
from tests.git import plain
from tests.git.forks import forks
from tests.git.histories import World
from tests.git.merge.test_merge import assert_same, both, dirty, git, is_refusal

NOTES = ("done", "git-rebase-todo", "head-name", "onto", "orig-head", "msgnum", "end", "stopped-sha")
MOST_STOPS = 8


def rebase(repository: Repository, programs: Programs, steps: list[Step]) -> RebaseOutcome:
    with repository.opened() as handle:
        return start_rebase(repository, programs, handle, plan_rebase(handle, "side", None), steps)


def assert_same_notes(ours: Path, theirs: Path) -> None:
    for name in NOTES:
        left, right = (root / ".git" / "rebase-merge" / name for root in (ours, theirs))
        assert left.exists() == right.exists(), name
        if left.exists():
            assert told(left) == told(right), (name, told(left), told(right))
    if (theirs / ".git" / "rebase-merge").exists():  # git leaves it lying about when it skips the last one
        assert (ours / ".git" / "REBASE_HEAD").exists() == (theirs / ".git" / "REBASE_HEAD").exists()


def told(file: Path) -> list[str]:
    lines = (line.removesuffix(" # empty") for line in file.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def unmerged(root: Path) -> list[str]:
    return [line.split("\t")[1] for line in plain.text(root, "ls-files", "-u").splitlines()]


def compare(world: World, *, aborts: bool, skips: bool, by_git: bool) -> None:
    with both(world) as (repository, programs, theirs):
        ours, before = repository.root, plain.state_of(repository.root)
        try:
            done = rebase(repository, programs, [])
        except GitFailure:
            event("refused")
            assert plain.state_of(ours) == before
            git(theirs, "rebase", "side")
            assert not (theirs / ".git" / "rebase-merge").exists()
            return
        if is_refusal(git(theirs, "rebase", "side")):  # of files that have what comes, see the docs
            event("refused by git alone")
            return
        for _ in range(MOST_STOPS):
            assert_same(ours, theirs, notes=False)
            assert_same_notes(ours, theirs)
            if not (ours / ".git" / "rebase-merge").exists():
                break
            event("aborted" if aborts else "skipped" if skips else "continued")
            word = "--abort" if aborts else "--skip" if skips else "--continue"
            named = unmerged(ours)
            for root in (theirs, ours) if by_git else (theirs,):
                if word == "--continue" and named:  # and nothing that is not tracked
                    git(root, "add", "-A", "--", *named)
                git(root, "rebase", word)
            if not by_git:
                resolution = Resolution(lambda _: None, named)
                if aborts:
                    done = abort_rebase(repository, programs)
                else:
                    done = (
                        skip_commit(repository, programs)
                        if skips
                        else continue_rebase(repository, programs, resolution)
                    )
        assert done.saved is None
        assert not aborts or plain.state_of(ours) == before or done.state is RebaseState.DONE


verbs = st.lists(st.sampled_from(list(Verb)), min_size=5, max_size=5)
turns = st.lists(st.booleans(), min_size=MOST_STOPS, max_size=MOST_STOPS)


def steps_of(chosen: list[Verb], commits: list[str]) -> list[Step]:
    """A list of steps whose first has nothing before it to be melded into."""
    steps = [Step(verb, oid) for verb, oid in zip(chosen, commits, strict=False)]
    first = next((number for number, step in enumerate(steps) if step.verb is not Verb.DROP), None)
    if first is not None and steps[first].verb.melds:
        steps[first] = Step(Verb.PICK, steps[first].commit)
    return steps


def listen(root: Path) -> None:
    hook = root / ".git" / "hooks" / "post-rewrite"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ncat > '{root.parent}/heard'\n")
    hook.chmod(0o755)


def heard(root: Path) -> list[tuple[str, str]]:
    """Every commit that was made anew, and what it has become; ids are different ones."""
    said = root.parent / "heard"
    pairs = [line.split() for line in said.read_text().splitlines()] if said.exists() else []
    return [(old, plain.text(root, "log", "-1", "--format=%T %B", new)) for old, new in pairs]


def compare_steps(world: World, chosen: list[Verb], *, turned: bool, by_git: list[bool]) -> None:
    """The same list of steps, given to us and to git. In our repository, too, git begins or goes on where
    `by_git` says so."""
    with both(world) as (repository, programs, theirs):
        with repository.opened() as handle:
            commits = [step.commit for step in plan_rebase(handle, "side", None).steps]
        commits = commits[::-1] if turned else commits
        if by_git[0]:  # which has no message for us
            chosen = [Verb.PICK if verb is Verb.REWORD else verb for verb in chosen]
        steps = steps_of(chosen, commits)
        messages = {oid: plain.run(theirs, "log", "-1", "--format=%B", oid).decode() for oid in commits}
        worded = [
            Step(one.verb, one.commit, messages[one.commit] if one.verb is Verb.REWORD else None)
            for one in steps
        ]
        todo = theirs.parent / "todo"
        todo.write_text("".join(f"{step.verb} {step.commit}\n" for step in steps) or "noop\n")
        if not steps:
            return
        for root in (repository.root, theirs):
            listen(root)
        if not by_git[0]:
            rebase(repository, programs, worded)
        for root in (repository.root, theirs) if by_git[0] else (theirs,):
            said = plain.run(root, "rebase", "-i", "side", fails=True, GIT_SEQUENCE_EDITOR=f"cp {todo}")
        for is_gits in by_git[1:]:
            if b"it empty" in said or b"now empty" in said:
                event("nothing is left of a commit")
                return
            assert_same(repository.root, theirs, notes=False)
            if not (repository.root / ".git" / "rebase-merge").exists():
                assert heard(repository.root) == heard(theirs)
                break
            event("stopped")
            named = unmerged(repository.root)
            git(theirs, "add", "-A")
            if not git(theirs, "diff", "--cached", "--name-only", "HEAD"):
                event("nothing is left of a step")
                return
            said = git(theirs, "rebase", "--continue")
            if is_gits:
                git(repository.root, "add", "-A")
                git(repository.root, "rebase", "--continue")
            else:
                continue_rebase(repository, programs, Resolution(lambda _: None, named))


flags = {"aborts": st.booleans(), "skips": st.booleans(), "by_git": st.booleans()}


@settings(max_examples=12, deadline=None)
@given(world=forks(), **flags)
def test_a_rebase_is_that_of_git(world: World, aborts: bool, skips: bool, by_git: bool) -> None:
    compare(world, aborts=aborts, skips=skips, by_git=by_git)


@settings(max_examples=8, deadline=None)
@given(forks(), verbs, st.booleans(), turns)
def test_steps_are_done_as_git_does_them(
    world: World, chosen: list[Verb], turned: bool, by_git: list[bool]
) -> None:
    compare_steps(world, chosen, turned=turned, by_git=by_git)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(world=st.one_of(forks(), dirty()), **flags)
def test_many_rebases_are_those_of_git(world: World, aborts: bool, skips: bool, by_git: bool) -> None:
    compare(world, aborts=aborts, skips=skips, by_git=by_git)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(forks(), verbs, st.booleans(), turns)
def test_many_lists_of_steps_are_done_as_git_does_them(
    world: World, chosen: list[Verb], turned: bool, by_git: list[bool]
) -> None:
    compare_steps(world, chosen, turned=turned, by_git=by_git)
