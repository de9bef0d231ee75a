"""Columns of every kind become code points, whatever is in the line."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding, Unit
from codeplane.lint.linter import Place
from codeplane.lint.positions import Normal
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox

ROOT = Path("/repo")
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff"), max_size=20)


class Text:
    """One file."""

    def __init__(self, text: str) -> None:
        self._text = text

    def paths(self) -> list[RepoPath]:
        return [RepoPath("a.py")]

    def data(self, path: RepoPath) -> bytes | None:
        return self._text.encode()

    def text(self, path: RepoPath) -> str | None:
        return self._text


def columns(text: str, at: int) -> dict[Unit, int]:
    before = text[:at]
    return {
        "points": at + 1,
        "utf16": len(before.encode("utf-16-le")) // 2 + 1,
        "bytes": len(before.encode()) + 1,
    }


@given(st.lists(LINES, min_size=1, max_size=4), st.data())
def test_a_place_is_the_same_in_every_unit(lines: list[str], data: st.DataObject) -> None:
    line = data.draw(st.integers(1, len(lines)))
    text = lines[line - 1]
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    normal = Normal(Text("\n".join(lines)), Place(ROOT, Toolbox(Programs({}), ROOT), ROOT))
    for unit, start in columns(text, first).items():
        end = columns(text, last)[unit]
        finding = Finding("a.py", line, start, "m", end_line=line, end_column=end, unit=unit)
        [found] = normal.diagnostics("t", ROOT, [finding], {RepoPath("a.py"): ""})
        assert (found.line, found.column, found.end_column) == (line, first + 1, last + 1)


@given(*[st.integers(-5, 1 << 40)] * 4, st.sampled_from(["points", "utf16", "bytes"]), LINES)
def test_no_place_is_outside_of_its_file(
    line: int, column: int, end_line: int, end_column: int, unit: Unit, text: str
) -> None:
    normal = Normal(Text(f"{text}\n{text}"), Place(ROOT, Toolbox(Programs({}), ROOT), ROOT))
    finding = Finding("./a.py", line, column, "m", end_line=end_line, end_column=end_column, unit=unit)
    [found] = normal.diagnostics("t", ROOT, [finding], {RepoPath("a.py"): ""})
    assert 1 <= found.line <= found.end_line <= 2
    assert 1 <= found.column <= len(text) + 1 and 1 <= found.end_column <= len(text) + 1
    assert (found.line, found.column) <= (found.end_line, found.end_column)
