"""SQL in a state of the code: texts that begin like statements, and `.sql` files."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import ContentSlot
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind, has_sites
from codeplane.surfaces.collectors.table_use import Table, TableSurface, TableUse
from codeplane.surfaces.sql.scripts import LARGEST, Statement, split_script
from codeplane.surfaces.sql.statements import HOLE, LONGEST, begins_like_statement, tables_of
from codeplane.surfaces.values import Evaluator, Located

_WORDS: Final = (
    *(
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "CREATE",
        "ALTER",
        "MERGE",
        "REPLACE",
        "TRUNCATE",
        "DROP",
        "WITH",
    ),
    *(
        "select",
        "insert",
        "update",
        "delete",
        "create",
        "alter",
        "merge",
        "replace",
        "truncate",
        "drop",
        "with",
    ),
)
_CANDIDATE: Final = re.compile(
    rb"[\"'`(]\s*(?:select\b|insert\s+(?:or\s+\w+\s+|ignore\s+)?into\b|update\b|delete\s+(?:\w+\s+)?from\b|create\b"
    rb"|alter\s+table\b|drop\s+(?:table|view)\b|truncate\s+table\b|merge\s+into\b|replace\s+into\b|with\b)",
    re.IGNORECASE,
)
_HEREDOC: Final = re.compile(rb"<<[-~]?['\"]?(?:SQL|sql)")
# Queries in these are about classes, not about tables: JPQL, HQL, DQL.
_OBJECT_QUERIES: Final = frozenset(
    {"createQuery", "createNamedQuery", "NamedQuery", "createSelectionQuery", "createMutationQuery"}
)
_NATIVE: Final = "nativeQuery"
_MOST_CHARACTERS: Final = 4_000_000  # of all statements of a state
_SCRIPTS: Final[ContentSlot[list[Statement]]] = ContentSlot("statements of a script")


class SqlTables:
    """Collects the tables of SQL into a surface."""

    def __init__(self, evaluator: Evaluator, surface: TableSurface) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._surface = surface
        self._characters = 0

    def read(self) -> Iterator[Table]:
        """The tables that SQL defines; those that it uses are noted in the surface."""
        for path in self._code.layout.ordered:
            if path.endswith(".sql"):
                yield from self._read_script(path)
                continue
            facts = self._code.facts(path)
            if facts is None or not has_sites(facts.language):
                continue
            yield from self.read_file(path)

    def read_file(self, path: RepoPath) -> Iterator[Table]:
        """The tables that the texts of one file define; those that they use are noted in the surface."""
        source = self._code.source(path)
        if _CANDIDATE.search(source) or _HEREDOC.search(source):
            yield from self._read_texts(path)

    def _read_script(self, path: RepoPath) -> Iterator[Table]:
        facts = self._code.facts(path)
        source = self._code.source(path)[:LARGEST].decode("utf-8", "replace")
        statements = (
            facts.derived(_SCRIPTS, lambda: list(split_script(source)))
            if facts is not None
            else list(split_script(source))
        )
        for statement in statements:
            if begins_like_statement(statement.text.upper()[:LONGEST]):
                yield from self._tables(statement.text, path, statement.line, None)

    def _read_texts(self, path: RepoPath) -> Iterator[Table]:
        starts: set[int] = set()
        for site in self._evaluator.sites(path).sites:
            if site.kind in (SiteKind.LOOP, SiteKind.RAISE, SiteKind.CLASS) or _is_object_query(site):
                starts.update(value.start for value in site.value.walk() if _is_object_query(site))
                continue
            for value in _texts_in(site.value):
                if value.start in starts:
                    continue
                starts.add(value.start)
                text = self._text(Located(path, value))
                if begins_like_statement(text):
                    yield from self._tables(text, path, self._evaluator.line_of(path, value.start), site)

    def _text(self, located: Located) -> str:
        """A text whose holes that nobody knows are a name that can't be meant."""
        value = located.value
        if value.kind is ValueKind.TEXT:
            return value.text
        parts: list[str] = []
        for item in value.items:
            text = (
                item.text
                if item.kind is ValueKind.TEXT
                else self._evaluator.text(Located(located.path, item))
            )
            parts.append(
                f" {HOLE} " if text is None and not _touches(parts) else HOLE if text is None else text
            )
        return "".join(parts)

    def _tables(self, text: str, path: RepoPath, line: int, site: Site | None) -> Iterator[Table]:
        self._characters += len(text)
        tables = tables_of(text) if self._characters <= _MOST_CHARACTERS else None
        if tables is None:
            self._surface.count_dynamic(path)
            return
        symbol = self._evaluator.definition_around(path, site.start) if site is not None else None
        for table in tables:
            if table.is_definition:
                yield Table(table.name, table.schema, path, line, "sql", table.statement)
            else:
                self._surface.uses.append(
                    TableUse(table.name, table.schema, path, line, table.statement, symbol)
                )


def _texts_in(value: Value) -> Iterator[Value]:
    """The texts of a value, joined ones as a whole."""
    if value.kind in (ValueKind.TEXT, ValueKind.CONCAT):
        yield value
        return
    for item in value.items:
        yield from _texts_in(item)


def _touches(parts: list[str]) -> bool:
    """Whether a hole is part of a name or a quoted text: `logs_{year}`, `'{name}'`."""
    return bool(parts) and bool(re.search(r"[\w.\"'`\[]\Z", parts[-1]))


def _is_object_query(site: Site) -> bool:
    value = site.value
    if value.kind is not ValueKind.CALL:
        return False
    if value.text in _OBJECT_QUERIES:
        return True
    return (
        site.kind is SiteKind.DECORATOR and value.text == "Query" and value.keyword_argument(_NATIVE) is None
    )
