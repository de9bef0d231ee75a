"""The answer of a write as text: what it broke first, then a line for each file, and the tests to run."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from codeplane.graph.diff.breakage import Broken
from codeplane.jail import shown
from codeplane.session.operation.effects import Effects

if TYPE_CHECKING:
    from codeplane.answers.change import Delta, FileDelta

_LETTERS: Final = {"created": "A", "updated": "M", "deleted": "D", "moved": "R"}
_REMARKS: Final = re.compile(r"( \d+ tests)?( reaches)?$")  # behind the path of a test
_MOST_TESTS: Final = 5
_MOST_SYMBOLS: Final = 4  # on the line of a file
_MOST_LINES: Final = 12  # of what a write broke
_MOST_PLACES: Final = 12  # on one of these
_MOST_CORRECTIONS: Final = 3


def broken_lines(effects: Effects) -> list[str]:
    """What a write broke, a line for each name, call or file."""
    lines = [f"syntax error: {one}" for one in effects.syntax]
    lines += _grouped(effects.breakage.lost_references, "")
    lines += _grouped(effects.breakage.calls, "calls to ")
    left = len(lines) - _MOST_LINES
    lines = [*lines[:_MOST_LINES], f"… {left} more"] if left > 0 else lines
    return [*lines, "only the nearest files were checked"] if lines and effects.breakage.is_cut else lines


def _grouped(places: Sequence[Broken], before: str) -> Iterator[str]:
    """`name (why): places`, a line for each."""
    groups: dict[tuple[str, str], list[Broken]] = {}
    for one in places:
        groups.setdefault((one.name, one.why), []).append(one)
    yield from (
        f"{before}{shown(name)} ({why}): {_render_places(some)}" for (name, why), some in groups.items()
    )


def _render_places(some: Sequence[Broken]) -> str:
    """`a.py:1,5 b.py:2`, each file once."""
    by_path: dict[str, list[int]] = {}
    for one in some[:_MOST_PLACES]:
        by_path.setdefault(shown(one.path), []).append(one.line)
    places = [f"{path}:{','.join(map(str, dict.fromkeys(lines)))}" for path, lines in by_path.items()]
    left = len(some) - _MOST_PLACES
    return " ".join(places) + (f" … {left} more" if left > 0 else "")


def delta_text(delta: "Delta") -> str:
    """The whole answer."""
    lines = ["broke:", *(f"  {line}" for line in delta.broke)] if delta.broke else []
    head = f"{delta.summary}; undo: {delta.operation}" if delta.operation else delta.summary
    lines += [head, *(line for file in delta.delta.files for line in _file(file))]
    if delta.delta.more_files:
        lines.append(f"… {delta.delta.more_files} more files")
    if delta.tests:
        lines.append(tests_line(delta))
    for check in delta.verified or ():
        lines.append(f"{check.check} {check.outcome}: {check.text}")
        lines += [f"  {finding}" for finding in check.findings or ()]
    return "\n".join(lines)


def _file(one: "FileDelta") -> Iterator[str]:
    came = f"{one.moved_from} → " if one.moved_from else ""
    symbols = [_render_symbol(text) for text in one.symbols or ()]
    left = len(symbols) - _MOST_SYMBOLS
    symbol_list = ", ".join(symbols[:_MOST_SYMBOLS]) + (f" … {left} more" if left > 0 else "")
    counts = f" +{one.insertions} -{one.deletions}"
    if not one.diff or came:
        yield f"{_LETTERS[one.action]} {came}{one.path}{counts}" + (f": {symbol_list}" if symbol_list else "")
    for slip in (one.line_corrections or ())[:_MOST_CORRECTIONS]:
        yield f"  lines {slip.corrected.start_line}-{slip.corrected.end_line} replaced: {slip.reason}"
    if one.diff:
        yield one.diff.rstrip("\n")


def _render_symbol(text: str) -> str:
    """`body_changed function f :1-2` as `f`; what else happened is said."""
    change, _, rest = text.partition(" ")
    _, _, name = rest.partition(" ")
    name = re.sub(r" :\d+-\d+", "", name)
    return name if change == "body_changed" else f"{change.replace('_', ' ')} {name}" if name else text


def tests_line(delta: "Delta") -> str:
    """How many tests a change concerns, and the nearest of them."""
    total = len(delta.tests or ()) + (delta.more_tests or 0)
    nearest = [_REMARKS.sub("", text).split(" ", 2)[2] for text in (delta.tests or ())[:_MOST_TESTS]]
    more = ", …" if total > _MOST_TESTS else ""
    return f"tests affected: {total} ({', '.join(nearest)}{more})"
