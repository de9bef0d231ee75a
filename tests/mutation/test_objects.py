"""The store of old contents."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from codeplane.core.paths import Digest
from codeplane.storage.objects import ObjectStore
from codeplane.working_tree import digest_of


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "objects")


def place(tmp_path: Path, digest: Digest) -> Path:
    return tmp_path / "objects" / digest[:2] / digest[2:]


def adopt(store: ObjectStore, file: Path) -> Digest:
    digest = digest_of(file.read_bytes())
    directory = os.open(file.parent, os.O_RDONLY)
    try:
        store.adopt(directory, file.name, digest)
    finally:
        os.close(directory)
    return digest


def test_what_is_put_comes_back(store: ObjectStore) -> None:
    assert store.read(store.put(b"bytes")) == b"bytes"
    assert store.read(store.put(b"", durable=False)) == b""
    assert store.read(digest_of(b"other")) is None
    assert store.read(Digest("../../etc/passwd")) is None


def test_a_damaged_object_counts_as_absent_and_is_removed(store: ObjectStore, tmp_path: Path) -> None:
    digest = store.put(b"bytes")
    place(tmp_path, digest).write_bytes(b"bytez")
    assert store.read(digest) is None
    assert not place(tmp_path, digest).exists()
    assert store.read(store.put(b"bytes")) == b"bytes"


def test_a_damaged_object_is_mended_by_the_next_one_with_its_bytes(
    store: ObjectStore, tmp_path: Path
) -> None:
    digest = store.put(b"bytes")
    place(tmp_path, digest).write_bytes(b"bytez")
    store.put(b"bytes")
    assert store.read(digest) == b"bytes"


def test_an_adopted_file_is_moved_and_private(store: ObjectStore, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    inode = file.stat().st_ino
    digest = adopt(store, file)
    assert not file.exists()
    found = place(tmp_path, digest).stat()
    assert (found.st_ino, found.st_mode & 0o777) == (inode, 0o600)


def test_a_file_with_another_name_is_copied(store: ObjectStore, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    os.link(file, tmp_path / "other")
    digest = adopt(store, file)
    (tmp_path / "other").write_bytes(b"new")
    assert store.read(digest) == b"old"
    assert not file.exists()


def test_a_link_in_the_place_of_an_object_is_no_object(store: ObjectStore, tmp_path: Path) -> None:
    digest = store.put(b"bytes")
    (tmp_path / "elsewhere").write_bytes(b"bytes")
    place(tmp_path, digest).unlink()
    place(tmp_path, digest).symlink_to(tmp_path / "elsewhere")
    assert store.read(digest) is None


def test_only_old_objects_that_nobody_keeps_are_collected(store: ObjectStore, tmp_path: Path) -> None:
    kept, old, new = store.put(b"kept"), store.put(b"old"), store.put(b"new")
    for digest in (kept, old):
        os.utime(place(tmp_path, digest), (1, 1))
    assert store.collect(lambda digest: digest == kept, time.time() - 60) == 1
    assert [store.read(digest) for digest in (kept, old, new)] == [b"kept", None, b"new"]


def test_an_object_that_is_taken_in_again_is_new_again(store: ObjectStore, tmp_path: Path) -> None:
    digest = store.put(b"bytes")
    os.utime(place(tmp_path, digest), (1, 1))
    store.put(b"bytes")
    assert store.collect(lambda _: False, time.time() - 60) == 0


def test_collecting_is_bounded(store: ObjectStore) -> None:
    for n in range(5):
        store.put(str(n).encode())
    assert store.collect(lambda _: False, time.time() + 60, most=3) == 3


def test_what_the_store_has_not_made_is_not_collected(store: ObjectStore, tmp_path: Path) -> None:
    store.put(b"bytes")
    other = tmp_path / "elsewhere"
    (other / "ab").mkdir(parents=True)
    (other / "ab" / "thesis.txt").write_bytes(b"years of work")
    (tmp_path / "objects" / "ab").mkdir(exist_ok=True)
    (tmp_path / "objects" / "ab" / "note.txt").write_bytes(b"a note")
    assert store.collect(lambda _: True, time.time() + 60) == 0
    (tmp_path / "linked").symlink_to(other)
    (other / "cafe.tmp").write_bytes(b"")
    linked = ObjectStore(tmp_path / "linked")
    assert linked.collect(lambda _: False, time.time() + 60) == 0
    linked.sweep()
    assert (other / "cafe.tmp").exists()


def test_what_was_cut_off_is_swept_away(store: ObjectStore, tmp_path: Path) -> None:
    digest = store.put(b"bytes")
    (tmp_path / "objects" / "cafe.tmp").write_bytes(b"byt")
    store.sweep()
    assert not (tmp_path / "objects" / "cafe.tmp").exists()
    assert store.read(digest) == b"bytes"


def test_a_file_from_another_file_system_is_copied(store: ObjectStore, tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is only one file system here")
    with tempfile.TemporaryDirectory(dir=memory) as place:
        file = Path(place) / "file"
        file.write_bytes(b"from afar")
        digest = adopt(store, file)
        assert not file.exists()
    assert store.read(digest) == b"from afar"
