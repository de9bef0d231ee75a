"""Commits as git writes them: identity, encoding, signature, and the reference that moves."""

import os
import subprocess
from pathlib import Path

import pygit2
import pytest

from codeplane.core.errors import GitBusy, GitFailed, IdentityMissing, InvalidArgument
from codeplane.git import Repository, open_repository
from codeplane.git.commit.create import make_commit
from codeplane.git.commit.identity import author_signature
from codeplane.process import Programs
from tests.drive import git, new_repo


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = new_repo(tmp_path / "repo")
    git(made, "config", "user.name", "Ada")
    git(made, "config", "user.email", "ada@example.org")
    return made


def programs() -> Programs:
    return Programs({"PATH": os.environ["PATH"]})


def commit(root: Path, message: str = "two\n", *, trusted: bool = False, **more: object) -> tuple[str, ...]:
    """A commit of the same tree on HEAD; its id, then the notes."""
    repository = open_repository(root, trusted=trusted)
    return on_head(repository, message, **more)


def on_head(repository: Repository, message: str, **more: object) -> tuple[str, ...]:
    with repository.opened() as handle:
        head = handle.head.peel(pygit2.Commit)
        given = {"tree": str(head.tree_id), "parents": [str(head.id)], "ref": "HEAD", "reflog": "commit: two"}
        oid, notes = make_commit(repository, programs(), handle, message=message, **{**given, **more})  # type: ignore[arg-type]
        return oid, *notes


def test_a_commit_moves_the_branch_and_both_reflogs(root: Path) -> None:
    before = git(root, "rev-parse", "HEAD")
    oid, *notes = commit(root)
    assert not notes and git(root, "rev-parse", "main") == oid
    assert git(root, "log", "-1", "--format=%P %an %ae %s") == f"{before} Ada ada@example.org two"
    for name in ("HEAD", "main"):
        assert git(root, "reflog", "-1", "--format=%gs %gn", name) == "commit: two Ada"
    assert git(root, "fsck", "--strict") == ""


def test_a_branch_that_has_moved_meanwhile_stays_where_it_is(root: Path) -> None:
    first = git(root, "rev-parse", "HEAD")
    git(root, "commit", "-q", "--allow-empty", "-m", "another program's")
    now = git(root, "rev-parse", "HEAD")
    with pytest.raises(GitBusy, match="moved"):
        commit(root, parents=[first])
    assert git(root, "rev-parse", "HEAD") == now


def test_a_detached_head_moves_and_no_branch_does(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    before = git(root, "rev-parse", "main")
    oid, *_ = commit(root)
    assert (git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "main")) == (oid, before)


def test_a_lock_that_stays_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeplane.git.repo.lock_retry._LONGEST_SEC", 0.1)
    (root / ".git/refs/heads/main.lock").touch()
    with pytest.raises(GitBusy, match="lock"):
        commit(root)


def test_the_encoding_of_the_settings_holds(root: Path) -> None:
    git(root, "config", "i18n.commitEncoding", "ISO-8859-1")
    oid, *_ = commit(root, "naïve\n", author=pygit2.Signature("Zoë", "z@example.org"))
    raw = subprocess.run(["git", "cat-file", "-p", oid], cwd=root, capture_output=True, check=True).stdout
    assert b"encoding ISO-8859-1" in raw and b"na\xefve" in raw and b"Zo\xeb" in raw
    assert git(root, "log", "-1", "--encoding=utf-8", "--format=%an %s") == "Zoë naïve"
    with pytest.raises(InvalidArgument, match="ISO-8859-1"):
        commit(root, "日本\n")


def test_without_an_identity_there_is_no_commit(root: Path) -> None:
    git(root, "config", "user.email", "")
    git(root, "config", "user.name", " <,> ")
    with pytest.raises(IdentityMissing, match=r"user\.name and user\.email"):
        commit(root)


@pytest.mark.parametrize("name", ["", "a <b>", "a\nb", "...", "x" * 300])
def test_an_author_who_cannot_be_written_is_refused(root: Path, name: str) -> None:
    with open_repository(root, trusted=False).opened() as handle, pytest.raises(InvalidArgument):
        author_signature(handle, name, "a@example.org")


def ssh_signed(root: Path, tmp_path: Path) -> Path:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.format", "ssh")
    git(root, "config", "user.signingKey", f"{key}.pub")
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ada@example.org {Path(f'{key}.pub').read_text()}")
    git(root, "config", "gpg.ssh.allowedSignersFile", str(allowed))
    return key


def test_a_trusted_repository_gets_signatures_that_git_verifies(root: Path, tmp_path: Path) -> None:
    ssh_signed(root, tmp_path)
    oid, *notes = commit(root, trusted=True)
    assert not notes
    git(root, "verify-commit", oid)
    assert git(root, "log", "-1", "--format=%G? %GS") == "G ada@example.org"


def test_an_untrusted_one_gets_none_and_the_answer_says_so(root: Path, tmp_path: Path) -> None:
    ssh_signed(root, tmp_path)
    oid, note = commit(root)
    assert "not signed" in note and "gpgsig" not in git(root, "cat-file", "-p", oid)


def test_a_key_that_does_not_work_makes_no_commit(root: Path, tmp_path: Path) -> None:
    before = git(root, "rev-parse", "HEAD")
    ssh_signed(root, tmp_path).unlink()
    with pytest.raises(GitFailed, match="did not sign"):
        commit(root, trusted=True)
    assert git(root, "rev-parse", "HEAD") == before


def test_no_program_of_an_untrusted_repository_signs(root: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"):
        git(root, "config", name, str(trap))
    git(root, "config", "commit.gpgSign", "true")
    for kind in ("openpgp", "ssh", "x509"):
        git(root, "config", "gpg.format", kind)
        commit(root)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.soak
def test_a_signature_of_gpg_is_verified_by_git(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    env = {"PATH": os.environ["PATH"], "GNUPGHOME": str(home)}
    quick = ["gpg", "--batch", "--passphrase", "", "--quick-gen-key", "Ada <ada@example.org>", "ed25519"]
    subprocess.run(quick, env=env, check=True, capture_output=True)
    git(root, "config", "commit.gpgSign", "true")
    repository = open_repository(root, trusted=True)
    with repository.opened() as handle:
        head = handle.head.peel(pygit2.Commit)
        oid, _ = make_commit(
            repository,
            Programs(env),
            handle,
            tree=str(head.tree_id),
            parents=[str(head.id)],
            message="two\n",
            ref="HEAD",
            reflog="commit: two",
        )
    subprocess.run(["git", "verify-commit", oid], cwd=root, env=env, check=True, capture_output=True)
    subprocess.run(["gpgconf", "--kill", "all"], env=env, check=False)
