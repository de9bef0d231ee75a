"""What one file reads of another is what its digest covers, by construction."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.index.view import foreign as foreign_files
from codeplane.languages import extract
from codeplane.languages.facts import Facts, Reason
from codeplane.languages.foreign import (
    ForeignBind,
    ForeignDefinition,
    ForeignExport,
    ForeignImport,
    ForeignScope,
)
from codeplane.parsing.foreign import ForeignFacts, fields_of, foreign_facts

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "src" / "codeplane"
RECORDS = {
    "imports": ForeignImport,
    "binds": ForeignBind,
    "definitions": ForeignDefinition,
    "exports": ForeignExport,
    "scopes": ForeignScope,
}
DOOR = (
    b"from hinge import Hinge as Pin\nimport wood\n\n__all__ = ['Door', 'Pin']\n\nclass Door(Pin):\n"
    b"    def open(self, wide):\n        by = wide\n\ndef make() -> Door:\n    return Door()\n"
)
# The language is compared along with the digest, the blob is for keys, and `derived` keeps what readers make.
BESIDE_THE_DIGEST = {"language", "blob", "derived"}
# Who resolves names of the file that it reads, or fills a column of the digest.
READS_ALL = {
    "index/view/dynamics.py",
    "index/view/view.py",
    "names/codebase.py",
    "names/freshness.py",
    "names/inference/fields.py",
    "names/inference/narrowing.py",
    "names/inference/receiver.py",
    "names/providers/semantic.py",
    "names/providers/structural.py",
    "names/references.py",
}
READING = """
from codeplane.index.view.foreign import ForeignFile

def certainty(file: ForeignFile) -> tuple[bool, int]:
    return file.imports[0].certain, file.binds[0].scope

def where(file: ForeignFile) -> int:
    return file.imports[0].line

def text(file: ForeignFile) -> int:
    return file.definitions[0].span.start_line

def body(file: ForeignFile) -> list[str]:
    return file.receivers
"""


def _changed(facts: Facts, table: str, name: str) -> Iterator[str]:
    """The digests after each record of a table in turn has another value in a field."""
    rows = getattr(facts, table)
    for at, row in enumerate(rows):
        value = getattr(row, name)
        rows[at] = row._replace(**{name: _other(value)})
        yield foreign_facts(facts).digest()
        rows[at] = row


def _other(value: object) -> object:
    if isinstance(value, Reason):
        return Reason.LOCAL_ASSIGN if value is not Reason.LOCAL_ASSIGN else Reason.PARAM
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return type(value)(0 if value else 1)
    return "other" if isinstance(value, str) else ("other",)


@pytest.mark.parametrize(
    ("table", "field"), [(table, field) for table, one in RECORDS.items() for field in fields_of(one)]
)
def test_every_field_that_others_may_read_changes_the_digest(table: str, field: str) -> None:
    facts = extract("python", DOOR)
    before = foreign_facts(facts).digest()
    assert any(digest != before for digest in _changed(facts, table, field))


@pytest.mark.parametrize(
    ("table", "field"),
    [
        (table, field)
        for table in ("imports", "exports")
        for field in type(getattr(extract("python", DOOR), table)[0])._fields
        if field not in fields_of(RECORDS[table])
    ],
)
def test_a_field_that_nobody_may_read_leaves_it(table: str, field: str) -> None:
    facts = extract("python", DOOR)
    before = foreign_facts(facts).digest()
    assert all(digest == before for digest in _changed(facts, table, field))


@pytest.mark.parametrize(
    "text",
    [
        DOOR.replace(b"by = wide", b"by = narrow = wide\n        print(by.side, narrow)"),
        DOOR.replace(b"import wood\n", b"# for the frame\nimport wood\n\n"),
        DOOR.replace(b"return Door()", b"door = Door()\n    if door:\n        return door"),
    ],
)
def test_bodies_and_comments_leave_it(text: bytes) -> None:
    assert foreign_facts(extract("python", text)) == foreign_facts(extract("python", DOOR))


def test_a_column_that_readers_get_is_one_of_the_digest() -> None:
    [readers] = [
        node
        for node in ast.parse(Path(foreign_files.__file__).read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == "ForeignFile"
    ]
    columns = set(_columns(readers))
    assert {"imports", "binds", "definitions"} <= columns
    assert columns - BESIDE_THE_DIGEST <= set(ForeignFacts._fields)


def _columns(node: ast.ClassDef) -> Iterator[str]:
    """What a class only declares: it is not made of anything else that the class has."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id
        elif isinstance(item, ast.If):
            yield from (one.name for one in item.body if isinstance(one, ast.FunctionDef))


def test_only_who_resolves_names_of_a_file_reads_all_of_it() -> None:
    words = ("own_facts(", "occurrences_of(")
    files = [file for room in ("index", "names") for file in sorted((SOURCES / room).rglob("*.py"))]
    reading = [file for file in files if any(word in file.read_text() for word in words)]
    assert {str(file.relative_to(SOURCES)) for file in reading} == READS_ALL


def test_answers_above_names_that_outlive_an_epoch_are_kept_by_content() -> None:
    """Higher layers get all facts of a file: the key of what they keep has to have its blob."""
    slots = [
        (str(file.relative_to(SOURCES)), line)
        for file in sorted(SOURCES.rglob("*.py"))
        if file.relative_to(SOURCES).parts[0] not in ("core", "languages", "index", "names")
        for line in file.read_text().splitlines()
        # What a recorder notes is compared content by content.
        if "InterfaceSlot[" in line and "Remembered[" not in line
    ]
    without = [path for path, line in slots if "InterfaceSlot[tuple[str, int | None], " not in line]
    assert without == ["graph/diff/repository.py"]  # its answer has the epochs of both states in it


def test_a_reader_of_what_is_not_covered_does_not_type_check(tmp_path: Path) -> None:
    file = tmp_path / "reading.py"
    file.write_text(READING)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", str(file)],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert [line.partition(": ")[2] for line in done.stdout.splitlines()[:-1]] == [
        'error: "ForeignImport" has no attribute "line"  [attr-defined]',
        'error: "ForeignDefinition" has no attribute "span"  [attr-defined]',
        'error: "ForeignFile" has no attribute "receivers"  [attr-defined]',
    ]
