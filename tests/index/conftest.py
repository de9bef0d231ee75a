from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.names import Index
from codeplane.working_tree import WorkingTree


def tree_of(repo: Path) -> WorkingTree:
    return WorkingTree(repo, open_repository(repo, trusted=False))


@pytest.fixture
def index(repo: Path, tmp_path: Path, workers: Workers) -> Iterator[Index]:
    made = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    yield made
    made.close()
