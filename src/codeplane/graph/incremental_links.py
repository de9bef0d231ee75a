"""Which files have to be looked at again when some have changed: those that import what is another now."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from codeplane.names import Change, Codebase, FileFacts, Snapshot

_MOST_NAMES: Final = 300


class Doubtful(NamedTuple):
    """Files whose imports may lead elsewhere now, and files that are gone."""

    again: frozenset[str]
    removals: frozenset[str]


def doubtful_after(snapshot: Snapshot, changes: Iterable[Change]) -> Doubtful | None:
    """What changes put in doubt; None where that may be anything."""
    first: dict[str, int | None] = {}
    last: dict[str, int | None] = {}
    for change in changes:
        first.setdefault(change.path, change.old_blob)
        last[change.path] = change.blob
    names: set[str] = set()
    for path in first:
        changed_names = _names(snapshot, path, first[path], last[path])
        if changed_names is None:
            return None
        names |= changed_names
    if len(names) > _MOST_NAMES:
        return None
    there = {path for path in first if path in snapshot.layout.blobs}
    return Doubtful(frozenset(there | snapshot.importing(names)), frozenset(first.keys() - there))


def _names(code: Codebase, path: str, old: int | None, new: int | None) -> set[str] | None:
    """The names by which an import elsewhere may notice the change of one file; None for any."""
    if any(blob is not None and not code.has_blob(blob) for blob in (old, new)):
        return None
    before = code.facts_of(old) if old is not None else None
    after = code.facts_of(new) if new is not None else None
    if before is None and after is None:
        return set()
    if before is not None and after is not None:
        is_same = (before.language, before.package) == (after.language, after.package)
        return _differing(before, after) if is_same else None
    only = before or after
    # A file that is one of several of a package is found by the package, and so are new directories.
    directory, _, name = path.rpartition("/")
    if only is None or only.package or not _is_among_others(code, directory, name):
        return None
    return {name.split(".")[0], directory.rpartition("/")[2]} | {offer[0] for offer in _list_offers(only)}


def _is_among_others(code: Codebase, directory: str, name: str) -> bool:
    return any(other != name for other in code.names_in(directory))


def _differing(before: FileFacts, after: FileFacts) -> set[str] | None:
    differing = set(_list_offers(before)) ^ set(_list_offers(after))
    names = {one[0] for one in differing}
    return None if "*" in names else names


def _list_offers(facts: FileFacts) -> Iterator[tuple[str, ...]]:
    """What others may import from a file, with what it stands for."""
    for item in facts.definitions:
        if item.parent < 0:
            yield item.name, "defined"
    for one in facts.imports:
        yield one.alias or one.name or "*" if one.name != "*" else "*", one.module, one.name
        if one.reexport and one.name:
            yield one.name, one.module, one.alias
    for export in facts.exports:
        yield export.name, "exported", export.local


def relinked(
    old: Mapping[str, frozenset[str]], importers: Mapping[str, list[str]], new: Mapping[str, frozenset[str]]
) -> tuple[dict[str, frozenset[str]], dict[str, list[str]]]:
    """Links with those of some files replaced; no links where a file has none any more."""
    imports, back = dict(old), dict(importers)
    for path, targets in new.items():
        before = old.get(path, frozenset())
        for target in before - targets:
            left = [one for one in back[target] if one != path]
            if left:
                back[target] = left
            else:
                del back[target]
        for target in targets - before:
            back[target] = sorted([*back.get(target, ()), path])
        if targets:
            imports[path] = targets
        else:
            imports.pop(path, None)
    return imports, back
