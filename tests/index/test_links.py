"""Runs every text case of `tests/cases/links`: the files of a repository in, what their names mean out.

A case is a sentence, then `-- file: PATH --` sections, then `-- links --`: every name that is not defined
where it stands, with its tier and what it means. `-- links: PATH … --` shows those files alone.
"""

import re
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.index import Index, RefFact, Snapshot, Workers
from codeplane.languages.facts import Role
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
    item = snapshot.linker.sources.facts(path).definitions[definition]  # type: ignore[union-attr]
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
