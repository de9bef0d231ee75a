"""What a patch of a node may touch: lines of its symbols, before and after.

The rule looks at the result, whichever way it was made. Every line that goes must be in a target symbol of
the old file, and every line that comes in one of the new file. Blank lines are free, and so is the comment
directly above a symbol. A symbol that is only in the new file is one that the node adds. `<module>` stands
for lines outside of every definition, imports among them; `<imports>`, which `allowImports` of a node adds,
for import statements alone. A file in which no definition can be found is one symbol.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from codeplane.controller.execution.nodes import IMPORTS_SYMBOL
from codeplane.core.comments import first_attached
from codeplane.core.errors import PatchOutOfBounds
from codeplane.core.text import lines_of
from codeplane.git.history.hunks import diff_hunks
from codeplane.languages.extraction.extract import extract
from codeplane.languages.facts import Facts
from codeplane.languages.spec import language_of

MODULE_SYMBOL: Final = "<module>"
_MOST_NAMED: Final = 12
_MOST_LINES: Final = 20
_MOST_IMPORT_LINES: Final = 500
_IMPORT: Final = re.compile(r"\s*(import|from|export|const|let|var|use|#\s*include|require|using|package)\b")
_SEPARATORS: Final = re.compile(r"::|[#/\\]|->")


class SymbolSpan(NamedTuple):
    """A definition by its dotted name in the file, and its lines."""

    name: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.name} (lines {self.first}-{self.last})"


class Outline(NamedTuple):
    """The definitions of one state of a file."""

    symbols: Sequence[SymbolSpan]
    lines: Sequence[str]
    imports: frozenset[int] = frozenset()
    is_broken: bool = False  # whether the file has a syntax error, so that symbols may end elsewhere


def outline_of(path: str, data: bytes | None) -> Outline:
    """The outline of a file's bytes; without definitions for what no language reads."""
    if data is None:
        return Outline((), ())
    lines = lines_of(data)
    language = language_of(path, data[:200])
    facts = extract(language, data) if language is not None else None
    if facts is None or facts.state in ("failed", "skipped"):
        return Outline((), lines)
    spans = [
        SymbolSpan(_dotted_name(facts, number), first_attached(lines, one.span.start_line), one.span.end_line)
        for number, one in enumerate(facts.definitions)
    ]
    return Outline(spans, lines, _import_lines(facts, lines), facts.state != "ok")


def _dotted_name(facts: Facts, number: int) -> str:
    names: list[str] = []
    while number >= 0 and len(names) < 50:
        one = facts.definitions[number]
        names.append(one.name)
        if one.owner and one.parent < 0:
            names.append(one.owner)
        number = one.parent
    return ".".join(reversed(names))


def _import_lines(facts: Facts, lines: Sequence[str]) -> frozenset[int]:
    """The lines of import statements: from where one begins to where its brackets are closed."""
    result: set[int] = set()
    for one in facts.imports:
        line, depth = one.line, 0
        # A name of a list stands below the line that its statement begins with.
        while line > 1 and line not in result and not _IMPORT.match(lines[line - 1]):
            line -= 1
        for number in range(line, min(len(lines), line + _MOST_IMPORT_LINES) + 1):
            result.add(number)
            text = lines[number - 1]
            depth += sum(map(text.count, "({[")) - sum(map(text.count, ")}]"))
            if number >= one.line and depth <= 0 and not text.rstrip().endswith("\\"):
                break
    return frozenset(result)


def find_symbols(outline: Outline, path: str, target: str) -> list[SymbolSpan]:
    """The definitions that a symbol of a plan names: by its whole name in the file, else by its end."""
    name = _SEPARATORS.sub(".", target.strip().removesuffix("()")).strip(".")
    exact = [one for one in outline.symbols if one.name == name]
    if exact:
        return exact
    module = re.sub(r"\.[A-Za-z0-9]+$", "", path).replace("/", ".")
    for symbol in outline.symbols:
        prefix = name.removesuffix(f".{symbol.name}")
        if prefix != name and (module == prefix or module.endswith(f".{prefix}")):
            exact.append(symbol)
    if exact:
        return exact
    return [one for one in outline.symbols if one.name.endswith(f".{name}")]


def check_bounds(path: str, before: bytes | None, after: bytes | None, symbols: Sequence[str]) -> None:
    """Refuses a change of a file that goes beyond the symbols of its node, with what would be allowed."""
    if before is None or after is None or before == after:
        return
    old, new = outline_of(path, before), outline_of(path, after)
    if not old.symbols and not new.symbols:
        return
    old_lines = _allowed_lines(old, path, symbols)
    new_lines = _allowed_lines(new, path, symbols)
    # Of a file that is broken by the patch, only what goes can be judged; its validation fails.
    is_judged = old.is_broken or not new.is_broken
    outside: list[str] = []
    for hunk in diff_hunks(before, after):
        is_mixed = hunk.old < hunk.old_end and hunk.new < hunk.new_end
        for outline, lines, first, end, mark in (
            (old, old_lines, hunk.old, hunk.old_end, "-"),
            (new, new_lines, hunk.new, hunk.new_end, "+"),
        ):
            if mark == "+" and not is_judged and (is_mixed or _is_between(hunk.old, old_lines)):
                continue
            places = [(first, end)] if is_mixed else _slides(outline.lines, first, end)
            results = [_outside(outline, lines, place, mark) for place in places]
            fewest = min(results, key=len)
            outside += fewest
    if not outside:
        return
    raise _bounds_error(path, old, symbols, outside, _touched(old, new, outside))


def _touched(old: Outline, new: Outline, outside: Sequence[str]) -> list[str]:
    """The innermost definitions that lines outside are in, in the old file where they were there."""
    names: dict[str, None] = {}
    for text in outside:
        outline, line = (old if text[0] == "-" else new), int(text[1:].partition(":")[0])
        around = [one for one in outline.symbols if one.first <= line <= one.last]
        names[max(around, key=lambda one: one.first).name if around else MODULE_SYMBOL] = None
    return list(names)


def _allowed_lines(outline: Outline, path: str, symbols: Sequence[str]) -> set[int]:
    lines: set[int] = set()
    for target in symbols:
        spans = find_symbols(outline, path, target)
        if target == IMPORTS_SYMBOL:
            lines |= outline.imports
        elif target == MODULE_SYMBOL:
            inside = {line for one in outline.symbols for line in range(one.first, one.last + 1)}
            lines |= set(range(1, len(outline.lines) + 1)) - inside
        elif len({one.name for one in spans}) > 1:
            names = [str(one) for one in spans]
            raise PatchOutOfBounds(
                f"{target[:80]} means several definitions of {path}: {', '.join(names[:_MOST_NAMED])}.",
                candidates=names[:_MOST_NAMED],
            )
        lines |= {line for one in spans for line in range(one.first, one.last + 1)}
    return lines


def _is_between(line: int, permitted_places: set[int]) -> bool:
    """Whether a line before which something is inserted, counted from 0, is inside of what is allowed."""
    return line in permitted_places and line + 1 in permitted_places


def allowed_lines(path: str, data: bytes, symbols: Sequence[str]) -> set[int]:
    """The lines of a file that a node of these symbols may change."""
    outline = outline_of(path, data)
    if not outline.symbols:
        return set(range(1, len(outline.lines) + 1))
    return _allowed_lines(outline, path, symbols)


def _slides(lines: Sequence[str], first: int, end: int) -> list[tuple[int, int]]:
    """The places at which lines that came or went may be said to: `a b | a b` is one of two pairs."""
    places, up, down = [(first, end)], first, end
    while first < end and up > 0 and lines[up - 1] == lines[up - 1 + end - first]:
        up -= 1
        places.append((up, up + end - first))
    while first < end and down < len(lines) and lines[down] == lines[down - end + first]:
        down += 1
        places.append((down - end + first, down))
    return places


def _outside(outline: Outline, permitted_places: set[int], place: tuple[int, int], mark: str) -> list[str]:
    return [
        f"{mark}{line}: {outline.lines[line - 1].strip()[:100]}"
        for line in range(place[0] + 1, place[1] + 1)
        if line not in permitted_places and line <= len(outline.lines) and outline.lines[line - 1].strip()
    ]


def _bounds_error(
    path: str, old: Outline, symbols: Sequence[str], outside: Sequence[str], touched: Sequence[str]
) -> PatchOutOfBounds:
    spans = [str(one) for target in symbols for one in find_symbols(old, path, target)]
    special = {MODULE_SYMBOL: "lines outside of every definition", IMPORTS_SYMBOL: "imports"}
    permitted_places = [*spans, *(text for name, text in special.items() if name in symbols)]
    missing = [target for target in symbols if target not in special and not find_symbols(old, path, target)]
    permitted_places += [f"a new {target}" for target in missing]
    more = f" and {len(outside) - 1} more lines" if len(outside) > 1 else ""
    return PatchOutOfBounds(
        f"{path}: the patch changes {outside[0]!r}{more}, outside of the node's symbols."
        f" Allowed: {', '.join(permitted_places[:_MOST_NAMED]) or 'nothing'}.",
        hints=[f"Symbols of the file: {', '.join(map(str, old.symbols[:_MOST_NAMED]))}."],
        allowed=permitted_places[:_MOST_NAMED],
        outside=list(outside[:_MOST_LINES]),
        touched=list(touched[:_MOST_NAMED]),
    )
