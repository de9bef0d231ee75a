"""Tags as git reads them."""

import os
from pathlib import Path

import pytest

from codeplane.core.errors import InvalidArgument, NotFound, RevisionNotFound
from codeplane.git import open_repository
from codeplane.git.history.tag_list import list_tags
from codeplane.git.ops.stash import list_stashes
from codeplane.git.ops.tags import create_tag, delete_tag
from codeplane.git.worktree.autosave import save_work
from codeplane.process import Programs
from tests.drive import git, new_repo
from tests.git.commit.test_create import ssh_signed

PROGRAMS = Programs({"PATH": os.environ["PATH"]})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = new_repo(tmp_path / "repo")
    git(made, "config", "user.name", "Ada")
    git(made, "config", "user.email", "ada@example.org")
    return made


def tag(root: Path, name: str, *, trusted: bool = False, **more: object) -> tuple[str, ...]:
    done = create_tag(open_repository(root, trusted=trusted), PROGRAMS, name, **more)  # type: ignore[arg-type]
    return done.notes


def test_a_tag_with_a_message_is_an_object_of_its_own(root: Path) -> None:
    tag(root, "v1", message="Version 1  \n\n# a remark\nmore\n")
    told = git(root, "for-each-ref", "--format=%(objecttype) %(taggername) %(contents)", "refs/tags/v1")
    assert told == "tag Ada Version 1\n\nmore"
    assert git(root, "fsck", "--strict") == ""


def test_a_tag_without_one_is_a_name(root: Path) -> None:
    git(root, "config", "user.name", "")
    tag(root, "light")
    assert git(root, "cat-file", "-t", "light") == "commit"


def test_tags_are_listed_with_the_commits_they_lead_to(root: Path) -> None:
    tag(root, "light")
    tag(root, "v1", message="Version 1")
    git(root, "tag", "blob", git(root, "rev-parse", "HEAD:README.md"))
    head = git(root, "rev-parse", "HEAD")
    with open_repository(root, trusted=False).opened() as handle:
        found = {one.name: (one.target, one.message) for one in list_tags(handle)}
    assert found["light"] == (head, "") and found["v1"] == (head, "Version 1")


def test_names_that_are_not_utf_8_are_in_nobodys_way(root: Path) -> None:
    (root / "README.md").write_text("work\n")
    head = git(root, "rev-parse", "HEAD")
    for kind in (b"tags", b"heads", b"codeplane/saved"):
        folder = os.fsencode(root / ".git") + b"/refs/" + kind
        os.makedirs(folder, exist_ok=True)
        with open(folder + b"/\xff", "w") as stream:
            stream.write(f"{head}\n")
    repository = open_repository(root, trusted=False)
    with repository.opened() as handle:
        assert [one.name for one in list_tags(handle)] == ["\udcff"]
        saved = save_work(repository, handle, "before")
    assert [one.ref for one in list_stashes(repository)] == [saved]


def test_a_tag_moves_only_when_it_is_forced(root: Path) -> None:
    tag(root, "v1")
    was = git(root, "rev-parse", "v1")
    git(root, "commit", "-q", "--allow-empty", "-m", "on")
    with pytest.raises(InvalidArgument, match="already"):
        tag(root, "v1")
    assert git(root, "rev-parse", "v1") == was
    tag(root, "v1", force=True)
    assert git(root, "rev-parse", "v1") == git(root, "rev-parse", "HEAD")


def test_a_deleted_tag_is_told_with_where_it_was(root: Path) -> None:
    tag(root, "v1")
    git(root, "pack-refs", "--all")
    repository = open_repository(root, trusted=False)
    assert git(root, "rev-parse", "HEAD") in delete_tag(repository, "v1").summary
    assert git(root, "tag") == ""
    with pytest.raises(NotFound):
        delete_tag(repository, "v1")


@pytest.mark.parametrize("name", ["", "-d", "a..b", "a b", "refs/tags/x", "x.lock", "@{1}", "a\nb"])
def test_a_name_that_is_none_is_refused(root: Path, name: str) -> None:
    with pytest.raises(InvalidArgument):
        tag(root, name)


def test_what_is_no_commit_is_not_tagged(root: Path) -> None:
    with pytest.raises(RevisionNotFound):
        tag(root, "v1", at="none")


def test_a_tag_is_signed_where_the_repository_is_trusted(root: Path, tmp_path: Path) -> None:
    ssh_signed(root, tmp_path)
    git(root, "config", "tag.gpgSign", "true")
    assert "not signed" in tag(root, "v1", message="Version 1")[0]
    assert tag(root, "v2", message="Version 2", trusted=True) == ()
    git(root, "verify-tag", "v2")
