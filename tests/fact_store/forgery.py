"""Stores whose every checksum is right and whose facts are not: who may write to one could make them so."""

from collections.abc import Callable
from pathlib import Path

from codeplane.fact_store.directory_store import DirectoryStore
from codeplane.fact_store.layout import SegmentName, version_line
from codeplane.fact_store.manifest import Manifest, dump_manifest, read_manifest
from codeplane.fact_store.segment import Segment, SegmentBuilder

Change = Callable[[str, bytes], bytes]


def segment_names(store: Path) -> list[SegmentName]:
    keys = [key.split("/") for key in DirectoryStore(store).keys("facts")]
    return [SegmentName(key[1], key[3]) for key in keys]


def records_of(store: Path, name: SegmentName) -> dict[str, bytes]:
    segment = Segment.open(DirectoryStore(store), name)
    assert segment is not None
    return dict(segment.records(dict.fromkeys(segment._places, 1 << 30)))


def forge_facts(store: Path, change: Change) -> None:
    """Has each content's facts be what `change` makes of them; lists and manifests follow."""
    for name in segment_names(store):
        builder = SegmentBuilder(name.extractor)
        for digest, record in sorted(records_of(store, name).items()):
            builder.add(digest, change(digest, record))
        put_segment(store, name, *builder.finish())


def put_segment(store: Path, old: SegmentName, new: SegmentName, data: bytes) -> None:
    """Puts a segment in the place of another one."""
    (store / old.key).unlink()
    DirectoryStore(store).create(new.key, data)
    for path in (store / "have").rglob("??"):
        if path.is_file():
            rows = path.read_bytes()
            path.write_bytes(rows.replace(bytes.fromhex(old.digest), bytes.fromhex(new.digest)))
    for path in manifests(store):
        listing = read_manifest(path.read_bytes(), "old")
        names = {new if name == old else name: numbers for name, numbers in listing.segments.items()}
        contents = [(digest, "") for digest in listing.digests]
        manifest = Manifest(listing.repository, listing.commit, listing.made_by, contents, names)
        path.write_bytes(dump_manifest(manifest))


def manifests(store: Path) -> list[Path]:
    return [path for path in (store / "repo").rglob("*") if path.is_file() and path.name != "HEAD"]


def set_version(data: bytes, kind: str, version: str) -> bytes:
    return data.replace(version_line(kind), f"cpl-{kind} {version}".encode(), 1)
