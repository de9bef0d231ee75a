"""The whole index of a view as text: equal indexes give equal texts, however they came about."""

from collections.abc import Iterator

from codeplane.index.store import from_sql
from codeplane.parsing.pack import unpack_binds, unpack_occurrences, unpack_scopes
from codeplane.storage.database import Connection


def dump(connection: Connection, view_key: str) -> Iterator[str]:
    """One line a fact, in an order that depends on content alone. No row number appears."""
    rows = connection.execute(
        "SELECT e.path, e.digest, e.blob FROM entry e JOIN view v ON v.id = e.view WHERE v.key = ?",
        (view_key,),
    ).fetchall()
    for path, digest, blob in sorted(rows, key=lambda row: from_sql(row[0])):
        yield f"{from_sql(path)!r} {digest}"
        if blob is not None:
            yield from sorted(_dump_facts(connection, blob))


def _dump_facts(connection: Connection, blob: int) -> Iterator[str]:
    head = connection.execute(
        "SELECT language, extractor, size, lines, state, reason, interface, package, scopes, binds FROM blob"
        " WHERE id = ?",
        (blob,),
    ).fetchone()
    *facts, scopes, binds = head
    yield f"  blob {facts}"
    yield f"  scopes {list(unpack_scopes(scopes))}"
    binding, *texts = unpack_binds(binds)
    yield f"  binds {(list(binding), *texts)}"
    for definition in connection.execute(
        "SELECT d.position, d.name, d.kind, d.parent, d.scope, d.body, d.start_line, d.start_column,"
        " d.end_line, d.end_column, d.name_line, d.name_column, d.signature, d.bases, d.annotation, d.flags,"
        " d.owner"
        " FROM definition d WHERE d.blob = ?",
        (blob,),
    ):
        yield f"  definition {definition}"
    for table in ("import", "export", "dynamic", "written"):
        for row in connection.execute(f"SELECT * FROM {table} WHERE blob = ?", (blob,)):
            yield f"  {table} {row[1:]}"
    for names, data in connection.execute("SELECT names, occurrences FROM ref WHERE blob = ?", (blob,)):
        places: dict[str, list[tuple[int, ...]]] = {}
        for name, occurrence in unpack_occurrences(names, data).all():
            places.setdefault(name, []).append(tuple(occurrence))
        yield from (f"  ref {name} {occurrences}" for name, occurrences in places.items())
