"""Places where names are made at run time."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from codeplane.languages.extraction.definitions import Lines, text
from codeplane.languages.extraction.receivers import arguments, literal
from codeplane.languages.facts import Dynamic, Facts, Occurrence, Reason, Role
from codeplane.languages.spec import LanguageSpec

_FIRST = re.compile(rb"""[fF]?(?P<quote>['"`])(?P<text>[^'"`\\]*)(?P=quote)\s*(?P<rest>\+|%|\.format\b)?""")
_OPEN = re.compile(rb"%|[$#]?\{")
_BEFORE = re.compile(rb"(?<![\w$.)\]])([A-Za-z_$][\w$.]*)\s*(?:\?\.|!)?\Z")
_DOTTED = re.compile(rb"[A-Za-z_$][\w$.]*")
_GIVEN = re.compile(rb"\s*\((?:[^()'\"]|\((?:[^()'\"]|\([^()'\"]*\))*\))*\)")
_SMALL = re.compile(rb"(?:\.lower\(\))+")
_VARIABLE = re.compile(rb"([A-Za-z_]\w*)((?:\.lower\(\))*)")
_ALONE = re.compile(rb"\s*(?:(?:const|let|var)\s+)?")
_ASSIGNED = re.compile(rb"\w+[ \t]*(?::[^=\n]*)?(?P<more>\+)?=(?!=)[ \t]*")
_LOOK = 200
_CHOICE = re.compile(rb"\b(?:if|or|and)\b|[?|&]")

_Reading = tuple[LanguageSpec, bytes, Lines]


def dynamic_sites(captures: Mapping[str, list[Node]], facts: Facts, reading: _Reading) -> list[Dynamic]:
    """Captured sites and calls of the language's own dynamic functions, in order of position."""
    sites = list(_call_sites(facts, reading))
    lines, data = reading[2], reading[1]
    for capture, nodes in captures.items():
        if capture.startswith("dynamic."):
            for node in nodes:
                inside = literal(data[node.start_byte : node.end_byte].strip(b"[]() "))
                literals = (text(inside),) if inside is not None else ()
                sites.append(
                    Dynamic(capture.partition(".")[2], *lines.at(node.start_byte), literals, not literals)
                )
    sites.sort(key=lambda site: (site.line, site.column))
    return sites


def _call_sites(facts: Facts, reading: _Reading) -> Iterator[Dynamic]:
    spec, data, lines = reading
    names = frozenset(facts.occurrences.texts) if spec.dynamic_calls else frozenset()
    for function, (pattern, number) in spec.dynamic_calls.items():
        module, _, name = function.rpartition(".")
        for place in facts.named(name) if name in names else ():
            if place.role == Role.CALL and _is_meant(facts, place, module):
                at = lines.starts[place.line - 1] + place.column
                opens = data.find(b"(", at)
                key = _subscript_text(data, opens) if number < 0 else _argument_text(data, opens, number)
                if key is not None:
                    value = literal(key)
                    literals = (text(value),) if value is not None else ()
                    yield Dynamic(pattern, place.line, place.column, literals, value is None)


def beginning(spec: LanguageSpec, data: bytes, at: int) -> str:
    """What a name that is made at run time begins with, `"visit_" + kind`; "" where that is not known."""
    return _literal_beginning(_key_text(spec, data, at))


def _literal_beginning(key: bytes) -> str:
    """What the value of an expression begins with; "" where that is not known."""
    match = _FIRST.match(key)
    if match is None or _CHOICE.search(key, match.end("text")):
        return ""
    head, *more = _OPEN.split(match["text"], maxsplit=1)
    is_filled = match["rest"] or key[:1] in b"fF`" or match["text"].startswith(b"#{", len(head))
    is_made = match["rest"] == b"+" or (more and is_filled)
    rest = key[match.end() :].strip()
    if match["rest"] == b".format":
        literal_end = _GIVEN.match(rest)
        rest = rest[literal_end.end() :] if literal_end is not None else b".?"
    is_whole = match["rest"] in (b"+", b"%") or not rest.startswith(b".")
    if not is_made or not (is_whole or _SMALL.fullmatch(rest)):
        return ""
    return text(head if is_whole else head.lower())


def named_by(spec: LanguageSpec, data: bytes, at: int) -> tuple[int, bool] | None:
    """Where the variable begins whose value is asked for, and whether that is made small; None for others."""
    key = _key_text(spec, data, at)
    match = _VARIABLE.fullmatch(key)
    start = data.find(key, at) if match is not None else -1
    return (start, bool(match[2])) if match is not None and start >= 0 else None


def given(data: bytes, at: int) -> str | None:
    """What a variable begins with that is written at a place; "" where what is given to it is not known, None
    where more is joined to what it has."""
    assignment = _ASSIGNED.match(data, at)
    # One of several that are given values together may get any of these.
    if assignment is None or not _ALONE.fullmatch(data, data.rfind(b"\n", 0, at) + 1, at):
        return ""
    if assignment["more"]:
        return None
    end = data.find(b"\n", assignment.end())
    value = data[assignment.end() : end if end >= 0 else len(data)].strip()
    is_whole = value.count(b"(") == value.count(b")") and not value.endswith((b"\\", b"+", b"%", b"."))
    return _literal_beginning(value) if is_whole else ""


def asked(spec: LanguageSpec, data: bytes, at: int) -> str:
    """What a member is asked of, as written: `self`, or `globals()` for names of the file; "" where that is
    not a name."""
    before = data[max(0, at - _LOOK) : at].rstrip()
    is_key = before.endswith(b"[")
    if is_key or data[at : at + 1] == b"[":
        match = _BEFORE.search(before.removesuffix(b"[") if is_key else before)
        return text(match[1]) if match is not None else ""
    opens, number = _call_at(spec, data, at)
    if number is None:
        return ""
    values = arguments(data, opens) if number > 0 else []
    if values:
        return text(values[0]) if _DOTTED.fullmatch(values[0]) else ""
    return f"{text(data[at:opens].strip())}()" if number < 0 else ""


def _key_text(spec: LanguageSpec, data: bytes, at: int) -> bytes:
    """The name that is asked for, as written."""
    if data[at : at + 1] == b"[":
        values, number = arguments(data, at), 0
    else:
        opens, position = _call_at(spec, data, at)
        if position is None:
            return data[at : at + _LOOK].split(b"\n", 1)[0]
        is_subscript = position < 0
        values = arguments(data, data.find(b"[", opens) if is_subscript else opens)
        number = max(position, 0)
    return values[number].strip() if number < len(values) else b""


def _call_at(spec: LanguageSpec, data: bytes, at: int) -> tuple[int, int | None]:
    """Where the brackets of a call open, and which of its arguments is a name; None for what is no call."""
    opens = data.find(b"(", at)
    numbers = [
        number
        for function, (_, number) in spec.dynamic_calls.items()
        if data[at:opens].strip() == function.rpartition(".")[2].encode()
    ]
    return opens, max(numbers, default=None)


def _is_meant(facts: Facts, place: Occurrence, module: str) -> bool:
    """A built-in is meant where nothing binds its name; a module's function where the module is named."""
    if place.receiver:
        return bool(module) and facts.receivers[place.receiver - 1] == module
    if not place.target:
        return not module
    bind = facts.binds[place.target - 1]
    return bind.reason == Reason.IMPORT_ALIAS and facts.imports[bind.target].module == module != ""


def _argument_text(data: bytes, opens: int, number: int) -> bytes | None:
    values = arguments(data, opens)
    return values[number] if number < len(values) else b""


def _subscript_text(data: bytes, opens: int) -> bytes | None:
    """What is in the brackets after `()`, or None where there are none."""
    rest = data[opens : opens + 80].replace(b" ", b"")
    if not rest.startswith(b"()["):
        return None
    values = arguments(data, data.find(b"[", opens))
    return values[0] if values else b""
