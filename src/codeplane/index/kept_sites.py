"""Sites of contents, kept so that they are read out of a content once.

They are no facts: what is not there is read when it is asked for.
"""

from collections.abc import Collection, Mapping

from codeplane.languages.version import sites_version
from codeplane.storage.database import Connection, Database


def kept_sites(connection: Connection, blob: int) -> bytes | None:
    """The packed sites of a content; None where they have to be read."""
    row = connection.execute(
        "SELECT sites FROM site WHERE blob = ? AND version = ?", (blob, sites_version())
    ).fetchone()
    return row[0] if row is not None else None


def without_sites(connection: Connection, blobs: Collection[int]) -> set[int]:
    """The contents whose sites are not kept."""
    rows = connection.execute("SELECT blob FROM site WHERE version = ?", (sites_version(),))
    return set(blobs).difference(blob for (blob,) in rows)


def keep_sites(database: Database, sites: Mapping[int, bytes]) -> None:
    """Keeps packed sites of contents; of those that are still there."""
    rows = [(blob, sites_version(), packed, blob) for blob, packed in sorted(sites.items())]
    with database.write() as connection:
        connection.executemany(
            "INSERT OR REPLACE INTO site SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM blob WHERE id = ?)", rows
        )
