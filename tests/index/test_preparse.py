"""Contents that are read before their files have them are read once."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.index import Workers
from codeplane.names import Index
from codeplane.parsing import Done, Job
from codeplane.working_tree import digest_of
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


def test_workers_have_begun_before_anybody_waits_for_them(repo: Path, tmp_path: Path) -> None:
    workers = Workers(1)
    index = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    finish = index.begin_ahead({RepoPath("a.py"): b"x = 2\n"})
    assert not workers.are_missing
    (repo / "a.py").write_bytes(b"x = 2\n")
    look = threading.Thread(target=index.refresh)
    look.start()
    assert finish().keys() == {"a.py"}
    look.join()
    with index.snapshot() as snapshot:
        assert [found.name for found in snapshot.definitions_named("x", 5).items] == ["x"]
    index.close()
    workers.close()


def test_what_cannot_be_given_to_workers_is_not_waited_for(repo: Path, tmp_path: Path) -> None:
    class Refusing(Workers):
        def extract(self, jobs: Iterable[Job]) -> Iterator[list[Done]]:
            raise OSError("no process can be started")

    workers = Refusing(1)
    index = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    with pytest.raises(OSError, match="no process"):
        index.begin_ahead({RepoPath("a.py"): b"x = 2\n"})
    assert not index._ahead.wait({digest_of(b"x = 2\n")})
    index.close()


def test_a_look_waits_for_what_is_read_ahead(repo: Path, tmp_path: Path, held: Held) -> None:
    index = Index.open(tmp_path / "index.db", tree_of(repo), held)
    ahead = threading.Thread(target=lambda: index.begin_ahead({RepoPath("a.py"): b"x = 2\n"})())
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
