"""What is asked for all that it holds at once: then the names of its fields are values of the program."""

import re
from collections.abc import Collection
from functools import partial
from typing import Final

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot
from codeplane.graph.hierarchy import owner_of
from codeplane.languages import specs
from codeplane.languages.arguments import whole_words, wholes
from codeplane.languages.facts import Reason
from codeplane.names import Codebase
from codeplane.names.meaning import is_external, known
from codeplane.refactor.rename_set import RenameSet, kin
from codeplane.refactor.text import Lines

_BULK_READS: Final = ContentSlot[list[tuple[int, str, tuple[int, int] | None]]]("reads of all fields")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$.]*")
_MADE: Final = re.compile(r"(?:new\s+)?([A-Za-z_$][\w$.]*)\(.*\)\Z", re.DOTALL)


def asking(snapshot: Codebase, paths: Collection[str]) -> list[str]:
    """The files among some that may ask something for all its fields, by their words."""
    by_language: dict[str, list[str]] = {}
    for path in paths:
        if (facts := snapshot.facts(path)) is not None and specs()[
            facts.language
        ].reflection.bulk_field_access:
            by_language.setdefault(facts.language, []).append(path)
    hits: list[str] = []
    for language, some in by_language.items():
        words = whole_words(language)
        having = snapshot.paths_with_any(words) if words else some
        hits += [path for path in some if path in having]
    return sorted(hits)


def asked_whole(snapshot: Codebase, path: str) -> list[tuple[int, str]]:
    """The lines of a file where something is asked for all its fields, and what that is, as written."""
    facts = snapshot.facts(path)
    if facts is None or not facts.spec.reflection.bulk_field_access:
        return []
    read = partial(_read, facts.language, snapshot.source(RepoPath(path)))
    reads = facts.derived(_BULK_READS, read)
    return [(line, holder) for line, holder, at in reads if at is None or _is_outside(snapshot, path, *at)]


def _read(language: str, data: bytes) -> list[tuple[int, str, tuple[int, int] | None]]:
    lines = Lines(data)
    return [
        (
            lines.position(start)[0],
            data[start:end].decode("utf-8", "replace"),
            lines.position(asking) if asking >= 0 else None,
        )
        for start, end, asking in wholes(language, data)
    ]


def _is_outside(snapshot: Codebase, path: str, line: int, column: int) -> bool:
    """Whether the function that is named at a place is not one of the program."""
    standing = snapshot.occurrence_at(path, line, column)
    facts = snapshot.facts(path)
    if standing is None or facts is None:
        return True
    _, occurrence = standing
    head = facts.receivers[occurrence.receiver - 1] if occurrence.receiver else ""
    if head:
        return any(item.alias == head and not item.name for item in facts.imports)
    bind = facts.binds[occurrence.target - 1] if occurrence.target else None
    if bind is None:
        return True
    is_import = bind.reason is Reason.IMPORT_ALIAS
    target = snapshot.imported(path, bind.target) if is_import else ()
    return is_import and (not known(target) or is_external(target))


def read_whole(snapshot: Codebase, rename_set: RenameSet) -> tuple[RepoPath, int] | None:
    """Where the fields of instances that may have a rename set are got or set by their names."""
    if not rename_set.is_member or not _is_held(snapshot, rename_set):
        return None
    classes = {one for place in rename_set.places for one in kin(snapshot, place) if not is_external((one,))}
    owners = {owner for place in rename_set.places if (owner := owner_of(snapshot, place)) is not None}
    naming = {one.path for one in classes}
    naming |= {
        ref.path for one in owners for ref in snapshot.structural_references.to(one) if one in ref.target
    }
    for path in asking(snapshot, naming):
        for line, holder in asked_whole(snapshot, path):
            is_type = _is_type(snapshot, path, holder) and rename_set.kind != "enum_member"
            if not is_type and _may_be_of(snapshot, Place(RepoPath(path), line), holder, classes):
                return RepoPath(path), line
    return None


def _is_type(snapshot: Codebase, path: str, holder: str) -> bool:
    """Whether a type is asked, where that has nothing by name but the members of an enumeration."""
    facts = snapshot.facts(path)
    is_static = facts is not None and facts.spec.types.static_types
    return is_static and holder[:1].isupper() and _NAME.fullmatch(holder) is not None


def _is_held(snapshot: Codebase, rename_set: RenameSet) -> bool:
    """Whether a rename set is what an instance gives when it is asked for all that it holds."""
    place = min(rename_set.places)
    definition = snapshot.definition(place)
    spec, item = specs()[definition.language], definition.item
    is_private = spec.default_exports == "capital" and not item.name[:1].isupper()
    is_method = (
        bool(spec.reflection.accessor_methods)
        and re.fullmatch(spec.reflection.accessor_methods, item.name) is not None
    )
    if is_private or (item.kind not in spec.reflection.bulk_field_kinds and not is_method):
        return False
    line = Lines(snapshot.source(place.path)).text(item.name_line) if spec.reflection.serialized_name else ""
    return not spec.reflection.serialized_name or re.search(spec.reflection.serialized_name, line) is None


def _may_be_of(snapshot: Codebase, at: Place, holder: str, classes: set[Place]) -> bool:
    """Whether what is asked in a line of a file may be of some classes, or one of them."""
    facts = snapshot.require_facts(at.path)
    spec = facts.spec
    if holder in (*spec.scopes.self_parameters, *spec.scopes.self_keywords, *spec.reflection.own_class):
        around = {
            Place(at.path, number)
            for number in facts.definitions.around(at.definition)
            if facts.definitions.kind(number) in CLASSES
        }
        return not around or not classes.isdisjoint(around)
    constructor = _MADE.match(holder)
    name = constructor[1] if constructor else holder if _NAME.fullmatch(holder) else ""
    if name[:1].isupper() and name.rsplit(".", 1)[-1] not in _names(snapshot, classes):
        return False  # another class, as it is written
    target = known(snapshot.written(at.path, 0, name)) if name else ()
    if not target:
        return not _is_module(snapshot, at.path, name)
    is_class = any(_is_class(snapshot, one) for one in target)
    return not classes.isdisjoint(target) if is_class else all(one.definition >= 0 for one in target)


def _names(snapshot: Codebase, classes: set[Place]) -> set[str]:
    return {snapshot.definition(one).name for one in classes if one.definition >= 0}


def _is_class(snapshot: Codebase, place: Place) -> bool:
    return place.definition >= 0 and snapshot.definition_kind(place) in CLASSES


def _is_module(snapshot: Codebase, path: str, name: str) -> bool:
    imports = snapshot.imports(path)
    return any(item.alias == name and not item.name for item in imports)
