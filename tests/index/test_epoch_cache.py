"""What is kept of one epoch for the next: names mean what they would mean to an index that knows nothing."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.graph.same_package import leading_without_import
from codeplane.index import Workers
from codeplane.names import Index
from tests.index.conftest import tree_of
from tests.index.test_links import _links

_DOOR = (
    "class Door:\n    def open(self):\n        {body}\n\nclass Gate(Door):\n    def open(self): ...\n\n"
    "{mark}def make(){said}: ...\n"
)
_BOX = "from door import make, {name}\n\nclass Box{base}:\n    def __init__(self{given}):\n        self.door = {value}\n\n    def find(self){said}: ...\n\n    def use(self):\n        {body}\n        self.door.open()\n"  # noqa: E501
_FAR = "from box import Box\nfrom door import Door, Gate, make\n\nclass Far:\n    def __init__(self):\n        self.door = Door()\n\n    def find(self) -> Box: ...\n\ndef far(x{said}):\n    {first}\n    {then}\n    Box().door.open()\n    make().open()\n"  # noqa: E501


def _mostly(usual: str, *others: str) -> st.SearchStrategy[str]:
    """One text more often than all others together: most changes should leave the rest as it is."""
    return st.sampled_from((*[usual] * 2 * len(others), *others))


_DOORS = st.builds(
    _DOOR.format,
    body=st.sampled_from(("pass", "return self.open()", "self.size = 1")),
    mark=_mostly("", "@Door\n"),
    said=_mostly(" -> Door", " -> Gate", ""),
)
_BOXES = st.builds(
    _BOX.format,
    name=_mostly("Door", "Gate as Door", "Door, Gate"),
    base=_mostly("", "(Door)"),
    given=_mostly("", ", door: Door", ", *args"),
    value=_mostly("Door()", "None", "door", "[]", "make()"),
    said=_mostly("", " -> 'Box'", " -> Door"),
    body=_mostly("pass", "self.door = None", "setattr(self, key, 1)", "door = self.door"),
)
_FARS = st.builds(
    _FAR.format,
    said=_mostly("", ": Box", ": Far", ": Gate"),
    first=st.sampled_from(
        (
            "pass",
            "x = Far()",
            "x = Box()",
            "x = y",
            "y = Far()\n    x = y.find()",
            "y = Box()\n    x = y.find()",
            "# more\n    # lines",
        )
    ),
    then=_mostly("x.door = 1", "x.door = Gate()", "setattr(x, 'door', 1)", "x.door.open()", "pass"),
)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("door.py"), _DOORS),
        st.tuples(st.just("box.py"), _BOXES),
        st.tuples(st.just("far.py"), _FARS),
    ),
    min_size=2,
    max_size=6,
)


def _compare(workers: Workers, start: tuple[str, str, str], steps: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        repo = Path(base) / "repo"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        tree = tree_of(repo)
        kept = Index.open(Path(base) / "kept.db", tree, workers)
        for number, (path, text) in enumerate(
            [*zip(("door.py", "box.py", "far.py"), start, strict=True), *steps]
        ):
            (repo / path).write_text(text)
            if number >= 2:
                fresh = Index.open(Path(base) / f"{number}.db", tree_of(repo), workers)
                assert _meant(kept) == _meant(fresh)
                fresh.close()
        kept.close()


def _meant(index: Index) -> list[str]:
    index.refresh()
    with index.snapshot() as snapshot:
        return _links(snapshot, ["box.py", "door.py", "far.py"])


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=st.tuples(_DOORS, _BOXES, _FARS), steps=_STEPS)
def test_names_mean_the_same_to_an_index_that_was_kept(
    workers: Workers, start: tuple[str, str, str], steps: list[tuple[str, str]]
) -> None:
    _compare(workers, start, steps)


_PENS = "class Chalk:\n    def draw(self): ...\n"
_MARKED = "import functools\nfrom pens import Chalk\n\n{}\ndef load() -> Chalk: ...\n"
_USE = "from load import load\n\nload().draw()\n"
_DERIVED = "from pens import Chalk\n\nclass load(Chalk):\n    def other(self): ...\n{}def draw(self): ...\n"
_KINDS = (
    "export class Pen { other(): Chalk { return null!; } }\n"
    "export class Quill { other(): Sub { return null!; } }\n"
    "export class Chalk { get(): Lid { return null!; } }\nexport class Sub { get(): Top { return null!; } }\n"
    "export class Lid { draw() {} }\nexport class Top { draw() {} }\n"
    "export function is(x: any): x is Quill { return true; }\n"
)
_ASKED = (
    'import { Pen, Quill, is } from "./pens";\n'
    "export const pen = new Pen();\nexport const chalk = pen.other();\n"
    "export function ask() { %s }\n"
)
_BEHIND = 'import { chalk } from "./load";\n\nconst lid = chalk.get();\nlid.draw();\n'


@pytest.mark.parametrize(
    ("ending", "pens", "load", "then", "use"),
    [
        ("py", _PENS, _MARKED.format("@functools.cache"), _MARKED.format("@functools(cache)"), _USE),
        (
            "py",
            _PENS,
            _MARKED.format("@functools.cache(load)"),
            _MARKED.format("@functools.cache\n@load"),
            _USE,
        ),
        ("py", _PENS, _DERIVED.format("    "), _DERIVED.format("    if _PENS:\n        "), _USE),
        ("ts", _KINDS, _ASKED % "", _ASKED % "pen instanceof Quill", _BEHIND),
        ("ts", _KINDS, _ASKED % "", _ASKED % "is(pen)", _BEHIND),
    ],
)
def test_what_a_call_gives_is_seen_to_change(
    workers: Workers, repo: Path, tmp_path: Path, ending: str, pens: str, load: str, then: str, use: str
) -> None:
    for name, text in (("pens", pens), ("load", load), ("use", use)):
        (repo / f"{name}.{ending}").write_text(text)
    kept = Index.open(tmp_path / "kept.db", tree_of(repo), workers)
    kept.refresh()
    with kept.snapshot() as snapshot:
        assert " . draw strong" in _links(snapshot, [f"use.{ending}"])[-1]
    (repo / f"load.{ending}").write_text(then)
    kept.refresh()
    with kept.snapshot() as snapshot:
        assert " . draw anchored" in _links(snapshot, [f"use.{ending}"])[-1]
    kept.close()


_SLOTS = "from pens import Chalk\n\nclass load(Chalk):\n    __slots__ = ({})\n"
_HELD = "class Chalk:\n    def __init__(self):\n        self.draw = 1\n"
_DEEP = "from pens import Chalk\n\nclass load(Chalk):\n{}        def draw(self): ...\n"
_STARRED = "{}pub mod inner {{\n{}pub fn other() {{}}\n}}\n"
_BODY = "fn go() {\n    let draw = 1; %s\n}\n"
_STAR = "pub use crate::pens::*;\n"


@pytest.mark.parametrize(
    ("files", "then"),
    [
        pytest.param(
            {
                "pens.py": _HELD,
                "load.py": _SLOTS.format(""),
                "use.py": "from load import load\nload().draw\n",
            },
            _SLOTS.format("'draw',"),
            id="what a class lists",
        ),
        pytest.param(
            {
                "pens.py": _PENS,
                "load.py": _DEEP.format("    if _PENS:\n        other = 1\n"),
                "use.py": "from load import load\nload().draw\n",
            },
            _DEEP.format("    other = 1\n    if _PENS:\n"),
            id="what a member stands deeper than",
        ),
        pytest.param(
            {
                "lib.rs": "mod pens;\nmod load;\nmod usage;\n",
                "pens.rs": "pub fn draw() {}\n",
                "load.rs": _STARRED.format("", _STAR),
                "usage.rs": "fn go() {\n    crate::load::inner::draw();\n}\n",
            },
            _STARRED.format(_STAR, ""),
            id="where a star import stands",
        ),
    ],
)
def test_what_others_see_beside_definitions_is_seen_to_change(
    workers: Workers, repo: Path, tmp_path: Path, files: dict[str, str], then: str
) -> None:
    for name, text in files.items():
        (repo / name).write_text(text)
    [user] = [name for name in files if name.startswith("us")]
    [load] = [name for name in files if name.startswith("load")]
    kept = Index.open(tmp_path / "kept.db", tree_of(repo), workers)
    assert " draw strong" in _drawn(kept, user)
    (repo / load).write_text(then)
    assert " draw strong" not in _drawn(kept, user)
    kept.close()


def _drawn(index: Index, path: str) -> str:
    """What the last `draw` in a file means."""
    index.refresh()
    with index.snapshot() as snapshot:
        return [line for line in _links(snapshot, [path]) if " draw " in line][-1]


def test_a_path_in_a_body_leads_to_a_file(workers: Workers, repo: Path, tmp_path: Path) -> None:
    for name, text in (
        ("lib", "mod pens;\nmod usage;\n"),
        ("pens", "pub fn draw() {}\n"),
        ("usage", _BODY % ""),
    ):
        (repo / f"{name}.rs").write_text(text)
    kept = Index.open(tmp_path / "kept.db", tree_of(repo), workers)
    assert _leading_to(kept, "pens.rs") == {"lib.rs"}
    (repo / "usage.rs").write_text(_BODY % "crate::pens::draw();")
    assert _leading_to(kept, "pens.rs") == {"lib.rs", "usage.rs"}
    kept.close()


def _leading_to(index: Index, path: str) -> set[str]:
    index.refresh()
    with index.snapshot() as snapshot:
        return leading_without_import(snapshot, path)


@pytest.mark.soak
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=st.tuples(_DOORS, _BOXES, _FARS), steps=_STEPS)
def test_names_mean_the_same_after_many_changes(
    workers: Workers, start: tuple[str, str, str], steps: list[tuple[str, str]]
) -> None:
    _compare(workers, start, steps)
