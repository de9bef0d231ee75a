"""What nothing can ask about any more is dropped, and nothing else."""

from pathlib import Path

import pytest

from codeplane.core.errors import EpochGone
from codeplane.index import Workers, check_index
from codeplane.index import gc as module
from codeplane.index.gc import collect
from codeplane.names import Index
from tests.drive import git
from tests.index.test_index import fresh, text_of


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept that can be dropped."""
    monkeypatch.setattr(module, "_KEPT_EPOCHS", 1)
    monkeypatch.setattr(module, "_KEPT_DAYS", -1)
    monkeypatch.setattr(module, "_KEPT_COMMITS", 1)


def edit(index: Index, repo: Path, times: int) -> None:
    for n in range(times):
        (repo / "a.py").write_text(f"def old_{n}(): pass\nshared_word = {n}\n")
        (repo / "b.py").write_text("shared_word = 1\n")
        index.refresh()


def rows(index: Index, question: str) -> int:
    with index.database.read() as connection:
        return int(connection.execute(question).fetchone()[0])


@pytest.mark.usefixtures("strict")
def test_an_index_after_collection_is_that_of_a_new_one(
    index: Index, repo: Path, tmp_path: Path, workers: Workers
) -> None:
    edit(index, repo, 6)
    # The last epoch still says what was before it.
    assert collect(index.database, fewest=1).blobs == 4
    assert text_of(index) == fresh(repo, tmp_path / "new.db", workers)
    assert collect(index.database, fewest=1).blobs == 0
    for table in ("definition", "ref", "import", "export", "dynamic"):
        assert not rows(index, f"SELECT count(*) FROM {table} WHERE blob NOT IN (SELECT id FROM blob)"), table


@pytest.mark.usefixtures("strict")
def test_words_of_dropped_blobs_are_forgotten_and_others_stay(index: Index, repo: Path) -> None:
    edit(index, repo, 4)
    collect(index.database, fewest=1)
    assert not rows(index, "SELECT count(*) FROM word WHERE word MATCH 'old_0'")
    assert not rows(index, "SELECT count(*) FROM word_list WHERE doc NOT IN (SELECT id FROM blob)")
    with index.snapshot() as snapshot:
        assert [f.path for f in snapshot.files_with_words(["shared_word"], 9).items] == ["a.py", "b.py"]
    with index.database.write() as connection:
        connection.execute("INSERT INTO word (word) VALUES ('integrity-check')")


def test_recent_epochs_and_what_they_name_are_kept(index: Index, repo: Path) -> None:
    edit(index, repo, 5)
    assert collect(index.database, fewest=1) == (0, 0, 0)


@pytest.mark.usefixtures("strict")
def test_an_epoch_that_is_gone_is_named(index: Index, repo: Path) -> None:
    edit(index, repo, 1)
    with index.snapshot() as snapshot:
        first = snapshot.epoch
    edit(index, repo, 3)
    with index.snapshot() as snapshot:
        assert snapshot.contents_at(first)["a.py"] != snapshot.layout.blobs["a.py"]
    collect(index.database)
    with index.snapshot() as snapshot, pytest.raises(EpochGone):
        snapshot.contents_at(first)


@pytest.mark.usefixtures("strict")
def test_the_commit_asked_about_last_is_kept(index: Index, repo: Path) -> None:
    for n in range(3):
        (repo / "a.py").write_text(f"def at_{n}(): pass\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "step")
        with index.commit_snapshot("HEAD"):
            pass
    assert collect(index.database, fewest=1) == (0, 2, 2)
    with index.commit_snapshot("HEAD~1") as snapshot:
        assert snapshot.definitions_named("at_1", 5).items


def test_a_check_finds_rows_without_a_blob(index: Index, repo: Path, tmp_path: Path) -> None:
    edit(index, repo, 1)
    assert check_index(tmp_path / "index.db") == []
    with index.database.write() as connection:
        connection.execute("DELETE FROM blob WHERE id = (SELECT min(blob) FROM definition)")
    assert any("rows of definition have no blob" in told for told in check_index(tmp_path / "index.db"))
