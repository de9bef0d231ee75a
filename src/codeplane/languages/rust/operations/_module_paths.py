"""Which module of a file a path leads to."""

from enum import Enum

from codeplane.languages.facts import Facts, Occurrence, ScopeKind
from codeplane.languages.operations import Source

_ROOTS = ("lib", "main")


class Meaning(Enum):
    """Whether a place means what is asked for."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


def module_of(facts: Facts, scope: int) -> int:
    """The scope of the module that a scope is in."""
    while scope > 0 and facts.scopes[scope].kind is not ScopeKind.NAMESPACE:
        scope = facts.scopes[scope].parent
    return max(scope, 0)


def item_meaning(source: Source, facts: Facts, one: Occurrence, offset: int, module: int) -> Meaning:
    """Whether an occurrence that no scope leads to its item means one of a module by a path or a glob."""
    here = module_of(facts, one.scope)
    if one.receiver:
        if not source.data[:offset].rstrip().endswith(b"::"):
            return Meaning.NO
        return _path_meaning(source, facts, facts.receivers[one.receiver - 1], here, module)
    if one.target:
        bind = facts.binds[one.target - 1]
        if bind.reason.name != "IMPORT_ALIAS":
            return Meaning.NO
        return _path_meaning(source, facts, facts.imports[bind.target].module, here, module)
    globs = [
        item.module for item in facts.imports if item.name == "*" and module_of(facts, item.scope) == here
    ]
    meanings = {_path_meaning(source, facts, path, here, module) for path in globs}
    if Meaning.YES in meanings:
        return Meaning.YES
    return Meaning.UNCLEAR if Meaning.UNCLEAR in meanings else Meaning.NO


def _path_meaning(source: Source, facts: Facts, path: str, here: int, module: int) -> Meaning:
    """Whether a path leads from one module of the file to another."""
    stem = source.path.rpartition("/")[2].removesuffix(".rs")
    current = here
    for name in path.replace(" ", "").removesuffix("::").split("::"):
        if name == "self":
            continue
        if name == "crate" and stem in _ROOTS:
            current = 0
        elif name == "super" and current:
            current = module_of(facts, facts.scopes[current].parent)
        elif name in ("crate", "super", ""):
            # Outside of the file; back into it only by its own name.
            return Meaning.UNCLEAR if stem in path.split("::") else Meaning.NO
        else:
            bodies = [
                one.body
                for one in facts.definitions
                if one.kind in ("module", "namespace") and one.name == name and one.scope == current
            ]
            if len(bodies) != 1 or bodies[0] < 0:
                return Meaning.UNCLEAR if bodies else Meaning.NO
            current = bodies[0]
    return Meaning.YES if current == module else Meaning.NO
