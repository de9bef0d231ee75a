"""What a preprocessor makes of names: it puts them together, tells them, and takes them for members."""

import re
from collections.abc import Collection, Iterator
from functools import partial
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.slots import ContentSlot
from codeplane.names import Codebase, Snapshot
from codeplane.refactor.plan import Problem, Site, by_path
from codeplane.refactor.text import Lines

_MACROS: Final = ContentSlot["list[Macro]"]("macros that paste names")
_MOST_FILES: Final = 2_000
_LOOK: Final = 400
_LEAST: Final = 2
_MACRO: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_JOINED: Final = re.compile(rb"(?=(?<![\w#])(\w+)\s*##\s*(\w+))|(?=##\s*(\w+)\s*##\s*(\w+))")
_TOLD: Final = re.compile(rb"(?<!#)#\s*(\w+)|(\w+)\s*##|##\s*(\w+)")
_PASTED: Final = re.compile(rb"\[<([^<>]*)>\]")
_PIECE: Final = re.compile(rb"(?<![\w$])\w+")
_CALLED: Final = re.compile(rb"(\w+)\s*!?\s*\Z")


class Macro(NamedTuple):
    """A macro that makes names, or tells them."""

    name: str
    line: int
    first: tuple[str, ...]  # beginnings of names that it puts together
    last: tuple[str, ...]  # ends of these
    tells: bool  # whether it makes something of the text of what it is given


def macros(snapshot: Snapshot, path: str) -> dict[RepoPath, list[Macro]]:
    """The macros of a repository that make names, where the language of a file has a preprocessor."""
    facts = snapshot.facts(path)
    language_family = facts.spec.family if facts is not None and _pastes(snapshot, path) else ""
    macros_by_path: dict[RepoPath, list[Macro]] = {}
    files = (
        {one.path for one in snapshot.definitions_of_kinds(["macro"], _MOST_FILES).items}
        if language_family
        else ()
    )
    for one in sorted(files):
        there = snapshot.facts(one)
        if there is not None and there.spec.family == language_family:
            definitions = there.derived(_MACROS, partial(_read, snapshot.source(one)))
            macros_by_path |= {one: definitions} if definitions else {}
    return macros_by_path


def _pastes(snapshot: Codebase, path: str) -> bool:
    facts = snapshot.facts(path)
    return facts is not None and facts.spec.reflection.pastes_tokens


def _read(data: bytes) -> list[Macro]:
    lines, definitions = Lines(data), []
    for match in _MACRO.finditer(data):
        parameters, body = set(_PIECE.findall(match[2])), match[3]
        pairs = [(one[1] or one[3], one[2] or one[4]) for one in _JOINED.finditer(body)]
        first = tuple(before.decode() for before, _ in pairs if before not in parameters)
        last = tuple(after.decode() for _, after in pairs if after not in parameters)
        tells = any(not parameters.isdisjoint(one.groups()) for one in _TOLD.finditer(body))
        if first or last or tells:
            definitions.append(Macro(match[1].decode(), lines.position(match.start())[0], first, last, tells))
    for match in _PASTED.finditer(data):
        pieces = [piece.decode() for piece in _PIECE.findall(match[1])]
        first = tuple(pieces[:1]) if not match[1].lstrip().startswith(b"$") else ()
        last = tuple(pieces[-1:]) if pieces and match[1].rstrip().endswith(pieces[-1].encode()) else ()
        definitions.append(Macro("", lines.position(match.start())[0], first, last, False))
    return definitions


def made_of(snapshot: Snapshot, path: str, names: Collection[str]) -> Iterator[Problem]:
    """Macros that may put one of some names together."""
    for where, some in macros(snapshot, path).items():
        for one in some:
            for name in names:
                is_begun = any(len(part) >= _LEAST and name.startswith(part) for part in one.first)
                is_ended = any(len(part) >= _LEAST and name.endswith(part) for part in one.last)
                if is_begun or is_ended:
                    text = "A macro pastes names together that begin or end like this one."
                    yield Problem("macro", text, where, one.line)
                    return


def told_to(snapshot: Snapshot, sites: Collection[Site]) -> Iterator[Problem]:
    """The places that are given to a macro that makes something of their text, one for each file."""
    for path, some in sorted(by_path(sites).items()):
        if not _pastes(snapshot, path):
            continue
        telling = {
            one.name for definitions in macros(snapshot, path).values() for one in definitions if one.tells
        }
        lines = Lines(snapshot.source(path))
        for site in some if telling else ():
            at = lines.offset(site.line, site.column)
            if _is_all(lines.data, at, len(site.old)) and not telling.isdisjoint(around(lines, at)[:1]):
                yield Problem("macro", "A macro makes something of the text of this name.", path, site.line)
                break


def _is_all(data: bytes, at: int, size: int) -> bool:
    """Whether a name is all that is given: what is told of a larger piece of code is for people."""
    before, after = data[max(0, at - _LOOK) : at].rstrip(), data[at + size :][:_LOOK].lstrip()
    return before.endswith((b"(", b",")) and after.startswith((b")", b","))


def around(lines: Lines, at: int) -> list[str]:
    """The names of the calls that a position is in the arguments of, the nearest first."""
    text, depth, callees = lines.data[max(0, at - _LOOK) : at], 0, []
    for end in range(len(text) - 1, -1, -1):
        char = text[end : end + 1]
        if char in (b";", b"{", b"}") and depth == 0:
            break
        depth += (char == b")") - (char == b"(")
        if depth < 0:
            depth = 0
            callee = _CALLED.search(text[:end])
            callees += [callee[1].decode()] if callee is not None else []
    return callees
