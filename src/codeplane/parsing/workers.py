"""Extraction in other processes: parsers hold the interpreter's lock, and one may die without the rest."""

import gc
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from typing import Final, Generic, NamedTuple, TypeVar

from codeplane.languages.facts import Facts
from codeplane.parsing.generated import is_generated
from codeplane.parsing.pack import Packed, pack
from codeplane.parsing.words import without_nulls, words_of

R = TypeVar("R")

_CHUNK_FILES: Final = 60
_CHUNK_BYTES: Final = 600_000
# Of a few files, every worker gets some.
_FIRST_CHUNKS: Final = 12
_FIRST_BYTES: Final = 50_000
# A chunk that takes longer than this is taken for stuck; its files are then tried one by one.
_STUCK_SEC: Final = 120
# What one file may take. Parsers need the square of the length for some text that is not their language.
_FILE_CPU_SEC: Final = 30.0
# A file of that many bytes may take all of it, a smaller one less, but a sixth at least: a parser may try for
# minutes to make sense of a few lines, and somebody waits.
_WHOLE_BYTES: Final = 500_000
_LEAST: Final = 1 / 6
_MEMORY: Final = 2 << 30
_IDLE_SEC: Final = 300
_END_SEC: Final = 0.5
LOST: Final = "the parser crashed or hung on this file"
"""The reason of a file whose worker ended; it may be the machine that is to blame."""
# What a worker ends with when a file was too much for it; one that cannot begin ends with 1.
_GAVE_UP: Final = 3


class Job(NamedTuple):
    """One blob to read: a number of the caller's, its language ("" for words only), its bytes."""

    number: int
    language: str
    data: bytes


class Result(NamedTuple, Generic[R]):
    """What was read of the blob of a number."""

    number: int
    packed: R


Done = Result[Packed]
"""The facts of a blob."""


class Pool(Generic[R]):
    """A few processes that read files. They start with a job and end when there has been none for a while.

    A worker that dies or hangs on a file costs that file what is read of it, and no other: `lost` says what
    it has then.
    """

    def __init__(
        self,
        count: int,
        read: Callable[[Job], R],
        lost: Callable[[Job], R],
        *,
        file_sec: float = _FILE_CPU_SEC,
    ) -> None:
        self._count = count
        self._file_sec = file_sec
        self._read = read
        self._lost = lost
        self._context = SpawnContext()
        self._idle: list[_Worker[R]] = []
        self._busy = 0
        self._guard = threading.Lock()
        self._retirement: threading.Timer | None = None
        self._used = time.monotonic()

    def extract(self, jobs: Iterable[Job]) -> Iterator[list[Result[R]]]:
        """Yields results in chunks, in whatever order they are ready. Jobs are taken as workers get free.

        Workers have begun when this returns; the results have to be asked for.
        """
        chunks = _make_chunks(jobs)
        busy: _Busy[R] = {}
        try:
            self._hand_out(chunks, [], busy)
        except BaseException:
            self._end_workers(busy)
            raise
        return self._collect_results(chunks, busy)

    def _hand_out(self, chunks: Iterator[list[Job]], again: list[list[Job]], busy: "_Busy[R]") -> None:
        while len(busy) < self._count and (chunk := again.pop() if again else next(chunks, None)):
            worker = self._take_worker()
            with suppress(OSError):  # it has died; its empty pipe says so later
                worker.pipe.send(chunk)
            busy[worker.pipe] = (worker, chunk)

    def _collect_results(self, chunks: Iterator[list[Job]], busy: "_Busy[R]") -> Iterator[list[Result[R]]]:
        again: list[list[Job]] = []
        try:
            while busy:
                ready = wait(list(busy), timeout=_STUCK_SEC) or list(busy)
                for pipe in ready:
                    assert isinstance(pipe, Connection)
                    worker, chunk = busy.pop(pipe)
                    self._note_free(1)
                    results = worker.result()
                    if results is None and worker.never_began():
                        worker.kill()  # the files are not to blame, and are read another time
                    elif results is None:
                        worker.kill()
                        again += _split_chunk(chunk)
                        if len(chunk) == 1:
                            yield [Result(chunk[0].number, self._lost(chunk[0]))]
                    else:
                        self._idle.append(worker)
                        yield results
                self._hand_out(chunks, again, busy)
        finally:
            self._end_workers(busy)

    def _end_workers(self, busy: "_Busy[R]") -> None:
        for worker, _ in busy.values():
            worker.kill()
        self._note_free(len(busy))
        self._retire_later()

    @property
    def are_missing(self) -> bool:
        """Whether work that came now would wait for a worker to start."""
        return len(self._idle) + self._busy < self._count

    def prepare(self, languages: Sequence[str]) -> None:
        """Starts workers that are not there and has them load what languages need, without waiting for it.

        Work that comes soon finds them ready.
        """
        with self._guard:
            missing = self._count - len(self._idle) - self._busy
            self._idle += [self._start_worker(languages) for _ in range(missing)]
        self._retire_later()

    def close(self) -> None:
        """Ends the workers that are idle now."""
        with self._guard:
            if self._retirement is not None:
                self._retirement.cancel()
                self._retirement = None
            while self._idle:
                self._idle.pop().kill()

    def keep(self) -> None:
        """Lets idle workers live on for a while: there may be work for them soon."""
        self._used = time.monotonic()

    def _retire_later(self) -> None:
        self.keep()
        with self._guard:
            if self._retirement is None:
                self._wait_to_retire(_IDLE_SEC)

    def _wait_to_retire(self, seconds: float) -> None:
        self._retirement = threading.Timer(seconds, self._retire_idle)
        self._retirement.daemon = True
        self._retirement.start()

    def _retire_idle(self) -> None:
        with self._guard:
            self._retirement = None
            if (left := self._used + _IDLE_SEC - time.monotonic()) > 0:
                self._wait_to_retire(left)
                return
        self.close()

    def _note_free(self, count: int) -> None:
        with self._guard:
            self._busy -= count

    def _take_worker(self) -> "_Worker[R]":
        with self._guard:
            self._busy += 1
            while self._idle:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    return worker
                worker.kill()
        return self._start_worker(())

    def _start_worker(self, languages: Sequence[str]) -> "_Worker[R]":
        return _Worker.start(self._context, (self._read, self._file_sec, languages))


class Workers(Pool[Packed]):
    """Processes that extract facts; a file that one dies of is `failed`, with the reason."""

    def __init__(
        self, count: int, read: Callable[[Job], Packed] | None = None, *, file_sec: float = _FILE_CPU_SEC
    ) -> None:
        super().__init__(count, read or read_job, _lost_file, file_sec=file_sec)


class _Worker(NamedTuple, Generic[R]):
    process: BaseProcess
    pipe: "Connection[list[Job], list[Result[R]]]"

    @classmethod
    def start(
        cls, context: SpawnContext, how: tuple[Callable[[Job], R], float, Sequence[str]]
    ) -> "_Worker[R]":
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_serve_chunks, args=(theirs, *how), name="codeplane-extract", daemon=True
        )
        process.start()
        # Only the child keeps its end: it sees the end of this process as the end of the pipe.
        theirs.close()
        return cls(process, ours)

    def result(self) -> list[Result[R]] | None:
        """The finished chunk; None when the worker died or did not answer in time."""
        try:
            return self.pipe.recv() if self.pipe.poll(0) else None
        except (EOFError, OSError):
            return None

    def never_began(self) -> bool:
        """Whether the process has ended before it could do anything: there was no memory, or no directory."""
        self.process.join(_END_SEC)
        return self.process.exitcode == 1

    def kill(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


# What each worker has to do, by its pipe.
_Busy = dict[Connection, tuple[_Worker[R], list[Job]]]


def _serve_chunks(
    pipe: "Connection[list[Result[R]], list[Job]]",
    read: Callable[[Job], R],
    file_sec: float,
    languages: Sequence[str],
) -> None:
    """The life of a worker: chunks in, results out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # Facts make many objects and no cycles; the collector would only look at them again and again.
    gc.disable()
    limit_memory()
    for language in languages:
        read(Job(0, language, b""))
    try:
        while True:
            pipe.send([Result(job.number, _read_in_time(read, job, file_sec)) for job in pipe.recv()])
    except (EOFError, OSError):
        return
    except Exception as error:
        sys.stderr.write(f"codeplane: reading a file failed: {error!r}\n")
        raise SystemExit(_GAVE_UP) from error


def limit_memory() -> None:
    """Keeps this process from taking more memory than a file can be worth."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _read_in_time(read: Callable[[Job], R], job: Job, file_sec: float) -> R:
    """Ends this process when the file takes too long: a parser cannot be stopped from inside."""
    signal.setitimer(signal.ITIMER_PROF, file_sec * min(1, max(_LEAST, len(job.data) / _WHOLE_BYTES)))
    facts = read(job)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return facts


def read_job(job: Job) -> Packed:
    """Facts and words of one blob."""
    if not job.language:
        return pack(
            Facts("skipped", "no grammar for this kind of file", job.data.count(b"\n")),
            words_of(job.data),
            generated=is_generated(job.data),
        )
    # Grammars are loaded in the worker alone.
    from codeplane.languages import extract

    facts = extract(job.language, job.data)
    words = words_of(without_nulls(job.data), facts.occurrences.texts)
    return pack(facts, words, generated=is_generated(job.data))


def _lost_file(job: Job) -> Packed:
    return pack(Facts("failed", LOST), words_of(job.data))


def _make_chunks(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    chunk: list[Job] = []
    size = count = 0
    for job in jobs:
        most = _FIRST_BYTES if count < _FIRST_CHUNKS else _CHUNK_BYTES
        if chunk and (len(chunk) >= _CHUNK_FILES or size + len(job.data) > most):
            yield chunk
            chunk, size, count = [], 0, count + 1
        chunk.append(job)
        size += len(job.data)
    if chunk:
        yield chunk


def _split_chunk(chunk: list[Job]) -> list[list[Job]]:
    return [[job] for job in chunk] if len(chunk) > 1 else []
