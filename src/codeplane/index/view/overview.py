"""Figures about a whole view: its files, tests, exports, imports, and where programs begin."""

from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.index.store import from_sql
from codeplane.languages.facts import FLAG_TEST
from codeplane.parsing.pack import sql_text
from codeplane.storage.database import Connection

_MOST_MODULES: Final = 5_000


_NOT_IMPORTED: Final = (
    " AND NOT EXISTS (SELECT 1 FROM import i WHERE i.blob = x.blob AND i.name <> '*'"
    " AND x.name = CASE WHEN i.alias <> '' THEN i.alias WHEN i.name <> '' THEN i.name ELSE i.module END"
    " AND NOT i.reexport AND NOT (? AND i.module LIKE '.%'))"
)


class FileSize(NamedTuple):
    path: RepoPath
    language: str
    lines: int


class Exported(NamedTuple):
    path: RepoPath
    name: str
    evidence: str
    certain: bool


class Imported(NamedTuple):
    """A module as it is written, one of the files that import it, and how often it is imported."""

    module: str
    kind: str
    path: RepoPath
    times: int


class ParsedFile(NamedTuple):
    """A file in a language, how far it could be parsed, and how many definitions it has."""

    path: RepoPath
    language: str
    state: str
    reason: str
    definitions: int


class Overview:
    """Questions that look at every file of one view, in one go each."""

    def __init__(self, connection: Connection, view: int) -> None:
        self._connection = connection
        self._view = view

    def files(self) -> list[FileSize]:
        """Every file, in order of path."""
        rows = self._connection.execute(
            "SELECT e.path, coalesce(b.language, ''), coalesce(b.lines, 0) FROM entry e"
            " LEFT JOIN blob b ON b.id = e.blob WHERE e.view = ? ORDER BY e.path",
            (self._view,),
        )
        return [FileSize(from_sql(path), language, lines) for path, language, lines in rows]

    def parsed_files(self) -> list[ParsedFile]:
        """Every file in a language, in order of path."""
        rows = self._connection.execute(
            "SELECT e.path, b.language, b.state, b.reason,"
            " (SELECT count(*) FROM definition d WHERE d.blob = b.id)"
            " FROM entry e JOIN blob b ON b.id = e.blob"
            " WHERE e.view = ? AND b.language <> '' ORDER BY e.path",
            (self._view,),
        )
        return [ParsedFile(from_sql(path), *rest) for path, *rest in rows]

    def tests(self) -> list[tuple[RepoPath, int]]:
        """The files that define tests, by the conventions of their languages, and how many."""
        rows = self._connection.execute(
            "SELECT e.path, sum(d.kind <> 'class') FROM definition d JOIN entry e ON e.blob = d.blob"
            " WHERE e.view = ? AND d.flags & ? GROUP BY e.path ORDER BY e.path",
            (self._view, FLAG_TEST),
        )
        return [(from_sql(path), count) for path, count in rows]

    def exporting(self, *, deliberate: bool) -> list[RepoPath]:
        """The files that say what they export, or those that export by being public.

        Outer files come first, and of those that are as deep the ones that pass most on.
        """
        rows = self._connection.execute(
            "SELECT e.path FROM entry e WHERE e.view = ? AND EXISTS (SELECT 1 FROM export x"
            f" WHERE x.blob = e.blob AND x.evidence {'<>' if deliberate else '='} 'default_module')"
            " ORDER BY length(e.path) - length(replace(e.path, '/', '')),"
            " (SELECT count(*) FROM import i WHERE i.blob = e.blob AND i.reexport) DESC, e.path",
            (self._view,),
        )
        return [from_sql(path) for (path,) in rows]

    def exports(self, path: RepoPath, *, deliberate: bool, passes_on: bool) -> list[Exported]:
        """What one of these files exports, each name once.

        Of what is public without a word, what is imported does not count, unless the file passes on what is
        beside it.
        """
        rows = self._connection.execute(
            "SELECT x.name, x.evidence, max(x.certain) FROM export x JOIN entry e ON e.blob = x.blob"
            f" WHERE e.view = ? AND e.path = ? AND x.evidence {'<>' if deliberate else '='} 'default_module'"
            + ("" if deliberate else _NOT_IMPORTED)
            + " GROUP BY x.name, x.evidence ORDER BY min(x.position)",
            (self._view, sql_text(path), *(() if deliberate else (passes_on,))),
        )
        return [Exported(path, from_sql(name), said, bool(sure)) for name, said, sure in rows]

    def imports(self) -> list[Imported]:
        """Every module that is imported, the most often imported first."""
        rows = self._connection.execute(
            "SELECT i.module, i.kind, min(e.path), count(*) FROM import i JOIN entry e ON e.blob = i.blob"
            " WHERE e.view = ? GROUP BY i.module, i.kind ORDER BY count(*) DESC, i.module LIMIT ?",
            (self._view, _MOST_MODULES),
        )
        return [Imported(from_sql(module), kind, from_sql(path), count) for module, kind, path, count in rows]

    def functions_named(self, name: str) -> list[tuple[RepoPath, int, int, bool]]:
        """Functions of files, and methods of classes: path, number, line, and whether it is a method."""
        rows = self._connection.execute(
            "SELECT e.path, d.position, d.name_line, d.kind = 'method' FROM definition d"
            " JOIN entry e ON e.blob = d.blob"
            " WHERE e.view = ? AND d.name = ? AND (d.kind = 'function' AND d.parent < 0 OR d.kind = 'method')"
            " ORDER BY e.path, d.position",
            (self._view, sql_text(name)),
        )
        return [(from_sql(path), at, line, bool(method)) for path, at, line, method in rows]
