"""Definitions by what a text says of them: names, alternatives, a namespace, headers, documentation."""

import re
from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.names import DefFact, Snapshot
from codeplane.search.question import answering
from codeplane.search.ranking import definition_order
from codeplane.search.scope import Scope
from codeplane.search.symbol_search import symbols_like
from codeplane.search.terms import is_question

_OR: Final = re.compile(r"\s+OR\s+|\s*\|\s*")
_ALL_OF: Final = re.compile(r"(?P<space>.+?)(?:\.|::|/|#)\*?\Z", re.DOTALL)
_BETWEEN: Final = re.compile(r"::|[./\\#]")
_WORD: Final = re.compile(r"\w{3,}")
_ENOUGH: Final = 10  # of those with the name; then headers and documentation are not asked
_MOST: Final = 100

Holds = Callable[[str], bool]


def find_symbols(snapshot: Snapshot, query: str, scope: Scope, holds: Holds) -> list[DefFact]:
    """The definitions that are meant, the likest first; of alternatives (`a OR b`) in turn."""
    alternatives = [_of_one(snapshot, text, scope, holds) for text in _OR.split(query.strip()) if text]
    in_turn = (one for one in chain.from_iterable(zip_longest(*alternatives)) if one is not None)
    return list({(one.path, one.position): one for one in in_turn}.values())


def _of_one(snapshot: Snapshot, text: str, scope: Scope, holds: Holds) -> list[DefFact]:
    if match := _ALL_OF.match(text.strip()):
        return _members(snapshot, match["space"], scope, holds)
    definitions = symbols_like(snapshot, text, scope, holds)
    is_words = _BETWEEN.search(text) is None
    is_named = bool(definitions) and definitions[0].name.lower() == text.strip().lower()
    if is_words and not is_named and len(definitions) < _ENOUGH:
        definitions += _with_header(snapshot, text, scope, holds)
    definitions = definitions or _members(snapshot, text, scope, holds)
    # One word that nothing is named is not replaced by another without a word about it.
    return definitions or (_documented_definitions(snapshot, text, scope, holds) if is_question(text) else [])


def _members(snapshot: Snapshot, space: str, scope: Scope, holds: Holds) -> list[DefFact]:
    """What a module or a class defines by itself."""
    parts = [part for part in _BETWEEN.split(space) if part]
    definitions: list[DefFact] = []
    for path in _find_modules(snapshot, parts, holds):
        items = snapshot.definitions_in(path, _MOST).items
        definitions += [one for one in items if "." not in one.lexical_path]
    if not definitions:
        for owner in symbols_like(snapshot, space, Scope(), holds):
            if owner.name != parts[-1]:
                break
            inside = f"{owner.lexical_path}."
            items = snapshot.definitions_in(owner.path, 1000).items
            definitions += [one for one in items if one.lexical_path.startswith(inside)]
    return [one for one in definitions if not scope.kinds or one.kind in scope.kinds]


def _find_modules(snapshot: Snapshot, parts: list[str], holds: Holds) -> Iterator[RepoPath]:
    """The files of a module: those that are named so, or whose modules' names end so."""
    for path in snapshot.layout.ordered:
        if holds(path) and all(part in path for part in parts):
            names = [part for part in _BETWEEN.split(snapshot.module_name(path)) if part]
            if names[-len(parts) :] == parts:
                yield path


def _with_header(snapshot: Snapshot, text: str, scope: Scope, holds: Holds) -> list[DefFact]:
    """Definitions whose headers hold the words: parameters, types, bases."""
    words = _WORD.findall(text)
    places = snapshot.lookup.with_header(words, scope.kinds, _MOST) if words else []
    facts = (snapshot.definition_at(one.path, one.definition) for one in places if holds(one.path))
    return sorted((one for one in facts if one is not None), key=definition_order(snapshot))


def _documented_definitions(snapshot: Snapshot, text: str, scope: Scope, holds: Holds) -> list[DefFact]:
    """Definitions that hold the words somewhere, in their documentation for instance."""
    files = frozenset(path for path in snapshot.lookup.paths if holds(path))
    definitions: list[DefFact] = []
    for path, line in answering(snapshot, text, scope, files):
        items = snapshot.definitions_in(path, 1000).items
        definitions += [one for one in items if one.name_line == line][:1]
    return definitions
