"""The import of a SCIP index that was made elsewhere, by CI say, of the commit that is checked out."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.index.semantics import Counts, Run, SemanticDocument
from codeplane.names import Snapshot
from codeplane.semantic.jobs import Job, Request
from codeplane.semantic.join import Joined, Origin, join
from codeplane.semantic.scip import Limits, read_index
from codeplane.session.call import Call
from codeplane.session.semantic.contexts import SemanticContext, find_contexts
from codeplane.session.semantic.imports import (
    Coverage,
    IndexedFiles,
    Ready,
    store_ready,
    sum_counts,
    take_base,
)
from codeplane.session.semantic.worker import Outcome, Worker
from codeplane.session.trust import require_trust
from codeplane.testrun.run import Watch

_TRIGGER: Final = "import"
_MEGABYTE: Final = 1 << 20
# Of the occurrences of one file, and of all: keys of dictionaries and names in quotes are no tokens of ours.
_MOST_MISSES: Final = 0.5
_MOST_MISSES_OF_ALL: Final = 0.3


@dataclass(frozen=True)
class Imported:
    """An index that was made elsewhere."""

    file: str | None
    contexts: Sequence[str] = ()
    base: str | None = None  # the directory that its paths are relative to; None for that of the context
    commit: str = "HEAD"  # that it was made of


def import_index(call: Call, imported: Imported) -> Outcome:
    """Stores what a SCIP file says about files that are as they were in the commit that it was made of."""
    require_trust(call.repo.checkout, "What an index says decides edits")
    if not imported.file:
        raise InvalidArgument("An import needs index, the path of a SCIP file.")
    worker = Worker(call.repo, Watch(call.check, call.progress))
    with worker.sole_worker():
        worker.jobs.interrupt_orphans()
        with call.snapshot() as snapshot:
            context = _choose_context(worker, snapshot, imported.contexts)
            epoch = snapshot.epoch
        job = worker.jobs.begin(Request(context.unit, worker.head(), _TRIGGER, None, epoch))
        outcome = worker.account(job, lambda job: _import_file(call, worker, job, context, imported))
    if outcome.error is not None:
        raise outcome.error
    return outcome


def _import_file(
    call: Call, worker: Worker, job: Job, context: SemanticContext, imported: Imported
) -> Outcome:
    enter = call.repo.tree.jail.enter
    base = enter(imported.base, directory=True) if imported.base is not None else context.root
    limit = call.repo.checkout.settings.semantic.output_mb * _MEGABYTE
    with call.repo.index.commit_snapshot(imported.commit, call.progress) as then:
        digests = then.digests()
    file = call.repo.checkout.root / str(imported.file)
    with call.snapshot() as snapshot, _open_index(file, limit) as (stream, output_hash):
        now = snapshot.digests()

        def source(path: RepoPath) -> bytes | None:
            """The bytes of a file; nothing of one that is another than in the commit, which shows."""
            if path not in now:
                return None
            return snapshot.source(path) if now[path] == digests.get(path) else b""

        files = IndexedFiles(snapshot, source)
        joined = join(read_index(stream, Limits(file=limit)), files, Origin(enter, base))
        ready = _make_ready(snapshot, worker, context, joined, output_hash)
    store_ready(call.repo.index.database, job, ready, worker.head)
    return Outcome(job.context, job, ready.run.indexer, ready.run.version, ready.coverage)


def _make_ready(
    snapshot: Snapshot, worker: Worker, context: SemanticContext, joined: Joined, output_hash: str
) -> Ready:
    owned = [one for one in joined.documents if one.path in context.files.files]
    if _share_of_misses(sum_counts(owned)) > _MOST_MISSES_OF_ALL:
        raise InvalidArgument(
            "The index does not fit: most of its names are not where the files have them.",
            hints=["Name the commit that it was made of."],
        )
    matching = [one for one in owned if _share_of_misses(one.counts) <= _MOST_MISSES]
    languages = {_language(snapshot, one.path) for one in owned}
    expected = {path for name in languages for path in context.by_language.get(name, ())}
    readable = {
        path
        for one in worker.contexts(snapshot).values()
        for name in languages
        for path in one.by_language.get(name, ())
    }
    base = take_base(snapshot, readable, [one.path for one in matching], ())
    documents: list[SemanticDocument] = [one._replace(imports=base.imports[one.path]) for one in matching]
    absences = list(joined.absent.values())
    coverage = Coverage(
        len(expected),
        len(documents),
        tuple(sorted(expected - {one.path for one in owned})),
        (),
        absences.count("changed") + len(owned) - len(matching),
        absences.count("refused") + absences.count("unknown"),
        sum_counts(documents),
    )
    metadata = joined.metadata
    run = Run(context.unit, metadata.tool or "import", metadata.version, configuration="import")
    return Ready(run, documents, base.blobs, coverage, output_hash, is_whole=False)


def _language(snapshot: Snapshot, path: RepoPath) -> str:
    """The language that a file is read as."""
    file = snapshot.file(path)
    return file.language if file is not None else ""


def _share_of_misses(counts: Counts) -> float:
    """The share of occurrences that are at no token of their file: high where the index is of another
    content than it is said to be of."""
    misses = counts.dropped + counts.no_token
    hits = counts.inside + counts.external + counts.local + counts.ambiguous
    return misses / max(1, hits + misses)


def _choose_context(worker: Worker, snapshot: Snapshot, names: Sequence[str]) -> SemanticContext:
    contexts = list(worker.contexts(snapshot).values())
    chosen = find_contexts(contexts, names) if names else contexts
    if len(chosen) != 1:
        raise InvalidArgument(
            "An index is of one build context: name it.", known=[one.title for one in contexts][:20]
        )
    return chosen[0]


@contextmanager
def _open_index(file: Path, limit: int) -> Iterator[tuple[BinaryIO, str]]:
    """An index and its digest; a pipe or a device is not waited for."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidArgument(f"{file} is not a regular file.")
        if status.st_size > limit:
            raise InvalidArgument(
                f"{file} is larger than {limit // _MEGABYTE} MB.", hints=["Raise semantic.output_mb."]
            )
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        yield stream, digest
