"""What facts cannot rule out about a name: that something else calls by it."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.graph.hierarchy import is_class, owner_of
from codeplane.graph.places import flags_of, position
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.modules import Place
from codeplane.names import Snapshot
from codeplane.names.meaning import is_external, known
from codeplane.refactor.occurrences.keywords import Keywords
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.bulk_field_access import asked_whole, read_whole
from codeplane.refactor.reflection.by_name import (
    asked_by_part,
    asked_definition,
    asked_member,
    asked_otherwise,
    is_put_together,
)
from codeplane.refactor.reflection.decorators import marks
from codeplane.refactor.reflection.fixtures import is_fixture
from codeplane.refactor.reflection.macro_paste import made_of
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.reflection.name_reads import named
from codeplane.refactor.rename_set import RenameSet, is_untold, may_know, written_base
from codeplane.refactor.risks.test_doubles import doubles
from codeplane.refactor.text import Lines

_HELD: Final = frozenset("field property variable constant enum_member variant member".split())
_BY_PART: Final = "Members are looked through for names that begin or end like this one."


def doubts(snapshot: Snapshot, family: RenameSet, new: str = "") -> Iterator[Problem]:
    """Reasons for which a change that is proven in itself may still break something, each told once."""
    told: set[str] = set()
    for one in _found(snapshot, family, new):
        if one.text not in told:
            told.add(one.text)
            yield one


def _generating(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    facts = snapshot.require_facts(place.path)
    if facts.spec.renaming.generates_code:
        text = "Code is generated from this, and uses the name in other languages."
        yield Problem("generated", text, RepoPath(place.path), snapshot.definition(place).name_line)


def _found(snapshot: Snapshot, family: RenameSet, new: str) -> Iterator[Problem]:
    yield from family.doubts
    yield from named(snapshot, family)
    if family.places:
        yield from made_of(snapshot, min(family.places).path, (family.name, new) if new else (family.name,))
    for place in sorted(family.places):
        yield from _generating(snapshot, place)
        yield from _called_from_outside(snapshot, place)
        yield from _decorated(snapshot, place)
        if new:
            yield from _named(snapshot, place, new)
        yield from _linked(snapshot, place, family)
        yield from _mangled(snapshot, place)
        if family.is_member:
            yield from _told_by_value(snapshot, place)
            yield from _dynamic(snapshot, place, new)
            yield from _called(snapshot, place, new)
            yield from _overriding(snapshot, place, new)
    yield from doubles(snapshot, family)
    if family.is_member:
        yield from _of_unknown(snapshot, family)
    if (whole := read_whole(snapshot, family)) is not None:
        yield Problem("whole", "All fields are got or set by their names here.", *whole)
    if family.places and not family.is_member:
        yield from _of_module(snapshot, family, new)
    if family.is_local:
        for place in sorted(family.functions):
            yield from _decorated(snapshot, place)
            yield from _parameters_read(snapshot, place, family)
            if flags_of(snapshot, place) & FLAG_TEST:
                item = snapshot.definition(place).item
                text = f"What runs the tests may give {item.name} its arguments by name."
                yield Problem("test", text, RepoPath(place.path), item.name_line)


def _of_unknown(snapshot: Snapshot, family: RenameSet) -> Iterator[Problem]:
    """Members of classes with a base of which nothing is known: it may be a class of the family."""
    near = _family(snapshot, min(family.places).path)
    for place in snapshot.definitions(family.name):
        owner = owner_of(snapshot, place) if place not in family.places else None
        if owner is None or not is_class(snapshot, owner) or _family(snapshot, place.path) != near:
            continue
        for target in snapshot.classes.order((owner,))[1:]:
            if is_external(target) and is_untold(target[0].path):
                text = (
                    f"{snapshot.definition(owner).name} has a member {family.name} and extends "
                    f"{written_base(target[0].path)}, of which nothing is known."
                )
                line = snapshot.definition(place).name_line
                yield Problem("unknown_base", text, RepoPath(place.path), line)
                return


def _family(snapshot: Snapshot, path: str) -> str:
    facts = snapshot.facts(path)
    return facts.spec.family if facts is not None else ""


def _mangled(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Names that hold that of a class, because they are private to it, and what they hold of the class."""
    item, spec = snapshot.definition(place).item, specs()[snapshot.definition(place).language]
    mangled_prefix = spec.reflection.mangled_prefix
    if not mangled_prefix(item.name):
        return
    owner = owner_of(snapshot, place)
    if item.kind in CLASSES:
        beginning, rest = mangled_prefix(item.name), r"\w"
    elif owner is not None and owner.definition >= 0 and spec.types.is_mangled(item.name):
        begins = mangled_prefix(snapshot.definition(owner).name)
        beginning, rest = begins + item.name.removeprefix("__"), r"\b"
    else:
        return
    for path in snapshot.paths_with_beginning(beginning):
        lines = Lines(snapshot.source(RepoPath(path)))
        found = re.search(rf"\b{re.escape(beginning)}{rest}".encode(), lines.data)
        if found is not None:
            text = f"Names that begin with {beginning} hold the name of {item.name}."
            yield Problem("mangled", text, RepoPath(path), lines.position(found.start())[0])
            return


def _told_by_value(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Members whose values are told the names that they are bound to."""
    item, spec = snapshot.definition(place).item, specs()[snapshot.definition(place).language]
    line = (
        Lines(snapshot.source(RepoPath(place.path))).text(item.name_line)
        if spec.reflection.set_name_hook
        else ""
    )
    made = re.match(rf"\s*{re.escape(item.name)}\s*(?::[^=]+)?=\s*([\w.]+)\(", line)
    target = known(snapshot.written(place.path, item.scope, made[1])) if made else ()
    if target and known(snapshot.classes.member(target, spec.reflection.set_name_hook)):
        text = f"The value of {item.name} is told the name that it is bound to."
        yield Problem("told", text, RepoPath(place.path), item.name_line)


def _parameters_read(snapshot: Snapshot, place: Place, family: RenameSet) -> Iterator[Problem]:
    """Functions that are handed on where functions are asked for the names of their parameters, or beside a
    text that is the name of one."""
    taken = Keywords(snapshot, family).taking(place)
    words = specs()[snapshot.definition(place).language].reflection.signature_inspection if taken else ()
    near = sorted(snapshot.paths_with_any(words)) if words else []
    read = [path for path in near if _has_name(snapshot, path, words)]
    item = snapshot.definition(place).item
    if read:
        text = f"{item.name} is handed on, and functions are asked for the names of their parameters."
        yield Problem("dynamic", text, RepoPath(read[0]))
    quoted = re.compile(rf"""["']{re.escape(family.name)}["']""".encode("utf-8", "surrogateescape"))
    for path in taken:
        lines = Lines(snapshot.source(path))
        if (found := quoted.search(lines.data)) is not None:
            text = f"{item.name} is handed on beside a text that is the name of the parameter."
            yield Problem("dynamic", text, path, lines.position(found.start())[0])


def _has_name(snapshot: Snapshot, path: str, words: Sequence[str]) -> bool:
    """Whether code of a file has one of some names in it."""
    return any(any(True for _ in snapshot.occurrences(path, word)) for word in words)


def _called_from_outside(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Names that test runners and other frameworks look for."""
    item, hooks = (
        snapshot.definition(place).item,
        specs()[snapshot.definition(place).language].testing.framework_hooks,
    )
    is_test = bool(flags_of(snapshot, place) & FLAG_TEST)
    if is_test or (hooks and re.fullmatch(hooks, item.name)):
        text = f"{item.name} is a name that a framework calls by."
        yield Problem("hook", text, RepoPath(place.path), item.name_line)


def _decorated(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Decorators may keep what they decorate under its name: fixtures, commands, routes."""
    item = snapshot.definition(place).item
    for name in marks(snapshot, place) if not is_fixture(snapshot, place) else ():
        text = f"`{name}` may keep {item.name} under its name."
        yield Problem("decorated", text, RepoPath(place.path), item.name_line)
    owner = owner_of(snapshot, place) if item.kind in _HELD else None
    if owner is None or owner.definition < 0:
        return
    holder = snapshot.definition(owner).name
    for name in marks(snapshot, owner, of_fields=True):
        if _may_look(snapshot, owner, name):
            text = f"`{name}` may make something of the names of what {holder} holds."
            yield Problem("decorated", text, RepoPath(place.path), item.name_line)


def _may_look(snapshot: Snapshot, owner: Place, mark: str) -> bool:
    """Whether what stands before a class may look at its fields; code of the repository shows that."""
    target = known(snapshot.written(owner.path, 0, mark.lstrip("@")))
    asking = snapshot.dynamics.asking() if target and not is_external(target) else {}
    own = [one.path for one in target if not is_external((one,))]
    return not own or any(path in asking or asked_whole(snapshot, path) for path in own)


def _named(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """What a definition is for may follow from its name: a test, something that others see."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    pattern = spec.tests.get(item.kind)
    if pattern and flags_of(snapshot, place) & FLAG_TEST and not re.fullmatch(pattern, new):
        text = f"{item.name} is a test by its name; {new} would not be one."
        yield Problem("test", text, RepoPath(place.path), item.name_line)
    if (
        spec.renaming.type_names_file
        and place.path.rsplit("/", 1)[-1].startswith(f"{item.name}.")
        and item.parent < 0
    ):
        text = f"{item.name} is named like its file, which has to be moved as well (refactor_move)."
        yield Problem("file_name", text, RepoPath(place.path), item.name_line)
    if spec.default_exports == "capital" and item.name[:1].isupper() != new[:1].isupper():
        told = (
            f"{new} is seen by other packages" if new[:1].isupper() else f"{new} is seen by its package alone"
        )
        yield Problem("export", f"{told}, unlike {item.name}.", RepoPath(place.path), item.name_line)


def _linked(snapshot: Snapshot, place: Place, family: RenameSet) -> Iterator[Problem]:
    """Where files are put together by name: another definition of the name may be the one that is meant."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    if not spec.renaming.prototypes or item.kind != "function" or item.signature.startswith("static"):
        return
    for other in snapshot.definitions(item.name):
        there = snapshot.require_facts(other.path)
        is_near = there.spec.family == spec.family
        if other not in family.places and is_near and snapshot.definition(other).kind == item.kind:
            text = f"There is another {item.name}: {position(snapshot, other)}."
            yield Problem("linked", text, RepoPath(place.path), item.name_line)
            return


def _called(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members that the language's library may call, or an interface that nobody names may ask for."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    for name in (item.name, new):
        if (
            spec.reflection.protocol_members
            and item.kind != "constructor"
            and re.fullmatch(spec.reflection.protocol_members, name)
        ):
            text = f"Members named {name} may be called without a word about it in the code."
            yield Problem("called", text, RepoPath(place.path), item.name_line)
    if not spec.types.structural_kinds:
        return
    for name in (item.name, new):
        for holder, kind in snapshot.held(name):
            other = snapshot.facts(holder.path)
            is_near = other is not None and specs()[other.language].family == spec.family
            if kind in spec.types.structural_kinds and is_near and not _is_of_family(snapshot, place, holder):
                told = snapshot.definition(holder).name
                text = f"{told} has a member {name}, which may be implemented without naming {told}."
                yield Problem("silent_interface", text, RepoPath(place.path), item.name_line)


def _overriding(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members of classes outside of the repository that the new name would take the place of."""
    owner = owner_of(snapshot, place)
    if owner is None or not new:
        return
    item = snapshot.definition(place).item
    for target in snapshot.classes.order((owner,))[1:]:
        base = written_base(target[0].path) if is_external(target) else ""
        known = base and not may_know(snapshot, place, base, item.name)
        if known and may_know(snapshot, place, base, new):
            text = f"{base} has a member {new}, which this one would take the place of."
            yield Problem("outside_base", text, RepoPath(place.path), item.name_line)


def _is_of_family(snapshot: Snapshot, place: Place, holder: Place) -> bool:
    """Whether the class of a member says that it implements an interface."""
    owner = owner_of(snapshot, place)
    order = snapshot.classes.order((owner,)) if owner is not None else []
    return any(holder in target for target in order)


def _dynamic(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members that are asked for by names made at run time."""
    names = (snapshot.definition(place).name, new)
    found = asked_member(snapshot, place, names)
    is_made = found is not None and is_put_together(snapshot, found, names)
    if found is not None:
        text = "Members are asked for by names that are made at run time."
        yield Problem("dynamic" if is_made else "any_name", text, found.path, found.line)
    if is_made:
        return
    if (part := asked_by_part(snapshot, place, names)) is not None:
        yield Problem("dynamic", _BY_PART, *part)
    elif (other := asked_otherwise(snapshot, place.path, names[:1])) is not None:
        text = f"`{other.text}` may be made a name that members are asked for by."
        yield Problem("spelled", text, other.path, other.line)


def _of_module(snapshot: Snapshot, family: RenameSet, new: str) -> Iterator[Problem]:
    """Definitions of a module that code may get at by names that are not written."""
    reach = Reach(snapshot, family)
    if read := reach.read_whole():
        text = "All names of a module that shows it are read at run time."
        yield Problem("dynamic", text, RepoPath(read[0]), read[1])
    elif part := asked_by_part(snapshot, min(family.places), (family.name, new)):
        yield Problem("dynamic", _BY_PART, *part)
    elif (found := asked_definition(snapshot, family, reach, (family.name, new))) is not None:
        text = "A name that is made at run time is asked of its module, or may be."
        is_made = is_put_together(snapshot, found, (family.name, new))
        yield Problem("dynamic" if is_made else "any_name", text, found.path, found.line)
