"""What facts cannot rule out about a name: that something else calls by it."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.graph.hierarchy import INTERFACES, owner_of
from codeplane.graph.places import definition_of, flags_of, position
from codeplane.index import Snapshot
from codeplane.index.targets import CLASSES, is_outside
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST, Occurrence
from codeplane.languages.modules import Place
from codeplane.refactor.asked import asked_by_part, asked_definition, asked_member, asked_with_name
from codeplane.refactor.escape import Reach
from codeplane.refactor.family import Family, may_know, written_base
from codeplane.refactor.keywords import Keywords
from codeplane.refactor.plan import Problem
from codeplane.refactor.text import Lines

_DECORATOR: Final = re.compile(r"^\s*@\s*([\w.]+)", re.MULTILINE)
_BY_PART: Final = "Members are looked through for names that begin or end like this one."
_NAMED: Final = frozenset("class function method interface struct enum trait".split())


def doubts(snapshot: Snapshot, family: Family, new: str = "") -> Iterator[Problem]:
    """Reasons for which a change that is proven in itself may still break something, each told once."""
    told: set[str] = set()
    for one in _found(snapshot, family, new):
        if one.text not in told:
            told.add(one.text)
            yield one


def _found(snapshot: Snapshot, family: Family, new: str) -> Iterator[Problem]:
    yield from family.doubts
    yield from _asked_by_name(snapshot, family)
    yield from _made_of_own_name(snapshot, family)
    for place in sorted(family.places):
        yield from _called_from_outside(snapshot, place)
        yield from _decorated(snapshot, place)
        if new:
            yield from _named(snapshot, place, new)
        yield from _linked(snapshot, place, family)
        yield from _mangled(snapshot, place)
        if family.is_member:
            yield from _dynamic(snapshot, place, new)
            yield from _called(snapshot, place, new)
            yield from _overriding(snapshot, place, new)
    if family.places and not family.is_member:
        yield from _of_module(snapshot, family, new)
    if family.is_local:
        for place in sorted(family.functions):
            yield from _decorated(snapshot, place)
            yield from _parameters_read(snapshot, place, family)
            if flags_of(snapshot, place) & FLAG_TEST:
                item = definition_of(snapshot, place)
                text = f"What runs the tests may give {item.name} its arguments by name."
                yield Problem("test", text, RepoPath(place.path), item.name_line)


def tells_name(snapshot: Snapshot, family: Family) -> bool:
    """Whether code asks definitions for their names, and the family is of those that have an answer."""
    if family.kind not in _NAMED or not family.places:
        return False
    facts = snapshot.linker.sources.facts(min(family.places).path)
    assert facts is not None, "BUG: a definition has a file"
    attributes = specs()[facts.language].name_attributes
    return any(seen.receiver for one in attributes for seen in _seen(snapshot, one))


def _asked_by_name(snapshot: Snapshot, family: Family) -> Iterator[Problem]:
    """Code that asks definitions for their names, and members whose names may be made out of them."""
    if family.kind not in _NAMED or not family.places:
        return
    found = asked_with_name(snapshot, min(family.places), family.name)
    if found is not None and tells_name(snapshot, family):
        text = f"{found[0]} may be found by a name that is made of {family.name} at run time."
        yield Problem("dynamic", text, found[1])


def _made_of_own_name(snapshot: Snapshot, family: Family) -> Iterator[Problem]:
    """Code that makes another name of those of definitions, where it is written in small letters as well."""
    is_asked = family.kind in ("class", "function") and bool(family.places)
    if not is_asked or not _is_written_small(snapshot, family.name):
        return
    place = min(family.places)
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    spec = specs()[facts.language]
    for word in spec.name_attributes if spec.own_name_made else ():
        for path in snapshot.linker.sources.paths_with(word):
            standing = [one for one in snapshot.linker.sources.occurrences(path, word) if one.receiver]
            lines = Lines(snapshot.source(RepoPath(path)) if standing else b"")
            for seen in standing:
                found = re.search(spec.own_name_made, lines.text(seen.line))
                if found is not None and _may_be_of(snapshot, family, Place(path, seen.line), found[1]):
                    text = f"Another name is made of those of definitions: {family.name} may be found by it."
                    yield Problem("dynamic", text, RepoPath(path), seen.line)
                    return


def _is_written_small(snapshot: Snapshot, name: str) -> bool:
    text = name.lower().encode("utf-8", "surrogateescape")
    small = re.compile(re.escape(text) + rb"(?<![^\W_]" + re.escape(text) + rb")(?![^\W_])")
    paths = snapshot.linker.sources.paths_with(name.lower()) if name != name.lower() else ()
    return any(small.search(snapshot.source(RepoPath(path))) for path in paths)


def _may_be_of(snapshot: Snapshot, family: Family, at: Place, holder: str) -> bool:
    """Whether what is asked for its name in a line of a file may be one of a family."""
    facts = snapshot.linker.sources.facts(at.path)
    if facts is None or holder not in specs()[facts.language].own_class:
        return True
    around = [
        Place(at.path, number)
        for number, item in enumerate(facts.definitions)
        if item.kind in CLASSES and item.span.start_line <= at.definition <= item.span.end_line
    ]
    own = {
        place for one in family.places for target in snapshot.linker.classes.order((one,)) for place in target
    }
    return not around or not own.isdisjoint(around)


def _mangled(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Names that hold that of a class, because they are private to it."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    item, mangled = definition_of(snapshot, place), specs()[facts.language].mangled
    if not mangled or item.kind not in CLASSES:
        return
    beginning = mangled.replace("NAME", item.name.lstrip("_"))
    for path in snapshot.linker.sources.paths_with_beginning(beginning):
        lines = Lines(snapshot.source(RepoPath(path)))
        found = re.search(rf"\b{re.escape(beginning)}\w".encode(), lines.data)
        if found is not None:
            text = f"Names that begin with {beginning} are private to {item.name}."
            yield Problem("mangled", text, RepoPath(path), lines.position(found.start())[0])
            return


def _parameters_read(snapshot: Snapshot, place: Place, family: Family) -> Iterator[Problem]:
    """Functions that are handed on where functions are asked for the names of their parameters, or beside a
    text that is the name of one."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    taken = Keywords(snapshot, family).taking(place)
    words = specs()[facts.language].reads_parameters if taken else ()
    read = sorted(snapshot.linker.sources.paths_with_any(words)) if words else []
    item = definition_of(snapshot, place)
    if read:
        text = f"{item.name} is handed on, and functions are asked for the names of their parameters."
        yield Problem("dynamic", text, RepoPath(read[0]))
    quoted = re.compile(rf"""["']{re.escape(family.name)}["']""".encode("utf-8", "surrogateescape"))
    for path in taken:
        lines = Lines(snapshot.source(path))
        if (found := quoted.search(lines.data)) is not None:
            text = f"{item.name} is handed on beside a text that is the name of the parameter."
            yield Problem("dynamic", text, path, lines.position(found.start())[0])


def _seen(snapshot: Snapshot, name: str) -> Iterator[Occurrence]:
    for path in snapshot.linker.sources.paths_with(name):
        yield from snapshot.linker.sources.occurrences(path, name)


def _called_from_outside(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Names that test runners and other frameworks look for."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    item, hooks = definition_of(snapshot, place), specs()[facts.language].hooks
    is_test = bool(flags_of(snapshot, place) & FLAG_TEST)
    if is_test or (hooks and re.fullmatch(hooks, item.name)):
        text = f"{item.name} is a name that a framework calls by."
        yield Problem("hook", text, RepoPath(place.path), item.name_line)


def _decorated(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Decorators may keep what they decorate under its name: fixtures, commands, routes."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    item = definition_of(snapshot, place)
    if item.span.start_line == item.name_line:
        return
    lines = Lines(snapshot.source(RepoPath(place.path)))
    above = "\n".join(lines.text(line) for line in range(item.span.start_line, item.name_line))
    plain = specs()[facts.language].plain_decorators
    for name in dict.fromkeys(_DECORATOR.findall(above)):
        if name.rsplit(".", 1)[-1] not in plain:
            text = f"`@{name}` may keep {item.name} under its name."
            yield Problem("decorated", text, RepoPath(place.path), item.name_line)


def _named(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """What a definition is for may follow from its name: a test, something that others see."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    spec, item = specs()[facts.language], definition_of(snapshot, place)
    pattern = spec.tests.get(item.kind)
    if pattern and flags_of(snapshot, place) & FLAG_TEST and not re.fullmatch(pattern, new):
        text = f"{item.name} is a test by its name; {new} would not be one."
        yield Problem("test", text, RepoPath(place.path), item.name_line)
    if spec.named_files and place.path.rsplit("/", 1)[-1].startswith(f"{item.name}.") and item.parent < 0:
        text = f"{item.name} is named like its file, which has to be moved as well (refactor_move)."
        yield Problem("file_name", text, RepoPath(place.path), item.name_line)
    if spec.default_exports == "capital" and item.name[:1].isupper() != new[:1].isupper():
        told = (
            f"{new} is seen by other packages" if new[:1].isupper() else f"{new} is seen by its package alone"
        )
        yield Problem("export", f"{told}, unlike {item.name}.", RepoPath(place.path), item.name_line)


def _linked(snapshot: Snapshot, place: Place, family: Family) -> Iterator[Problem]:
    """Where files are put together by name: another definition of the name may be the one that is meant."""
    sources = snapshot.linker.sources
    facts = sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    spec, item = specs()[facts.language], definition_of(snapshot, place)
    if not spec.prototypes or item.kind != "function" or item.signature.startswith("static"):
        return
    for other in sources.definitions(item.name):
        there = sources.facts(other.path)
        is_near = there is not None and specs()[there.language].family == spec.family
        if other not in family.places and is_near and definition_of(snapshot, other).kind == item.kind:
            text = f"There is another {item.name}: {position(snapshot, other)}."
            yield Problem("linked", text, RepoPath(place.path), item.name_line)
            return


def _called(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members that the language's library may call, or an interface that nobody names may ask for."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    spec, item = specs()[facts.language], definition_of(snapshot, place)
    for name in (item.name, new):
        if spec.called and item.kind != "constructor" and re.fullmatch(spec.called, name):
            text = f"Members named {name} may be called without a word about it in the code."
            yield Problem("called", text, RepoPath(place.path), item.name_line)
    if not spec.silent_interfaces:
        return
    for name in (item.name, new):
        for holder, kind in snapshot.linker.sources.held(name):
            other = snapshot.linker.sources.facts(holder.path)
            is_near = other is not None and specs()[other.language].family == spec.family
            if kind in INTERFACES and is_near and not _is_of_family(snapshot, place, holder):
                told = definition_of(snapshot, holder).name
                text = f"{told} has a member {name}, which may be implemented without naming {told}."
                yield Problem("silent_interface", text, RepoPath(place.path), item.name_line)


def _overriding(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members of classes outside of the repository that the new name would take the place of."""
    owner = owner_of(snapshot, place)
    if owner is None or not new:
        return
    item = definition_of(snapshot, place)
    for target in snapshot.linker.classes.order((owner,))[1:]:
        base = written_base(target[0].path) if is_outside(target) else ""
        known = base and not may_know(snapshot, place, base, item.name)
        if known and may_know(snapshot, place, base, new):
            text = f"{base} has a member {new}, which this one would take the place of."
            yield Problem("outside_base", text, RepoPath(place.path), item.name_line)


def _is_of_family(snapshot: Snapshot, place: Place, holder: Place) -> bool:
    """Whether the class of a member says that it implements an interface."""
    owner = owner_of(snapshot, place)
    order = snapshot.linker.classes.order((owner,)) if owner is not None else []
    return any(holder in target for target in order)


def _dynamic(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members that are asked for by names made at run time."""
    names = (definition_of(snapshot, place).name, new)
    if (found := asked_member(snapshot, place, names)) is not None:
        text = "Members are asked for by names that are made at run time."
        yield Problem("dynamic", text, found.path, found.line)
    elif (part := asked_by_part(snapshot, place, names)) is not None:
        yield Problem("dynamic", _BY_PART, *part)


def _of_module(snapshot: Snapshot, family: Family, new: str) -> Iterator[Problem]:
    """Definitions of a module that code may get at by names that are not written."""
    reach = Reach(snapshot, family)
    if read := reach.read_whole():
        text = "All names of a module that shows it are read at run time."
        yield Problem("dynamic", text, RepoPath(read[0]), read[1])
    elif part := asked_by_part(snapshot, min(family.places), (family.name, new)):
        yield Problem("dynamic", _BY_PART, *part)
    elif (found := asked_definition(snapshot, family, reach, (family.name, new))) is not None:
        text = "A name that is made at run time is asked of its module, or may be."
        yield Problem("dynamic", text, found.path, found.line)
