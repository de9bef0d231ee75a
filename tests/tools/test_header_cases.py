"""Runs every text case of `tests/cases/headers`: a file before and after, and what is said of each header."""

from pathlib import Path
from typing import Any

import pytest

from tests.case_files import parse_case
from tests.tools.repo import Repo

CASES = sorted((Path(__file__).parent.parent / "cases" / "headers").glob("*.txt"))
WORDS = {True: "breaking", False: "compatible", "unknown": "unknown", None: "body"}


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    case = parse_case(file.read_text())
    (before, old), (_, new), *_ = case.files.items()
    name = f"src/code{Path(before).suffix}"
    repo = Repo(tmp_path, {name: old})
    try:
        repo.write(name, new)
        answer = repo.result("semantic_diff", limit=100)
    finally:
        repo.session.close()
    seen = (
        "\n".join(line for one in answer["files"] for change in one["changes"] for line in lines(change))
        + "\n"
    )
    expected = case.files.get("verdicts")
    if request.config.getoption("--update"):
        case.files["verdicts"] = seen
        file.write_text(case.render())
    assert seen == expected


def lines(change: dict[str, Any]) -> list[str]:
    """What is said of a change and of those inside of it, without how many lines it has."""
    tags = [tag for tag in change.get("tags", []) if tag not in ("minor_change", "body_logic_changed")]
    own = (
        [f"{change['name']}: {WORDS[change.get('breaking')]}: {', '.join(tags)}".rstrip(": ")]
        if change.get("tags")
        else []
    )
    return [*own, *(line for inner in change.get("nested", []) for line in lines(inner))]
