"""Dropping what nobody can ask about any more: old epochs, unused views of commits, blobs without a user."""

import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from codeplane.index.overlay_views import drop_overlays
from codeplane.storage.database import Connection, Database

_KEPT_EPOCHS: Final = 100
_KEPT_DAYS: Final = 3
_KEPT_COMMITS: Final = 20
_KEPT_OVERLAY_SEC: Final = 900
# A run ends after so many blobs; the next goes on. Words are looked up in one walk of the word index, which
# pays only for many blobs at once.
_MOST_BLOBS: Final = 2000
_FEWEST_BLOBS: Final = 200


class Collected(NamedTuple):
    """What one run has dropped."""

    epochs: int
    views: int
    blobs: int


def collect(database: Database, fewest: int = _FEWEST_BLOBS) -> Collected:
    """Drops what is not needed, a bounded amount at a time; fewer blobs than `fewest` wait for others."""
    with database.write() as connection:
        epochs = _trim_epochs(connection, int((time.time() - _KEPT_DAYS * 86_400) * 1000))
        overlays = drop_overlays(connection, int((time.time() - _KEPT_OVERLAY_SEC) * 1000))
        views = _drop_commits(connection) + overlays
    with database.read() as connection:
        candidates = _unused_blobs(connection)
        words = _words_of(connection, candidates) if len(candidates) >= fewest else {}
    if len(candidates) < fewest:
        return Collected(epochs, views, 0)
    with database.write() as connection:
        # Another process may use one of them by now.
        garbage = sorted(set(candidates) & set(_unused_blobs(connection)))
        _delete_blobs(connection, garbage, words)
        connection.execute("DELETE FROM place WHERE id NOT IN (SELECT place FROM item)")
    return Collected(epochs, views, len(garbage))


def faults(database: Database) -> list[str]:
    """What is wrong with the index, each in a sentence; empty when it is sound."""
    problems = []
    with database.read() as connection:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            return [f"The integrity check failed: {verdict}."]
        for table in (
            "entry",
            "definition",
            "ref",
            "import",
            "export",
            "dynamic",
            "written",
            "semantic_fact",
            "site",
        ):
            orphans = connection.execute(
                f"SELECT count(*) FROM {table} WHERE blob NOT IN (SELECT id FROM blob)"
            ).fetchone()[0]
            problems += [f"{orphans} rows of {table} have no blob."] if orphans else []
    return problems


def _trim_epochs(connection: Connection, oldest_ms: int) -> int:
    count = 0
    for (view,) in connection.execute("SELECT id FROM view").fetchall():
        row = connection.execute(
            "SELECT id FROM epoch WHERE view = ? ORDER BY id DESC LIMIT 1 OFFSET ?", (view, _KEPT_EPOCHS - 1)
        ).fetchone()
        if row is None:
            continue
        epochs = connection.execute(
            "SELECT id FROM epoch WHERE view = ? AND id < ? AND at_ms < ?", (view, row[0], oldest_ms)
        ).fetchall()
        connection.executemany("DELETE FROM change WHERE epoch = ?", epochs)
        connection.executemany("DELETE FROM epoch WHERE id = ?", epochs)
        count += len(epochs)
    return count


def _drop_commits(connection: Connection) -> int:
    views = connection.execute(
        "SELECT id FROM view WHERE key LIKE 'commit:%' ORDER BY used_ms DESC, id DESC LIMIT -1 OFFSET ?",
        (_KEPT_COMMITS,),
    ).fetchall()
    for table, column in (("item", "view"), ("gap", "view"), ("view", "id")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", views)
    return len(views)


def _unused_blobs(connection: Connection) -> list[int]:
    rows = connection.execute(
        "SELECT id FROM blob EXCEPT SELECT blob FROM item EXCEPT SELECT before FROM change"
        " EXCEPT SELECT after FROM change EXCEPT SELECT blob FROM semantic_fact ORDER BY id LIMIT ?",
        (_MOST_BLOBS,),
    )
    return [blob for (blob,) in rows]


def _words_of(connection: Connection, blobs: Sequence[int]) -> Mapping[int, list[str]]:
    """The words of blobs, from the index itself: it keeps no text, and wants the words to forget them."""
    words: dict[int, list[str]] = {blob: [] for blob in blobs}
    for blob, term in connection.execute("SELECT doc, term FROM word_list"):
        if blob in words:
            words[blob].append(term)
    return words


def _delete_blobs(connection: Connection, blobs: Sequence[int], words: Mapping[int, list[str]]) -> None:
    for blob in blobs:
        for table in ("ref", "definition", "import", "export", "dynamic", "written", "semantic_fact", "site"):
            connection.execute(f"DELETE FROM {table} WHERE blob = ?", (blob,))
        if words[blob]:
            connection.execute(
                "INSERT INTO word (word, rowid, text) VALUES ('delete', ?, ?)", (blob, " ".join(words[blob]))
            )
        connection.execute("DELETE FROM blob WHERE id = ?", (blob,))
