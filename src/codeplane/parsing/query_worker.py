"""Foreign queries in a process that can be killed: nothing else ends a query that takes too long."""

import gc
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any, Final

from codeplane.core.errors import QueryInvalid
from codeplane.languages.queries.foreign import ForeignQuery, QueryMatch
from codeplane.parsing.workers import limit_memory

DEADLINE_SEC: Final = 5.0  # of one query in one file
_START_SEC: Final = 30.0
_IDLE_SEC: Final = 60.0
_READY: Final = "ready"


class QueryWorker:
    """One process that runs foreign queries; it starts with the first and is replaced when it hangs."""

    def __init__(self, deadline_sec: float = DEADLINE_SEC) -> None:
        self._deadline_sec = deadline_sec
        self._context = SpawnContext()
        self._guard = threading.Lock()
        self._process: BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._retirement: threading.Timer | None = None

    def run(self, language: str, query: str, data: bytes) -> Sequence[QueryMatch]:
        """The matches of a query in a file; `QueryInvalid` where it is wrong, slow or finds too much."""
        with self._guard:
            pipe = self._open_pipe()
            try:
                pipe.send((language, query, data))
                if not pipe.poll(self._deadline_sec):
                    raise self._end_query(
                        f"The query takes longer than {self._deadline_sec:g} seconds in one file."
                    )
                answer = pipe.recv()
            except (EOFError, OSError) as error:
                raise self._end_query("The query ended its process: it needs too much memory.") from error
            finally:
                self._retire_later()
        if isinstance(answer, tuple):
            message, hints, details = answer
            raise QueryInvalid(message, hints=hints, **details)
        matches: list[QueryMatch] = answer
        return matches

    def close(self) -> None:
        """Ends the process, if there is one."""
        with self._guard:
            if self._retirement is not None:
                self._retirement.cancel()
                self._retirement = None
            self._kill_process()

    def _end_query(self, reason: str) -> QueryInvalid:
        self._kill_process()
        return QueryInvalid(
            reason, hints=["Leave quantifiers out, and name the nodes around what you look for."]
        )

    def _open_pipe(self) -> "Connection[Any, Any]":
        if self._pipe is not None and self._process is not None and self._process.is_alive():
            return self._pipe
        self._kill_process()
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve_queries, args=(theirs,), name="codeplane-query", daemon=True
        )
        process.start()
        theirs.close()
        self._process, self._pipe = process, ours
        try:
            if not ours.poll(_START_SEC) or ours.recv() != _READY:
                raise self._end_query("The process for queries does not start.")
        except (EOFError, OSError) as error:
            raise self._end_query("The process for queries does not start.") from error
        return ours

    def _kill_process(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _retire_later(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()
        self._retirement = threading.Timer(_IDLE_SEC, self.close)
        self._retirement.daemon = True
        self._retirement.start()


def _serve_queries(pipe: "Connection[Any, Any]") -> None:
    """The life of the process: queries in, matches or a sentence out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()
    limit_memory()
    with suppress(EOFError, OSError):
        pipe.send(_READY)
        while True:
            language, query, data = pipe.recv()
            try:
                pipe.send(ForeignQuery(language, query).run(data))
            except QueryInvalid as error:
                pipe.send((error.message, error.hints, error.details))
