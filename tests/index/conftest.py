from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.git import open_repository
from codeplane.index import Index, Workers
from codeplane.truth import WorkingTree


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Two real worker processes, shared: starting them is the slow part."""
    made = Workers(2)
    yield made
    made.close()


def tree_of(repo: Path) -> WorkingTree:
    return WorkingTree(repo, open_repository(repo, trusted=False), trusted=False)


@pytest.fixture
def index(repo: Path, tmp_path: Path, workers: Workers) -> Iterator[Index]:
    made = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    yield made
    made.close()
