"""Whatever changes in the facts of a file, names mean the same to a kept index and to a fresh one."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.index import Workers
from codeplane.languages import extract
from codeplane.languages.facts import Facts, Occurrences
from codeplane.names import Index
from codeplane.names.snapshots import Snapshots
from codeplane.parsing.pack import Packed, pack
from codeplane.parsing.words import words_of
from codeplane.parsing.workers import Done, Job
from codeplane.working_tree import WorkingTree
from tests.index.conftest import tree_of
from tests.index.test_links import _links

_PYTHON = {
    "door.py": (
        "import functools\n\nclass Hinge:\n    def turn(self): ...\n\nclass Door:\n    hinge = Hinge()\n\n"
        "    def open(self):\n        self.side = Hinge()\n        return self\n\n    @property\n"
        "    def frame(self) -> Hinge: ...\n\nclass Gate(Door):\n    def open(self): ...\n\n"
        "@functools.cache\ndef make(size=1) -> Door: ...\n\nspare = make()\n"
    ),
    "box.py": (
        "from door import Door, Gate as Wide, make\nimport door\n\n__all__ = ['Box', 'Door', 'inner']\n\n"
        "class Box(Door):\n    def __init__(self, door: Door):\n        self.door = door\n"
        "        self.other = Wide()\n\n    def find(self) -> 'Box': ...\n\n    def use(self):\n"
        "        self.door.open()\n        setattr(self, 'late', 1)\n        return self.find()\n\n"
        "def inner():\n    return make()\n\nbox = Box(make())\n"
    ),
    "far.py": (
        "import box\nfrom box import Box, Door, inner\nfrom door import *\n\ndef far(x: Box, *rest):\n"
        "    x.door.open()\n    x.other.open()\n    x.find().use()\n    x.side.turn()\n    y = inner()\n"
        "    y.open()\n    if isinstance(y, Gate):\n        y.open()\n    box.box.door.hinge.turn()\n"
        "    x.frame.turn()\n    spare.open()\n    make(size=2).open()\n"
    ),
}
_TYPESCRIPT = {
    "door.ts": (
        "export class Hinge { turn() {} }\nexport interface Door { hinge: Hinge; open(): Door }\n"
        "export class Gate implements Door { hinge = new Hinge(); open(): Gate { return this; } }\n"
        "export function make(size = 1): Door { return new Gate(); }\nexport const spare = make();\n"
        "export function isGate(x: any): x is Gate { return true; }\nexport type Way = Gate;\n"
    ),
    "box.ts": (
        'import { Door, Gate as Wide, make } from "./door";\nimport * as door from "./door";\n'
        'export * from "./door";\nexport { Door as Entry } from "./door";\n'
        "export class Box extends Wide { other: Wide = new Wide();\n"
        "  constructor(public door: Door) { super(); }\n"
        "  find(): Box { return this; }\n  use() { this.door.open(); return this.find(); } }\n"
        "export default function inner() { return make(); }\nexport const box = new Box(door.make());\n"
        "export namespace Tools { export function fix() { return box; } }\n"
    ),
    "far.ts": (
        'import inner, { Box, Entry, box, spare, isGate, Tools, Way } from "./box";\n'
        "export function far(x: Box, e: Entry, w: Way) {\n  x.door.open(); x.other.open(); x.find().use();\n"
        "  const y = inner(); y.open(); if (isGate(y)) { y.open(); }\n"
        "  e.hinge.turn(); w.open().hinge.turn();\n"
        "  box.door.hinge.turn(); spare.open(); Tools.fix().use(); if (y instanceof Box) { y.use(); }\n}\n"
    ),
}
_Change = tuple[int, tuple[str, int, int, int]]
_COMMENT = {"py": "#", "ts": "//"}
_TABLES = ("scopes", "definitions", "binds", "imports", "exports", "dynamics", "occurrences")
_COLUMNS = (("names",), ("roles", "targets", "receivers"), ("scopes",))  # a role says what a target counts
_ABOVE = {"parent"}  # of a record, a number that only an earlier record may have


class _Mutating(Workers):
    """Reads in this process; the last line of a file may say which field of its facts is another."""

    def __init__(self) -> None:
        super().__init__(1)

    def extract(self, jobs: Iterable[Job]) -> Iterator[list[Done]]:
        return iter([[Done(job.number, _read(job)) for job in jobs]])

    def prepare(self, languages: object) -> None:
        pass


def _read(job: Job) -> Packed:
    facts = extract(job.language, job.data)
    last = job.data.decode().rstrip("\n").rpartition("\n")[2]
    if " mutate " in last:
        _mutate(facts, *json.loads(last.partition(" mutate ")[2]))
    return pack(facts, words_of(job.data))


def _mutate(facts: Facts, table: str, record: int, field: int, other: int) -> None:
    """Gives a field of one record the value that another record has there."""
    if table == "occurrences":
        _mutate_occurrence(facts.occurrences, record, field, other)
        return
    rows = getattr(facts, table)
    if not rows:
        return
    at, source = record % len(rows), rows[other % len(rows)]
    name = rows[at]._fields[field % len(rows[at]._fields)]
    value = getattr(source, name)
    if isinstance(value, bool):
        value = not getattr(rows[at], name)
    if name in _ABOVE and not -1 <= value < at:
        return
    rows[at] = rows[at]._replace(**{name: value})
    if name in ("reason", "target"):  # the one says what the other counts
        rows[at] = rows[at]._replace(reason=source.reason, target=source.target)


def _mutate_occurrence(found: Occurrences, record: int, field: int, other: int) -> None:
    count = len(found.names)
    for name in _COLUMNS[field % len(_COLUMNS)] if count else ():
        column = list(getattr(found, name))
        column[record % count] = column[other % count]
        setattr(found, name, column)


_CHANGES = st.tuples(
    st.sampled_from(range(3)),
    st.tuples(st.sampled_from(_TABLES), st.integers(0, 80), st.integers(0, 15), st.integers(0, 80)),
)


def _compare(files: dict[str, str], changes: Iterable[_Change]) -> Iterator[_Change]:
    """The changes after which what was kept says something else than what is found out anew."""
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        repo = Path(base) / "repo"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        for path, text in files.items():
            (repo / path).write_text(text)
        tree = tree_of(repo)
        index = Index.open(Path(base) / "index.db", tree, _Mutating())
        index.refresh()
        _meanings(index, files)
        for which, change in changes:
            path = list(files)[which]
            mark = f"{_COMMENT[path[-2:]]} mutate {json.dumps(change)}\n"
            (repo / path).write_text(files[path] + mark)
            index.refresh()
            if _meanings(index, files) != _fresh_meanings(index, tree, files):
                yield which, change
            (repo / path).write_text(files[path])
            index.refresh()
            _meanings(index, files)
        index.close()


def _meanings(index: Index, files: dict[str, str]) -> list[str]:
    with index.snapshot() as snapshot:
        return _links(snapshot, sorted(files))


def _fresh_meanings(index: Index, tree: WorkingTree, files: dict[str, str]) -> list[str]:
    """The meanings to one who has kept nothing."""
    with index.read() as (connection, view, epoch):
        return _links(Snapshots(tree).working(connection, (view, epoch), index.content), sorted(files))


@pytest.mark.parametrize("files", [_PYTHON, _TYPESCRIPT], ids=["python", "typescript"])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(_CHANGES, min_size=4, max_size=10))
def test_any_field_of_the_facts(files: dict[str, str], changes: list[_Change]) -> None:
    assert list(_compare(files, changes)) == []


@pytest.mark.soak
@pytest.mark.parametrize("files", [_PYTHON, _TYPESCRIPT], ids=["python", "typescript"])
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(_CHANGES, min_size=10, max_size=20))
def test_many_fields_of_the_facts(files: dict[str, str], changes: list[_Change]) -> None:
    assert list(_compare(files, changes)) == []
