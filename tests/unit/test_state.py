import os
import stat
from pathlib import Path

import pytest

from codeplane.config import TrustRecord
from codeplane.core.errors import StateUnusable, UnreadableConfig
from codeplane.storage import Serving, StateDir, private_dir, write_private, write_public
from tests.drive import git, new_repo


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_git_does_not_see_the_state_directory(repo: Path) -> None:
    StateDir.create(repo)
    assert git(repo, "status", "--porcelain", "--ignored=no") == ""


def test_the_id_stays_and_the_directory_is_private(repo: Path) -> None:
    first = StateDir.create(repo)
    assert StateDir.create(repo).repo_id == first.repo_id != ""
    assert mode(first.path) == 0o700


def test_a_directory_that_others_may_enter_is_closed(repo: Path) -> None:
    (repo / ".codeplane").mkdir(mode=0o755)
    assert mode(StateDir.create(repo).path) == 0o700


@pytest.mark.parametrize("plant", ["symlink", "file"])
def test_only_a_plain_directory_is_used(repo: Path, tmp_path: Path, plant: str) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    path = repo / ".codeplane"
    path.symlink_to(target) if plant == "symlink" else path.write_text("")
    with pytest.raises(StateUnusable):
        StateDir.create(repo)
    assert list(target.iterdir()) == []


def test_a_planted_link_is_replaced_not_followed(repo: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    state = StateDir.create(repo)
    for name in ("token", "port", "server.json"):
        (state.path / name).symlink_to(victim)
    token = state.new_token()
    state.publish(Serving(1, 2, "s", 3, "c"))
    assert victim.read_text() == "mine"
    assert state.token() == token and state.port_file.read_text() == "2\n"


def test_a_shipped_token_is_not_used_again(repo: Path) -> None:
    state = StateDir.create(repo)
    state.token_file.write_text("known to the author of the repository")
    assert state.new_token() != "known to the author of the repository"
    assert mode(state.token_file) == 0o600


def test_a_planted_lock_link_is_refused(repo: Path, tmp_path: Path) -> None:
    state = StateDir.create(repo)
    (state.path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(StateUnusable):
        state.lock().acquire()
    assert not (tmp_path / "victim").exists()


def test_one_holder_at_a_time(repo: Path) -> None:
    state = StateDir.create(repo)
    first, second = state.lock(), state.lock()
    assert first.acquire() and not second.acquire()
    first.release()
    assert second.acquire()


def test_a_lock_in_a_cleared_directory_guards_nothing(repo: Path) -> None:
    state = StateDir.create(repo)
    held = state.lock()
    assert held.acquire()
    state.remove()
    StateDir.create(repo)
    assert state.lock().acquire()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "f"
    write_private(target, b"old")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_private(target, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["f"] and target.read_bytes() == b"old"


def test_a_users_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    target.chmod(0o640)
    write_public(target, b"new")
    assert mode(target) == 0o640


def test_a_private_directory_must_be_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(StateUnusable):
        private_dir(tmp_path / "link")


def test_nonsense_in_the_id_or_server_file_counts_as_absent(repo: Path) -> None:
    state = StateDir.create(repo)
    (state.path / "uuid").write_text("../../etc/passwd")
    (state.path / "server.json").write_text('{"pid": "x"}')
    assert state.repo_id == "" and state.serving() is None
    assert StateDir.create(repo).repo_id != ""


def test_trust_is_for_one_checkout(tmp_path: Path) -> None:
    record = TrustRecord(tmp_path / "trust.json")
    root = new_repo(tmp_path / "a")
    record.grant(root, "id-1", write_private)
    assert record.trusts(root, "id-1")
    assert not record.trusts(root, "id-of-a-fresh-clone")
    assert not record.trusts(tmp_path / "b", "id-1")
    assert not record.trusts(root, "")
    assert record.revoke(root, write_private) and not record.trusts(root, "id-1")


def test_a_damaged_trust_record_is_an_error_not_trust(tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_text("[]")
    with pytest.raises(UnreadableConfig):
        TrustRecord(tmp_path / "trust.json").trusts(tmp_path, "x")
