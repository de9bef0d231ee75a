"""Facts of a commit out of a store, into the index.

Facts are asked for by the digests of bytes that are here, and nothing else is taken. First everything that
is wanted is fetched, checked by its digests, and compared for a random part with what this version reads out
of the same bytes. Then it is written in one transaction. A difference drops all of it.
"""

import gc
import marshal
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from random import SystemRandom
from typing import BinaryIO, Final, NamedTuple

from codeplane.core.errors import ArtifactInvalid, StoreDistrusted
from codeplane.fact_store.commits import find_head, find_manifest
from codeplane.fact_store.holdings import find_holdings, in_parallel
from codeplane.fact_store.layout import SegmentName, extractor_of
from codeplane.fact_store.manifest import Listing
from codeplane.fact_store.record import check_record, fingerprint, largest_record, read_record
from codeplane.fact_store.segment import Segment
from codeplane.fact_store.store import FactStore
from codeplane.index import IndexDatabase, Workers
from codeplane.index.commit_facts import CommitContents, insert_facts, missing_facts
from codeplane.index.store import BlobKey
from codeplane.parsing.pack import Packed
from codeplane.parsing.workers import LOST, Job

SAMPLE_SHARE: Final = 0.01
SAMPLE_LEAST: Final = 20
_IN_MEMORY: Final = 32 << 20
_LARGEST_SPOOL: Final = 16 << 30


@dataclass
class PullReport:
    """What a pull has brought into the index."""

    store: str
    commit: str
    manifest: str | None = None  # the commit whose manifest was used
    made_by: str = ""  # the version of CodePlane that wrote it
    missing: int = 0  # contents of the commit without facts here
    from_store: int = 0  # those whose facts were taken
    samples: int = 0  # those that were compared before
    stale: int = 0  # contents whose facts are there only as another version reads them
    bytes: int = 0

    @property
    def left(self) -> int:
        """Contents that are to be read here."""
        return self.missing - self.from_store


class _Spooled(NamedTuple):
    segment: SegmentName
    start: int
    length: int


@dataclass
class _Spool:
    """Facts that were fetched, in memory or in a file without a name."""

    file: BinaryIO
    entries: dict[BlobKey, _Spooled] = field(default_factory=dict)
    size: int = 0

    def add(self, key: BlobKey, segment: SegmentName, facts: Packed) -> None:
        data = marshal.dumps(tuple(facts))
        if self.size + len(data) > _LARGEST_SPOOL:
            raise ArtifactInvalid(f"The store has over {_LARGEST_SPOOL >> 30} GB of facts for one commit.")
        self.file.seek(self.size)
        self.file.write(data)
        self.entries[key] = _Spooled(segment, self.size, len(data))
        self.size += len(data)

    def facts(self, entry: _Spooled) -> Packed:
        self.file.seek(entry.start)
        return Packed(*marshal.loads(self.file.read(entry.length)))  # noqa: S302 - `add` has written it


def pull_facts(
    store: FactStore,
    index: IndexDatabase,
    contents: CommitContents,
    repositories: Iterable[str],
    workers: Workers,
) -> PullReport:
    """Takes the facts that the files of a commit need and the index doesn't have."""
    report = PullReport(store.label, contents.commit.oid)
    missing = missing_facts(index, contents)
    report.missing = len(missing)
    if not missing:
        return report
    needs: dict[str, dict[str, BlobKey]] = defaultdict(dict)
    for key in missing:
        needs[extractor_of(key)][key.digest] = key
    segments = _open_segments(store, _find_places(store, needs, repositories, report))
    # Chosen among what is really there, before any of it is read: workers are at it meanwhile.
    keys = [key for segment in segments for key in segment.keys]
    with (
        _collector_paused(),
        tempfile.SpooledTemporaryFile(_IN_MEMORY) as file,
        closing(_Comparison(keys, contents, workers)) as comparison,
    ):
        spool = _Spool(file)  # type: ignore[arg-type]  # it has what a file has
        for segment in segments:
            _fetch_segment(segment, contents, spool)
        unsure = comparison.finish(spool)
        report.samples, report.bytes = comparison.count, spool.size
        entries = [(key, entry) for key, entry in spool.entries.items() if key not in unsure]
        facts = ((key, contents.size(key), spool.facts(entry)) for key, entry in entries)
        report.from_store = insert_facts(index, facts)
    return report


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Facts make many objects and no cycles; the collector would look at them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def choose_sample(count: int) -> list[int]:
    """Which of so many facts are compared: a hundredth, at least twenty, that nobody can foresee."""
    most = max(SAMPLE_LEAST, round(count * SAMPLE_SHARE))
    return SystemRandom().sample(range(count), min(count, most))


def _find_places(
    store: FactStore,
    needs: Mapping[str, Mapping[str, BlobKey]],
    repositories: Iterable[str],
    report: PullReport,
) -> dict[SegmentName, list[BlobKey]]:
    """Where the facts of contents are: as a manifest says, and for the rest as the lists of the store say."""
    places: dict[tuple[str, str], SegmentName] = {}
    if (listing := _find_listing(store, repositories, report.commit)) is not None:
        report.manifest, report.made_by = listing.commit, listing.made_by
        others: set[str] = set()
        for digest, segment in listing.places():
            if digest in needs.get(segment.extractor, ()):
                places[segment.extractor, digest] = segment
            else:
                others.add(digest)
        mine = {digest for _, digest in places}
        is_other = others.__contains__ if listing.digests else bool  # an older manifest names none
        report.stale = len({d for keys in needs.values() for d in keys if is_other(d)} - mine)
    rest = {
        extractor: [digest for digest in keys if (extractor, digest) not in places]
        for extractor, keys in needs.items()
    }
    places |= find_holdings(store, rest)
    segments: dict[SegmentName, list[BlobKey]] = defaultdict(list)
    for (extractor, digest), segment in places.items():
        segments[segment].append(needs[extractor][digest])
    return segments


def _find_listing(store: FactStore, repositories: Iterable[str], commit: str) -> Listing | None:
    """The manifest of the commit; else that of the last commit that was pushed."""
    ids = list(repositories)
    for repository in ids:
        if (listing := find_manifest(store, repository, commit)) is not None:
            return listing
    for repository in ids:
        if (last := find_head(store, repository)) is not None:
            return find_manifest(store, repository, last)
    return None


def _open_segments(store: FactStore, places: Mapping[SegmentName, list[BlobKey]]) -> list["_Source"]:
    """The segments with what they really have of what is wanted; one that has gone is none."""
    segments = in_parallel(lambda name: Segment.open(store, name), sorted(places))
    return [
        _Source(segment, [key for key in places[name] if key.digest in segment])
        for name, segment in segments
        if segment is not None
    ]


def _fetch_segment(source: "_Source", contents: CommitContents, spool: _Spool) -> None:
    """Reads facts and checks their form, each against the size of its file."""
    keys = {key.digest: key for key in source.keys}
    caps = {digest: largest_record(contents.size(key)) for digest, key in keys.items()}
    name = source.segment.name
    for digest, record in source.segment.records(caps):
        key = keys[digest]
        try:
            facts = read_record(record)
            check_record(facts, contents.size(key))
        except ArtifactInvalid as error:
            raise ArtifactInvalid(
                f"The segment {name.key} is not used: {error.message}", segment=name.digest, content=digest
            ) from error
        spool.add(key, name, facts)


class _Source(NamedTuple):
    segment: Segment
    keys: list[BlobKey]


class _Comparison:
    """Reads the bytes of some contents here, and compares the facts with those that were fetched."""

    def __init__(self, keys: Sequence[BlobKey], contents: CommitContents, workers: Workers) -> None:
        self._keys = [keys[number] for number in choose_sample(len(keys))]
        self.count = len(self._keys)
        self._chunks = workers.extract(self._make_jobs(contents))

    def _make_jobs(self, contents: CommitContents) -> Iterator[Job]:
        for number, key in enumerate(self._keys):
            if (data := contents.read(key)) is not None:
                yield Job(number, key.language, data)

    def close(self) -> None:
        """Lets the worker end what it is at."""
        for _ in self._chunks:
            pass

    def finish(self, spool: _Spool) -> set[BlobKey]:
        """Raises `StoreDistrusted` at the first difference; tells which contents could not be read here."""
        unsure = set(self._keys)
        for outcome in (outcome for chunk in self._chunks for outcome in chunk):
            key = self._keys[outcome.number]
            if outcome.packed.reason != LOST:
                _compare_facts(
                    key, spool.entries[key].segment, spool.facts(spool.entries[key]), outcome.packed
                )
                unsure.discard(key)
        return unsure


def _compare_facts(key: BlobKey, segment: SegmentName, foreign: Packed, own: Packed) -> None:
    if fingerprint(foreign) != fingerprint(own):
        raise StoreDistrusted(
            f"Nothing was taken: the segment {segment.key} has facts of the content"
            f" {key.digest[:12]} that are not in it.",
            segment=segment.digest,
            content=key.digest,
        )
