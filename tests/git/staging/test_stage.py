"""The index after staging, unstaging and discarding is the one that git itself makes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.core.errors import (
    GitBusy,
    GitFailed,
    GitUnfinished,
    GitUnsupported,
    NotFound,
    PathRefused,
    WorkAtRisk,
)
from codeplane.core.paths import RepoPath
from codeplane.git import open_repository
from codeplane.git.repo.pathspec import Selection
from codeplane.git.staging.stage import StageOutcome, StagingRules, stage_paths
from codeplane.git.staging.unstage import discard_changes, unstage_paths
from codeplane.process import Programs
from tests.drive import git, new_repo
from tests.git import plain
from tests.git.histories import NAMES, World, made, worlds

OPEN = StagingRules(lambda _: None, lambda _: None, lambda _: None)
PROGRAMS = Programs({"PATH": os.environ["PATH"]})


def chosen(*paths: str) -> Selection:
    return Selection(frozenset(map(RepoPath, paths)))


def staged(
    root: Path, *paths: str, rules: StagingRules = OPEN, trusted: bool = False, **more: bool
) -> StageOutcome:
    return stage_paths(open_repository(root, trusted=trusted), PROGRAMS, chosen(*paths), rules, **more)


def known(root: Path, paths: list[str]) -> list[str]:
    """Those of the paths that are there or that git knows; the others are errors to both."""
    names = plain.run(root, "ls-files", "-z").split(b"\0")
    there = {*plain.files_of(root), *map(os.fsdecode, names)}
    return [path for path in paths if any(one == path or one.startswith(f"{path}/") for one in there)]


PATHS = st.lists(st.sampled_from((*NAMES, "dir", "dir/sub")), max_size=3, unique=True)


def check_world(world: World, paths: list[str]) -> None:
    """Stages, takes some of it out again, and gives up what is not staged, beside git."""
    with made(world, copies=2) as (ours, theirs):
        repository = open_repository(ours, trusted=False)
        some = known(ours, paths)
        staged(ours, *some)
        plain.run(theirs, "add", "-A", "--", *(some or ["."]))
        assert plain.state_of(ours) == plain.state_of(theirs)
        tracked = [path for path in some if plain.run(ours, "ls-files", "--", path)]
        unstage_paths(repository, chosen(*tracked), OPEN)
        plain.run(theirs, "reset", "-q", "--", *(tracked or ["."]), fails=True)
        assert plain.state_of(ours) == plain.state_of(theirs)
        before = plain.files_of(ours)
        done = discard_changes(repository, PROGRAMS, chosen(), OPEN, force=True)
        plain.run(theirs, "checkout", "-f", "--", ".", fails=True)
        after = plain.files_of(ours)
        assert after == plain.files_of(theirs)
        assert all(after.get(path) == before[path] for path in before) or done.saved is not None


@settings(max_examples=6)
@given(worlds(most=2), PATHS)
def test_the_index_is_as_git_makes_it(world: World, paths: list[str]) -> None:
    check_world(world, paths)


@pytest.mark.soak
@settings(max_examples=1000)
@given(worlds(most=2), PATHS)
def test_many_indexes_are_as_git_makes_them(world: World, paths: list[str]) -> None:
    check_world(world, paths)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_repo(tmp_path / "repo", {"a.txt": "one\n", "dir/b.txt": "two\n"})


def test_what_is_closed_is_left_out_or_refused(root: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    (root / "c.txt").write_text("three\n")
    rules = StagingRules(
        lambda path: ".env looks like a secret." if path == ".env" else None, lambda _: None, lambda _: None
    )
    assert staged(root, rules=rules).notes == ("Left out: .env looks like a secret.",)
    assert git(root, "diff", "--cached", "--name-only") == "c.txt"
    with pytest.raises(PathRefused, match="secret"):
        staged(root, ".env", rules=rules, force=True)


def test_a_tracked_file_that_is_closed_is_not_staged(root: Path) -> None:
    (root / "a.txt").write_text("changed\n")
    rules = StagingRules(
        lambda path: f"{path} is closed." if path == "a.txt" else None, lambda _: None, lambda _: None
    )
    assert staged(root, rules=rules).paths == ()
    (root / "a.txt").unlink()
    assert staged(root, rules=rules).paths == ()


def test_a_link_is_staged_as_itself_and_never_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret\n")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to("loop")
    staged(root)
    assert git(root, "ls-files", "-s", "link", "loop").count("120000") == 2
    with pytest.raises(NotFound):
        staged(root, "link/secret")


def test_a_tracked_directory_that_became_a_link_is_gone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.txt").write_text("foreign\n")
    (root / "dir/b.txt").unlink()
    (root / "dir").rmdir()
    (root / "dir").symlink_to(tmp_path / "outside")
    staged(root)
    assert git(root, "ls-files").split() == ["a.txt", "dir"]


def test_a_pipe_is_left_out_and_waited_for_by_nobody(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "a.txt").unlink()
    os.mkfifo(root / "a.txt")
    with pytest.raises(PathRefused, match="neither a file"):
        staged(root, "pipe")
    assert "a.txt is neither" in staged(root).notes[0]
    assert git(root, "ls-files") == "a.txt\ndir/b.txt"


def test_a_repository_inside_is_no_tree_and_no_submodule(root: Path) -> None:
    new_repo(root / "inner")
    assert "repository of its own" in staged(root).notes[0]
    assert git(root, "ls-files", "inner") == ""
    with pytest.raises(PathRefused, match="added as a submodule"):
        staged(root, "inner")


def test_a_submodule_is_staged_as_the_commit_that_it_has(root: Path, tmp_path: Path) -> None:
    inner = new_repo(tmp_path / "inner")
    plain.run(root, "submodule", "--quiet", "add", str(inner), "sub")
    git(root, "commit", "-qm", "sub")
    git(root / "sub", "commit", "-q", "--allow-empty", "-m", "on")
    head = git(root / "sub", "rev-parse", "HEAD")
    rules = StagingRules(lambda _: None, lambda _: None, lambda _: head)
    assert staged(root, "sub", rules=rules).paths == ("sub",)
    assert git(root, "ls-files", "-s", "sub").split()[:2] == ["160000", head]


def conflict(root: Path) -> None:
    git(root, "switch", "-qc", "other")
    (root / "a.txt").write_text("theirs\n")
    git(root, "commit", "-qam", "theirs")
    git(root, "switch", "-q", "main")
    (root / "a.txt").write_text("ours\n")
    git(root, "commit", "-qam", "ours")
    subprocess.run(["git", "merge", "-q", "other"], cwd=root, capture_output=True, check=False)


def test_the_marks_of_a_conflict_are_not_staged(root: Path) -> None:
    conflict(root)
    with pytest.raises(GitUnfinished, match=r"a\.txt"):
        staged(root)
    with pytest.raises(GitUnfinished):
        discard_changes(open_repository(root, trusted=False), PROGRAMS, chosen("a.txt"), OPEN, force=True)
    (root / "a.txt").write_text("both\n")
    staged(root, "a.txt")
    assert git(root, "status", "--porcelain") == "M  a.txt"


def test_marks_are_staged_when_they_are_meant(root: Path) -> None:
    conflict(root)
    staged(root, "a.txt", force=True)
    assert "<<<<<<<" in git(root, "show", ":a.txt")


def filtered(root: Path, ran: Path) -> None:
    (root / ".gitattributes").write_text("*.bin filter=up\n")
    git(root, "config", "filter.up.clean", f"sh -c 'touch {ran}; tr a-z A-Z'")
    git(root, "config", "filter.up.smudge", "tr A-Z a-z")
    (root / "x.bin").write_text("lower\n")


def test_a_filter_runs_where_the_repository_is_trusted_and_nowhere_else(root: Path, tmp_path: Path) -> None:
    filtered(root, tmp_path / "ran")
    with pytest.raises(GitUnsupported, match=r"x\.bin \(up\)"):
        staged(root)
    assert not (tmp_path / "ran").exists() and git(root, "diff", "--cached", "--name-only") == ""
    staged(root, trusted=True)
    assert git(root, "show", ":x.bin") == "LOWER" and git(root, "status", "--porcelain").count("A ") == 2


def test_a_filtered_file_that_has_not_changed_is_in_nobodys_way(root: Path, tmp_path: Path) -> None:
    filtered(root, tmp_path / "ran")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "filtered")
    (root / "a.txt").write_text("changed\n")
    assert staged(root).paths == ("a.txt",)


def test_a_filter_that_is_not_set_up_is_not_passed_over(root: Path) -> None:
    (root / ".gitattributes").write_text("*.bin filter=lfs\n")
    (root / "x.bin").write_text("raw\n")
    with pytest.raises(GitUnsupported, match="lfs is not set up"):
        staged(root, trusted=True)


def test_a_filter_that_fails_leaves_the_index_as_it_was(root: Path, tmp_path: Path) -> None:
    filtered(root, tmp_path / "ran")
    git(root, "config", "filter.up.clean", "false")
    git(root, "config", "filter.up.required", "true")
    before = (root / ".git/index").read_bytes()
    with pytest.raises(Exception, match="git add failed"):
        staged(root, trusted=True)
    assert (root / ".git/index").read_bytes() == before


def test_a_lock_that_stays_is_told_and_nothing_changes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeplane.git.repo.lock_retry._LONGEST_SEC", 0.1)
    (root / "a.txt").write_text("changed\n")
    before = (root / ".git/index").read_bytes()
    (root / ".git/index.lock").touch()
    with pytest.raises(GitBusy):
        staged(root)
    assert (root / ".git/index").read_bytes() == before


@pytest.mark.parametrize("auto", ["true", "input"])
def test_line_ends_are_as_git_has_them(tmp_path: Path, auto: str) -> None:
    roots = [new_repo(tmp_path / name, {"a.txt": "one\n", "win.txt": "x\n"}) for name in ("ours", "theirs")]
    for one in roots:
        (one / "win.txt").write_bytes(b"a\r\nb\r\n")
        git(one, "add", "-A")
        git(one, "commit", "-qm", "with carriage returns")
        git(one, "config", "core.autocrlf", auto)
        (one / "win.txt").write_bytes(b"a\r\nb\r\nc\r\n")
        (one / "a.txt").write_bytes(b"one\r\ntwo\r\n")
        (one / "new.txt").write_bytes(b"new\r\n")
        (one / "bin").write_bytes(b"\0\r\n")
    staged(roots[0])
    git(roots[1], "add", "-A")
    assert git(roots[0], "ls-files", "-s") == git(roots[1], "ls-files", "-s")


def test_names_that_are_no_text_are_staged_too(root: Path) -> None:
    name = os.fsdecode(b"n\xff[x]*")
    (root / name).write_text("x\n")
    assert staged(root).paths == (name,)
    assert unstage_paths(open_repository(root, trusted=False), chosen(name), OPEN).paths == (name,)


def test_discarding_work_needs_force_and_bringing_back_a_deleted_file_does_not(root: Path) -> None:
    repository = open_repository(root, trusted=False)
    (root / "a.txt").unlink()
    assert discard_changes(repository, PROGRAMS, chosen("a.txt"), OPEN).saved is None
    (root / "a.txt").write_text("work\n")
    with pytest.raises(WorkAtRisk, match=r"a\.txt"):
        discard_changes(repository, PROGRAMS, chosen("a.txt"), OPEN)
    saved = discard_changes(repository, PROGRAMS, chosen("a.txt"), OPEN, force=True).saved
    assert (root / "a.txt").read_text() == "one\n" and git(root, "show", f"{saved}:a.txt") == "work"


def shell(root: Path, script: str) -> None:
    subprocess.run(["sh", "-ec", script], cwd=root, env=plain.environment(root.parent), check=True)


ODD = {
    "a directory is gone": ("rm -r d", ["d"]),
    "a file is in the place of a directory": ("rm -r d; echo f > d", ["d"]),
    "a file below what is a file now": ("rm -r d; echo f > d", ["d/b.txt"]),
    "a directory is in the place of a file": ("rm a.txt; mkdir a.txt; echo q > a.txt/q", ["a.txt"]),
    "both at once": ("rm -r d a.txt; echo f > d; mkdir a.txt; echo q > a.txt/q", []),
    "only expected": ("echo n > n.txt; git add -N n.txt", []),
    "assumed to be unchanged": ("git update-index --assume-unchanged a.txt; echo x > a.txt", []),
    "skipped": ("git update-index --skip-worktree a.txt; echo x > a.txt", []),
    "no modes": ("git config core.filemode false; chmod +x a.txt; echo n > n.sh; chmod +x n.sh", []),
    "no modes, named": (
        "git config core.filemode false; chmod +x a.txt x.sh; echo s > x.sh",
        ["a.txt", "x.sh"],
    ),
    "an index of version 4": ("git update-index --index-version 4; echo x > a.txt", []),
    "a cache of untracked files": ("git update-index --untracked-cache; git status; echo n > n", []),
    "ids in files": ("echo '*.txt ident' > .gitattributes; echo '$Id: x $' > a.txt", []),
    "text by attribute": ("echo '* text=auto' > .gitattributes; printf 'a\\r\\nb\\n' > x.sh", []),
    "other line ends in the tree": ("echo '*.sh eol=crlf' > .gitattributes; printf 'a\\r\\n' > x.sh", []),
    "ignored by three files": (
        """printf '*.log\\n!keep.log\\nout/\\n' > .gitignore; mkdir out sub; touch a.log keep.log out/x sub/x
        echo /x > sub/.gitignore; echo 'sec*' >> .git/info/exclude; touch secret sub/y""",
        [],
    ),
}


@pytest.mark.parametrize("name", list(ODD))
def test_an_odd_index_or_tree_is_staged_as_by_git(tmp_path: Path, name: str) -> None:
    script, paths = ODD[name]
    files = {"a.txt": "1\n", "d/b.txt": "2\n", "d/c.txt": "3\n", "x.sh": "s\n"}
    ours = new_repo(tmp_path / "1/repo", files)
    shell(ours, script)
    theirs = shutil.copytree(ours, tmp_path / "2/repo", symlinks=True)
    staged(ours, *paths)
    plain.run(theirs, "add", "-A", "--", *(paths or ["."]), fails=True)
    assert plain.state_of(ours) == plain.state_of(theirs)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_is_told_not_to_look_at_is_refused_by_name(root: Path, flag: str) -> None:
    git(root, "update-index", flag, "a.txt")
    (root / "a.txt").write_text("changed\n")
    with pytest.raises(PathRefused, match="marked"):
        staged(root, "a.txt")


def test_a_file_that_changed_with_the_same_stat_is_not_taken_for_clean(root: Path) -> None:
    """Its entry is as young as the index: the next writer of the index has to see to it."""
    (root / "a.txt").write_text("two\n")
    staged(root, "a.txt")
    found = (root / ".git/index").stat().st_mtime_ns
    os.utime(root / "a.txt", ns=(found, found))
    git(root, "update-index", "a.txt")
    (root / "a.txt").write_text("six\n")
    os.utime(root / "a.txt", ns=(found, found))
    os.utime(root / ".git/index", ns=(found, found))
    (root / "new.txt").write_text("new\n")
    staged(root, "new.txt")
    assert git(root, "-c", "core.trustctime=false", "diff", "--name-only") == "a.txt"


def test_git_need_not_read_again_what_was_staged(root: Path) -> None:
    (root / "a.txt").write_text("changed\n")
    os.utime(root / "a.txt", ns=(10**18, 10**18))
    staged(root, "a.txt")
    assert git(root, "diff-files") == ""


def test_a_directory_that_becomes_a_link_meanwhile_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.txt").write_text("foreign\n")
    (root / "dir/b.txt").write_text("changed\n")
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 2:
            (root / "dir").rename(root / "was")
            (root / "dir").symlink_to(tmp_path / "outside")

    rules = StagingRules(lambda _: None, lambda _: None, lambda _: None, check)
    with pytest.raises(GitFailed, match="symbolic links"):
        staged(root, "dir/b.txt", rules=rules)
    assert len(calls) == 2 and git(root, "diff", "--cached", "--name-only") == ""
