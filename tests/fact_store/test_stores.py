"""Directories and buckets: objects are made once, and pointers are swapped, whoever else is at it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.errors import ArtifactInvalid, FactStoreUnavailable
from codeplane.fact_store.bucket_store import BucketStore
from codeplane.fact_store.directory_store import DirectoryStore
from codeplane.fact_store.holdings import add_holdings, find_holdings
from codeplane.fact_store.layout import SegmentName, is_key
from codeplane.fact_store.store import FactStore

ID = "0" * 32
HEAD = f"repo/{ID}/HEAD"
SEGMENT = SegmentName("python-0123456789abcdef", "ab" * 32)


@pytest.fixture(params=["directory", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FactStore:
    if request.param == "directory":
        return DirectoryStore.open(tmp_path / "store", is_made=True)
    import obstore.store

    memory = obstore.store.MemoryStore()
    monkeypatch.setattr(obstore.store, "from_url", lambda *_args, **_options: memory)
    return BucketStore("s3://bucket/folder")


def check_store(store: FactStore) -> None:
    """What every store does; buckets of real servers are asked the same."""
    assert store.size(SEGMENT.key) is None and store.read(SEGMENT.key, 9) is None
    assert store.create(SEGMENT.key, b"0123456789") and not store.create(SEGMENT.key, b"other")
    assert store.size(SEGMENT.key) == 10
    assert store.read_range(SEGMENT.key, 3, 4) == b"3456" and store.read_range(SEGMENT.key, 3, 0) == b""
    with pytest.raises(ArtifactInvalid):
        store.read_range(SEGMENT.key, 8, 5)
    with pytest.raises(ArtifactInvalid):
        store.read(SEGMENT.key, 9)
    assert not store.swap(HEAD, b"x", "no-tag-of-it")
    assert store.swap(HEAD, b"one", None) and not store.swap(HEAD, b"two", None)
    first = store.read(HEAD, 99)
    assert first is not None and first.data == b"one"
    assert store.swap(HEAD, b"two", first.tag) and not store.swap(HEAD, b"three", first.tag)
    assert list(store.keys("facts")) == [SEGMENT.key] and list(store.keys("repo")) == [HEAD]
    check_races(store)


def check_races(store: FactStore) -> None:
    """Of many who make or swap the same object, one does; lists keep what everybody has added."""
    key = f"repo/{ID}/{'c' * 40}"
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda n: store.create(key, b"%d" % n), range(8))) == 1
        now = store.read(key, 99)
        assert now is not None
        assert sum(pool.map(lambda n: store.swap(key, b"x%d" % n, now.tag), range(8))) == 1
        digests = [f"{n:02x}" * 32 for n in (7,) for _ in range(1)]
        names = [SegmentName(SEGMENT.extractor, f"{n:064x}") for n in range(6)]
        shares = [{name: [f"07{n:062x}", *digests]} for n, name in enumerate(names)]
        list(pool.map(lambda share: add_holdings(store, share), shares))
    rows = find_holdings(store, {SEGMENT.extractor: [f"07{n:062x}" for n in range(6)]})
    assert sorted(rows.values()) == sorted(names)


def test_objects_are_made_once_and_swapped_by_their_tag(place: FactStore) -> None:
    check_store(place)


def test_names_that_lead_elsewhere_are_no_keys() -> None:
    for key in (
        "",
        "HEAD",
        "/etc/passwd",
        "facts/../x",
        f"repo/{ID}/../HEAD",
        f"repo/{ID}/HEAD/x",
        f"{HEAD}\n",
    ):
        assert not is_key(key)


def test_an_unfinished_object_in_a_directory_is_none(tmp_path: Path) -> None:
    """What a kill leaves: a temporary file beside the place of the object."""
    store = DirectoryStore.open(tmp_path / "store", is_made=True)
    store.create(SEGMENT.key, b"whole")
    (tmp_path / "store" / SEGMENT.key).with_name(f"{SEGMENT.digest}.0123.tmp").write_bytes(b"ha")
    assert list(store.keys("facts")) == [SEGMENT.key]


def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / SEGMENT.key.split("/")[0]).write_text("a file where a folder has to be")
    with pytest.raises(FactStoreUnavailable, match=str(store)):
        DirectoryStore.open(store, is_made=True).create(SEGMENT.key, b"x")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "obstore":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(FactStoreUnavailable, match="extra `fleet`") as caught:
        BucketStore("s3://bucket/folder")
    assert caught.value.hints == ("pip install 'codeplane[fleet]'",)


def test_a_bucket_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "very-secret", "AWS_REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("codeplane.fact_store.bucket_store._RETRIES", 0)
    with pytest.raises(FactStoreUnavailable, match="can't be used") as caught:
        BucketStore("s3://bucket/folder").size(HEAD)
    assert "very-secret" not in caught.value.message
