"""Runs every text case of `tests/cases/links`: the files of a repository in, what their names mean out.

A case is a sentence, then `-- file: PATH --` sections, then `-- links --`: every name that is not defined
where it stands, with its tier and what it means. `-- links: PATH … --` shows those files alone.
"""

import re
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.index import Workers
from codeplane.languages.facts import Role
from codeplane.names import Index, RefFact, Snapshot
from tests.index.conftest import tree_of

CASES = Path(__file__).parent.parent / "cases" / "links"
_HEADING = re.compile(r"^-- (file: .+|links(?:: .+)?) --\n", re.MULTILINE)


def rendered(text: str, repo: Path, index: Index) -> str:
    """The case with the links that are true now."""
    about, *rest = _HEADING.split(text)
    parts = [about.rstrip("\n") + "\n"]
    paths = []
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        if heading.startswith("file: "):
            path = repo / heading.removeprefix("file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body.rstrip("\n") + "\n")
            paths.append(heading.removeprefix("file: "))
            parts.append(f"-- {heading} --\n{path.read_text()}")
        else:
            index.refresh()
            with index.snapshot() as snapshot:
                lines = _links(snapshot, heading.partition(": ")[2].split() or sorted(paths))
            parts.append(f"-- {heading} --\n" + "".join(f"{line}\n" for line in lines))
    return "\n".join(parts)


def _links(snapshot: Snapshot, paths: list[str]) -> list[str]:
    return [
        line
        for path in paths
        for ref in snapshot.references_in(RepoPath(path))
        if ref.role is not Role.DEFINE and (line := _line(snapshot, ref))
    ]


def _line(snapshot: Snapshot, ref: RefFact) -> str:
    name = f"{ref.receiver} . {ref.name}" if ref.receiver else ref.name
    meant = ", ".join(_place(snapshot, place.path, place.definition) for place in ref.target)
    return f"{ref.path}:{ref.line}:{ref.column} {name} {ref.tier}" + (f" -> {meant}" if meant else "")


def _place(snapshot: Snapshot, path: str, definition: int) -> str:
    if definition < 0:
        return path
    item = snapshot.facts(path).definitions[definition]  # type: ignore[union-attr]
    return f"{path}:{item.name_line} {item.kind} {item.name}"


@pytest.mark.parametrize("file", sorted(CASES.glob("*/*.txt")), ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_case(
    file: Path, repo: Path, tmp_path: Path, workers: Workers, request: pytest.FixtureRequest
) -> None:
    index = Index.open(tmp_path / "links.db", tree_of(repo), workers)
    expected = file.read_text()
    seen = rendered(expected, repo, index)
    index.close()
    if request.config.getoption("--update"):
        file.write_text(seen)
    assert seen == expected


def test_a_value_that_another_file_gives_to_a_field_is_seen_at_once(index: Index, repo: Path) -> None:
    (repo / "box.py").write_text(
        "class Pen:\n    def draw(self): ...\n\n\nclass Box:\n    def __init__(self):\n"
        "        self.pen = Pen()\n\n    def go(self):\n        self.pen.draw()\n"
    )
    tiers = []
    for body in ("pass", "box.other = 1", "box.pen = 1", "setattr(box, 'pen', 1)", "pass"):
        (repo / "far.py").write_text(f"def far(box):\n    {body}\n")
        index.refresh()
        with index.snapshot() as snapshot:
            [ref] = [
                ref
                for ref in snapshot.references_in(RepoPath("box.py"))
                if ref.name == "draw" and ref.receiver
            ]
            tiers.append(str(ref.tier))
    assert tiers == ["strong", "strong", "anchored", "anchored", "strong"]


_BOX = "class Door:\n    def open(self): ...\n\nclass Box:\n    def __init__(self):\n        self.door = Door()\n\n    def use(self):\n        self.door.open()\n"  # noqa: E501
_OTHER = "class Other:\n    def __init__(self):\n        self.door = 0\n"


def _tier_of_open(index: Index) -> str:
    index.refresh()
    with index.snapshot() as snapshot:
        [ref] = [
            ref for ref in snapshot.references_in(RepoPath("box.py")) if ref.name == "open" and ref.receiver
        ]
        return str(ref.tier)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # What is given the value is another class by the same lines outside of the function.
        (
            "from box import Box\nfrom other import Other\n\ndef give():\n    x = Other()\n    x.door = 1\n",
            "from box import Box\nfrom other import Other\n\ndef give():\n    x = Box()\n    x.door = 1\n",
        ),
        (
            "from box import Box\nfrom other import Other\n\ndef give(b):\n    x = Other()\n    x.door = 1\n",
            "from box import Box\nfrom other import Other\n\ndef give(b):\n    x = b\n    x.door = 1\n",
        ),
    ],
)
def test_what_gives_a_value_to_a_field_may_change_inside_of_a_function(
    index: Index, repo: Path, before: str, after: str
) -> None:
    (repo / "box.py").write_text(_BOX)
    (repo / "other.py").write_text(_OTHER)
    (repo / "give.py").write_text(before)
    assert _tier_of_open(index) == "strong"
    (repo / "give.py").write_text(after)
    assert _tier_of_open(index) != "strong"


def test_code_that_sets_members_by_text_may_move_within_its_file(index: Index, repo: Path) -> None:
    setting = (
        "class Open:\n    def fill(self, given):\n        for x in given:\n            setattr(self, x, 1)\n"
    )
    box = _BOX.replace("class Box:", "class Box(Open):")
    (repo / "box.py").write_text(f"{setting}\n{box}")
    assert _tier_of_open(index) != "strong"
    longer = setting.replace("        for", "        # more\n" * 40 + "        for")
    (repo / "box.py").write_text(f"{longer}\n{box}")
    assert _tier_of_open(index) != "strong"
    # The same definitions and the same call, which stands in another class now.
    apart = (
        "class Open:\n    def fill(self, given):\n        pass\n\nclass Far:\n    def fill(self, given):\n"
    )
    (repo / "box.py").write_text(f"{apart}        setattr(self, given, 1)\n\n{box}")
    assert _tier_of_open(index) == "strong"
    inside = apart.replace("pass", "setattr(self, given, 1)")
    (repo / "box.py").write_text(f"{inside}        pass\n\n{box}")
    assert _tier_of_open(index) != "strong"
