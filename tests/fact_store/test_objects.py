"""Laws of segments and manifests: what goes in comes out, in any part, and nothing else is read as one."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.core.errors import ArtifactInvalid, ArtifactTooNew
from codeplane.fact_store.layout import SegmentName
from codeplane.fact_store.manifest import FileRow, Manifest, dump_manifest, read_manifest
from codeplane.fact_store.segment import Segment, SegmentBuilder
from codeplane.fact_store.store import FactStore, Tagged

EXTRACTOR = "python-0123456789abcdef"


class OneObject(FactStore):
    """A store of one segment that counts what is read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.bytes_read = data, 0

    @property
    def label(self) -> str:
        return "memory"

    def size(self, key: str) -> int | None:
        return len(self.data)

    def read(self, key: str, limit: int) -> Tagged | None:
        return Tagged(self.data, "")

    def read_range(self, key: str, start: int, length: int) -> bytes:
        data = self.data[start : start + length]
        if len(data) != length:
            raise ArtifactInvalid("cut off")
        self.bytes_read += length
        return data

    def create(self, key: str, data: bytes) -> bool:
        return False

    def swap(self, key: str, data: bytes, tag: str | None) -> bool:
        return False

    def keys(self, prefix: str) -> Iterator[str]:
        return iter(())


def build(records: dict[str, bytes]) -> tuple[SegmentName, bytes]:
    builder = SegmentBuilder(EXTRACTOR)
    for digest in sorted(records):
        builder.add(digest, records[digest])
    return builder.finish()


RECORDS = st.lists(
    st.binary(min_size=1, max_size=400_000) | st.binary(min_size=1, max_size=99), min_size=1, max_size=12
).map(lambda contents: {hashlib.sha256(b"%d" % n).hexdigest(): data for n, data in enumerate(contents)})


@settings(max_examples=40)
@given(RECORDS, st.data())
def test_any_part_of_a_segment_is_what_went_in(records: dict[str, bytes], data: st.DataObject) -> None:
    name, packed = build(records)
    assert build(records) == (name, packed)
    segment = Segment.open(OneObject(packed), name)
    assert segment is not None
    part = data.draw(st.sets(st.sampled_from(sorted(records))))
    caps = {digest: len(records[digest]) for digest in part}
    assert dict(segment.records(caps)) == {digest: records[digest] for digest in part}


@settings(max_examples=150)
@given(st.data())
def test_a_changed_segment_is_refused_or_says_the_same(data: st.DataObject) -> None:
    records = {hashlib.sha256(b"%d" % n).hexdigest(): b"facts %d " % n * 50 for n in range(5)}
    name, packed = build(records)
    at = data.draw(st.integers(0, len(packed) - 1))
    change = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    changed = {
        "flip": packed[:at] + bytes([packed[at] ^ data.draw(st.integers(1, 255))]) + packed[at + 1 :],
        "cut": packed[:at],
        "insert": packed[:at] + b"x" + packed[at:],
    }[change]
    with suppress(ArtifactInvalid, ArtifactTooNew):
        segment = Segment.open(OneObject(changed), name)
        if segment is not None:
            assert dict(segment.records(dict.fromkeys(records, 9_999))) == records


def test_a_few_contents_are_read_without_the_rest() -> None:
    records = {
        hashlib.sha256(b"%d" % n).hexdigest(): hashlib.shake_256(b"%d" % n).digest(100_000) for n in range(60)
    }
    name, packed = build(records)
    store = OneObject(packed)
    segment = Segment.open(store, name)
    assert segment is not None
    wanted = sorted(records)[7]
    assert dict(segment.records({wanted: 100_000})) == {wanted: records[wanted]}
    assert store.bytes_read < len(packed) / 10


PATHS = st.text(st.characters(exclude_characters="\0/"), min_size=1, max_size=20).filter(
    lambda part: part not in (".", "..")
)


@settings(max_examples=60)
@given(st.lists(PATHS, max_size=8, unique=True), st.integers(1, 5))
def test_a_manifest_comes_back_as_it_went_in(paths: list[str], count: int) -> None:
    digests = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(count)]
    segment = SegmentName(EXTRACTOR, "a" * 64)
    files = [FileRow(path, n % count, 0o100644) for n, path in enumerate(paths)]
    contents = [(digest, "python") for digest in digests]
    manifest = Manifest("0" * 32, "b" * 40, "1.0", contents, {segment: [*range(count)]}, files)
    data = dump_manifest(manifest)
    listing = read_manifest(data, "m")
    assert listing.digests == digests and listing.files == len(paths)
    assert list(listing.places()) == [(digest, segment) for digest in digests]
    with pytest.raises(ArtifactInvalid):
        read_manifest(data[:-1], "m")
