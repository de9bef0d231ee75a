"""Symbols of one file by the names that agents write."""

import re
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.names import MOST, Snapshot

MODULE: Final = "<module>"
"""The code of a file outside of its definitions."""

_CALL: Final = re.compile(r"\([^()]*\)\Z")
_RECEIVER: Final = re.compile(r"\A\(\*?(\w+)\)\.")  # `(*Cart).Total` of Go
_DECLARATION: Final = re.compile(
    r"\A(?:async )?(?:def|class|function|fn|func|interface|struct|enum|type|const)\s+"
)


class SymbolMatch(NamedTuple):
    """A definition of a file, or several that have one name: overloads, a property with its setter."""

    name: str  # with the names around it
    first_line: int
    last_line: int
    kind: str


def symbols_of(snapshot: Snapshot, path: RepoPath) -> list[SymbolMatch]:
    """The definitions of a file in their order, each name once."""
    matches: dict[str, SymbolMatch] = {}
    facts = snapshot.facts(path)
    for fact in snapshot.definitions_in(path, MOST).items:
        # Go names the type of a method in its receiver, C++ the class of a member that is defined outside.
        owner = facts.definitions[fact.position].owner if facts is not None else ""
        is_outside = bool(owner) and owner != fact.name
        name = ".".join((*split_path(owner), fact.name)) if is_outside else fact.lexical_path
        matches.setdefault(name, SymbolMatch(name, fact.span.start_line, fact.span.end_line, fact.kind))
    return list(matches.values())


def clean_symbol(text: str) -> str:
    """A symbol without what people write around it: backquotes, `def`, parentheses."""
    name = _CALL.sub("", _DECLARATION.sub("", text.strip().strip("`").strip()))
    return _RECEIVER.sub(r"\1.", name)


def match_symbol(snapshot: Snapshot, path: RepoPath, text: str) -> list[SymbolMatch]:
    """The definitions of a file that a name means: one by its whole name, else those whose names end so."""
    query = clean_symbol(text)
    if not query:
        return []
    if query.startswith((f"{path}:", f"{path}#")):
        query = query[len(path) :].lstrip(":#")
    definitions = symbols_of(snapshot, path)
    exact = [one for one in definitions if one.name == query]
    if exact:
        return exact
    parts = split_path(query.replace("#", ".").replace("/", "."))
    endings = [one for one in definitions if _ends_with(split_path(one.name), parts)]
    if endings or len(parts) == 1:
        return endings
    module = split_path(snapshot.module_name(path).replace("/", "."))
    return [one for one in definitions if _ends_with((*module, *split_path(one.name)), parts)]


def match_pattern(snapshot: Snapshot, path: RepoPath, pattern: str) -> list[SymbolMatch]:
    """The definitions of a file whose whole or own names a pattern such as `Job.*` matches."""
    query = clean_symbol(pattern)
    return [
        one
        for one in symbols_of(snapshot, path)
        if fnmatchcase(one.name, query) or fnmatchcase(split_path(one.name)[-1], query)
    ]


def _ends_with(names: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return len(parts) <= len(names) and names[-len(parts) :] == parts
