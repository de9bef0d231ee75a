"""Runs every text case of `tests/cases/headers`: a file before and after, and what is said of each header."""

from functools import partial
from pathlib import Path

import pytest

from codeplane.answers.semantic_diff import verdict_of
from codeplane.core.paths import RepoPath
from codeplane.graph.diff.repository import State, structural_diff
from codeplane.graph.diff.structure import Change
from tests.case_files import parse_case
from tests.tools.repo import Repo

CASES = sorted((Path(__file__).parent.parent / "cases" / "headers").glob("*.txt"))
SIZES = ("minor_change", "body_logic_changed", "docstring_changed")
WORDS = {True: "breaking", False: "compatible", "unknown": "unknown", None: "body"}


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    case = parse_case(file.read_text())
    (before, old), (_, new), *_ = case.files.items()
    name = f"src/code{Path(before).suffix}"
    seen = "".join(f"{line}\n" for one in compared(tmp_path, name, old, new) for line in lines(one))
    expected = case.files.get("verdicts")
    if request.config.getoption("--update"):
        case.files["verdicts"] = seen
        file.write_text(case.render())
    assert seen == expected


def compared(base: Path, name: str, old: str, new: str) -> list[Change]:
    """What has changed in a file."""
    repo = Repo(base, {name: old})
    states = []
    try:
        for label, text in (("before", old), ("after", new)):
            repo.write(name, text)
            repo.session.index.refresh()
            with repo.session.index.snapshot() as snapshot:
                blob = snapshot.layout.blobs[name]
            states.append((label, {name: blob}, text.encode()))
        with repo.session.index.snapshot() as snapshot:
            before, after = (
                State(label, blobs, snapshot, partial(data_of, data), snapshot.epoch)
                for label, blobs, data in states
            )
            return [one for file in structural_diff(before, after) for one in file.changes]
    finally:
        repo.session.close()


def data_of(data: bytes, _path: RepoPath) -> bytes:
    return data


def lines(change: Change) -> list[str]:
    """What is said of a change and of those inside of it, without how many lines it has."""
    tags = [tag for tag in change.tags if tag not in SIZES]
    own = (
        [f"{change.name}: {WORDS[verdict_of(change)]}: {', '.join(tags)}".rstrip(": ")] if change.tags else []
    )
    return [*own, *(line for inner in change.nested for line in lines(inner))]
