"""The tables of SQL statements, by a real parser.

What can't be parsed is nothing: a keyword or an alias that is taken for a table is worse than none.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST: Final = 20_000  # characters of one statement
_DEEPEST: Final = 60  # parentheses in parentheses
HOLE: Final = "hole__"  # what stands for a value that is put in at run time

_BEGINNING: Final = re.compile(
    r"""\s*(?:/\*.*?\*/\s*|--[^\n]*\n\s*)*\(?\s*(?:
      (?P<select>SELECT)\b(?=.*?\bFROM\b)
    | (?P<insert>INSERT)\s+(?:(?:OR\s+\w+|IGNORE|LOW_PRIORITY)\s+)?(?:INTO|OVERWRITE)\b
    | (?P<replace>REPLACE)\s+INTO\b
    | (?P<update>UPDATE)\s+\S+(?=.*?\bSET\b)
    | (?P<delete>DELETE)\s+(?:\w+\s+)?FROM\b
    | (?P<merge>MERGE)\s+INTO\b
    | (?P<truncate>TRUNCATE)\s+TABLE\b
    | (?P<create>CREATE)\s+(?:OR\s+REPLACE\s+)?
      (?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|EXTERNAL|VIRTUAL|MATERIALIZED)\s+)*(?:TABLE|VIEW)\b
    | (?P<index>CREATE)\s+(?:UNIQUE\s+)?INDEX\b(?=.*?\bON\b)
    | (?P<alter>ALTER)\s+TABLE\b
    | (?P<drop>DROP)\s+(?:TABLE|VIEW)\b
    | (?P<with>WITH)\s+(?:RECURSIVE\s+)?[\w"`\[]+\s*(?:\([^)]*\)\s*)?AS\s+(?:NOT\s+)?(?:MATERIALIZED\s*)?\(
    )""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
# What only code has; a sentence that begins with "select" has none of it.
_CODE: Final = re.compile(r"[*=,();]|\n\s*\S|\b(?:WHERE|VALUES|SET|ORDER BY|GROUP BY|LIMIT)\b")
_PARAMETER: Final = re.compile(r"%\(\w+\)s|%[sdvqi]|(?<![\w:$])\$\{?\d+\}?|(?<![\w@])#\{[\w.]+\}")
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}|\$\{[^{}]*\}|\{[\w.\[\]!:]*\}", re.DOTALL)
_REPLACE: Final = re.compile(r"\A(\s*)REPLACE(?=\s+INTO\b)", re.IGNORECASE)
_BLOCK: Final = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)


class SqlTable(NamedTuple):
    """A table that a statement names, and what the statement does with it."""

    name: str
    schema: str | None
    statement: str  # select, insert, update, delete, create table, …
    is_definition: bool = False


def begins_like_statement(text: str) -> bool:
    """Whether a text in code begins like a statement, and is no sentence."""
    match = _BEGINNING.match(text[:LONGEST])
    if match is None:
        return False
    word = next(group for group in match.groups() if group)
    return word.isupper() or (word.islower() and _CODE.search(text) is not None)


@lru_cache(maxsize=8_192)
def tables_of(text: str) -> tuple[SqlTable, ...] | None:
    """The tables of a statement; None where it can't be parsed or a name is put in at run time."""
    if len(text) > LONGEST or _depth(text) > _DEEPEST:
        return None
    statements = _parsed(_plain(text))
    if statements is None:
        return None
    tables: list[SqlTable] = []
    for statement in statements:
        some = list(_tables_of_statement(statement))
        if any(HOLE in table.name for table in some):
            return None
        tables += some
    return tuple(dict.fromkeys(tables))


def _plain(text: str) -> str:
    """A statement whose parameters and templates are something that the parser can read."""
    text = _REPLACE.sub(r"\1INSERT", _BLOCK.sub(" ", text), count=1)
    return _PARAMETER.sub(":p", _TEMPLATE.sub(HOLE, text))


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        if char in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]":
            depth -= 1
    return deepest


def _parsed(text: str) -> "list[exp.Expr] | None":
    # Its parser takes long to load, and most repositories have no SQL.
    import logging

    from sqlglot import ErrorLevel, exp, parse
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    for dialect in _dialects(text):
        try:
            statements = [one for one in parse(text, dialect=dialect, error_level=ErrorLevel.RAISE) if one]
        except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, IndexError):
            continue  # the parser's own mistakes are no reason to fail either
        if not any(isinstance(one, exp.Command) for one in statements):
            return statements
    return None


def _dialects(text: str) -> tuple[str | None, ...]:
    if "`" in text:
        return ("mysql", "bigquery")
    if "[" in text:
        return (None, "tsql", "postgres", "sqlite")
    return (None, "postgres", "mysql", "sqlite", "tsql")


def _tables_of_statement(statement: "exp.Expr") -> Iterator[SqlTable]:
    from sqlglot import exp

    common = {one.alias for one in statement.find_all(exp.CTE)}
    aliases = {one.alias for one in statement.find_all(exp.Table) if one.alias}
    target = _target(statement)
    if _is_temporary(statement):
        common.add(target.name if target is not None else "")
    verb = type(statement).__name__.lower().replace("truncatetable", "truncate")
    kind = str(statement.args.get("kind") or "").lower()
    for table in statement.find_all(exp.Table):
        if isinstance(table.this, exp.Placeholder | exp.Parameter) or not table.name.isprintable():
            yield SqlTable(HOLE, None, verb)
        if not isinstance(table.this, exp.Identifier) or not table.name:
            continue  # a function that gives rows
        is_local = not table.db and not table.alias and table.name in aliases
        if is_local or (not table.db and table.name in common and not _is_own_body(table)):
            continue
        is_target = table is target
        says = f"{verb} {kind}" if is_target and verb in ("create", "drop", "alter") and kind else verb
        if not is_target and verb in ("create", "insert", "update", "delete", "merge"):
            says = "references" if _is_referenced(table) else "select"
        if kind == "index":
            says = "create index"
        yield SqlTable(
            table.name,
            table.db or None,
            says,
            is_target and verb == "create" and kind in ("table", "view"),
        )


def _is_temporary(statement: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(statement, exp.Create) and statement.find(exp.TemporaryProperty) is not None


def _target(statement: "exp.Expr") -> "exp.Expr | None":
    """The table that a statement makes or changes."""
    from sqlglot import exp

    this = statement.args.get("this")
    if isinstance(this, exp.Schema):
        this = this.this
    if isinstance(statement, exp.TruncateTable):
        this = next(iter(statement.expressions), None)
    return this if isinstance(this, exp.Table) else None


def _is_own_body(table: "exp.Expr") -> bool:
    """`WITH a AS (SELECT … FROM a)`: inside, the name is that of a table."""
    from sqlglot import exp

    around = table.find_ancestor(exp.CTE)
    clause = around.find_ancestor(exp.With) if around is not None else None
    is_recursive = clause is not None and bool(clause.args.get("recursive"))
    return around is not None and around.alias == table.name and not is_recursive


def _is_referenced(table: "exp.Expr") -> bool:
    from sqlglot import exp

    return table.find_ancestor(exp.Reference) is not None
