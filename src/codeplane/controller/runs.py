"""Runs: one piece of work under control, kept in `state.db` so that it survives a restart."""

import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codeplane.controller.contract import RunState
from codeplane.core.errors import InvalidArgument
from codeplane.session import RepoSession
from codeplane.storage.database import Connection, Database

MOST_RUNS: Final = 1_000
DEFAULT_STRATEGY: Final = "general_change"
LONGEST_PROMPT: Final = 100_000
NO_PROMPT: Final = "What is to be done, in the user's words."
"""Stands for the prompt in calls that are offered; it is nobody's request, and no evidence."""
_WORK_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_SELECT: Final = (
    "SELECT work_id, run_session_id, agent_id, state, plan, tokens, turns, body, made_ms, changed_ms"
    " FROM controller_run"
)
_UPDATE: Final = (
    "UPDATE controller_run SET run_session_id = ?, agent_id = ?, state = ?, plan = ?, tokens = ?, turns = ?,"
    " body = ?, made_ms = ?, changed_ms = ? WHERE work_id = ?"
)
_INSERT: Final = (
    "INSERT INTO controller_run (run_session_id, agent_id, state, plan, tokens, turns, body, made_ms,"
    " changed_ms, work_id) VALUES (?,?,?,?,?,?,?,?,?,?)"
)
_INSERT_EVIDENCE: Final = (
    "INSERT OR IGNORE INTO controller_evidence (handle, work_id, category, source, first_line, last_line,"
    " digest, quote, made_ms) VALUES (?,?,?,?,?,?,?,?,?)"
)


class Observation(BaseModel):
    """A side finding that was parked instead of followed."""

    text: str
    file: str | None = None
    at_ms: int


class RunBody(BaseModel):
    """What a run knows besides its state; the verbs that own a field write it."""

    model_config = ConfigDict(extra="ignore")

    prompt: str = ""
    lexemes: list[str] = Field(default_factory=list)
    attachments: list[str] = Field(default_factory=list)
    pack_ref: str = ""
    pack_hash: str = ""
    snapshot_id: str = ""
    strategy_id: str = DEFAULT_STRATEGY
    strategy_reasons: list[str] = Field(default_factory=list)
    features: dict[str, Any] = Field(default_factory=dict)
    rejections: dict[str, int] = Field(default_factory=dict)
    artifacts: dict[str, dict[str, Any]] = Field(default_factory=dict)
    observations: list[Observation] = Field(default_factory=list)
    verb_counts: dict[str, int] = Field(default_factory=dict)
    denials: int = 0
    resume_state: RunState | None = None  # where a run goes on that was blocked and is released
    failure: str = ""
    extra: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class EvidenceRow:
    """Something that an agent was shown and may cite: lines of a file, or another source as a whole."""

    handle: str
    category: str
    source: str
    first_line: int
    last_line: int
    digest: str
    quote: str = ""


@dataclass
class Run:
    """One run. It is changed by one turn at a time and saved at the end of it."""

    work_id: str
    run_session_id: str
    agent_id: str
    state: RunState = RunState.PLAN_REQUIRED
    plan: str | None = None
    tokens: int = 0
    turns: int = 0
    body: RunBody = field(default_factory=RunBody)
    made_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    changed_ms: int = 0

    def to_row(self) -> dict[str, Any]:
        """The run in a list of runs."""
        return {
            "workId": self.work_id,
            "runSessionId": self.run_session_id,
            "agentId": self.agent_id,
            "state": self.state.value,
            "plan": self.plan,
            "turns": self.turns,
            "denials": self.body.denials,
            "usedTokens": self.tokens,
            "prompt": self.body.prompt[:200],
            "strategyId": self.body.strategy_id,
            "startedMs": self.made_ms,
            "changedMs": self.changed_ms,
        }


class RunStore:
    """The runs of a repository. Turns of one run wait for each other; other runs go on."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._current: dict[str, str] = {}  # the run that a client session works on
        self._last_ms = 0

    def work_id_for(self, session_id: str, requested: str | None) -> str:
        """The run that a turn belongs to: the one it names, the session's, or a new one."""
        if requested is not None and _WORK_ID.fullmatch(requested) is None:
            raise InvalidArgument(
                "workId has at most 64 letters, digits, `_` and `-`, the first of them a letter or digit.",
                hints=["Leave workId out: the run gets one."],
            )
        with self._guard:
            work_id = requested or self._current.get(session_id) or f"w_{secrets.token_hex(4)}"
            self._current[session_id] = work_id
            return work_id

    @contextmanager
    def holding(self, work_id: str) -> Iterator[None]:
        """Keeps other turns of a run out."""
        with self._guard:
            lock = self._locks.setdefault(work_id, threading.Lock())
        with lock:
            yield

    def load(self, work_id: str) -> Run | None:
        row = self._database().row(f"{_SELECT} WHERE work_id = ?", (work_id,))
        return _run_of(row) if row is not None else None

    def save(self, run: Run, evidence: Sequence[EvidenceRow] = ()) -> None:
        """Writes a run with what it was shown; the oldest runs go where there are too many."""
        run.changed_ms = self._next_moment()
        values = (
            run.run_session_id,
            run.agent_id,
            run.state.value,
            run.plan,
            run.tokens,
            run.turns,
            run.body.model_dump_json(exclude_defaults=True),
            run.made_ms,
            run.changed_ms,
            run.work_id,
        )
        shown = [
            (
                row.handle,
                run.work_id,
                row.category,
                row.source,
                row.first_line,
                row.last_line,
                row.digest,
                row.quote,
                run.changed_ms,
            )
            for row in evidence
        ]
        with self._database().write() as connection:
            # A row that stays where it is takes one page, and no index has to follow it.
            if not connection.execute(_UPDATE, values).rowcount:
                connection.execute(_INSERT, values)
            if shown:
                connection.executemany(_INSERT_EVIDENCE, shown)
            if run.turns == 1:
                self._drop_oldest(connection)

    def _next_moment(self) -> int:
        """The time in milliseconds; no two runs are saved at one, so their order is that of the saving."""
        with self._guard:
            self._last_ms = max(int(time.time() * 1000), self._last_ms + 1)
            return self._last_ms

    def _drop_oldest(self, connection: Connection) -> None:
        connection.execute(
            "DELETE FROM controller_run WHERE work_id IN (SELECT work_id FROM controller_run"
            " ORDER BY changed_ms DESC LIMIT -1 OFFSET ?)",
            (MOST_RUNS,),
        )
        connection.execute(
            "DELETE FROM controller_evidence WHERE work_id NOT IN (SELECT work_id FROM controller_run)"
        )

    def recent(self, limit: int = 100) -> list[Run]:
        """Runs, the one that was used last first."""
        with self._database().read() as connection:
            rows = connection.execute(
                f"{_SELECT} ORDER BY changed_ms DESC LIMIT ?",
                (limit,),
            ).fetchall()
        return [_run_of(row) for row in rows]


def run_store(repo: RepoSession) -> RunStore:
    """The runs of an open repository."""
    return repo.keep(RunStore, lambda: RunStore(lambda: repo.state_db))


def _run_of(row: tuple[Any, ...]) -> Run:
    try:
        body = RunBody.model_validate_json(row[7])
    except ValidationError:  # of another version, or damaged: the run goes on with what its columns say
        body = RunBody()
    return Run(row[0], row[1], row[2], RunState(row[3]), row[4], row[5], row[6], body, row[8], row[9])
