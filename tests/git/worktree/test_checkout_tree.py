"""Index and working tree come to a tree as git brings them there, and no work is lost on the way."""

import errno
import os
from pathlib import Path

import pygit2
import pytest

from codeplane.core.errors import GitBusy, GitFailed, PathRefused, WorkAtRisk
from codeplane.git import Repository, open_repository
from codeplane.git.worktree.checkout_tree import CheckoutResult, check_out_tree
from codeplane.process import Programs
from codeplane.storage.disk import Disk
from tests.drive import git, new_repo
from tests.git import plain

PROGRAMS = Programs({"PATH": os.environ["PATH"]})


def branch(root: Path, name: str, files: dict[str, str | None]) -> None:
    """A branch off main with files changed; main is checked out again."""
    git(root, "checkout", "-qb", name)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text) if text is not None else (root / path).unlink()
    git(root, "add", "-A")
    git(root, "commit", "-qm", name)
    git(root, "checkout", "-q", "main")


def put(
    root: Path, name: str, *, force: bool = False, whole: bool = False, trusted: bool = False
) -> CheckoutResult:
    repository: Repository = open_repository(root, trusted=trusted)
    with repository.opened() as handle:
        tree = handle.revparse_single(name).peel(pygit2.Tree)
        return check_out_tree(repository, PROGRAMS, handle, str(tree.id), force=force, whole=whole)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Going to `other` edits `a`, deletes `b` and makes a file of the directory `dir`, which has a file."""
    root = new_repo(tmp_path / "repo", {"a": "a\n", "b": "b\n", "dir/c": "c\n", ".gitignore": "*.log\n"})
    branch(root, "other", {"a": "other\n", "b": None, "dir/c": None, "new/x": "tracked\n"})
    branch(root, "file", {"dir/c": None})
    git(root, "checkout", "-q", "file")
    (root / "dir").write_text("a file\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "file")
    git(root, "checkout", "-q", "main")
    return root


def refused(root: Path, name: str) -> dict[str, list[str]]:
    before = plain.state_of(root)
    with pytest.raises(WorkAtRisk) as error:
        put(root, name)
    assert plain.state_of(root) == before
    paths = error.value.details["paths"]
    assert isinstance(paths, dict)
    return paths


def test_files_and_index_become_the_tree(root: Path) -> None:
    assert put(root, "other") == CheckoutResult()
    assert plain.text(root, "write-tree") == plain.text(root, "rev-parse", "other^{tree}")
    assert plain.run(root, "diff") == b"" and not (root / "dir").exists()


def test_a_change_in_a_path_that_both_trees_have_alike_is_carried_along(root: Path) -> None:
    (root / ".gitignore").write_text("mine\n")
    (root / "loose").write_text("untracked\n")
    put(root, "other")
    assert (root / ".gitignore").read_text() == "mine\n" and (root / "loose").exists()


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_change_that_would_be_lost_is_refused_by_name(root: Path, is_staged: bool) -> None:
    (root / "a").write_text("work\n")
    if is_staged:
        git(root, "add", "a")
    assert refused(root, "other") == {"staged" if is_staged else "modified": ["a"]}


def test_a_file_that_has_the_content_already_is_not_lost(root: Path) -> None:
    (root / "a").write_text("other\n")
    put(root, "other")
    assert plain.text(root, "write-tree") == plain.text(root, "rev-parse", "other^{tree}")


def test_untracked_and_ignored_files_in_the_way_are_refused(root: Path) -> None:
    (root / "new").write_text("a file where a directory comes\n")
    assert refused(root, "other") == {"untracked": ["new"]}
    (root / "dir/x").write_text("x")
    (root / "dir/x.log").write_text("x")
    assert refused(root, "file") == {"ignored": ["dir/x.log"], "untracked": ["dir/x"]}


def test_a_link_on_the_way_is_never_written_through(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "new").symlink_to(tmp_path / "outside")
    assert refused(root, "other") == {"untracked": ["new"]}
    done = put(root, "other", force=True)
    assert (root / "new/x").read_text() == "tracked\n" and not (root / "new").is_symlink()
    assert list((tmp_path / "outside").iterdir()) == [] and done.saved is not None
    assert os.fsdecode(plain.run(root, "show", f"{done.saved}^3:new")) == str(tmp_path / "outside")


def test_a_tracked_link_that_becomes_a_directory_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    branch(root, "link", {"b": None})
    git(root, "checkout", "-q", "link")
    (root / "new").symlink_to(tmp_path / "outside")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "link")
    put(root, "other")
    assert (root / "new/x").is_file() and list((tmp_path / "outside").iterdir()) == []


def test_what_is_forced_is_kept_in_a_commit_that_git_applies(root: Path) -> None:
    (root / "a").write_text("staged\n")
    git(root, "add", "a")
    (root / "a").write_text("work\n")
    (root / "new").write_text("in the way\n")
    done = put(root, "other", force=True)
    assert done.saved is not None
    git(root, "reset", "-q", "--hard", "main")
    git(root, "stash", "apply", "--index", done.saved)
    assert ((root / "a").read_text(), plain.run(root, "show", ":a")) == ("work\n", b"staged\n")
    assert (root / "new").read_text() == "in the way\n"


def test_a_repository_in_the_way_is_not_removed_by_force(root: Path) -> None:
    branch(root, "nested", {"loose": "a file\n"})
    new_repo(root / "loose")
    with pytest.raises(WorkAtRisk, match="a repository of its own: loose"):
        put(root, "nested", force=True)
    assert (root / "loose/README.md").exists()


def test_a_tree_with_files_of_the_state_directory_is_refused(root: Path) -> None:
    branch(root, "hostile", {".codeplane/lock": "mine\n"})
    with pytest.raises(PathRefused, match=r"\.codeplane/lock"):
        put(root, "hostile")


def test_whole_takes_everything_back_and_keeps_untracked_files(root: Path) -> None:
    (root / "a").write_text("work\n")
    (root / "b").unlink()
    (root / "staged").write_text("new\n")
    git(root, "add", "staged")
    (root / "loose").write_text("untracked\n")
    with pytest.raises(WorkAtRisk):
        put(root, "main", whole=True)
    done = put(root, "main", whole=True, force=True)
    assert plain.run(root, "status", "--porcelain") == b"?? loose\n" and not (root / "staged").exists()
    git(root, "stash", "apply", "--index", done.saved or "")
    assert ((root / "a").read_text(), (root / "staged").read_text()) == ("work\n", "new\n")


def test_names_that_are_not_utf8_are_brought_along(root: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    git(root, "checkout", "-q", "other")
    (root / name).write_text("x\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "latin")
    git(root, "checkout", "-q", "main")
    put(root, "other")
    assert (root / name).read_text() == "x\n" and plain.run(root, "diff") == b""


def test_line_ends_are_those_that_the_attributes_of_the_new_tree_say(root: Path) -> None:
    branch(root, "crlf", {".gitattributes": "*.txt eol=crlf\n", "t.txt": "one\ntwo\n", "z.bin": "a\0b\n"})
    put(root, "crlf")
    assert (root / "t.txt").read_bytes() == b"one\r\ntwo\r\n" and (root / "z.bin").read_bytes() == b"a\0b\n"
    assert plain.run(root, "diff") == b""


@pytest.fixture
def shouting(root: Path) -> Path:
    """A branch with a file that a filter writes in capitals and git keeps in small letters."""
    git(root, "config", "filter.shout.clean", "tr A-Z a-z")
    git(root, "config", "filter.shout.smudge", "tr a-z A-Z")
    branch(root, "loud", {".gitattributes": "*.loud filter=shout\n", "x.loud": "HELLO\n", "y": "y\n"})
    return root


def test_a_filter_is_not_run_and_the_answer_says_so(shouting: Path) -> None:
    done = put(shouting, "loud")
    assert (shouting / "x.loud").read_text() == "hello\n"
    assert "x.loud (shout)" in done.notes[0] and "not trusted" in done.notes[0]


def test_a_trusted_filter_writes_its_files_and_they_are_clean_afterwards(shouting: Path) -> None:
    assert put(shouting, "loud", trusted=True) == CheckoutResult()
    assert (shouting / "x.loud").read_text() == "HELLO\n" and plain.run(shouting, "diff") == b""
    git(shouting, "symbolic-ref", "HEAD", "refs/heads/loud")
    put(shouting, "main", trusted=True)
    assert not (shouting / "x.loud").exists()


def test_a_filter_that_fails_leaves_what_git_keeps(shouting: Path) -> None:
    git(shouting, "config", "filter.shout.smudge", "false")
    git(shouting, "config", "filter.shout.required", "true")
    done = put(shouting, "loud", trusted=True)
    assert (shouting / "x.loud").read_text() == "hello\n" and "git checkout failed" in done.notes[0]


def test_a_full_disk_leaves_head_and_a_repeated_call_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(disk: Disk, fd: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(GitFailed, match="HEAD has not moved"):
        patched.setattr(Disk, "write", full)
        put(root, "other")
    put(root, "other")
    assert plain.text(root, "write-tree") == plain.text(root, "rev-parse", "other^{tree}")


def test_a_lock_of_another_program_is_met_before_anything_is_touched(root: Path) -> None:
    before = plain.state_of(root)
    (root / ".git/index.lock").touch()
    with pytest.raises(GitBusy):
        put(root, "other")
    (root / ".git/index.lock").unlink()
    assert plain.state_of(root) == before


def test_a_submodule_that_has_gone_is_left_with_what_it_holds(root: Path) -> None:
    inner = new_repo(root / "sub")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(inner, 'rev-parse', 'HEAD')},sub")
    git(root, "commit", "-qm", "with a submodule")
    done = put(root, "other")
    assert done.notes == ("sub/ is not empty and was left",) and (inner / "README.md").exists()


def hostile_tree(root: Path, name: bytes) -> str:
    """A tree with a name that git itself would not write."""
    blob = plain.run(root, "hash-object", "-w", "--stdin", stdin=b"hostile\n").strip().decode()
    data = b"100644 " + name + b"\0" + bytes.fromhex(blob)
    return (
        plain.run(root, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)
        .decode()
        .strip()
    )


ELSEWHERE = [b"..", b"../x", b".git", b".GIT", b".git/hooks/x", b"a/../../x", b".codeplane"]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_tree_with_names_that_lead_elsewhere_is_refused(root: Path, name: bytes, whole: bool) -> None:
    before = plain.files_of(root.parent)
    with pytest.raises((PathRefused, GitFailed)):
        put(root, hostile_tree(root, name), whole=whole)
    assert plain.files_of(root.parent) == before


def test_contents_that_are_missing_are_told_before_anything_is_touched(root: Path) -> None:
    blob = plain.text(root, "rev-parse", "other:new/x")
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    before = plain.files_of(root)
    with pytest.raises(GitFailed, match="contents of new/x"):
        put(root, "other")
    assert plain.files_of(root) == before


def test_a_git_directory_on_another_disk_is_no_hindrance(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(disk: Disk, source: int, name: str, target: int, new: str) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(Disk, "replace", elsewhere)
    put(root, "other")
    assert plain.text(root, "write-tree") == plain.text(root, "rev-parse", "other^{tree}")
    assert plain.run(root, "diff") == b""


def test_a_change_in_the_second_of_the_old_index_is_still_seen_by_git(root: Path) -> None:
    """Git compares whole seconds, and takes an entry that is older than the index for settled."""
    git(root, "config", "core.trustctime", "false")
    second = 1_700_000_000_000_000_000
    os.utime(root / ".gitignore", ns=(second, second + 100))
    git(root, "update-index", "--refresh")
    os.utime(root / ".git/index", ns=(second, second + 500))
    (root / ".gitignore").write_text("*.lag\n")
    os.utime(root / ".gitignore", ns=(second, second + 700))
    put(root, "other")
    assert plain.run(root, "diff", "--name-only") == b".gitignore\n"
