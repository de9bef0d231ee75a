"""The watcher: it makes the index warm, and nothing depends on it."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.index.store import view_id
from codeplane.session import Checkout, RepoSession
from codeplane.working_tree.watch import events
from codeplane.working_tree.watch import watcher as watch_module
from codeplane.working_tree.watch.watcher import Watch
from tests.drive import eventually, new_repo
from tests.index.conftest import tree_of


@pytest.fixture
def places(home: Path) -> Places:
    return Places(home / "config", home / "state", home / "run", {})


def opened(repo: Path, places: Places, *assignments: str) -> RepoSession:
    return RepoSession.open(Checkout.find(repo, places, assignments))


@pytest.fixture
def served(repo: Path, places: Places) -> Iterator[RepoSession]:
    """A repository whose index is kept up by a thread, as a server has it."""
    (repo / ".gitignore").write_text("out/\n*.tmp\n")
    session = opened(repo, places)
    session.upkeep.start(None)
    # The second look is the one after which everything is watched.
    eventually(lambda: watched(session))
    yield session
    session.close()


def watched(session: RepoSession) -> bool:
    return session.index.state().epoch > 0 and any(t.name == "watch" for t in threading.enumerate())


def write_from_elsewhere(path: Path, text: str) -> None:
    code = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(path), text], check=True)


def test_a_write_by_another_process_is_indexed_without_any_call(served: RepoSession, repo: Path) -> None:
    before = served.index.state().epoch
    write_from_elsewhere(repo / "new.py", "def found():\n    pass\n")
    eventually(lambda: served.index.state().epoch > before)
    with served.index.snapshot() as snapshot:
        assert [d.path for d in snapshot.definitions_named("found", 5).items] == ["new.py"]


def test_a_directory_that_is_new_is_watched_too(served: RepoSession, repo: Path) -> None:
    (repo / "pkg").mkdir()
    (repo / "pkg" / "a.py").write_text("one = 1\n")
    eventually(lambda: served.index.state().files == 3)
    (repo / "pkg" / "b.py").write_text("two = 2\n")
    eventually(lambda: served.index.state().files == 4)


def test_without_any_event_the_next_call_sees_the_write(repo: Path, places: Places) -> None:
    session = opened(repo, places, "index.watch=false", "index.poll_sec=86400")
    session.upkeep.start(None)
    eventually(lambda: session.index.state().epoch > 0)
    (repo / "new.py").write_text("def found():\n    pass\n")
    session.refresh()
    with session.index.snapshot() as snapshot:
        assert snapshot.definitions_named("found", 5).items
    session.close()


def test_polling_finds_what_no_event_told(repo: Path, places: Places) -> None:
    session = opened(repo, places, "index.watch=false", "index.poll_sec=1")
    session.upkeep.start(None)
    eventually(lambda: session.index.state().files == 1)
    (repo / "new.py").write_text("x = 1\n")
    eventually(lambda: session.index.state().files == 2)
    session.close()


def test_everything_is_looked_at_in_time_however_much_happens(
    repo: Path, places: Places, tmp_path: Path
) -> None:
    (repo / ".gitignore").write_text("*.tmp\n")
    (repo / "a.py").write_text("x = 1\n")
    session = opened(repo, places, "index.poll_sec=2")
    session.upkeep.start(None)
    eventually(lambda: watched(session))
    session.refresh()
    # No event tells of a name outside the tree, nor of what is written through it.
    (tmp_path / "outside").hardlink_to(repo / "a.py")
    (tmp_path / "outside").write_text("def found():\n    pass\n")

    def is_found() -> bool:
        (repo / "busy.tmp").write_text("")
        with session.index.snapshot() as snapshot:
            return bool(snapshot.definitions_named("found", 5).items)

    eventually(is_found)
    session.close()


@pytest.mark.skipif(sys.platform != "linux", reason="events are followed on Linux")
def test_what_cannot_be_followed_takes_no_watches_from_others(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_MOST_DIRECTORIES", 0)
    tree = tree_of(repo)

    def look() -> None:
        tree.reconcile({}, followed=True)

    watch = Watch(tree, look, tmp_path)
    watch.start()
    eventually(lambda: "directories" in watch.problem)
    assert tree.unfollowed == "nothing is followed"
    watch.close()


@pytest.mark.skipif(sys.platform != "linux", reason="events are followed on Linux")
def test_the_looks_of_one_server_do_not_wake_another(repo: Path, tmp_path: Path) -> None:
    one, other = tree_of(repo), tree_of(repo)
    for tree in (one, other):
        assert tree.follow(tmp_path) == ""
        tree.reconcile({}, followed=True)
    assert not one.stirs(0)
    one.unfollow()
    other.unfollow()


def test_what_the_rules_keep_out_wakes_nobody(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "quiet", {".gitignore": "out/\n*.tmp\n", "src/a.py": "x = 1\n"})
    (repo / "out").mkdir()
    tree = tree_of(repo)
    tree.reconcile({})
    woken = threading.Semaphore(0)
    watch = Watch(tree, woken.release)
    watch.start()
    try:
        assert woken.acquire(timeout=30), "the first look after the start"
        (repo / "out" / "b.py").write_text("y = 1\n")
        (repo / "src" / "c.tmp").write_text("y = 1\n")
        assert not woken.acquire(timeout=2.5)
        (repo / "src" / "d.py").write_text("y = 1\n")
        assert woken.acquire(timeout=30)
    finally:
        watch.close()


@pytest.mark.skipif(sys.platform != "linux", reason="events are followed on Linux")
def test_closing_does_not_wait_for_an_event(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_TICK_MS", 60_000)
    tree = tree_of(repo)
    watch = Watch(tree, lambda: None, tmp_path)
    watch.start()
    eventually(lambda: not tree.unfollowed)
    watch.close()
    assert not any(thread.name == "watch" for thread in threading.enumerate())


def test_a_watch_that_cannot_start_is_a_notice_and_a_hint(repo: Path) -> None:
    tree = tree_of(repo)
    tree.reconcile({})
    woken = threading.Event()
    watch = Watch(tree, woken.set, most=0)
    watch.start()
    assert woken.wait(30) and "directories" in watch.problem
    watch.close()


def test_what_is_not_needed_is_dropped_while_a_server_runs(repo: Path, places: Places) -> None:
    session = opened(repo, places, "index.collect_sec=1")
    session.upkeep.start(None)
    eventually(lambda: watched(session))  # the run after the first refresh is over
    with session.index.database.write() as connection:
        for number in range(25):
            view_id(connection, f"commit:{number}")

    def commits() -> int:
        with session.index.database.read() as connection:
            [(count,)] = connection.execute("SELECT count(*) FROM view WHERE key LIKE 'commit:%'")
            return int(count)

    eventually(lambda: commits() == 20)
    session.close()
