"""The status in the odd cases that random trees do not have, each compared with the git program."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.git.worktree.index_snapshot import IndexSnapshot
from codeplane.working_tree.tracked import Tracked
from tests.git import plain
from tests.git.reading import check_status, tree_of


def new(root: Path) -> Path:
    root.mkdir()
    plain.run(root, "init", "-q", "--initial-branch=main")
    for name in ("a.txt", "b.txt", "dir/c.txt", "dir/sub/d.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"the text of {name}\nin two lines\n")
    plain.run(root, "add", "-A")
    plain.run(root, "commit", "-qm", "start")
    return root


def intended(root: Path) -> None:
    (root / "new").write_text("new\n")
    plain.run(root, "add", "-N", "new")


def intended_rename(root: Path) -> None:
    (root / "a.txt").rename(root / "z.txt")
    plain.run(root, "add", "-N", "z.txt")


def assumed(root: Path) -> None:
    plain.run(root, "update-index", "--assume-unchanged", "a.txt", "b.txt")
    (root / "a.txt").write_text("other\n")
    (root / "b.txt").unlink()


def skipped(root: Path) -> None:
    plain.run(root, "update-index", "--skip-worktree", "a.txt", "b.txt")
    (root / "a.txt").write_text("other\n")
    (root / "b.txt").unlink()


def modes_ignored(root: Path) -> None:
    plain.run(root, "config", "core.fileMode", "false")
    (root / "a.txt").chmod(0o755)
    (root / "b.txt").write_text("x")


def nested_repositories(root: Path) -> None:
    for name in ("nested", "dir/inner", "none/deep"):
        (root / name).mkdir(parents=True)
        plain.run(root / name, "init", "-q")
    (root / "broken" / ".git").mkdir(parents=True)
    (root / "broken" / "file").write_text("x")


def empty_and_ignored_directories(root: Path) -> None:
    (root / ".gitignore").write_text("*.o\nbuild/\n/dir/sub/*\n!keep.o\n")
    for name in ("empty/deep", "only", "build", "new/deep", "dir/more"):
        (root / name).mkdir(parents=True)
    for name in ("only/x.o", "build/y", "new/deep/x.o", "new/deep/z", "dir/sub/e", "keep.o", "dir/more/k.o"):
        (root / name).write_text("x")


def rules_in_the_middle(root: Path) -> None:
    (root / "dir" / ".gitignore").write_text("sub\n!sub/e\n")
    (root / "dir" / "sub" / "e").write_text("ignored, because its directory is\n")
    (root / "dir" / "sub" / "d.txt").write_text("tracked all the same\n")


def what_the_index_of_code_leaves_out(root: Path) -> None:
    for name in ("node_modules/m/index.js", "__pycache__/x.pyc", "dist/out.js", ".env", "git~1"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / ".cplignore").write_text("dir/\n!build/\n")
    (root / "dir" / "c.txt").write_text("other\n")
    (root / ".gitignore").write_text("build/\n")
    (root / "build").mkdir()
    (root / "build" / "x").write_text("x")


def types(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()
    (root / "a.txt" / "inner").write_text("x")
    (root / "b.txt").unlink()
    (root / "b.txt").symlink_to("dir")
    os.rename(root / "dir", root / "other")
    (root / "dir").symlink_to("other")


def special_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "a.txt").unlink()
    os.mkfifo(root / "a.txt")
    (root / "dangling").symlink_to("nothing")


def odd_names(root: Path) -> None:
    for name in (b"tab\there", b'quo"te', b"\xff\xfe", b"new\nline", b"back\\slash", b" lead"):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text("x")
    plain.run(root, "add", b"\xff\xfe", "tab\there")


def line_ends(root: Path) -> None:
    (root / ".gitattributes").write_text("a.txt text\nb.txt text=auto\ndir/c.txt -text\n*.md ident\n")
    (root / "id.md").write_text("$Id$ and more\n")
    plain.run(root, "add", "-A")
    plain.run(root, "commit", "-qm", "attributes")
    for name in ("a.txt", "b.txt", "dir/c.txt"):
        (root / name).write_text((root / name).read_text().replace("\n", "\r\n"), newline="")
    (root / "id.md").write_text("$Id: 0123456789 $ and more\n")


def everything_converted(root: Path) -> None:
    plain.run(root, "config", "core.autocrlf", "true")
    (root / "a.txt").write_bytes(b"the text of a.txt\r\nin two lines\r\n")
    (root / "b.txt").write_bytes(b"the text of b.txt\r\nin\rtwo lines\r\n")


def a_merge_that_stopped(root: Path) -> None:
    plain.run(root, "switch", "-qc", "other")
    (root / "a.txt").write_text("theirs\n")
    (root / "b.txt").unlink()
    plain.run(root, "commit", "-qam", "theirs")
    plain.run(root, "switch", "-q", "main")
    (root / "a.txt").write_text("ours\n")
    (root / "b.txt").write_text("ours\n")
    (root / "dir" / "c.txt").write_text("ours\n")
    plain.run(root, "commit", "-qam", "ours")
    plain.run(root, "merge", "other", fails=True)


def before_the_first_commit(root: Path) -> None:
    plain.run(root, "checkout", "-q", "--orphan", "fresh")
    plain.run(root, "rm", "-q", "--cached", "a.txt")


def no_index(root: Path) -> None:
    (root / ".git" / "index").unlink()


def submodules(root: Path) -> None:
    source = new(root.parent / "source")
    for name in ("clean", "ahead", "dirty", "unknown", "gone", "empty"):
        plain.run(root, "submodule", "--quiet", "add", str(source), name)
    plain.run(root, "commit", "-qm", "submodules")
    plain.run(root / "ahead", "commit", "-qm", "more", "--allow-empty")
    (root / "dirty" / "a.txt").write_text("other\n")
    (root / "unknown" / "new").write_text("x")
    plain.run(root, "rm", "-q", "--cached", "gone")
    plain.run(root, "submodule", "--quiet", "deinit", "empty")


def a_sparse_checkout(root: Path) -> None:
    plain.run(root, "sparse-checkout", "set", "--cone", "other")
    (root / "dir").mkdir()
    (root / "dir" / "c.txt").write_text("there and other\n")


def a_file_of_the_same_size_at_the_same_time(root: Path) -> None:
    file = root / "a.txt"
    before = file.stat()
    file.write_text("THE text of a.txt\nin two lines\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def names_packed_in_the_index(root: Path) -> None:
    plain.run(root, "update-index", "--index-version", "4")
    (root / "dir" / "c.txt").write_text("other\n")
    (root / "dir" / "new").write_text("new\n")
    plain.run(root, "add", "dir/new")
    plain.run(root, "rm", "-q", "--cached", "a.txt")


def another_worktree(root: Path) -> None:
    plain.run(root, "worktree", "add", "-q", "linked")
    (root / ".git" / "info" / "exclude").write_text("*.o\n")
    (root / "linked" / "x.o").write_text("x")


def a_large_file_that_was_touched(root: Path) -> None:
    for name in ("same.bin", "other.bin"):
        (root / name).write_bytes(b"x" * (9 << 20))
    plain.run(root, "add", "-A")
    (root / "same.bin").touch()
    (root / "other.bin").write_bytes(b"y" * (9 << 20))


CASES = (
    a_large_file_that_was_touched,
    names_packed_in_the_index,
    another_worktree,
    intended,
    intended_rename,
    assumed,
    skipped,
    modes_ignored,
    nested_repositories,
    empty_and_ignored_directories,
    rules_in_the_middle,
    what_the_index_of_code_leaves_out,
    types,
    special_files,
    odd_names,
    line_ends,
    everything_converted,
    a_merge_that_stopped,
    before_the_first_commit,
    no_index,
    submodules,
    a_sparse_checkout,
    a_file_of_the_same_size_at_the_same_time,
)


@pytest.mark.parametrize("arrange", CASES, ids=lambda arrange: arrange.__name__)
def test_status_of(arrange: Callable[[Path], None], tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    arrange(root)
    check_status(root)


@pytest.mark.parametrize("arrange", CASES, ids=lambda arrange: arrange.__name__)
def test_an_index_that_is_read_again_is_read_right(arrange: Callable[[Path], None], tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    index = root / ".git" / "index"
    staged, tracked = IndexSnapshot.of(index.read_bytes()), Tracked.read(index)
    assert Tracked.read(index, tracked) is tracked
    arrange(root)
    data = index.read_bytes() if index.exists() else b""
    assert IndexSnapshot.of(data, staged) == IndexSnapshot.of(data)
    assert Tracked.read(index, tracked) == Tracked.read(index)


def test_a_second_look_sees_what_came_between(tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    tree = tree_of(root)
    assert tree.git.look().in_words() == "clean"
    (root / "dir" / "new.o").write_text("x")
    (root / "a.txt").write_text("other\n")
    assert tree.git.look().in_words() == "1 modified, 1 untracked"
    (root / ".gitignore").write_text("*.o\n")
    plain.run(root, "add", ".gitignore", "a.txt")
    assert tree.git.look().in_words() == "2 staged"


def test_status_of_a_linked_worktree(tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    plain.run(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    (root / ".git" / "info" / "exclude").write_text("*.o\n")
    (tmp_path / "linked" / "x.o").write_text("x")
    (tmp_path / "linked" / "a.txt").write_text("other\n")
    plain.run(tmp_path / "linked", "add", "a.txt")
    (tmp_path / "linked" / "y").write_text("x")
    check_status(tmp_path / "linked")
