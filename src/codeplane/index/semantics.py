"""What batch indexers say that names mean: facts of a blob at a path, by build context, and the run they are
from. They can be made again by another run, like everything in the index.

A document's facts are a column of numbers, one for each occurrence of its blob, into a list of targets. A
target names a definition by the names that lead to it in its file, not by its position: it is found again in
whatever content that file has later. A run keeps which content every file had: what has changed since is what
its facts may no longer hold for.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from codeplane.core.documents import decode_json
from codeplane.core.paths import RepoPath
from codeplane.index.store import from_sql, now_ms
from codeplane.languages.foreign import ForeignDefinition
from codeplane.parsing.pack import pack_numbers, sql_text, unpack_numbers
from codeplane.storage.database import Connection

TargetKind = Literal["definition", "file", "local", "external", "ambiguous"]

_LEVEL: Final = 1  # of compression
_NO_RELATIONS: Final = '"implementations": []'


class SemanticTarget(NamedTuple):
    """What an indexer says that an occurrence means."""

    kind: TargetKind
    path: str = ""  # of a definition, a file or a local variable
    names: str = ""  # of a definition: the names from the outermost one to it, dots between
    number: int = 0  # which of the definitions with these names in the file, in order of position
    text: str = ""  # of something external: the indexer's symbol, without version
    choices: tuple[int, ...] = ()  # of an ambiguous one: other targets of the same document


class Counts(NamedTuple):
    """How many occurrences of a document mean what, by the indexer."""

    inside: int = 0
    external: int = 0
    local: int = 0
    ambiguous: int = 0
    unresolved: int = 0
    dropped: int = 0  # the text there is not the token
    no_token: int = 0  # none of our occurrences begins there


class SemanticDocument(NamedTuple):
    """What an indexer says about one file."""

    blob: int
    path: RepoPath
    targets: Sequence[SemanticTarget]
    # For each occurrence of the blob, 1 + the number of its target; 0 where the indexer says nothing.
    column: Sequence[int]
    ambiguity: tuple[str, ...] = ()  # the kinds that were seen
    counts: Counts = Counts()
    imports: str = ""  # what the imports of the file led to when it was indexed
    # Numbers of targets: a definition of the file, and what it implements or overrides. What implements a
    # method of an interface is the first of all pairs, in all files, of which the second is that method.
    implementations: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Run:
    """One run of an indexer over one build context."""

    context: str
    indexer: str
    version: str
    head: str = ""
    configuration: str = ""  # digest of the indexer's own configuration
    # Files of the repository that decide what the run says, lock files and configuration, and directories in
    # which something is installed, by their full paths with a slash at the end; with their digests.
    inputs: Mapping[str, str] = field(default_factory=dict)
    at_ms: int = 0
    number: int = 0


class DefinitionKey(NamedTuple):
    """What names a definition in its file, whatever stands before it there."""

    names: str
    number: int


def is_environment(path: str) -> bool:
    """Whether an input of a run is a directory in which something is installed."""
    return path.startswith("/") and path.endswith("/")


def definition_keys(definitions: Iterable[ForeignDefinition]) -> list[DefinitionKey]:
    """The key of each definition of a file, in order."""
    chains: list[str] = []
    keys: list[DefinitionKey] = []
    alike: Counter[str] = Counter()
    for item in definitions:
        chain = f"{chains[item.parent]}.{item.name}" if item.parent >= 0 else item.name
        chains.append(chain)
        keys.append(DefinitionKey(chain, alike[chain]))
        alike[chain] += 1
    return keys


class SemanticFacts(NamedTuple):
    """A document's facts as they are kept, with their run."""

    run: int
    context: str
    targets: Sequence[SemanticTarget]
    column: Sequence[int]
    ambiguity: tuple[str, ...]
    counts: Counts
    imports: str
    implementations: Sequence[tuple[int, int]] = ()


class Relation(NamedTuple):
    """A definition, and what it implements or overrides, by the document of one run about its file."""

    blob: int
    path: RepoPath
    run: int
    implementation: SemanticTarget
    interface: SemanticTarget


def store_run(
    connection: Connection,
    run: Run,
    documents: Iterable[SemanticDocument],
    contents: Mapping[RepoPath, int],
    *,
    whole: bool = True,
) -> int:
    """Writes the facts of a run in the transaction of a connection, and gives its number.

    `contents` says which blob every file had that the indexer may have read. A run over a `whole` context
    replaces all that is known of it; another adds to it.
    """
    at_ms = run.at_ms or now_ms()
    row = connection.execute(
        "INSERT INTO semantic_run (context, indexer, version, head, configuration, inputs, contents, at_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run.context,
            run.indexer,
            run.version,
            run.head,
            run.configuration,
            json.dumps(dict(run.inputs)),
            _packed(contents),
            at_ms,
        ),
    )
    number = int(row.lastrowid or 0)
    if whole:
        connection.execute("DELETE FROM semantic_fact WHERE context = ?", (run.context,))
    connection.executemany(
        "INSERT OR REPLACE INTO semantic_fact VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                one.blob,
                sql_text(one.path),
                run.context,
                number,
                _packed([list(target) for target in one.targets]),
                zlib.compress(pack_numbers(one.column), _LEVEL),
                json.dumps(
                    {
                        "ambiguity": one.ambiguity,
                        "counts": one.counts,
                        "imports": one.imports,
                        "implementations": one.implementations,
                    }
                ),
            )
            for one in documents
        ],
    )
    _drop_unused_runs(connection)
    return number


def clear(connection: Connection, context: str = "") -> int:
    """Forgets what runs over a context, or over all, have said; the number of documents."""
    where, values = (" WHERE context = ?", (context,)) if context else ("", ())
    count = connection.execute(f"DELETE FROM semantic_fact{where}", values).rowcount
    _drop_unused_runs(connection)
    return count


def last_run(connection: Connection, context: str) -> Run | None:
    """The newest run over a context of which facts are kept."""
    return max(
        (one for one in runs(connection).values() if one.context == context), key=_number, default=None
    )


def drop_old_runs(connection: Connection, context: str, most: int) -> None:
    """Forgets what all but the newest runs over a context have said."""
    old = sorted(number for number, one in runs(connection).items() if one.context == context)[:-most]
    connection.executemany("DELETE FROM semantic_fact WHERE run = ?", [(number,) for number in old])
    _drop_unused_runs(connection)


def blobs_in_use(connection: Connection) -> set[int]:
    """The contents that some view has."""
    rows = connection.execute("SELECT DISTINCT blob FROM entry WHERE blob IS NOT NULL")
    return {blob for (blob,) in rows}


def generation(connection: Connection) -> tuple[int, int]:
    """Changes with every run that is stored or forgotten."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'semantic_run'").fetchone()
    if last is None:
        return (0, 0)
    [count] = connection.execute("SELECT count(*) FROM semantic_run").fetchone()
    return (int(last[0]), int(count))


def facts_of(connection: Connection, blob: int, path: str) -> list[SemanticFacts]:
    """What indexers say about a content at a path, one for each context."""
    rows = connection.execute(
        "SELECT run, context, targets, positions, notes FROM semantic_fact WHERE blob = ? AND path = ?"
        " ORDER BY context",
        (blob, sql_text(path)),
    )
    documents = []
    for run, context, targets, positions, text in rows:
        notes = decode_json(text)
        documents.append(
            SemanticFacts(
                run,
                context,
                [_unpack_target(*one) for one in decode_json(zlib.decompress(targets))],
                unpack_numbers(zlib.decompress(positions)),
                tuple(notes["ambiguity"]),
                Counts(*notes["counts"]),
                notes["imports"],
                [(first, second) for first, second in notes["implementations"]],
            )
        )
    return documents


def relations(connection: Connection) -> list[Relation]:
    """What indexers say of implementations, in all contents that they have seen."""
    rows = connection.execute(
        "SELECT blob, path, run, targets, notes FROM semantic_fact WHERE instr(notes, ?) = 0",
        (_NO_RELATIONS,),
    )
    pairs: list[Relation] = []
    for blob, path, run, packed, notes in rows:
        targets = [_unpack_target(*one) for one in decode_json(zlib.decompress(packed))]
        numbers = decode_json(notes)["implementations"]
        document = from_sql(path)
        pairs += [Relation(blob, document, run, targets[here], targets[there]) for here, there in numbers]
    return pairs


def indexed_paths(connection: Connection) -> set[RepoPath]:
    """The files that some run has said something about, whatever their content is now."""
    return {from_sql(path) for (path,) in connection.execute("SELECT DISTINCT path FROM semantic_fact")}


def runs(connection: Connection) -> dict[int, Run]:
    """The runs that facts are kept of, by number."""
    rows = connection.execute(
        "SELECT id, context, indexer, version, head, configuration, inputs, at_ms FROM semantic_run"
    )
    return {
        number: Run(context, indexer, version, head, configuration, decode_json(inputs), at_ms, number)
        for number, context, indexer, version, head, configuration, inputs, at_ms in rows
    }


def contents_of(connection: Connection, run: int) -> dict[str, int]:
    """Which blob every file had when a run was made."""
    row = connection.execute("SELECT contents FROM semantic_run WHERE id = ?", (run,)).fetchone()
    return dict(decode_json(zlib.decompress(row[0]))) if row is not None else {}


def _unpack_target(
    kind: TargetKind, path: str, names: str, number: int, text: str, choices: list[int]
) -> SemanticTarget:
    return SemanticTarget(kind, path, names, number, text, tuple(choices))


def _number(run: Run) -> int:
    return run.number


def _drop_unused_runs(connection: Connection) -> None:
    connection.execute("DELETE FROM semantic_run WHERE id NOT IN (SELECT run FROM semantic_fact)")


def _packed(value: object) -> bytes:
    return zlib.compress(json.dumps(value).encode("utf-8", "surrogatepass"), _LEVEL)
