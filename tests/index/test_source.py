import hashlib
import threading
from pathlib import Path

import pytest

from codeplane.core.errors import ContentChanged, NotFound
from codeplane.core.paths import RepoPath
from codeplane.names import Index
from tests.drive import git

APP = RepoPath("app.py")


def test_the_source_is_the_content_of_the_epoch(index: Index, repo: Path) -> None:
    (repo / "app.py").write_bytes(b"x = 1\r\n\xff\n")
    index.refresh()
    with index.snapshot() as snapshot:
        assert snapshot.source(APP) == b"x = 1\r\n\xff\n"


@pytest.mark.parametrize("newer", [b"y = 2\n", None])
def test_content_that_has_changed_since_is_never_given(index: Index, repo: Path, newer: bytes | None) -> None:
    (repo / "app.py").write_bytes(b"x = 1\n")
    index.refresh()
    with index.snapshot() as snapshot:
        if newer is None:
            (repo / "app.py").unlink()
        else:
            (repo / "app.py").write_bytes(newer)
        later = threading.Thread(target=index.refresh)  # a later epoch does not move the one that is read
        later.start()
        later.join()
        with pytest.raises(ContentChanged):
            snapshot.source(APP)


def test_a_file_that_is_not_there_is_named(index: Index) -> None:
    index.refresh()
    with index.snapshot() as snapshot, pytest.raises(NotFound, match=r"app\.py"):
        snapshot.source(APP)


def test_the_source_of_a_commit_comes_from_its_objects(index: Index, repo: Path) -> None:
    (repo / "app.py").write_text("x = 1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "app")
    (repo / "app.py").write_text("x = 2\n")
    with index.commit_snapshot("HEAD") as snapshot:
        assert snapshot.source(APP) == b"x = 1\n"


def test_an_lfs_pointer_is_not_shown_as_the_content_that_it_stands_for(index: Index, repo: Path) -> None:
    real = b"def big():\n    pass\n"
    oid = hashlib.sha256(real).hexdigest()
    (repo / "app.py").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(real)}\n"
    )
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "pointer")
    (repo / "app.py").write_bytes(real)
    index.refresh()
    with index.commit_snapshot("HEAD") as snapshot, pytest.raises(NotFound, match="Git does not have"):
        assert snapshot.definitions_named("big", 5).items
        snapshot.source(APP)
