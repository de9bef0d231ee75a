import json
import os
import stat
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from codeplane.config import Trust, TrustRecord
from codeplane.core.errors import StateUnusable, UnreadableConfig
from codeplane.storage import Serving, StateDir, is_shared, private_dir, write_private, write_public
from codeplane.storage.files import read_small, unusable
from codeplane.storage.state import read_trust_id
from tests.drive import git, new_repo


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_git_does_not_see_the_state_directory(repo: Path) -> None:
    StateDir.create(repo)
    assert git(repo, "status", "--porcelain", "--ignored=no") == ""


def test_git_sees_what_people_write_and_share_there(repo: Path) -> None:
    state = StateDir.create(repo)
    shared = ["config.yaml", "contexts.yaml", "graph/seed/a/b.json", "memory/overrides/c.yaml"]
    shared += ["packs/own.yaml", "surfaces/web.yaml", "toolchain.toml"]
    own = ["state.db", "objects/ab/cd", "graph/cache", "memory/rows.db", "ledger/000001.db", "token"]
    for name in (*shared, *own):
        (state.path / name).parent.mkdir(parents=True, exist_ok=True)
        (state.path / name).write_text("x")
    untracked = git(repo, "ls-files", "--others", "--exclude-standard").splitlines()
    assert untracked == [f".codeplane/{name}" for name in shared]
    assert all(is_shared(path) for path in untracked)
    assert not any(is_shared(f".codeplane/{name}") for name in own)


def test_a_file_that_hides_everything_is_renewed(repo: Path) -> None:
    state = StateDir.create(repo)
    (state.path / ".gitignore").write_text("# Everything here is CodePlane's own.\n*\n")
    (state.path / "toolchain.toml").write_text("")
    StateDir.create(repo)
    assert git(repo, "ls-files", "--others", "--exclude-standard") == ".codeplane/toolchain.toml"


def test_removing_keeps_what_people_share(repo: Path, tmp_path: Path) -> None:
    state = StateDir.create(repo)
    for name in ("packs/own.yaml", "graph/seed/a.json", "graph/cache", "state.db", "surfaces"):
        (state.path / name).parent.mkdir(parents=True, exist_ok=True)
        (state.path / name).write_text("x") if name != "surfaces" else (state.path / name).mkdir()
    (tmp_path / "victim").mkdir()
    (state.path / "objects").symlink_to(tmp_path / "victim")
    assert state.shared() == ["packs/", "graph/seed/"]
    assert state.remove() and state.is_cleared and not state.remove()
    files = sorted(str(file.relative_to(repo)) for file in (repo / ".codeplane").rglob("*") if file.is_file())
    assert files == [".codeplane/graph/seed/a.json", ".codeplane/packs/own.yaml"]
    assert (tmp_path / "victim").exists() and not list(repo.glob(".codeplane.*"))


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


def test_looking_at_the_lock_neither_makes_nor_keeps_it(repo: Path) -> None:
    state = StateDir.create(repo)
    assert not state.lock().is_taken() and not (state.path / "lock").exists()
    holder = state.lock()
    assert holder.acquire() and state.lock().is_taken()
    holder.release()
    assert not state.lock().is_taken() and state.lock().acquire()


def test_there_is_no_lock_to_take_in_a_directory_that_is_gone(repo: Path) -> None:
    assert not StateDir.at(repo).lock().acquire(wait_sec=0.05)


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
    assert not held.holds()
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
    record.grant(root, Trust("id-1"), write_private)
    assert record.trusts(root, "id-1")
    assert not record.trusts(root, "id-of-a-fresh-clone")
    assert not record.trusts(tmp_path / "b", "id-1")
    assert not record.trusts(root, "")
    assert record.revoke(root, write_private) and not record.trusts(root, "id-1")


def test_a_damaged_trust_record_is_an_error_not_trust(tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_text("[]")
    with pytest.raises(UnreadableConfig):
        TrustRecord(tmp_path / "trust.json").trusts(tmp_path, "x")


SERVING = Serving(pid=1, port=2, socket="s", started_ms=3, command="c")
ID = b"2b1f8a0e-1111-4222-8333-444455556666\n"


def plant(file: Path, kind: str, target: Path) -> None:
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero" if kind == "endless" else target)


@pytest.mark.parametrize("kind", ["link", "endless", "pipe"])
def test_what_is_planted_for_a_file_counts_as_absent(repo: Path, tmp_path: Path, kind: str) -> None:
    state = StateDir.create(repo)
    readers: dict[str, tuple[bytes, Callable[[], object]]] = {
        "server.json": (json.dumps(asdict(SERVING)).encode(), state.serving),
        "token": (ID, state.token),
        "uuid": (ID, lambda: state.repo_id),
        "trust": (ID, lambda: read_trust_id(repo)),
    }
    for name, (content, read) in readers.items():
        (state.path / name).write_bytes(content)
        assert read()
        (tmp_path / name).write_bytes(content)
        plant(state.path / name, kind, tmp_path / name)
        assert not read()


@pytest.mark.parametrize("kind", ["link", "endless", "pipe"])
def test_a_planted_ignore_file_is_replaced(repo: Path, tmp_path: Path, kind: str) -> None:
    ignore = StateDir.create(repo).path / ".gitignore"
    (tmp_path / "same").write_bytes(ignore.read_bytes())
    plant(ignore, kind, tmp_path / "same")
    StateDir.create(repo)
    assert stat.S_ISREG(ignore.lstat().st_mode)


def test_nothing_is_read_through_a_linked_state_directory(repo: Path, tmp_path: Path) -> None:
    other = StateDir.create(new_repo(tmp_path / "other"))
    other.new_token()
    other.new_trust_id()
    other.publish(SERVING)
    (repo / ".codeplane").symlink_to(other.path)
    state = StateDir.at(repo)
    assert (state.token(), state.repo_id, read_trust_id(repo), state.serving()) == ("", "", "", None)


def test_a_small_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    assert read_small(tmp_path / "f", 5) == b"12345" and read_small(tmp_path / "f", 4) is None


@pytest.mark.parametrize(
    "wrong",
    [{"socket": 5}, {"pid": True}, {"pid": -1}, {"pid": 2**40}, {"port": 70000}, {"command": None}, {"x": 1}],
)
def test_a_server_file_with_a_wrong_field_counts_as_absent(repo: Path, wrong: dict[str, object]) -> None:
    state = StateDir.create(repo)
    (state.path / "server.json").write_text(json.dumps(asdict(SERVING)))
    assert state.serving() == SERVING
    (state.path / "server.json").write_text(json.dumps({**asdict(SERVING), **wrong}))
    assert state.serving() is None


@pytest.mark.parametrize("text", ["[" * 5000, "null", "[]", "{", "\ud800"])
def test_a_server_file_that_is_not_an_object_counts_as_absent(repo: Path, text: str) -> None:
    state = StateDir.create(repo)
    (state.path / "server.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert state.serving() is None


def test_a_state_directory_that_cannot_be_written_is_named(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StateDir.create(repo)

    def refuse(_fd: int) -> None:
        raise OSError(30, "Read-only file system", "/random/name.tmp")

    monkeypatch.setattr(os, "fsync", refuse)
    writes = (state.new_token, state.new_trust_id, lambda: state.publish(SERVING))
    for write in writes:
        with pytest.raises(StateUnusable) as caught:
            write()
        assert caught.value.message == f"Cannot use {state.path}: read-only file system."


def test_a_full_disk_is_not_blamed_on_permissions(tmp_path: Path) -> None:
    full = unusable(tmp_path, OSError(28, "No space left on device"))
    assert "disk space" in full.hints[0] and "permissions" not in full.hints[0]


def test_removing_leaves_nothing_beside_the_directory(repo: Path) -> None:
    before = sorted(repo.iterdir())
    assert StateDir.create(repo).remove() and sorted(repo.iterdir()) == before
