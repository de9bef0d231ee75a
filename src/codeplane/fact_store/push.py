"""Facts of a commit into a store: segments first, then the lists, the manifest, and the pointer to it.

The manifest is the commit point. A push that ends before it leaves segments that nobody refers to, or lists
of segments that are whole: nothing that another push or a pull would trip over.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from codeplane import __version__
from codeplane.core.errors import ArtifactInvalid
from codeplane.fact_store.commits import find_head, find_manifest, write_manifest
from codeplane.fact_store.holdings import add_holdings, find_holdings, in_parallel
from codeplane.fact_store.layout import SegmentName, extractor_of
from codeplane.fact_store.manifest import FileRow, Listing, Manifest
from codeplane.fact_store.record import largest_record, make_record, words_for
from codeplane.fact_store.segment import LARGEST_RECORD, SegmentBuilder
from codeplane.fact_store.store import FactStore
from codeplane.index import IndexDatabase
from codeplane.index.commit_facts import CommitContents, read_facts
from codeplane.index.store import BlobKey
from codeplane.parsing.workers import LOST


@dataclass
class PushReport:
    """What a push has brought into a store."""

    commit: str
    repository: str
    files: int = 0
    contents: int = 0
    new_contents: int = 0
    left_out: int = 0  # contents whose facts depend on the machine, or are too large
    segments: int = 0
    bytes: int = 0
    is_head: bool = False
    gaps: dict[str, int] = field(default_factory=dict)


def push_facts(
    store: FactStore, index: IndexDatabase, contents: CommitContents, repository: str
) -> PushReport:
    """Brings the facts of a commit into a store; what is there is not sent again. All of them are in the
    index."""
    commit = contents.commit.oid
    report = PushReport(commit, repository)
    needs: dict[str, dict[str, BlobKey]] = defaultdict(dict)
    for key in contents.keys:
        needs[extractor_of(key)][key.digest] = key
    holdings = _find_segments(store, repository, needs)
    segments: dict[SegmentName, list[str]] = defaultdict(list)
    for (extractor, digest), segment in holdings.items():
        segments[segment].append(digest)
        del needs[extractor][digest]
    new = _write_segments(store, index, contents, needs, report)
    add_holdings(store, new)
    segments.update(new)
    write_manifest(store, _make_manifest(contents, repository, segments, report))
    return report


def _find_segments(
    store: FactStore, repository: str, needs: dict[str, dict[str, BlobKey]]
) -> dict[tuple[str, str], SegmentName]:
    """The contents whose facts are in the store already: as the last manifest and the lists say, where the
    segment is really there."""
    holdings: dict[tuple[str, str], SegmentName] = {}
    if listing := _last_manifest(store, repository):
        for digest, segment in listing.places():
            if digest in needs.get(segment.extractor, ()):
                holdings[segment.extractor, digest] = segment
    rest = {
        extractor: [digest for digest in keys if (extractor, digest) not in holdings]
        for extractor, keys in needs.items()
    }
    holdings |= find_holdings(store, rest, is_mended=True)
    there = {s for s, size in in_parallel(lambda s: store.size(s.key), set(holdings.values())) if size}
    return {place: segment for place, segment in holdings.items() if segment in there}


def _last_manifest(store: FactStore, repository: str) -> Listing | None:
    """The last manifest, if it can be read: without it the lists are asked."""
    try:
        last = find_head(store, repository)
        return find_manifest(store, repository, last) if last is not None else None
    except ArtifactInvalid:
        return None


def _write_segments(
    store: FactStore,
    index: IndexDatabase,
    contents: CommitContents,
    needs: dict[str, dict[str, BlobKey]],
    report: PushReport,
) -> dict[SegmentName, list[str]]:
    segments: dict[SegmentName, list[str]] = {}
    for extractor in sorted(needs):
        keys = [needs[extractor][digest] for digest in sorted(needs[extractor])]
        builder = SegmentBuilder(extractor)
        for key, record in _make_records(index, contents, keys, report):
            builder.add(key.digest, record)
            if builder.is_full:
                _finish_segment(store, builder, segments, report)
                builder = SegmentBuilder(extractor)
        if builder.digests:
            _finish_segment(store, builder, segments, report)
    return segments


def _finish_segment(
    store: FactStore,
    builder: SegmentBuilder,
    segments: dict[SegmentName, list[str]],
    report: PushReport,
) -> None:
    name, data = builder.finish()
    store.create(name.key, data)  # one that is there already is the same
    segments[name] = builder.digests
    report.segments += 1
    report.bytes += len(data)
    report.new_contents += len(builder.digests)


def _make_records(
    index: IndexDatabase, contents: CommitContents, keys: Iterable[BlobKey], report: PushReport
) -> Iterator[tuple[BlobKey, bytes]]:
    """The facts of contents as they are sent; those that this machine could not read are not."""
    for key in keys:
        with index.database.read() as connection:
            facts = read_facts(connection, key)
        data = contents.read(key)
        if facts is None or data is None or facts.reason == LOST:
            report.left_out += 1
            continue
        record = make_record(facts, words_for(key.language, data, facts))
        if len(record) > min(largest_record(len(data)), LARGEST_RECORD):
            report.left_out += 1
            continue
        yield key, record


def _make_manifest(
    contents: CommitContents,
    repository: str,
    segments: dict[SegmentName, list[str]],
    report: PushReport,
) -> Manifest:
    manifest = Manifest(repository, contents.commit.oid, __version__)
    numbers: dict[tuple[str, str], int] = {}
    for number, key in enumerate(sorted(contents.keys)):
        numbers[extractor_of(key), key.digest] = number
        manifest.contents.append((key.digest, key.language))
        manifest.files += [FileRow(path, number, file.mode) for path, file in contents.paths(key)]
    for segment, digests in segments.items():
        manifest.segments[segment] = sorted(numbers[segment.extractor, digest] for digest in digests)
    # What a link leads to or a submodule is at is not told: it may name a place on a machine.
    manifest.gaps = [(gap.path, gap.kind) for gap in contents.gaps]
    report.files, report.contents = len(manifest.files), len(manifest.contents)
    for _, kind in manifest.gaps:
        report.gaps[kind] = report.gaps.get(kind, 0) + 1
    return manifest
