"""Fetching and pulling random histories, compared with the git program."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import GitFailed
from codeplane.git import open_repository
from codeplane.git.ops.pull import PullOptions, source_of, take_fetch, take_pull
from codeplane.git.remote.fetch import fetch_objects
from codeplane.git.remote.transfer import Connection
from codeplane.process import Programs
from tests.git import plain
from tests.git.histories import World, made, worlds

LIGHT = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
HEAVY = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def _client(server: Path, world: World, tags: list[int]) -> Path:
    """A repository that has `side`'s commit as its `main` and follows the server."""
    commits = plain.text(server, "rev-list", "--reverse", "--topo-order", "main").split()
    for at in tags:
        plain.run(server, "tag", "-f", "-a", "-m", "t", f"t{at}", commits[at % len(commits)])
    plain.run(server, "config", "uploadpack.allowAnySHA1InWant", "true")
    root = server.parent / "ours"
    plain.run(server.parent, "init", "-q", "--template=", "--initial-branch=main", str(root))
    plain.run(root, "remote", "add", "origin", f"file://{server}")
    for key, value in (("user.name", "C O Mitter"), ("user.email", "committer@example.org")):
        plain.run(root, "config", key, value)
    plain.run(root, "config", "branch.main.remote", "origin")
    plain.run(root, "config", "branch.main.merge", "refs/heads/main")
    side = plain.text(server, "rev-parse", "side")
    plain.run(root, "fetch", "-q", "--no-tags", f"file://{server}", side)
    plain.run(root, "reset", "-q", "--hard", side)
    (root / ".git/FETCH_HEAD").unlink()
    return root


def _both(world: World, tags: list[int], *, rebases: bool) -> None:
    with made(world) as (server,):
        ours = _client(server, world, tags)
        theirs = server.parent / "theirs"
        shutil.copytree(ours, theirs, symlinks=True)
        repository = open_repository(ours, trusted=False)
        line = Connection(repository, Programs(plain.environment(server.parent)), 60)
        source = source_of(repository, None, None, merges=True)
        with fetch_objects(line, source.remote) as brought:
            take_fetch(repository, brought, source, prune=True)
            plain.run(theirs, "fetch", "-q", "--prune")
            told, said = ((one / ".git/FETCH_HEAD").read_text().splitlines() for one in (ours, theirs))
            assert told[0] == said[0] and sorted(told) == sorted(said)
            assert plain.run(ours, "for-each-ref") == plain.run(theirs, "for-each-ref")
            plain.run(ours, "fsck", "--strict", "--connectivity-only")
            try:
                take_pull(repository, line.programs, brought, source, PullOptions(rebase=rebases))
            except GitFailed:
                assert b"unrelated" in plain.run(theirs, "pull", "--no-rebase", fails=True)
                return
        how = "--rebase" if rebases else "--no-rebase"
        plain.run(theirs, "pull", "-q", "--no-edit", how, fails=True)
        assert plain.run(ours, "ls-files", "-s") == plain.run(theirs, "ls-files", "-s")
        assert plain.run(ours, "status", "--porcelain") == plain.run(theirs, "status", "--porcelain")
        form = "--format=%T %s"
        assert plain.run(ours, "log", form) == plain.run(theirs, "log", form)


@LIGHT
@given(worlds(clean=True), st.lists(st.integers(0, 9), max_size=3, unique=True))
def test_a_pull_leaves_what_gits_leaves(world: World, tags: list[int]) -> None:
    _both(world, tags, rebases=False)


@pytest.mark.soak
@HEAVY
@given(worlds(clean=True), st.lists(st.integers(0, 9), max_size=3, unique=True), st.booleans())
def test_many_pulls_leave_what_gits_leave(world: World, tags: list[int], rebases: bool) -> None:
    _both(world, tags, rebases=rebases)
