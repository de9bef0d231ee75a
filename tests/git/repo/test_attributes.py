"""Attributes are looked up only where some file may give them, and read as git reads them."""

from pathlib import Path

import pygit2
import pytest

from codeplane.git.repo.attributes import AttributeFiles, Attributes
from tests.drive import git, new_repo


@pytest.fixture
def handle(tmp_path: Path) -> pygit2.Repository:
    root = new_repo(tmp_path / "repo", {"a.txt": "a\n", "sub/b.txt": "b\n", "sub/deep/c.txt": "c\n"})
    return pygit2.Repository(str(root))


def _concerned(handle: pygit2.Repository, staged: frozenset[str] | None = None) -> list[str]:
    files = AttributeFiles(handle, staged)
    return [path for path in ("a.txt", "sub/b.txt", "sub/deep/c.txt") if files.may_concern(path)]


def test_without_a_file_no_path_is_concerned(handle: pygit2.Repository) -> None:
    assert _concerned(handle) == []


def test_a_file_concerns_what_is_below_its_directory(handle: pygit2.Repository) -> None:
    Path(handle.workdir, "sub/.gitattributes").write_text("*.txt -text\n")
    assert _concerned(handle) == ["sub/b.txt", "sub/deep/c.txt"]


def test_a_file_that_is_only_staged_counts(handle: pygit2.Repository) -> None:
    file = Path(handle.workdir, "sub/deep/.gitattributes")
    file.write_text("*.txt -text\n")
    git(Path(handle.workdir), "add", ".")
    file.unlink()
    handle.index.read()
    assert _concerned(handle) == _concerned(handle, frozenset({"sub/deep"})) == ["sub/deep/c.txt"]
    assert _concerned(handle, frozenset()) == []


def test_attributes_of_the_repository_concern_every_path_of_every_worktree(
    handle: pygit2.Repository, tmp_path: Path
) -> None:
    git(Path(handle.workdir), "worktree", "add", "-q", str(tmp_path / "linked"))
    Path(handle.path, "info").mkdir(exist_ok=True)
    Path(handle.path, "info/attributes").write_text("*.txt merge=union conflict-marker-size=11\n")
    for one in (handle, pygit2.Repository(str(tmp_path / "linked"))):
        assert _concerned(one) == ["a.txt", "sub/b.txt", "sub/deep/c.txt"]
        read = Attributes(one, "a.txt")
        assert (read.merge_driver, read.marker_size, read.diff) == ("union", 11, None)
