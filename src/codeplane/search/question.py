"""A question in words: the definitions and passages that hold most of what it asks about."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Outline, Snapshot
from codeplane.search.pattern import Pattern
from codeplane.search.ranking import purpose_weight
from codeplane.search.result_pages import Mark, Plan, Spot
from codeplane.search.scope import Scope
from codeplane.search.terms import Terms, rarest, stem, terms_of

_WORD: Final = re.compile(r"\w+")
_MOST_FILES: Final = 60
_MOST_LINES: Final = 1_500  # of a file that are looked at
_MOST_NAMES: Final = 400
_MOST_PASSAGES: Final = 8
_INNER: Final = 2  # lines shown of a passage beside its first, of later ones only one
_SHOWN_MORE: Final = 3
_BLOCK: Final = 6  # lines this far apart belong to one passage where no definition holds them
_BEARABLE: Final = 40  # lines of a definition that are read at a glance
_ENOUGH: Final = 0.5  # of what the question asks about, by weight; source may say less
_MOST_PARTS: Final = 0.75  # of the parts of an identifier that does not exist
_NEARLY: Final = 0.55  # of the best score
_BOUND: Final = frozenset(("variable", "constant", "field", "parameter"))
_ALIKE: Final = 2  # passages of one file that say the same words
_IN_NAME: Final = 1.5
_AROUND: Final = 0.5
_IN_ONE_LINE: Final = 0.6


class Passage(NamedTuple):
    """A definition, or lines that stand together, with what they hold of a question."""

    score: float
    path: str
    first: int
    last: int
    holds: frozenset[int]
    marks: tuple[Mark, ...]
    is_code: bool
    symbol: str = ""  # the definition that it is, by the names around it and its own


@dataclass
class Attempt:
    """Where to look, words that are not looked for or not there, and words that others stand for."""

    plan: Plan
    left_out: list[str] = field(default_factory=list)
    read_as: dict[str, list[str]] = field(default_factory=dict)
    is_choice: bool = False  # the best passages, not all that holds the words


def find_answers(snapshot: Snapshot, text: str, scope: Scope, files: frozenset[str] | None) -> Attempt:
    """The passages with most of the words, the likeliest first; words that none of them holds are told."""
    terms = terms_of(snapshot, text)
    passages = _find_passages(snapshot, terms, scope, files)
    blobs = snapshot.layout.blobs
    spots = [
        Spot(one.path, blobs[one.path], one.marks[: 1 + (_INNER if at < _SHOWN_MORE else 1)])
        for at, one in enumerate(passages)
    ]
    terms_held = frozenset[int]().union(*(one.holds for one in passages))
    missing = [term.text for at, term in enumerate(terms.items) if at not in terms_held]
    read_as = {
        term.text: sorted(term.forms, key=lambda one: (len(one), one))[:3]
        for at, term in enumerate(terms.items)
        if term.is_changed and at in terms_held
    }
    return Attempt(
        Plan(snapshot.epoch, spots), [*terms.fillers, *terms.strange_words, *missing], read_as, True
    )


def answering(
    snapshot: Snapshot, text: str, scope: Scope, files: frozenset[str] | None
) -> list[tuple[RepoPath, int]]:
    """The file and line of each definition that holds most of the words, the likeliest first."""
    passages = _find_passages(snapshot, terms_of(snapshot, text), scope, files)
    return [(RepoPath(one.path), one.marks[0].line) for one in passages if one.marks[0].label]


def _find_passages(
    snapshot: Snapshot, terms: Terms, scope: Scope, files: frozenset[str] | None
) -> list[Passage]:
    if not terms.items:
        return []
    whole = terms.weight(range(len(terms.items))) + len(terms.strange_words) * rarest(snapshot)
    least = (_MOST_PARTS if terms.is_split else _ENOUGH) * whole
    passages = [
        one
        for one in rank_passages(snapshot, terms, scope, files)
        if terms.weight(one.holds) >= least or (one.is_code and not terms.is_split)
    ]
    selection: list[Passage] = []
    for one in passages:
        if len(selection) == _MOST_PASSAGES or one.score < _NEARLY * passages[0].score:
            break
        alike = sum((one.path, one.holds) == (other.path, other.holds) for other in selection)
        if alike < _ALIKE and not any(_same_lines(one, other) for other in selection):
            selection.append(one)
    return selection


def rank_passages(
    snapshot: Snapshot, terms: Terms, scope: Scope, files: frozenset[str] | None = None
) -> list[Passage]:
    """Every passage of the likeliest files that says something of the terms, the best first."""
    if not terms.items:
        return []
    pattern = Pattern(_any_of(terms), is_literal=False)
    passages: list[Passage] = []
    for path in _list_candidates(snapshot, terms, files):
        passages += _in_file(snapshot, terms, path, pattern, scope)
    return sorted(passages, key=lambda one: (-one.score, one.path, one.first))


def _same_lines(one: Passage, other: Passage) -> bool:
    return (one.path, one.marks[0].line) == (other.path, other.marks[0].line)


def _any_of(terms: Terms) -> str:
    """A pattern for what words of the terms begin with: forms of one word have that in common."""
    begins = set[str]()
    for term in terms.items:
        own = {stem(form) for form in term.forms}
        begins |= {min(form[: len(one)] for form in term.forms if stem(form) == one) for one in own}
    return "(?i)" + "|".join(re.escape(one) for one in sorted(begins))


def _list_candidates(snapshot: Snapshot, terms: Terms, files: frozenset[str] | None) -> list[str]:
    """The files to look at: those that hold most, whose paths say it, or that define names that do."""
    scores: dict[str, float] = defaultdict(float)
    by_blob = snapshot.layout.by_blob
    for term in terms.items:
        for blob in term.blobs:
            for holder in by_blob.get(blob, ()):
                scores[holder] += term.weight
    for path, weight in _by_names(snapshot, terms).items():
        scores[path] += weight
    ranking = []
    for path, score in scores.items():
        if files is None or path in files:
            extra = _AROUND * terms.weight(terms.of(_WORD.findall(path)))
            ranking.append((-(score + extra) * purpose_weight(snapshot, path), path))
    return [path for _, path in sorted(ranking)[:_MOST_FILES]]


def _by_names(snapshot: Snapshot, terms: Terms) -> dict[str, float]:
    """How much of the question the best name says that a file defines."""
    best = _names_with(snapshot, terms, 2 if len(terms.items) > 1 else 1)
    weights: dict[str, float] = {}
    for number, place in snapshot.lookup.defining(best):
        weight = terms.weight(terms.of([best[number]]))
        weights[place.path] = max(weight, weights.get(place.path, 0.0))
    return weights


def names_sharing(snapshot: Snapshot, text: str, most: int) -> list[str]:
    """Defined names that have words of a text in them, those with more and rarer ones first."""
    return _names_with(snapshot, terms_of(snapshot, text), 1)[:most]


def _names_with(snapshot: Snapshot, terms: Terms, least: int) -> list[str]:
    """The names that hold so many of the terms, those that say most first."""
    names, lower = snapshot.lookup.names()
    said: dict[str, set[int]] = defaultdict(set)
    for at, term in enumerate(terms.items):
        for match in re.finditer("|".join(map(re.escape, sorted(term.forms, key=len))), lower):
            start, end = names.rindex("\n", 0, match.start() + 1) + 1, names.index("\n", match.start())
            said[names[start:end]].add(at)
    several = {name: term_numbers for name, term_numbers in said.items() if len(term_numbers) >= least}
    return sorted(several, key=lambda name: (-terms.weight(several[name]), len(name), name))[:_MOST_NAMES]


def _in_file(
    snapshot: Snapshot, terms: Terms, path: str, pattern: Pattern, scope: Scope
) -> Iterable[Passage]:
    try:
        data = snapshot.source(RepoPath(path))
    except (NotFound, PathRefused):
        return
    if b"\0" in data:
        return
    lines: dict[int, frozenset[int]] = {}
    for line, _ in zip(pattern.lines(data), range(_MOST_LINES), strict=False):
        holds = terms.of(_WORD.findall(data[line.start : line.end].decode("utf-8", "replace")))
        if holds:
            lines[line.number] = holds
    factor = purpose_weight(snapshot, path)
    outside = terms.of(_WORD.findall(path))
    lines_by_owner, free = _owned(snapshot.lookup.outline(path), lines)
    for one, inner in lines_by_owner:
        if not scope.kinds or one.kind in scope.kinds:
            yield _defined(terms, path, one, inner, (outside, factor))
    if not scope.kinds:
        for block in _find_blocks(sorted(free)):
            inner = {number: free[number] for number in block}
            score, holds = _score(terms, inner, (frozenset(), outside), len(block))
            marks = tuple(Mark(number) for number in _best(terms, inner, _INNER + 1))
            yield Passage(score * factor, path, block[0], block[-1], holds, marks, factor == 1.0)


def _owned(
    outline: Sequence[Outline], lines: dict[int, frozenset[int]]
) -> tuple[list[tuple[Outline, dict[int, frozenset[int]]]], dict[int, frozenset[int]]]:
    """Lines by the innermost definition that they are in, so that a class says what its methods do not; and
    the lines that are in none. What is bound inside a function is part of it."""
    owners = [one for one in outline if one.kind not in _BOUND or "." not in one.lexical_path]
    numbers = sorted(lines)
    innermost: dict[int, Outline] = {}
    # The shorter ones come later and take over what they hold.
    for one in sorted(owners, key=lambda one: one.start_line - one.end_line):
        inner_lines = numbers[bisect_left(numbers, one.start_line) : bisect_right(numbers, one.end_line)]
        innermost.update(dict.fromkeys(inner_lines, one))
    inner: dict[Outline, dict[int, frozenset[int]]] = {}
    for number, one in innermost.items():
        inner.setdefault(one, {})[number] = lines[number]
    return list(inner.items()), {number: lines[number] for number in numbers if number not in innermost}


def _defined(
    terms: Terms,
    path: str,
    one: Outline,
    inner: dict[int, frozenset[int]],
    place: tuple[frozenset[int], float],
) -> Passage:
    outside, factor = place
    *around, name = one.lexical_path.split(".")
    terms_in_name = terms.of([name])
    length = one.end_line - one.start_line + 1
    score, holds = _score(terms, inner, (terms_in_name, outside | terms.of(around)), length)
    label = f"{one.kind} {shown(one.lexical_path)}"
    # What its name says already need not be shown again.
    rest = {
        number: said
        for number, said in inner.items()
        if number != one.name_line and (len(said) > 1 or not said <= terms_in_name)
    }
    marks = (Mark(one.name_line, "", label), *(Mark(number) for number in _best(terms, rest, _INNER)))
    lines = one.start_line, one.end_line
    return Passage(score * factor, path, *lines, holds, marks, factor == 1.0, one.lexical_path)


def _score(
    terms: Terms,
    inner: dict[int, frozenset[int]],
    said: tuple[frozenset[int], frozenset[int]],
    length: int,
) -> tuple[float, frozenset[int]]:
    """How much a passage says: in its lines, in one of them, in its name, and in what is around it."""
    in_name, around = said
    body = frozenset[int]().union(*inner.values())
    score = terms.weight(body) + _IN_NAME * terms.weight(in_name) + _AROUND * terms.weight(around - body)
    score += _IN_ONE_LINE * max(terms.weight(holds) for holds in inner.values())
    return score / (1 + 0.15 * max(0.0, math.log2(length / _BEARABLE))), body | in_name


def _best(terms: Terms, lines: dict[int, frozenset[int]], most: int) -> list[int]:
    """The lines that say most, in order."""
    return sorted(sorted(lines, key=lambda one: (-terms.weight(lines[one]), one))[:most])


def _find_blocks(numbers: Sequence[int]) -> Iterable[list[int]]:
    block: list[int] = []
    for number in numbers:
        if block and number - block[-1] > _BLOCK:
            yield block
            block = []
        block.append(number)
    if block:
        yield block
