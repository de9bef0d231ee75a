"""The parser of SQL on what is hostile, and laws that hold for any statement."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.surfaces.sql.scripts import split_script
from codeplane.surfaces.sql.statements import LONGEST, begins_like_statement, tables_of

NAMES = st.from_regex(r"[a-z]{3,8}_t", fullmatch=True)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM " + "(" * 500 + "a" + ")" * 500,
        "SELECT " + "(" * 61 + "1" + ")" * 61 + " FROM a",
        "SELECT * FROM a WHERE " + "x = 1 AND " * LONGEST,
        "SELECT * FROM a WHERE x = '" + "'" * 102,
        "INSERT INTO " + "\0" * 10,
        "CREATE TABLE (((((",
        "WITH a AS (" * 30,
        "SELECT * FROM a; DROP",
        "UPDATE \U0001f600 SET x = ?? FROM ;;;",
    ],
    ids=range(9),
)
def test_what_is_hostile_is_nothing(text: str) -> None:
    assert tables_of(text) in (None, ())


@pytest.mark.parametrize(
    "text",
    [
        "Select an option from the list",
        "select one from the list",
        "Update your profile to set a name",
        "Delete from favourites",
        "with regards to (this)",
        "create table of contents",
        "SELECTED FROM x",
        "",
        "SELECT",
    ],
)
def test_a_sentence_is_no_statement(text: str) -> None:
    assert not begins_like_statement(text)


@settings(max_examples=40, deadline=None)
@given(table=NAMES, alias=NAMES, common=NAMES)
def test_aliases_and_common_table_expressions_are_no_tables(table: str, alias: str, common: str) -> None:
    if len({table, alias, common}) < 3:
        return
    text = f"WITH {common} AS (SELECT * FROM {table} {alias}) SELECT {alias}.x FROM {common} {alias}"
    assert begins_like_statement(text)
    assert [one.name for one in tables_of(text) or ()] == [table]


@settings(max_examples=40, deadline=None)
@given(names=st.lists(NAMES, min_size=1, max_size=6, unique=True), broken=st.booleans())
def test_a_statement_that_is_broken_hides_no_other(names: list[str], broken: bool) -> None:
    statements = [f"CREATE TABLE {name} (a text DEFAULT ';')" for name in names]
    if broken:
        statements.insert(len(names) // 2, "CREATE TABLE (((")
    script = "-- a; comment\n" + ";\n".join(statements) + ";\n"
    tables = [one.name for piece in split_script(script) for one in tables_of(piece.text) or ()]
    assert tables == names


def test_a_statement_has_the_line_that_it_begins_in() -> None:
    script = "SELECT 1;\n\n/* a\n;b */ SELECT\n2;\nSELECT 3"
    assert [(piece.line, piece.text.split()[0]) for piece in split_script(script)] == [
        (1, "SELECT"),
        (4, "SELECT"),
        (6, "SELECT"),
    ]


def test_rows_that_are_inserted_are_cut_off() -> None:
    script = "INSERT INTO goods (a) VALUES " + ", ".join("(1)" for _ in range(LONGEST)) + ";"
    [piece] = split_script(script)
    assert [one.name for one in tables_of(piece.text) or ()] == ["goods"]
