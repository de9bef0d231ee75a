"""What a patch of a node may touch: lines of its symbols, before and after, and imports where it says so.

The rule looks at the result, whichever way it was made. Every line that goes must be in a target symbol of
the old file, and every line that comes in one of the new file. Blank lines are free, and so is the comment
directly above a symbol. A symbol that is only in the new file is one that the node adds. `<module>` stands
for lines outside of every definition; a file in which no definition can be found is one symbol.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

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
_SEPARATORS: Final = re.compile(r"::|[#/\\]|->")


class SymbolSpan(NamedTuple):
    """A definition by its dotted name in the file, and its lines."""

    name: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.name} (lines {self.first}-{self.last})"


class Outline(NamedTuple):
    """The definitions of one state of a file, and the lines of its imports."""

    symbols: Sequence[SymbolSpan]
    imports: frozenset[int]
    lines: Sequence[str]


def outline_of(path: str, data: bytes | None) -> Outline:
    """The outline of a file's bytes; without definitions for what no language reads."""
    if data is None:
        return Outline((), frozenset(), ())
    lines = lines_of(data)
    language = language_of(path, data[:200])
    facts = extract(language, data) if language is not None else None
    if facts is None or facts.state in ("failed", "skipped"):
        return Outline((), frozenset(), lines)
    spans = [
        SymbolSpan(_dotted_name(facts, number), first_attached(lines, one.span.start_line), one.span.end_line)
        for number, one in enumerate(facts.definitions)
    ]
    return Outline(spans, _import_lines(facts, lines), lines)


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
        while line > 1 and line not in result and not _begins_import(lines[line - 1]):
            line -= 1
        for number in range(line, min(len(lines), line + 500) + 1):
            result.add(number)
            text = lines[number - 1]
            depth += sum(map(text.count, "({[")) - sum(map(text.count, ")}]"))
            if number >= one.line and depth <= 0 and not text.rstrip().endswith("\\"):
                break
    return frozenset(result)


def _begins_import(line: str) -> bool:
    return (
        re.match(r"\s*(import|from|export|const|let|var|use|#\s*include|require|using|package)\b", line)
        is not None
    )


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


def check_bounds(
    path: str, before: bytes | None, after: bytes | None, symbols: Sequence[str], *, allow_imports: bool
) -> None:
    """Refuses a change of a file that goes beyond the symbols of its node, with what would be allowed."""
    if before is None or after is None or before == after:
        return
    old, new = outline_of(path, before), outline_of(path, after)
    if not old.symbols and not new.symbols:
        return
    old_lines = _allowed_lines(old, path, symbols, allow_imports=allow_imports)
    new_lines = _allowed_lines(new, path, symbols, allow_imports=allow_imports)
    outside: list[str] = []
    for hunk in diff_hunks(before, after):
        is_mixed = hunk.old < hunk.old_end and hunk.new < hunk.new_end
        for outline, lines, first, end, mark in (
            (old, old_lines, hunk.old, hunk.old_end, "-"),
            (new, new_lines, hunk.new, hunk.new_end, "+"),
        ):
            places = [(first, end)] if is_mixed else _slides(outline.lines, first, end)
            results = [_outside(outline, lines, place, mark) for place in places]
            fewest = min(results, key=len)
            outside += fewest
    if not outside:
        return
    raise _bounds_error(path, old, symbols, outside, allow_imports=allow_imports)


def _allowed_lines(outline: Outline, path: str, symbols: Sequence[str], *, allow_imports: bool) -> set[int]:
    lines: set[int] = set(outline.imports) if allow_imports else set()
    for target in symbols:
        spans = find_symbols(outline, path, target)
        if target == MODULE_SYMBOL:
            inside = {line for one in outline.symbols for line in range(one.first, one.last + 1)}
            lines |= set(range(1, len(outline.lines) + 1)) - inside - outline.imports
        elif len({one.name for one in spans}) > 1:
            names = [str(one) for one in spans]
            raise PatchOutOfBounds(
                f"{target[:80]} means several definitions of {path}: {', '.join(names[:_MOST_NAMED])}.",
                candidates=names[:_MOST_NAMED],
            )
        lines |= {line for one in spans for line in range(one.first, one.last + 1)}
    return lines


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


def _outside(outline: Outline, allowed: set[int], place: tuple[int, int], mark: str) -> list[str]:
    return [
        f"{mark}{line}: {outline.lines[line - 1].strip()[:100]}"
        for line in range(place[0] + 1, place[1] + 1)
        if line not in allowed and line <= len(outline.lines) and outline.lines[line - 1].strip()
    ]


def _bounds_error(
    path: str, old: Outline, symbols: Sequence[str], outside: Sequence[str], *, allow_imports: bool
) -> PatchOutOfBounds:
    spans = [str(one) for target in symbols for one in find_symbols(old, path, target)]
    allowed = [*spans, *(["imports"] if allow_imports else [])]
    missing = [
        target for target in symbols if target != MODULE_SYMBOL and not find_symbols(old, path, target)
    ]
    allowed += [f"a new {target}" for target in missing]
    more = f" and {len(outside) - 1} more lines" if len(outside) > 1 else ""
    return PatchOutOfBounds(
        f"{path}: the patch changes {outside[0]!r}{more}, outside of the node's symbols."
        f" Allowed: {', '.join(allowed[:_MOST_NAMED]) or 'nothing'}.",
        hints=[f"Symbols of the file: {', '.join(map(str, old.symbols[:_MOST_NAMED]))}."],
        allowed=allowed[:_MOST_NAMED],
        outside=list(outside[:_MOST_LINES]),
    )
