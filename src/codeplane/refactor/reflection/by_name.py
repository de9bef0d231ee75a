"""What code may ask for by names that are made at run time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot
from codeplane.graph.hierarchy import owner_of
from codeplane.languages.extraction.dynamic_sites import asked, beginning, given, named_by
from codeplane.languages.facts import ASKING, CALLED, CALLING, Occurrence, Reason, Role
from codeplane.names import Codebase, FileFacts
from codeplane.names.meaning import is_external
from codeplane.parsing.words import parts_of
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.reflection.name_variants import (
    Spelling,
    in_pieces,
    lengthened,
    marked,
    respelled,
    said,
)
from codeplane.refactor.rename_set import RenameSet, is_untold, kin
from codeplane.refactor.text import Lines

SEARCHED_BY_PART: Final = "Members are searched for names that begin or end like this one."
_LOOKUPS: Final = ContentSlot[dict[tuple[int, int], tuple[str, str]]]("lookups by name at run time")
_NO_MEMBER: Final = "()"  # of what gives the names around a call
# Letters of a text that names are put together of, at the beginning and at the end.
_LEAST: Final = 2
_LEAST_LAST: Final = 3
_MANY: Final = 500
_WRITTEN: Final = (Role.DEFINE, Role.WRITE)
_FORMATS: Final = "sdr"  # letters behind a mark that stands for a value
_LOOK: Final = 100
_QUOTE: Final = rb"""["'`]"""
# What stands around the first and the last part of a text that is put together.
_JOINED_AFTER: Final = rb"""\w*(?=["']\s*\+|["']\s+\.\s|[$#]?\{|%[sdr(])"""
_JOINED_BEFORE: Final = re.compile(rb"""(?:\+\s*["']|\s\.\s+["']|\}|%[sdr]|%\(\w+\)[sdr])(\w+)\Z""")
_MARKED: Final = re.compile(rb"""["']_+["']\s*\+|["']_+\{""")
_FIRST: Final = re.compile(r"_?[^\W\d_]\w*_")
_CAPITAL: Final = re.compile(r"(?<=[a-z])[A-Z].*")  # of a name that begins small
_LAST: Final = re.compile(r"_\w*[^\W\d_]")

_Names = tuple[str, ...]
_FORWARDED: Final = ("", "\0")


@dataclass(frozen=True)
class Asking:
    """A place where a name is asked for that is made at run time."""

    path: RepoPath
    line: int
    column: int
    begins: str  # how the name begins; "" where that is not known
    holder: str  # what is asked for it, as written; "" where that is no name


def askings(snapshot: Codebase, path: str, at: Sequence[tuple[int, int]]) -> Iterator[Asking]:
    """The places of a file where something is asked for by names made at run time."""
    facts = snapshot.facts(path)
    if facts is None:
        return
    lookups = facts.derived(_LOOKUPS, dict)
    if missing := [place for place in at if place not in lookups]:
        read = _read(snapshot, RepoPath(path), facts, missing)
        lookups.update(zip(missing, read, strict=True))
    for place in at:
        if lookups[place] != _FORWARDED:
            yield Asking(RepoPath(path), *place, *lookups[place])


def _read(
    snapshot: Codebase, path: RepoPath, facts: FileFacts, at: Sequence[tuple[int, int]]
) -> list[tuple[str, str]]:
    """How the names begin that are asked for at some places, and what is asked for them."""
    spec, lines = facts.spec, Lines(snapshot.source(path))
    starts = [lines.offset(line, column) for line, column in at]
    return [
        _FORWARDED
        if _is_forwarded(snapshot, path, lines, start)
        else (
            beginning(spec, lines.data, start) or _by_variable(snapshot, path, lines, start),
            asked(spec, lines.data, start),
        )
        for start in starts
    ]


def _is_forwarded(snapshot: Codebase, path: RepoPath, lines: Lines, at: int) -> bool:
    """Whether the name is what `__getattr__` is given: somebody has written it as an attribute."""
    facts = snapshot.facts(path)
    spec = facts.spec if facts is not None else None
    name_span = (
        named_by(spec, lines.data, at) if spec is not None and spec.reflection.attribute_hooks else None
    )
    if facts is None or spec is None or name_span is None:
        return False
    line, column = lines.position(name_span[0])
    around = facts.definitions.around(line)
    standing = snapshot.occurrence_at(path, line, column)
    if not around or standing is None or not standing[1].target:
        return False
    bind = facts.binds[standing[1].target - 1]
    return (
        bind.reason is Reason.PARAM and facts.definitions[around[-1]].name in spec.reflection.attribute_hooks
    )


def _by_variable(snapshot: Codebase, path: RepoPath, lines: Lines, at: int) -> str:
    """How a name begins that a variable of the function holds, whatever it is given."""
    facts = snapshot.facts(path)
    name_span = named_by(facts.spec, lines.data, at) if facts is not None else None
    standing = snapshot.occurrence_at(path, *lines.position(name_span[0])) if name_span is not None else None
    if facts is None or name_span is None or standing is None or not standing[1].target:
        return ""
    name, occurrence = standing
    bind = facts.binds[occurrence.target - 1]
    if bind.reason is not Reason.LOCAL_ASSIGN or not bind.certain or not bind.scope:
        return ""
    literals = [
        given(lines.data, lines.offset(one.line, one.column))
        for one in snapshot.occurrences(path, name)
        if one.target == occurrence.target and one.role in _WRITTEN
    ]
    begins = {text for text in literals if text is not None}
    prefix = begins.pop() if len(begins) == 1 else ""
    return prefix.lower() if name_span[1] else prefix


def asked_member(snapshot: Codebase, place: Place, names: _Names) -> Asking | None:
    """Where a member may be asked for by one of some names, in its own file first."""
    near = {place.path, *(one.path for one in kin(snapshot, place))}
    for one in _asking(snapshot, place.path, near | _making(snapshot, names)):
        if not one.holder.endswith(_NO_MEMBER) and _is_member(snapshot, one, place, names):
            return one
    return _asked_beside(snapshot, place)


def _asked_beside(snapshot: Codebase, place: Place) -> Asking | None:
    """Where anything is asked for any name by code that has the class of a member at hand, tests aside."""
    owner = owner_of(snapshot, place)
    refs = snapshot.structural_references.to(owner) if owner is not None else ()
    near = {ref.path for ref in refs if owner in ref.target} - snapshot.tests()
    asking = snapshot.dynamics.asking(CALLED) if near else {}
    for path in sorted(near & asking.keys()):
        for one in askings(snapshot, path, asking[path]):
            if _is_of_any(snapshot, one):
                return one
    return None


def asking_any(snapshot: Codebase, path: str) -> set[str]:
    """The files, of the languages of one of them, where anything is asked for any name."""
    facts = snapshot.require_facts(path)
    is_static = facts.spec.types.static_types
    asking = snapshot.dynamics.asking(CALLED if is_static else ASKING)
    language_family = _language_family(snapshot, path)
    return {
        other
        for other, at in asking.items()
        if _language_family(snapshot, other) == language_family
        and any(_is_of_any(snapshot, one) for one in askings(snapshot, other, at))
    }


def asked_otherwise(snapshot: Codebase, path: str, names: _Names) -> Spelling | None:
    """A text that spells one of some names in another way, where members are asked for by any name."""
    cutting = sorted(asking_any(snapshot, path))
    sources = [snapshot.source(RepoPath(other)) for other in cutting]
    private = any(_is_said_without_mark(snapshot, name) for name in names if name.startswith("_"))
    for other, source in zip(cutting, sources, strict=True) if private else ():
        if mark := _MARKED.search(source):
            return Spelling(RepoPath(other), source.count(b"\n", 0, mark.start()) + 1, "_")
    for name in names if cutting else ():
        texts = (
            respelled(snapshot, name),
            lengthened(snapshot, name, sources),
            in_pieces(snapshot, name),
            marked(snapshot, name),
        )
        if (spelling := next(chain(*texts), None)) is not None:
            return spelling
    return None


def is_put_together(snapshot: Codebase, one: Asking, names: _Names) -> bool:
    """Whether something is known of a name that is asked for, and one of some may be it."""
    return bool(one.begins) or _is_made(snapshot, one, names)


def _is_said_without_mark(snapshot: Codebase, name: str) -> bool:
    """Whether a private name without its mark is a text, or the name of something else."""
    rest = name.lstrip("_")
    return bool(snapshot.definitions(rest)) or any(said(snapshot, rest))


def _is_of_any(snapshot: Codebase, one: Asking) -> bool:
    """Whether anything is asked for any name: no module, and not what a method has as its own instance."""
    if one.begins or one.holder.endswith(_NO_MEMBER) or _asker(snapshot, one):
        return False
    imports = snapshot.imports(one.path)
    return not any(item.alias == one.holder and not item.name for item in imports)


def asked_definition(snapshot: Codebase, rename_set: RenameSet, reach: Reach, names: _Names) -> Asking | None:
    """Where a definition outside of classes may be asked for: of its module, or of what may hold it."""
    making = _making(snapshot, names)
    for one in _asking(snapshot, min(rename_set.places).path, reach.modules | reach.importing | making):
        if not _begins(one, names):
            continue
        if one.holder.endswith(_NO_MEMBER):
            is_meant = one.path in reach.modules
        else:
            is_made = one.path in making and _is_made(snapshot, one, names)
            is_meant = reach.is_named(one.path, one.holder) or (is_made and reach.is_value)
        if is_meant and not _asker(snapshot, one):
            return one
    return _called(snapshot, min(rename_set.places).path, names)


def _called(snapshot: Codebase, path: str, names: _Names) -> Asking | None:
    """Where functions or classes are asked for by names that are made at run time and may be one of some."""
    language_family, asking = _language_family(snapshot, path), snapshot.dynamics.asking(CALLING)
    for other in sorted(one for one in asking if _language_family(snapshot, one) == language_family):
        for one in askings(snapshot, other, asking[other]):
            if _is_made(snapshot, one, names):
                return one
    return None


def asked_by_part(snapshot: Codebase, place: Place, names: _Names) -> tuple[RepoPath, int] | None:
    """Where members are looked through for those that begin or end like one of some names."""
    facts = snapshot.require_facts(place.path)
    words = facts.spec.reflection.member_enumeration
    near = snapshot.paths_with_any(words) & _making(snapshot, names) if words else set()
    language_family, parts = (
        _language_family(snapshot, place.path),
        {part for name in names for part in _parts(name)},
    )
    pattern = re.compile(rb"""["'/^](?:%b)["'/$]""" % b"|".join(sorted(re.escape(part) for part in parts)))
    for path in sorted(one for one in near if parts and _language_family(snapshot, one) == language_family):
        lines = Lines(snapshot.source(RepoPath(path)))
        if (match := pattern.search(lines.data)) is not None:
            return RepoPath(path), lines.position(match.start())[0]
    return None


def _parts(name: str) -> Iterator[bytes]:
    """What a name begins or ends with, up to or from an underscore or a capital on."""
    for at in (at for at, char in enumerate(name) if char == "_"):
        for pattern, part in ((_FIRST, name[: at + 1]), (_LAST, name[at:])):
            if pattern.fullmatch(part):
                yield part.encode("utf-8", "surrogateescape")
    for capital in _CAPITAL.finditer(name) if name[:1].islower() else ():
        yield from (part.encode("utf-8", "surrogateescape") for part in (name[: capital.start()], capital[0]))


def asked_with_name(snapshot: Codebase, place: Place, name: str) -> tuple[str, RepoPath] | None:
    """A definition that may be asked for by a name with another one in it, tests aside, and where it is."""
    language_family = _language_family(snapshot, place.path)
    near = set.intersection(*(set(snapshot.paths_with(part)) for part in parts_of(name) - {name} or {name}))
    candidates = [
        (one, path)
        for path, one in snapshot.defined_with(name, near - snapshot.tests())
        if one != name and _language_family(snapshot, path) == language_family
    ]
    words = {one[:at] for one, _ in candidates for at in range(_LEAST, len(one))}
    asking, calls = (snapshot.dynamics.asking(), snapshot.dynamics.asking(CALLED)) if candidates else ({}, {})
    # To look for very many words takes longer than to look at the files.
    paths = snapshot.paths_with_any(sorted(words)) | near if len(words) <= _MANY else asking.keys()
    for path in sorted(paths & asking.keys()):
        for asked_for in askings(snapshot, path, asking[path]):
            is_any = (asked_for.line, asked_for.column) in calls.get(path, ())
            for one, where in candidates:
                # What is written before the part that is made cannot be made of the name.
                is_written = name in asked_for.begins
                is_asked = bool(asked_for.begins) or (is_any and where == path)
                if one.startswith(asked_for.begins) and is_asked and not is_written:
                    return one, RepoPath(path)
    return None


def _asking(snapshot: Codebase, path: str, near: set[str]) -> Iterator[Asking]:
    """Where some files ask for names that are of the same family of languages as one of them, that first."""
    language_family, asking = _language_family(snapshot, path), snapshot.dynamics.asking()
    for other in sorted(near & asking.keys(), key=lambda one: (one != path, one)):
        if _language_family(snapshot, other) == language_family:
            yield from askings(snapshot, other, asking[other])


def _making(snapshot: Codebase, names: _Names) -> set[RepoPath]:
    """The files with a word that one of the names may be put together of."""
    words = {name[:at] for name in names for at in range(_LEAST, len(name))}
    for name in names:
        ends = [name[-at:] for at in range(_LEAST_LAST, len(name))]
        words.update(before + end for end in ends for before in ("", *_FORMATS))
    return snapshot.paths_with_any(sorted(words))


def _language_family(snapshot: Codebase, path: str) -> str:
    facts = snapshot.facts(path)
    return facts.spec.family if facts is not None else ""


def _is_member(snapshot: Codebase, one: Asking, place: Place, names: _Names) -> bool:
    if one.begins:
        return _begins(one, names)
    if asker := _asker(snapshot, one):
        return _is_of_kin(snapshot, asker, place)
    return one.path == place.path or _is_made(snapshot, one, names)


def _begins(one: Asking, names: _Names) -> bool:
    return any(name.startswith(one.begins) for name in names if name)


def _is_made(snapshot: Codebase, one: Asking, names: _Names) -> bool:
    """Whether a name may be put together there: it begins or ends like a text of the file that is joined."""
    if one.begins:
        return _begins(one, names)
    source = snapshot.source(one.path)
    return any(_is_joined(source, name) for name in names if len(name) > _LEAST)


def _is_joined(source: bytes, name: str) -> bool:
    text = name.encode("utf-8", "surrogateescape")
    first, last = (re.escape(part) for part in (text[:_LEAST], text[-_LEAST_LAST:]))
    begins = re.compile(first + b"(?<=" + _QUOTE + first + b")" + _JOINED_AFTER)
    if any(text.startswith(match[0]) for match in begins.finditer(source)):
        return True
    for match in re.finditer(last + _QUOTE, source):
        ends = _JOINED_BEFORE.search(source[max(0, match.start() - _LOOK) : match.end() - 1])
        if ends is not None and text.endswith(ends[1]):
            return True
    return False


def _is_of_kin(snapshot: Codebase, asker: set[Place], place: Place) -> bool:
    """Whether an instance that is asked by itself may have the members of the class of a place."""
    alike = set(kin(snapshot, place))
    is_open = any(is_external((one,)) and is_untold(one.path) for one in alike)
    return is_open or not asker.isdisjoint(alike)


def _asker(snapshot: Codebase, one: Asking) -> set[Place]:
    """The class whose method asks its own instance; nothing for other holders."""
    facts = snapshot.require_facts(one.path)
    if one.holder not in facts.spec.scopes.self_parameters:
        return set()
    after = [
        occurrence
        for occurrence in snapshot.occurrences(one.path, one.holder)
        if _place(occurrence) > _place(one)
    ]
    at = min(after, key=_place).target - 1 if after else -1
    if at < 0 or facts.binds[at].reason is not Reason.PARAM:
        return set()
    return set(snapshot.receivers.receiver_class(one.path, facts, at))


def _place(one: Asking | Occurrence) -> tuple[int, int]:
    return one.line, one.column
