import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On the disk: the engine is shown with the file system that repositories are on."""
    with tempfile.TemporaryDirectory(prefix="engine-") as path:
        yield Path(path)
