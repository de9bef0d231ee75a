"""Words, literal text and patterns: which files to look through, in which order, and how."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from codeplane.core.errors import InvalidArgument
from codeplane.index import Purpose
from codeplane.languages import possible_languages
from codeplane.names import DefFact, Snapshot
from codeplane.parsing.words import parts_of
from codeplane.search.pattern import Letters, Matched, Pattern
from codeplane.search.ranking import file_order
from codeplane.search.result_pages import Look, Looked, Mark, Plan, Spot, excerpt
from codeplane.search.scope import Scope
from codeplane.search.symbol_search import best_named, spots_of

_WORD: Final = re.compile(r"\w+")
_MOST_QUERY_WORDS: Final = 20
_LINES_OF_A_FILE: Final = 3
_FEW_FILES: Final = 12  # of so few, more lines are shown that hold all words
_LINES_OF_FEW: Final = 12
_LOOKED_AT: Final = 300
_FEW: Final = 800
_MOST_JOINED: Final = 4
_EXACT: Final = 10
_BEGINNING: Final = 5


def find_words(snapshot: Snapshot, text: str, scope: Scope, *, any_case: bool = False) -> Plan:
    """Definitions of the name, definitions that begin so, then files that hold all words.

    A word with a capital letter means just that, unless any case is asked for.
    """
    query_words = list(dict.fromkeys(_WORD.findall(text.lower() if any_case else text)))[:_MOST_QUERY_WORDS]
    words = [word.lower() for word in query_words]
    if not words:
        raise InvalidArgument(
            f"{text[:60]!r} has no word in it.", hints=['For other text, send "mode": "literal".']
        )
    files = within(snapshot, scope)
    definitions = _definitions(snapshot, _WORD.findall(text), scope)
    spots = spots_of(snapshot, definitions, files)
    if scope.kinds:
        return Plan(snapshot.epoch, spots)
    # Letters that the word index may not know are looked for in the files themselves.
    ascii_words = [word for word in words if word.isascii()]
    paths = snapshot.lookup.with_words(ascii_words) if ascii_words else snapshot.lookup.paths
    if files is not None:
        paths = [path for path in paths if path in files]
    unread = _unread_paths(snapshot, files)
    files_in_order = _in_order(snapshot, [*paths, *unread], words, frozenset(one.path for one in definitions))
    # Which words a file has that has not been read yet is found out by looking.
    unsure = words if unread else [word for word in words if not word.isascii()]
    return Plan(
        snapshot.epoch,
        spots + files_in_order,
        _look_for_words(query_words, unsure, _most_lines(len(files_in_order))),
    )


def joined_names(snapshot: Snapshot, text: str) -> list[str]:
    """The defined names that words make when they are written together."""
    spellings = _list_spellings(_WORD.findall(text))
    return [one for one in spellings if snapshot.lookup.names_beginning(one, 1) == [one]]


def find_pattern(snapshot: Snapshot, pattern: Pattern, scope: Scope) -> Plan:
    """The files that may match: those that have every word that a match needs."""
    lookup, files = snapshot.lookup, within(snapshot, scope)
    blobs: set[int] | None = None
    # Whole words cost least to ask for, and beyond a point asking costs more than reading.
    for letters in sorted(pattern.needs, key=lambda one: (-one.begins - one.ends, -len(one.text))):
        blobs_with = _holding(snapshot, letters)
        if blobs_with is not None:
            blobs = blobs_with if blobs is None else blobs & blobs_with
        if blobs is not None and len(blobs) <= _FEW:
            break
    paths: Iterable[str] = lookup.paths if blobs is None else lookup.paths_of(blobs)
    if files is not None:
        paths = [path for path in paths if path in files]
    paths = [*paths, *_unread_paths(snapshot, files)]
    return Plan(snapshot.epoch, _in_order(snapshot, paths, ()), _look_for(pattern))


def within(snapshot: Snapshot, scope: Scope) -> frozenset[str] | None:
    """The files of a scope; None for all."""
    if not (scope.paths or scope.languages):
        return None
    names = scope.language_names()
    unread = snapshot.lookup.unread
    if names:
        of_names = {path for path in unread if not names.isdisjoint(possible_languages(path))}
        paths: Iterable[str] = snapshot.lookup.in_languages(names) | of_names
    else:
        paths = [*snapshot.lookup.paths, *unread]
    globs = scope.globs()
    return frozenset(path for path in paths if globs is None or globs.holds(path))


def _unread_paths(snapshot: Snapshot, files: frozenset[str] | None) -> list[str]:
    """The files that the index knows nothing of yet, and that have to be looked through."""
    if not snapshot.coverage.unread:
        return []
    return [path for path in snapshot.lookup.unread if files is None or path in files]


def _holding(snapshot: Snapshot, letters: Letters) -> set[int] | None:
    lookup = snapshot.lookup
    if letters.begins and letters.ends:
        return lookup.with_word(letters.text)
    if letters.begins:
        return lookup.with_word_beginning(letters.text)
    return lookup.with_letters(letters.text)


def _definitions(snapshot: Snapshot, words: Sequence[str], scope: Scope) -> list[DefFact]:
    """Definitions with the name that the words are or make, and some whose names begin with it."""
    definitions: list[DefFact] = []
    most = _BEGINNING + 1 if len(words) == 1 else 1
    for spelling in _list_spellings(words):
        for name in snapshot.lookup.names_beginning(spelling, most):
            is_exact = name == spelling
            if is_exact or len(words) == 1:
                named = best_named(snapshot, name, _EXACT if is_exact else 1)
                # What tests call their own helpers does not come before the source that they test.
                is_asked = is_exact or bool(scope.kinds)
                definitions += [
                    one for one in named if is_asked or snapshot.purpose(one.path) is not Purpose.TEST
                ]
    definitions = [one for one in definitions if not scope.kinds or one.kind in scope.kinds]
    # What a build has made of a definition is no other one.
    return [one for one in definitions if snapshot.purpose(one.path) is not Purpose.BUILT] or definitions


def _list_spellings(words: Sequence[str]) -> list[str]:
    """A word as it is; of several, the names that they make: `ThisName`, `thisName`, `this_name`."""
    if len(words) < 2:
        return list(words)
    if len(words) > _MOST_JOINED:
        return []
    capital = "".join(word[:1].upper() + word[1:] for word in words)
    return list(dict.fromkeys((capital, capital[:1].lower() + capital[1:], "_".join(words).lower())))


def _in_order(
    snapshot: Snapshot, paths: Iterable[str], words: Sequence[str], defining: frozenset[str] = frozenset()
) -> list[Spot]:
    blobs = snapshot.layout.blobs
    return [Spot(path, blobs[path]) for path in sorted(paths, key=file_order(snapshot, words, defining))]


def _look_for(pattern: Pattern) -> Look:
    def look(data: bytes) -> Looked:
        return Looked([_mark(data, line) for line in pattern.lines(data)])

    return look


def _most_lines(files: int) -> int:
    """How many lines of a file are shown that hold all words, by the number of files."""
    if files == 1:
        return _LOOKED_AT
    return _LINES_OF_FEW if files <= _FEW_FILES else _LINES_OF_A_FILE


def _look_for_words(words: Sequence[str], unsure: Sequence[str], most: int) -> Look:
    """Up to `most` lines of a file with all of the words, or a few with some of them; none of a file that
    lacks an unsure word."""
    lower_words = frozenset(word for word in words if word == word.lower())
    word_set = frozenset(words)
    either = "|".join(f"(?i:{re.escape(word)})" if word in lower_words else re.escape(word) for word in words)
    pattern = Pattern(either, is_literal=False)

    def look(data: bytes) -> Looked:
        scores: list[tuple[int, Matched]] = []
        whole = 0
        if unsure and not _has_all(data, unsure):
            return Looked([])
        lines = list(islice(pattern.lines(data), _LOOKED_AT + 1))
        for line in lines[:_LOOKED_AT]:
            said = _WORD.findall(data[line.start : line.end].decode("utf-8", "replace"))
            parts = {part for word in said for part in parts_of(word)}
            score = len(word_set & parts) + len(lower_words & {part.lower() for part in parts} - parts)
            if score:
                scores.append((-score, line))
                whole += score == len(word_set)
        scores.sort()
        cut = max(_LINES_OF_A_FILE, min(whole, most))
        marks = [_mark(data, line) for line in sorted(line for _, line in scores[:cut])]
        # Where lines hold all words, those that hold only some are no matches that are missing.
        others = [line.number for _, line in scores[cut : max(cut, whole) if whole else None]]
        return Looked(marks, tuple(others), not scores or len(lines) <= _LOOKED_AT)

    return look


def _has_all(data: bytes, words: Iterable[str]) -> bool:
    text = data.decode("utf-8", "replace").lower()
    return all(word in text for word in words)


def _mark(data: bytes, line: Matched) -> Mark:
    return Mark(line.number, excerpt(data[line.start : line.end], line.at - line.start) or " ")
