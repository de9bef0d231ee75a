"""Contents that are read before their files have them are read once."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.index import Index, Workers
from codeplane.reading import Done, Job
from tests.index.conftest import tree_of


class Held(Workers):
    """Workers that take note of what they are given, and begin when they are told to."""

    def __init__(self) -> None:
        super().__init__(1)
        self.given: list[bytes] = []
        self.has_some = threading.Event()
        self.may_begin = threading.Event()

    def extract(self, jobs: Iterable[Job]) -> Iterator[list[Done]]:
        taken = list(jobs)
        self.given += [job.data for job in taken]
        self.has_some.set()
        assert self.may_begin.wait(60)
        return super().extract(taken)


@pytest.fixture
def held() -> Iterator[Held]:
    workers = Held()
    yield workers
    workers.close()


def test_a_look_waits_for_what_is_read_ahead(repo: Path, tmp_path: Path, held: Held) -> None:
    index = Index.open(tmp_path / "index.db", tree_of(repo), held)
    ahead = threading.Thread(target=index.read_ahead, args=({RepoPath("a.py"): b"x = 2\n"},))
    ahead.start()
    assert held.has_some.wait(60)
    (repo / "a.py").write_bytes(b"x = 2\n")
    look = threading.Thread(target=index.refresh)
    look.start()
    look.join(0.3)
    held.may_begin.set()
    ahead.join()
    look.join()
    assert held.given.count(b"x = 2\n") == 1
    with index.snapshot() as snapshot:
        assert [found.name for found in snapshot.definitions_named("x", 5).items] == ["x"]
    index.close()
