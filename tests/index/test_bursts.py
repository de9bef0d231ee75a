"""Many changes at once: calls are answered meanwhile, and the end is that of a fresh index."""

import threading
import time
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence
from codeplane.index import Workers
from codeplane.names import Index
from codeplane.session import Checkout, RepoSession
from tests.drive import eventually
from tests.index.conftest import tree_of
from tests.index.test_index import fresh, text_of


def write_files(repo: Path, numbers: range, text: str = "def f{0}():\n    return {0}\n") -> None:
    for number in numbers:
        folder = repo / f"d{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").write_text(text.format(number))


def test_a_burst_is_marked_and_left_to_a_refresh(index: Index, repo: Path) -> None:
    index.refresh()
    assert not index.catch_up()
    write_files(repo, range(250))
    assert index.catch_up()
    state = index.state()
    assert (state.unread, state.absorbing) == (250, True)
    with index.snapshot() as snapshot:
        assert snapshot.definitions_named("f7", 5).absence is Absence.NOT_INDEXED
    index.refresh()
    state = index.state()
    assert (state.unread, state.absorbing) == (0, False)


def test_a_few_large_files_are_a_burst_too(index: Index, repo: Path) -> None:
    index.refresh()
    for number in range(3):
        (repo / f"large{number}.txt").write_text(f"word{number}\n" + "line\n" * 600_000)
    assert index.catch_up()
    assert index.state().unread == 3
    index.refresh()
    assert index.state().unread == 0


def test_little_is_read_at_once(index: Index, repo: Path) -> None:
    index.refresh()
    write_files(repo, range(3))
    assert not index.catch_up() and index.state().unread == 0


def test_a_change_during_a_long_pass_is_seen_and_stays(repo: Path, tmp_path: Path, workers: Workers) -> None:
    write_files(repo, range(600))
    index = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    seen: list[list[str]] = []

    def meddle(done: int, _total: int, _message: str) -> None:
        if seen:
            return
        for number in (1, 599):
            (repo / f"d{number % 20}" / f"m{number}.py").write_text("def fresh_one():\n    pass\n")
        (repo / "d3" / "m3.py").unlink()
        assert not index.catch_up()
        with index.snapshot() as snapshot:
            seen.append([d.path for d in snapshot.definitions_named("fresh_one", 5).items])
            assert snapshot.file(RepoPath("d3/m3.py")) is None

    index.refresh(meddle)
    assert seen == [["d1/m1.py", "d19/m599.py"]]
    assert index.state().unread == 0
    assert text_of(index) == fresh(repo, tmp_path / "fresh.db", workers)
    index.close()


def absorb(repo: Path, home: Path, workers: Workers, count: int) -> list[float]:
    """Writes files while calls go on; returns how long each call took."""
    session = RepoSession.open(Checkout.find(repo, Places(home / "c", home / "s", home / "r", {})))
    session.upkeep.start(None)
    try:
        eventually(lambda: session.index.state().epoch > 0)
        writer = threading.Thread(target=write_files, args=(repo, range(count)))
        writer.start()
        took: list[float] = []
        is_over = False
        while not is_over:
            was_written = not writer.is_alive()
            began = time.monotonic()
            session.refresh()
            took.append(time.monotonic() - began)
            is_over = was_written and not session.index.state().unread
            time.sleep(0.05)
        seen = text_of(session.index)
    finally:
        session.close()
    assert seen == fresh(repo, home / "fresh.db", workers)
    return took


def test_calls_go_on_while_a_burst_is_absorbed(repo: Path, home: Path, workers: Workers) -> None:
    assert len(absorb(repo, home, workers, 1200)) > 3


@pytest.mark.soak
def test_five_thousand_files_while_calls_go_on(repo: Path, home: Path, workers: Workers) -> None:
    took = sorted(absorb(repo, home, workers, 5000))
    print(f"{len(took)} calls: median {took[len(took) // 2]:.3f} s, longest {took[-1]:.3f} s")
    assert took[len(took) // 2] < 1
