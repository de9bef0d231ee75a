"""Forms of a repository that libgit2 does not know are named; nothing is read wrong or damaged."""

from pathlib import Path

import pytest

from codeplane.core.errors import GitUnsupported, UnsupportedRepository
from codeplane.git import Repository, open_repository
from codeplane.git.repo.unsupported import check_writable, describe_limits
from codeplane.working_tree import WorkingTree
from tests.git import plain

FILES = ("a", "in/b", "out/c")


def new(root: Path, *options: str) -> Path:
    root.mkdir(parents=True)
    plain.run(root, "init", "-q", "--initial-branch=main", *options)
    for number, name in enumerate(FILES):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(f"{number}\n")
        plain.run(root, "add", "-A")
        plain.run(root, "commit", "-qm", name)
    return root


def opened(root: Path) -> Repository:
    return open_repository(root, trusted=False)


def refusal(root: Path) -> str:
    with pytest.raises(GitUnsupported) as refused:
        check_writable(opened(root))
    return refused.value.message


def test_a_split_index_is_refused_with_the_way_out(tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    plain.run(root, "update-index", "--split-index")
    assert "split index" in refusal(root)
    with pytest.raises(GitUnsupported, match="split index"):
        WorkingTree(root, opened(root)).git.look()
    plain.run(root, "update-index", "--no-split-index")
    check_writable(opened(root))


def test_a_sparse_index_is_refused(tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    plain.run(root, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert "sparse index" in refusal(root)


def test_a_sparse_checkout_is_read_but_not_changed(tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    plain.run(root, "sparse-checkout", "set", "--cone", "in")
    assert "sparse" in refusal(root) and "sparse" in describe_limits(opened(root))[0]
    assert WorkingTree(root, opened(root)).git.look().is_clean


def test_a_name_like_that_of_an_extension_is_no_extension(tmp_path: Path) -> None:
    root = new(tmp_path / "repo")
    (root / "link").write_text("sdir")
    plain.run(root, "add", "link")
    check_writable(opened(root))
    assert describe_limits(opened(root)) == []


def test_a_shallow_clone_says_so(tmp_path: Path) -> None:
    source = new(tmp_path / "source")
    plain.run(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "clone")
    assert "shallow" in describe_limits(opened(tmp_path / "clone"))[0]
    check_writable(opened(tmp_path / "clone"))


def test_a_partial_clone_says_so(tmp_path: Path) -> None:
    source = new(tmp_path / "source")
    plain.run(source, "config", "uploadpack.allowFilter", "true")
    plain.run(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{source}", "clone")
    assert "partial" in describe_limits(opened(tmp_path / "clone"))[0]


def test_ids_of_another_kind_are_refused_at_the_start(tmp_path: Path) -> None:
    root = new(tmp_path / "repo", "--object-format=sha256")
    with pytest.raises(UnsupportedRepository, match="sha256"):
        opened(root)
