"""Which files lead to another without an import: files of its package, and paths that are written out."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.facts import Import
from codeplane.languages.modules import module_rules
from codeplane.names import FileFacts, Snapshot
from codeplane.names.meaning import known

_MOST_NAMES: Final = 200  # of one file, looked for in others
_MODULES: Final = InterfaceSlot[tuple[str, int | None], frozenset[str]]("modules that a file reaches")


def leading_without_import(snapshot: Snapshot, path: str) -> set[str]:
    """The files that use a file, or declare it as a module, with no import that would say so."""
    facts = snapshot.facts(path)
    if facts is None:
        return set()
    spec = facts.spec
    if spec.scopes.module_keywords:
        return set(_by_path(snapshot, path, facts))
    return set(_in_package(snapshot, path, facts)) if spec.scopes.imports_single_files else set()


def around(snapshot: Snapshot, path: str) -> frozenset[str]:
    """The files that a file sees by being in the same package."""
    facts = snapshot.facts(path)
    rules = module_rules(facts.language) if facts is not None else None
    groups = rules.ambient(snapshot.rule_sources, Place(RepoPath(path))) if rules is not None else ()
    return frozenset(place.path for group in groups[:1] for place in group) - {path}


def outer_names(facts: FileFacts | None) -> list[str]:
    """What a file defines outside of its functions and classes, each name once."""
    items = facts.definitions if facts is not None else ()
    names = [item.name for item in items if item.parent < 0 or items[item.parent].kind == "namespace"]
    return list(dict.fromkeys(names))[:_MOST_NAMES]


def _in_package(snapshot: Snapshot, path: str, facts: FileFacts) -> Iterator[str]:
    others = around(snapshot, path)
    for name in outer_names(facts) if others else ():
        yield from others.intersection(snapshot.paths_with(name))


def _by_path(snapshot: Snapshot, path: str, facts: FileFacts) -> Iterator[str]:
    """The files that say `mod name;`, or name something of a module behind words like `crate::`."""
    *folders, file = path.split("/")
    names = {file.partition(".")[0], *folders[-1:], *outer_names(facts)}
    for other in {one for name in names for one in snapshot.paths_with(name)} - {path}:
        if path in _written(snapshot, other):
            yield other


def _written(snapshot: Snapshot, path: str) -> frozenset[str]:
    """The files that a file declares as its modules, or reaches by paths from a module on."""
    key = (path, snapshot.layout.blobs.get(path))
    return snapshot.once(
        _MODULES, key, lambda: frozenset(place.path for place in _find_places(snapshot, path))
    )


def _find_places(snapshot: Snapshot, path: str) -> Iterator[Place]:
    facts = snapshot.facts(path)
    rules = module_rules(facts.language) if facts is not None else None
    keywords = facts.spec.scopes.module_keywords if facts is not None else ()
    if facts is None or rules is None or not keywords:
        return
    for item in facts.definitions:
        if item.kind == "module" and item.body < 0:
            yield from rules.submodule(snapshot.rule_sources, Place(RepoPath(path), item.parent), item.name)
    for text in facts.receivers:
        if split_path(text)[0] in keywords:
            yield from known(snapshot.followed(path, Import(0, "", text, "", "", 0, 0)))
