"""What the ledger does not keep: whole segments, the oldest first."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import LedgerDamaged
from codeplane.ledger.chain import Entry, Row
from codeplane.ledger.segments import Segment, ask, delete, ends, segments, set_aside
from codeplane.storage.database import Connection

_DAY_SEC = 86_400


def drop_old(directory: Path, settings: LedgerSettings, append: Callable[[Sequence[Entry]], int]) -> None:
    """Drops what is too old or too much.

    That it is dropped, and by which hash it ended, is on record first: what is missing otherwise shows.
    """
    last_to_drop = _last_to_drop(segments(directory), settings)
    if last_to_drop is None:
        return
    through, end = last_to_drop
    body = {"through": through.index, "last_number": end.number, "last_hash": end.hash}
    append([Entry("dropped", body)])
    for one in [*set_aside(directory), *segments(directory)]:
        if one.index <= through.index:
            delete(one)


def _last_to_drop(listed: list[Segment], settings: LedgerSettings) -> tuple[Segment, Row] | None:
    oldest = (time.time() - settings.keep_days * _DAY_SEC) * 1000
    tasks = 0
    for one in reversed(listed):
        try:
            end, count = ask(one, _segment_facts)
        except (LedgerDamaged, FileNotFoundError):
            continue
        sealed_ms = end.body().get("sealed_ms") if end.kind == "seal" else None
        if isinstance(sealed_ms, int) and (tasks >= settings.keep_tasks or sealed_ms < oldest):
            return one, end
        tasks += count
    return None


def _segment_facts(connection: Connection) -> tuple[Row, int]:
    _, last = ends(connection)
    question = "SELECT count(*) FROM row WHERE kind = 'task' AND json_extract(body, '$.event') = 'opened'"
    [opened_ms] = connection.execute(question).fetchone()
    return last, int(opened_ms)
