"""The import of an index: joined to the tree as it is now, stored in the transaction that ends its job."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.paths import Digest, RepoPath
from codeplane.index.semantics import (
    Counts,
    Run,
    SemanticDocument,
    blobs_in_use,
    drop_old_runs,
    is_environment,
    last_run,
    store_run,
)
from codeplane.names import Snapshot
from codeplane.semantic.jobs import CLEARED, HEAD_CHANGED_DURING_RUN, Job, JobStatus, complete, job_of
from codeplane.semantic.join import IndexedFile, Origin, join
from codeplane.semantic.scip import Document, Limits, Metadata, read_index
from codeplane.session.semantic.run import Order, Produced
from codeplane.storage.database import Connection, Database
from codeplane.working_tree import digest_of

_KEPT_RUNS: Final = 5


@dataclass(frozen=True)
class Base:
    """The working tree as a run is made of it, at one epoch."""

    files: Collection[RepoPath]  # that have been read, in whatever language
    digests: Mapping[RepoPath, str]
    blobs: Mapping[RepoPath, int]  # of what the indexer may read
    imports: Mapping[RepoPath, str]  # digests of what the imports of the context's files lead to
    inputs: Mapping[str, str]  # files that decide what a run says, with their digests; "" for a missing one


def take_base(
    snapshot: Snapshot, readable: Iterable[RepoPath], indexed: Iterable[RepoPath], inputs: Iterable[str]
) -> Base:
    """What a run rests on that is made of the tree as a snapshot has it."""
    blobs, digests, states = snapshot.layout.blobs, snapshot.digests(), snapshot.semantic_states
    return Base(
        [RepoPath(path) for path, blob in blobs.items() if blob is not None],
        digests,
        {path: blob for path in readable if (blob := blobs.get(path)) is not None},
        {path: states.imports_digest(path) for path in indexed},
        {path: _input_digest(snapshot, digests, path) for path in inputs},
    )


def _input_digest(snapshot: Snapshot, digests: Mapping[RepoPath, str], path: str) -> str:
    return snapshot.semantics.digest(path) if is_environment(path) else digests.get(RepoPath(path), "")


@dataclass(frozen=True)
class Coverage:
    """How much of what was asked for an index has brought."""

    files: int  # in the languages of the indexer
    documents: int  # that are stored
    absent: tuple[RepoPath, ...] = ()  # files that it says nothing about
    excluded: tuple[RepoPath, ...] = ()  # files that it cannot read and was not given
    changed: int = 0  # documents whose file is another by now
    refused: int = 0  # documents of no file of the repository
    counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True)
class Ready:
    """An index that is joined and waits to be stored."""

    run: Run
    documents: list[SemanticDocument]
    contents: Mapping[RepoPath, int]  # the blob of each file that the indexer may have read
    coverage: Coverage
    output_hash: str
    is_whole: bool


def join_output(
    snapshot: Snapshot, order: Order, produced: Produced, base: Base, enter: Callable[[str], RepoPath]
) -> Ready:
    """Joins what an indexer has written to the working tree as a snapshot has it."""
    files = IndexedFiles(snapshot, produced.source)
    prepared = produced.prepared
    joined = [
        join(_read_indexes(produced, at), files, Origin(enter, at, prepared.own_packages))
        for at in dict.fromkeys(command.base for command in produced.commands)
    ]
    expected = order.expected
    documents = [
        one._replace(imports=base.imports.get(one.path, ""))
        for part in joined
        for one in part.documents
        # Another context's file means what it means there: a module of the same name may be another.
        if one.path in expected
    ]
    absences = [why for part in joined for why in part.absent.values()]
    missing = expected - {one.path for one in documents} - files.changed - set(prepared.excluded)
    coverage = Coverage(
        len(expected),
        len(documents),
        tuple(sorted(missing)),
        prepared.excluded,
        absences.count("changed"),
        absences.count("refused") + absences.count("unknown"),
        sum_counts(documents),
    )
    digests = f"{prepared.digests.configuration}:{prepared.digests.environment}"
    indexer, version = order.pick.indexer.name, order.pick.tool.version
    run = Run(order.context.unit, indexer, version, configuration=digests, inputs=base.inputs)
    contents = _read_contents(snapshot, produced, base)
    return Ready(run, documents, contents, coverage, produced.output_hash(), order.scope is None)


class IndexedFiles:
    """The files of a snapshot with the content that an indexer has read."""

    def __init__(self, snapshot: Snapshot, source: Callable[[RepoPath], bytes | None]) -> None:
        self._snapshot, self._source = snapshot, source
        self.changed: set[RepoPath] = set()

    def __call__(self, path: RepoPath) -> IndexedFile | None:
        snapshot = self._snapshot
        file, facts, blob = snapshot.file(path), snapshot.facts(path), snapshot.layout.blobs.get(path)
        content = self._source(path)
        if file is None or facts is None or blob is None or content is None:
            return None
        if digest_of(content) != file.digest:
            self.changed.add(path)
        occurrences = snapshot.all_occurrences(path)
        return IndexedFile(blob, Digest(file.digest), content, occurrences, facts.definitions, facts.group)


def _read_indexes(produced: Produced, base: RepoPath) -> Iterator[Metadata | Document]:
    """The documents of all commands whose paths begin at one directory: symbols of one may be of another."""
    for command in produced.commands:
        if command.base == base:
            with produced.index(command) as stream:
                yield from read_index(stream, Limits(file=produced.limit))


def _read_contents(snapshot: Snapshot, produced: Produced, base: Base) -> dict[RepoPath, int]:
    """The blob of each file that the indexer may have read.

    A file that has changed since the job was claimed may have changed before it was copied: the copy tells.
    One that fits neither content is left out, and counts as changed.
    """
    now, blobs_now = snapshot.digests(), snapshot.layout.blobs
    contents = {}
    for path, blob in base.blobs.items():
        read: int | None = blob
        if now.get(path) != base.digests.get(path):
            digest = digest_of(produced.source(path) or b"")
            is_old, is_new = digest == base.digests.get(path), digest == now.get(path)
            read = blob if is_old else blobs_now.get(path) if is_new else None
        if read is not None:
            contents[path] = read
    return contents


def sum_counts(documents: Iterable[SemanticDocument]) -> Counts:
    """The counts of documents together."""
    return Counts(*(sum(column) for column in zip(*(one.counts for one in documents), strict=True)))


def store_ready(database: Database, job: Job, ready: Ready, head: Callable[[], str]) -> JobStatus:
    """Stores facts and ends the job, both or neither.

    HEAD is read here, after everything else. Where it has moved, facts of contents that are still in a view
    are as true as before; the job is superseded where some were lost.
    """
    with database.write() as connection:
        row = job_of(connection, job.id)
        if row is None or row.superseded_reason == CLEARED:
            return complete(connection, job.id, None, ready.output_hash)
        now, used = head(), blobs_in_use(connection)
        documents = [one for one in ready.documents if one.blob in used]
        is_lost = ready.coverage.changed > 0 or len(documents) < len(ready.documents)
        number = store_documents(connection, replace(ready, documents=documents), now)
        reason = HEAD_CHANGED_DURING_RUN if now != job.head and is_lost else ""
        return complete(connection, job.id, number, ready.output_hash, reason)


def store_documents(connection: Connection, ready: Ready, head: str) -> int:
    """Stores a run. What an earlier one said about other contents, those of another branch say, stays as long
    as the indexer and its configuration are the same."""
    run = replace(ready.run, head=head)
    before = last_run(connection, run.context)
    is_same = before is not None and (before.indexer, before.version, before.configuration) == (
        run.indexer,
        run.version,
        run.configuration,
    )
    whole = ready.is_whole and not is_same
    number = store_run(connection, run, ready.documents, ready.contents, whole=whole)
    drop_old_runs(connection, run.context, _KEPT_RUNS)
    return number
