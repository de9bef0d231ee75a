"""What code may ask for by names that are made at run time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.graph.hierarchy import descendants, owner_of
from codeplane.index import Snapshot
from codeplane.index.receivers import Receivers
from codeplane.index.targets import is_outside
from codeplane.languages import specs
from codeplane.languages._dynamic import asked, beginning
from codeplane.languages.facts import ASKING, Occurrence, Reason
from codeplane.languages.modules import Place
from codeplane.refactor.escape import Reach
from codeplane.refactor.family import Family, is_untold
from codeplane.refactor.text import Lines

_MOST: Final = 100
_NO_MEMBER: Final = "()"  # of what gives the names around a call
_LEAST: Final = 2  # letters of a text that names are put together of
_FORMATS: Final = "sdr"  # letters behind a mark that stands for a value
_LOOK: Final = 100
_QUOTE: Final = rb"""["'`]"""
# What stands around the first and the last part of a text that is put together.
_JOINED_AFTER: Final = rb"""\w*(?=["']\s*\+|["']\s+\.\s|[$#]?\{|%[sdr(])"""
_JOINED_BEFORE: Final = re.compile(rb"""(?:\+\s*["']|\s\.\s+["']|\}|%[sdr]|%\(\w+\)[sdr])(\w+)\Z""")
_PART: Final = re.compile(rb"""["'](?:(?P<first>_?[A-Za-z]\w*_)|(?P<last>_\w*[A-Za-z]))["']""")

_Names = tuple[str, ...]


@dataclass(frozen=True)
class Asking:
    """A place where a name is asked for that is made at run time."""

    path: RepoPath
    line: int
    column: int
    begins: str  # how the name begins; "" where that is not known
    holder: str  # what is asked for it, as written; "" where that is no name
    source: bytes  # of the file


def askings(snapshot: Snapshot, path: RepoPath) -> Iterator[Asking]:
    """The places of a file where members are asked for by names made at run time."""
    found = snapshot.dynamics_in(path, _MOST).items
    asking = [one for one in found if one.computed and one.pattern in ASKING]
    facts = snapshot.linker.sources.facts(path) if asking else None
    if facts is None:
        return
    lines, spec = Lines(snapshot.source(path)), specs()[facts.language]
    for one in asking:
        at = lines.offset(one.line, one.column)
        begins, holder = beginning(spec, lines.data, at), asked(spec, lines.data, at)
        yield Asking(path, one.line, one.column, begins, holder, lines.data)


def asked_member(snapshot: Snapshot, place: Place, names: _Names) -> Asking | None:
    """Where a member may be asked for by one of some names, in its own file first."""
    near = {place.path, *(one.path for one in _kin(snapshot, place))}
    for path in _asking(snapshot, place.path, near | _making(snapshot, names)):
        for one in askings(snapshot, path):
            if not one.holder.endswith(_NO_MEMBER) and _is_member(snapshot, one, place, names):
                return one
    return None


def asked_definition(snapshot: Snapshot, family: Family, reach: Reach, names: _Names) -> Asking | None:
    """Where a definition outside of classes may be asked for: of its module, or of what may hold it."""
    near = reach.modules | reach.importing | _making(snapshot, names)
    for path in _asking(snapshot, min(family.places).path, near):
        for one in askings(snapshot, path):
            if not _begins(one, names) or _asker(snapshot, one):
                continue
            if one.holder.endswith(_NO_MEMBER):
                is_meant = path in reach.modules
            else:
                is_meant = reach.is_named(path, one.holder) or (_is_made(one, names) and reach.is_value)
            if is_meant:
                return one
    return None


def asked_by_part(snapshot: Snapshot, place: Place, names: _Names) -> tuple[RepoPath, int] | None:
    """Where members are looked through for those that begin or end like one of some names."""
    facts = snapshot.linker.sources.facts(place.path)
    words = specs()[facts.language].whole_reads if facts is not None else ()
    near = snapshot.linker.sources.paths_with_any(words) & _making(snapshot, names) if words else set()
    family = _family(snapshot, place.path)
    for path in sorted(one for one in near if _family(snapshot, one) == family):
        lines = Lines(snapshot.source(RepoPath(path)))
        for found in _PART.finditer(lines.data):
            part = (found["first"] or found["last"]).decode()
            is_like = str.startswith if found["first"] else str.endswith
            if any(is_like(name, part) for name in names):
                return RepoPath(path), lines.position(found.start())[0]
    return None


def _asking(snapshot: Snapshot, path: str, near: set[str]) -> Iterator[RepoPath]:
    """Those of some files that ask for names and are of the same family of languages, one of them first."""
    family = _family(snapshot, path)
    found = [one for one in snapshot.linker.sources.asking_by_text() if one in near]
    for one in sorted(found, key=lambda one: one != path):
        if _family(snapshot, one) == family:
            yield RepoPath(one)


def _making(snapshot: Snapshot, names: _Names) -> set[str]:
    """The files with a word that one of the names may be put together of."""
    words = {
        word
        for name in names
        for at in range(_LEAST, len(name))
        for word in (name[:at], *(before + name[-at:] for before in ("", *_FORMATS)))
    }
    return snapshot.linker.sources.paths_with_any(sorted(words))


def _family(snapshot: Snapshot, path: str) -> str:
    facts = snapshot.linker.sources.facts(path)
    return specs()[facts.language].family if facts is not None else ""


def _is_member(snapshot: Snapshot, one: Asking, place: Place, names: _Names) -> bool:
    if one.begins:
        return _begins(one, names)
    if asker := _asker(snapshot, one):
        return _is_of_kin(snapshot, asker, place)
    return one.path == place.path or _is_made(one, names)


def _begins(one: Asking, names: _Names) -> bool:
    return any(name.startswith(one.begins) for name in names if name)


def _is_made(one: Asking, names: _Names) -> bool:
    """Whether a name may be put together there: it begins or ends like a text of the file that is joined."""
    if one.begins:
        return _begins(one, names)
    return any(_is_joined(one.source, name) for name in names if len(name) > _LEAST)


def _is_joined(source: bytes, name: str) -> bool:
    text = name.encode("utf-8", "surrogateescape")
    first, last = (re.escape(part) for part in (text[:_LEAST], text[-_LEAST:]))
    begins = re.compile(first + b"(?<=" + _QUOTE + first + b")" + _JOINED_AFTER)
    if any(text.startswith(found[0]) for found in begins.finditer(source)):
        return True
    for found in re.finditer(last + _QUOTE, source):
        ends = _JOINED_BEFORE.search(source[max(0, found.start() - _LOOK) : found.end() - 1])
        if ends is not None and text.endswith(ends[1]):
            return True
    return False


def _is_of_kin(snapshot: Snapshot, asker: set[Place], place: Place) -> bool:
    """Whether an instance that is asked by itself may have the members of the class of a place."""
    kin = set(_kin(snapshot, place))
    is_open = any(is_outside((one,)) and is_untold(one.path) for one in kin)
    return is_open or not asker.isdisjoint(kin)


def _kin(snapshot: Snapshot, place: Place) -> Iterator[Place]:
    """The classes that an instance with a member may be of, and those that they extend."""
    owner = owner_of(snapshot, place)
    below = [one.place for one, _ in descendants(snapshot, owner)] if owner is not None else []
    for one in (owner, *below):
        for target in snapshot.linker.classes.order((one,)) if one is not None else ():
            yield from target


def _asker(snapshot: Snapshot, one: Asking) -> set[Place]:
    """The class whose method asks its own instance; nothing for other holders."""
    sources = snapshot.linker.sources
    facts = sources.facts(one.path)
    assert facts is not None, "BUG: a file with names that are made has facts"
    if one.holder not in specs()[facts.language].self_parameters:
        return set()
    after = [seen for seen in sources.occurrences(one.path, one.holder) if _place(seen) > _place(one)]
    at = min(after, key=_place).target - 1 if after else -1
    if at < 0 or facts.binds[at].reason is not Reason.PARAM:
        return set()
    return set(Receivers(snapshot.linker).receiver_class(one.path, facts, at))


def _place(one: Asking | Occurrence) -> tuple[int, int]:
    return one.line, one.column
