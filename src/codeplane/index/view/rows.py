"""The rows of one view: its files, definitions and changes, as the database has them."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from codeplane.core.documents import decode_json
from codeplane.core.errors import EpochGone
from codeplane.core.paths import Digest, RepoPath
from codeplane.core.proof import Absence
from codeplane.index.coverage import Coverage, why_no
from codeplane.index.store import from_sql, is_kept
from codeplane.languages.facts import Dynamic, Span
from codeplane.parsing.pack import sql_text
from codeplane.parsing.words import question
from codeplane.storage.database import Connection
from codeplane.working_tree import Gap, GapKind


class FileFact(NamedTuple):
    path: RepoPath
    digest: str
    language: str
    state: str  # ok, partial, failed, skipped, or unread
    reason: str
    lines: int


class DefFact(NamedTuple):
    path: RepoPath
    position: int  # its number in the file
    name: str
    kind: str
    lexical_path: str  # the names that hold it, and its own, with dots between
    span: Span
    name_line: int
    name_column: int
    signature: str
    bases: tuple[str, ...]
    annotation: str
    flags: int


class DefRow(NamedTuple):
    """A definition of a content, with what its qualified name is made of."""

    blob: int
    position: int
    name: str
    line: int
    kind: str
    parent: int
    owner: str


class ViewRows:
    """Questions to the tables about one view at one epoch. No answer depends on another file."""

    def __init__(self, connection: Connection, view: int, epoch: int) -> None:
        self.connection, self.view, self._epoch = connection, view, epoch

    def digest(self, path: RepoPath) -> Digest | None:
        """What tells the content of a file from others; None where there is no such file."""
        row = self.connection.execute(
            "SELECT digest FROM entry WHERE view = ? AND path = ?", (self.view, sql_text(path))
        ).fetchone()
        return Digest(row[0]) if row is not None else None

    def blob_digest(self, blob: int) -> Digest | None:
        """The digest of a content, whichever view it is in."""
        row = self.connection.execute("SELECT digest FROM blob WHERE id = ?", (blob,)).fetchone()
        return Digest(row[0]) if row is not None else None

    def digests(self) -> dict[RepoPath, str]:
        """What tells the content of each file from others."""
        rows = self.connection.execute("SELECT path, digest FROM entry WHERE view = ?", (self.view,))
        return {from_sql(path): digest for path, digest in rows}

    def file(self, path: RepoPath) -> FileFact | None:
        return next(self._select_files("AND e.path = ?", (sql_text(path),)), None)

    def files(self, after: RepoPath | None) -> Iterator[FileFact]:
        """Files in order of their paths, beginning after one."""
        return self._select_files("AND e.path > ? ORDER BY e.path", (sql_text(after or RepoPath("")),))

    def files_with_words(self, words: Iterable[str]) -> Iterator[FileFact]:
        """Files that hold all the words, whole or as parts of identifiers."""
        query = question(" ".join(words))
        condition = "AND e.blob IN (SELECT rowid FROM word WHERE word MATCH ?) ORDER BY e.path"
        return self._select_files(condition, (query,)) if query else iter(())

    def definition(self, path: RepoPath, position: int) -> DefFact | None:
        """The definition with a number in a file."""
        return next(
            self._select_definitions("AND e.path = ? AND d.position = ?", (sql_text(path), position)), None
        )

    def definitions_in(self, path: RepoPath) -> Iterator[DefFact]:
        return self._select_definitions("AND e.path = ? ORDER BY d.position", (sql_text(path),))

    def definitions_named(self, name: str) -> Iterator[DefFact]:
        return self._select_definitions("AND d.name = ? ORDER BY e.path, d.position", (sql_text(name),))

    def definitions_of_kinds(self, kinds: Collection[str], below: RepoPath | None) -> Iterator[DefFact]:
        """Definitions of some kinds in order of path, in all files or in one file or directory."""
        condition, values = f"AND d.kind IN ({', '.join('?' * len(kinds))})", [*kinds]
        if below:
            condition += " AND (e.path = ? OR (e.path > ? AND e.path < ?))"
            values += [below, f"{below}/", f"{below}0"]  # `0` comes right after `/`
        return self._select_definitions(
            f"{condition} ORDER BY e.path, d.position", tuple(map(sql_text, values))
        )

    def candidates(self, name: str, around: str) -> list[DefRow]:
        """The definitions of a name, and where it is given, of those directly in something of a name."""
        rows = self.connection.execute(
            "SELECT d.blob, d.position, d.name, d.name_line, d.kind, d.parent, d.owner FROM definition d"
            " LEFT JOIN definition p ON p.blob = d.blob AND p.position = d.parent"
            " WHERE d.name = ?1 AND (?2 = '' OR p.name IS NULL OR p.name = ?2 OR d.owner <> '')",
            (sql_text(name), sql_text(around)),
        ).fetchall()
        return [DefRow(blob, at, from_sql(own), *rest) for blob, at, own, *rest in rows]

    def row(self, blob: int, position: int) -> DefRow:
        """A definition of a content by its number there."""
        name, *rest = self.connection.execute(
            "SELECT name, name_line, kind, parent, owner FROM definition WHERE blob = ? AND position = ?",
            (blob, position),
        ).fetchone()
        return DefRow(blob, position, from_sql(name), *rest)

    def names_of_length(self, least: int, most: int) -> Iterator[str]:
        """The defined names that have so many letters."""
        rows = self.connection.execute(
            "SELECT DISTINCT name FROM definition WHERE length(name) BETWEEN ? AND ?", (least, most)
        )
        return (from_sql(text) for (text,) in rows)

    def dynamics_in(self, path: RepoPath) -> Iterator[Dynamic]:
        """Where a file makes names at run time."""
        rows = self.connection.execute(
            "SELECT d.pattern, d.line, d.column, d.literals, d.computed FROM dynamic d"
            " JOIN entry e ON e.blob = d.blob WHERE e.view = ? AND e.path = ? ORDER BY d.position",
            (self.view, sql_text(path)),
        )
        return (Dynamic(p, line, c, tuple(decode_json(text)), bool(k)) for p, line, c, text, k in rows)

    def removed_at(self, path: RepoPath) -> int | None:
        """The last epoch on record that took a path away; None for one that never was there."""
        epoch = self.connection.execute(
            "SELECT max(e.id) FROM change c JOIN epoch e ON e.id = c.epoch"
            " WHERE e.view = ? AND c.path = ? AND c.after IS NULL AND c.before IS NOT NULL",
            (self.view, sql_text(path)),
        ).fetchone()[0]
        return None if epoch is None else int(epoch)

    def contents_before(self, epoch: int) -> Iterator[tuple[RepoPath, int | None]]:
        """What each change after an epoch replaced, the last change first."""
        self._check_kept(epoch)
        rows = self.connection.execute(
            "SELECT c.path, c.before FROM epoch e JOIN change c ON c.epoch = e.id"
            " WHERE e.view = ? AND e.id > ? ORDER BY e.id DESC",
            (self.view, epoch),
        )
        return ((from_sql(text), before) for text, before in rows)

    def gaps(self) -> Iterator[Gap]:
        """What a commit has no content for: submodules, links, LFS pointers, objects that are missing."""
        rows = self.connection.execute(
            "SELECT path, kind, detail FROM gap WHERE view = ? ORDER BY path", (self.view,)
        )
        return (Gap(from_sql(path), GapKind(kind), detail) for path, kind, detail in rows)

    def why_none(self, name: str, coverage: Coverage) -> Absence:
        """Why nothing is known about a name."""
        return why_no(name, self.connection, self.view, coverage)

    def _check_kept(self, epoch: int) -> None:
        if not is_kept(self.connection, self.view, epoch):
            oldest = self.connection.execute(
                "SELECT coalesce(min(id), 0) FROM epoch WHERE view = ?", (self.view,)
            ).fetchone()[0]
            raise EpochGone(
                f"There is no epoch {epoch} on record.",
                hints=[f"The oldest is epoch {oldest}, the last epoch {self._epoch}."],
                epoch=epoch,
            )

    def _select_files(self, condition: str, values: tuple[object, ...]) -> Iterator[FileFact]:
        rows = self.connection.execute(
            "SELECT e.path, e.digest, coalesce(b.language, ''), coalesce(b.state, 'unread'),"
            " coalesce(b.reason, ''), coalesce(b.lines, 0)"
            f" FROM entry e LEFT JOIN blob b ON b.id = e.blob WHERE e.view = ? {condition}",
            (self.view, *values),
        )
        return (FileFact(from_sql(path), *rest) for path, *rest in rows)

    def _select_definitions(self, condition: str, values: tuple[object, ...]) -> Iterator[DefFact]:
        # Not left to SQLite: to have the order of paths for free it would look at every file for a name.
        order = ("entry e", "definition d") if "e.path = ?" in condition else ("definition d", "entry e")
        tables = " CROSS JOIN ".join(order)
        rows = self.connection.execute(
            "SELECT e.path, d.blob, d.position, d.name, d.kind, d.parent, d.start_line, d.start_column,"
            " d.end_line, d.end_column, d.name_line, d.name_column, d.signature, d.bases, d.annotation,"
            " d.flags"
            f" FROM {tables} WHERE e.blob = d.blob AND e.view = ? {condition}",
            (self.view, *values),
        )
        for path, blob, position, name, kind, parent, *rest in rows:
            name = from_sql(name)
            lexical = ".".join([*self._enclosing_names(blob, parent), name])
            span, (line, column, signature, bases, annotation, flags) = Span(*rest[:4]), rest[4:]
            yield DefFact(
                from_sql(path), position, name, kind, lexical, span, line, column, signature,
                tuple(bases.split("\n")) if bases else (), annotation, flags,
            )  # fmt: skip

    def _enclosing_names(self, blob: int, parent: int) -> list[str]:
        """The names of the definitions around one, outermost first."""
        names: list[str] = []
        while parent >= 0:
            name, parent = self.connection.execute(
                "SELECT name, parent FROM definition WHERE blob = ? AND position = ?",
                (blob, parent),
            ).fetchone()
            names.insert(0, from_sql(name))
        return names
