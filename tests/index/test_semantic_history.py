"""A real history with one index at its start: what still counts as clean is what a fresh index says."""

from pathlib import Path

import pytest
from bench.semantic_history import release_history, replay

RELEASES = ("8.1.0", "8.1.1", "8.1.2", "8.1.3", "8.1.4", "8.1.5", "8.1.6", "8.1.7", "8.1.8")


@pytest.mark.soak
def test_no_clean_fact_differs_from_a_fresh_index(tmp_path: Path) -> None:
    repository = release_history("click", RELEASES, tmp_path / "click")
    counts = replay(repository, commits=len(RELEASES) - 1, step=1)
    assert counts["different"] == 0
    assert counts["same"] > 1000, counts
