"""How much of a view has been read, and why a question about it has no answer."""

from collections import Counter
from typing import Final, NamedTuple

from codeplane.core.proof import Absence
from codeplane.parsing.pack import count_occurrences
from codeplane.parsing.words import question
from codeplane.storage.database import Connection
from codeplane.working_tree import GapKind

_MOST_CARRIED: Final = 500


class Coverage(NamedTuple):
    """The files of a view by what is known of them; an answer is about those that were read."""

    files: int
    unread: int  # known, and not read yet
    partial: int  # with errors: what could be read is there
    failed: int  # nothing could be read but words
    unparsed: int  # no grammar, too large or binary: words at most
    hidden: int  # what is there and cannot be read; of a commit, what has no content here
    why_hidden: str = ""  # in a sentence, of the working tree

    @property
    def is_whole(self) -> bool:
        """Whether nothing that has a grammar is missing, in part or as a whole."""
        return not (self.unread or self.partial or self.failed or self.hidden)


def coverage_of(connection: Connection, view: int) -> Coverage:
    rows = connection.execute(
        "SELECT coalesce(b.state, 'unread'), count(*) FROM entry e LEFT JOIN blob b ON b.id = e.blob"
        " WHERE e.view = ? GROUP BY 1",
        (view,),
    )
    states = dict(rows.fetchall())
    gaps = connection.execute("SELECT kind FROM gap WHERE view = ?", (view,))
    return Coverage(
        files=sum(states.values()),
        unread=states.get("unread", 0),
        partial=states.get("partial", 0),
        failed=states.get("failed", 0),
        unparsed=states.get("skipped", 0),
        hidden=sum(GapKind(kind).hides_content for (kind,) in gaps),
    )


class Totals(NamedTuple):
    """What a view has facts about."""

    files: int
    definitions: int
    references: int


def totals_of(connection: Connection, view: int) -> Totals:
    """The files of a view, their definitions and all occurrences of names; duplicates count each time."""
    [(files, definitions)] = connection.execute(
        "SELECT count(*), coalesce(sum((SELECT count(*) FROM definition d WHERE d.blob = e.blob)), 0)"
        " FROM entry e WHERE view = ?",
        (view,),
    )
    occurrence_rows = connection.execute(
        "SELECT r.occurrences FROM entry e JOIN ref r ON r.blob = e.blob WHERE e.view = ?", (view,)
    )
    return Totals(files, definitions, sum(count_occurrences(data) for (data,) in occurrence_rows))


def carried(connection: Connection, view: int, known: Coverage, after: int, until: int) -> Coverage | None:
    """The coverage some epochs later, by what has changed since; None where that is too much."""
    changes = connection.execute(
        "SELECT c.before, c.after FROM change c JOIN epoch e ON e.id = c.epoch"
        " WHERE e.view = ? AND e.id > ? AND e.id <= ? LIMIT ?",
        (view, after, until, _MOST_CARRIED + 1),
    ).fetchall()
    if len(changes) > _MOST_CARRIED:
        return None
    deltas = Counter(blob for _, blob in changes if blob is not None)
    deltas.subtract(blob for blob, _ in changes if blob is not None)
    states: Counter[str] = Counter()
    for blob, count in deltas.items():
        row = connection.execute("SELECT state FROM blob WHERE id = ?", (blob,)).fetchone()
        if row is None:
            return None  # collected, and nobody knows what it was
        states[row[0]] += count
    [(files,)] = connection.execute("SELECT count(*) FROM entry WHERE view = ?", (view,))
    return known._replace(
        files=files,
        unread=unread_in(connection, view),
        partial=known.partial + states["partial"],
        failed=known.failed + states["failed"],
        unparsed=known.unparsed + states["skipped"],
    )


def unread_in(connection: Connection, view: int) -> int:
    """How many files of a view are known and not read yet."""
    [(count,)] = connection.execute("SELECT count(*) FROM entry WHERE blob IS NULL AND view = ?", (view,))
    return int(count)


def why_no(name: str, connection: Connection, view: int, coverage: Coverage) -> Absence:
    """Why nothing is known of a name. Only files that hold its words can say anything of it."""
    if coverage.unread or coverage.hidden:
        return Absence.NOT_INDEXED
    words = question(name)
    if not words:
        return why_none(coverage)
    rows = connection.execute(
        "SELECT DISTINCT b.state FROM entry e JOIN blob b ON b.id = e.blob"
        " WHERE e.view = ? AND b.id IN (SELECT rowid FROM word WHERE word MATCH ?)",
        (view, words),
    )
    states = {state for (state,) in rows}
    if states & {"partial", "failed"}:
        return Absence.PARSE_PARTIAL
    return Absence.LANGUAGE_GAP if "skipped" in states else Absence.PROVEN_NONE


def why_none(coverage: Coverage) -> Absence:
    """Why nothing was found anywhere in the view."""
    if coverage.unread or coverage.hidden:
        return Absence.NOT_INDEXED
    return Absence.PARSE_PARTIAL if coverage.partial or coverage.failed else Absence.PROVEN_NONE
