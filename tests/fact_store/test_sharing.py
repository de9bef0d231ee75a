"""Facts that one machine has read serve another one."""

import tarfile
from pathlib import Path

import pytest

from codeplane.core.errors import FactStoreUnavailable, InvalidArgument, RevisionNotFound
from codeplane.fact_store import layout
from codeplane.index import Workers
from codeplane.session.shared_facts import Ensured, describe_store, ensure_from_store
from tests.drive import git
from tests.fact_store.conftest import FILES, Machine, clone, commit


def contents(store: Path) -> dict[str, bytes]:
    return {
        file.relative_to(store).as_posix(): file.read_bytes()
        for file in sorted(store.rglob("*"))
        if file.is_file() and not file.name.startswith(".")
    }


def test_facts_from_a_store_are_those_that_would_be_read(
    author: Machine, reader: Machine, store: Path
) -> None:
    pushed = author.push(store)
    assert (pushed.files, pushed.new_contents, pushed.left_out, pushed.is_head) == (8, 8, 0, True)
    pulled = reader.pull(store)
    assert (pulled.missing, pulled.from_store, pulled.samples, pulled.left) == (8, 8, 8, 0)
    assert pulled.manifest == pulled.commit == pushed.commit
    assert reader.blobs() == 8
    assert reader.facts() == author.facts()


def test_facts_from_a_file_are_those_that_would_be_read(
    author: Machine, reader: Machine, tmp_path: Path
) -> None:
    file = tmp_path / "facts.tar"
    author.export(file)
    assert reader.take(file).from_store == 8
    assert reader.facts() == author.facts()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_holds_the_same_whoever_wrote_it(author: Machine, reader: Machine, tmp_path: Path) -> None:
    author.export(tmp_path / "one.tar")
    reader.export(tmp_path / "two.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_an_unpacked_file_is_a_store(author: Machine, reader: Machine, store: Path, tmp_path: Path) -> None:
    author.export(tmp_path / "facts.tar")
    with tarfile.open(tmp_path / "facts.tar") as archive:
        archive.extractall(store, filter="data")
    assert reader.pull(store).from_store == 8


def test_what_is_there_is_neither_sent_nor_taken_again(author: Machine, reader: Machine, store: Path) -> None:
    author.push(store)
    before = contents(store)
    again = author.push(store)
    assert (again.new_contents, again.segments) == (0, 0) and contents(store) == before
    reader.pull(store)
    assert reader.pull(store).missing == 0
    step = commit(author.repo, {"shop/cart.py": "class Cart: pass\n", "new.py": "x = 1\n"})
    pushed = author.push(store)
    assert (pushed.contents, pushed.new_contents) == (9, 2)
    assert {name: contents(store)[name] for name in before if name.startswith("facts/")} == {
        name: data for name, data in before.items() if name.startswith("facts/")
    }
    git(reader.repo, "pull", "-q")
    pulled = reader.pull(store)
    assert (pulled.commit, pulled.missing, pulled.from_store) == (step, 2, 2)


def test_a_commit_that_was_not_pushed_takes_what_the_last_one_has(
    author: Machine, reader: Machine, store: Path
) -> None:
    pushed = author.push(store)
    commit(reader.repo, {"own.py": "mine = 1\n"})
    pulled = reader.pull(store)
    assert (pulled.manifest, pulled.missing, pulled.from_store, pulled.left) == (pushed.commit, 9, 8, 1)


def test_contents_are_shared_between_repositories(
    author: Machine, store: Path, tmp_path: Path, workers: Workers
) -> None:
    author.push(store)
    other = clone(author, tmp_path / "other", workers)
    git(other.repo, "checkout", "-q", "--orphan", "fresh")
    git(other.repo, "remote", "remove", "origin")
    commit(other.repo, {"more.py": "y = 2\n"})
    pulled = other.pull(store)
    assert (pulled.manifest, pulled.missing, pulled.from_store) == (None, 9, 8)
    pushed = other.push(store)
    assert pushed.new_contents == 1 and pushed.repository != author.push(store).repository


def test_the_pointer_moves_forward_only(author: Machine, store: Path) -> None:
    first = git(author.repo, "rev-parse", "HEAD")
    second = commit(author.repo, {"a.py": "a = 1\n"})
    assert author.push(store, second).is_head
    assert not author.push(store, first).is_head
    assert describe_store(author.checkout, str(store)).head == second
    git(author.repo, "checkout", "-q", "-b", "side", first)
    side = commit(author.repo, {"b.py": "b = 1\n"})
    assert not author.push(store, side).is_head
    status = describe_store(author.checkout, str(store))
    assert status.has_commit and status.head == second


def test_segments_that_were_dropped_are_sent_again_and_read_meanwhile(
    author: Machine, reader: Machine, store: Path
) -> None:
    author.push(store)
    dropped = [name for name in contents(store) if name.startswith("facts/python")]
    for name in dropped:
        (store / name).unlink()
    pulled = reader.pull(store)
    assert pulled.left == pulled.missing - pulled.from_store == 5
    assert author.push(store).new_contents == 5
    assert set(dropped) <= set(contents(store))
    assert reader.pull(store).from_store == 5
    assert reader.facts() == author.facts()


def test_a_push_that_ended_early_is_no_commit(author: Machine, reader: Machine, store: Path) -> None:
    """All that a crash can leave: segments and lists, and no manifest."""
    author.push(store)
    whole = contents(store)
    for name in whole:
        if name.startswith("repo/"):
            (store / name).unlink()
    assert describe_store(reader.checkout, str(store)).head is None
    assert author.push(store).new_contents == 0
    assert contents(store) == whole
    assert reader.pull(store).from_store == 8


def test_facts_of_another_version_are_read_here_and_that_is_said(
    author: Machine, reader: Machine, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = clone(author, store.parent / "other", author.workers)
    author.push(store)
    with monkeypatch.context() as patch:
        patch.setattr(
            layout, "_extractor_name", lambda language, version: f"{language or 'words'}-{'0' * 16}"
        )
        pulled = reader.pull(store)
        assert (pulled.from_store, pulled.stale, pulled.left) == (0, 8, 8)
        assert reader.push(store).new_contents == 8
    # Both versions have theirs from now on.
    assert other.pull(store).from_store == 8
    assert author.push(store).new_contents == 0


def test_an_older_format_counts_as_not_there(
    author: Machine, reader: Machine, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author.push(store)
    with monkeypatch.context() as patch:
        patch.setattr(layout, "FORMAT", (2, 0))
        pulled = reader.pull(store)
        assert (pulled.from_store, pulled.stale, pulled.made_by) == (0, 8, "an older format")


def test_the_store_of_the_settings_is_asked_before_anything_is_read(
    author: Machine, reader: Machine, store: Path
) -> None:
    author.push(store)

    def ensure(where: str) -> Ensured | None:
        config = reader.home / ".config" / "codeplane" / "config.yaml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"index: {{store: '{where}'}}\n")
        with reader.index() as (index, tree):
            return ensure_from_store(reader.checkout, index, tree.at("HEAD"))

    assert ensure("") is None
    lost = ensure(str(store / "nowhere"))
    assert lost is not None and "no such file" in lost.problem and not lost.from_cache
    taken = ensure(str(store))
    assert taken is not None and taken.from_cache and taken.report is not None
    assert taken.report.from_store == len(FILES)
    again = ensure(str(store))
    assert again is not None and not again.from_cache and not again.problem


@pytest.mark.parametrize("where", ["", " ", "ftp://x/y", "https://example.org/x", "s3:///x", "a\0b"])
def test_what_is_no_store_is_refused(author: Machine, where: str) -> None:
    with pytest.raises(InvalidArgument):
        author.pull(where)


@pytest.mark.parametrize("where", ["s3://key:secret@bucket/x", "s3://bucket/x?token=1"])
def test_an_address_with_a_secret_is_refused_without_it(author: Machine, where: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        author.pull(where)
    assert "secret" not in caught.value.message and "token" not in caught.value.message


def test_a_missing_commit_or_directory_is_named(author: Machine, store: Path) -> None:
    with pytest.raises(RevisionNotFound):
        author.push(store, "nowhere")
    with pytest.raises(FactStoreUnavailable, match="no such file"):
        author.pull(store)
    store.write_text("")
    with pytest.raises(FactStoreUnavailable):
        author.push(store)
