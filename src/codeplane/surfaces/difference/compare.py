"""The changes between the surfaces of two states: endpoints, configuration keys, tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.surfaces.difference.state import EndpointFact, KeyFact, SurfaceState, TableFact

_FEW: Final = 4  # endpoints of one file that are told one by one


class SurfaceChangeKind(StrEnum):
    """What happened."""

    REMOVED = "removed"
    CHANGED = "changed"
    ADDED = "added"


class SurfaceChange(NamedTuple):
    """One change, or several that one edit made."""

    kind: Literal["endpoint", "config", "table"]
    change: SurfaceChangeKind
    names: tuple[str, ...]
    old: str = ""  # what was there instead
    new: str = ""
    aspect: str = ""  # path, prefix, method, handler, mount, default, name
    is_breaking: bool = False
    path: RepoPath = RepoPath("")
    line: int = 0


def surface_changes(old: SurfaceState, new: SurfaceState) -> list[SurfaceChange]:
    """Everything that differs, what breaks somebody first."""
    changes = [
        *_endpoint_changes(old.endpoints, new.endpoints),
        *_key_changes(old.keys, new.keys),
        *_table_changes(old.tables, new.tables),
    ]
    order = list(SurfaceChangeKind)
    return sorted(
        changes, key=lambda one: (not one.is_breaking, one.kind, order.index(one.change), one.names)
    )


def mirrored(change: SurfaceChange) -> SurfaceChange:
    """The change that leads back. What it breaks is another question."""
    back = {
        SurfaceChangeKind.REMOVED: SurfaceChangeKind.ADDED,
        SurfaceChangeKind.ADDED: SurfaceChangeKind.REMOVED,
    }
    return change._replace(change=back.get(change.change, change.change), old=change.new, new=change.old)


# Endpoints

_Key = tuple[str, str]
_Endpoints = Mapping[_Key, EndpointFact]


def _endpoint_changes(old: _Endpoints, new: _Endpoints) -> Iterator[SurfaceChange]:
    old_only = {key: old[key] for key in old.keys() - new.keys()}
    new_only = {key: new[key] for key in new.keys() - old.keys()}
    yield from _grouped_moves(list(_moves(old_only, new_only)))
    yield from _other_methods(old_only, new_only)
    yield from _listed(old_only, SurfaceChangeKind.REMOVED, is_breaking=True)
    yield from _listed(new_only, SurfaceChangeKind.ADDED, is_breaking=False)
    for key in old.keys() & new.keys():
        yield from _changed(key, old[key], new[key])


def _changed(key: _Key, was: EndpointFact, now: EndpointFact) -> Iterator[SurfaceChange]:
    """What differs in what serves the same method and path."""
    name = f"{key[0]} {min(was.route, now.route)}"
    aspects = [("handler", was.handler, now.handler, False)] if was.handler and now.handler else []
    aspects.append(("mount", was.mount_state, now.mount_state, now.mount_state == "never seen"))
    for aspect, before, after, is_breaking in aspects:
        if before != after:
            yield SurfaceChange(
                "endpoint", SurfaceChangeKind.CHANGED, (name,),
                before, after, aspect, is_breaking, now.path, now.line,
            )  # fmt: skip


class _Move(NamedTuple):
    """An endpoint with the same handler and method under another path."""

    method: str
    was: EndpointFact
    now: EndpointFact

    @property
    def heads(self) -> tuple[str, str]:
        """What the paths begin with, without the parts that they end with alike."""
        before, after = self.was.route.split("/"), self.now.route.split("/")
        while before and after and before[-1] == after[-1]:
            before.pop()
            after.pop()
        return "/".join(before) or "/", "/".join(after) or "/"


def _moves(old_only: dict[_Key, EndpointFact], new_only: dict[_Key, EndpointFact]) -> Iterator[_Move]:
    """The endpoints that went to another path; they are taken out of both tables."""
    befores, afters = _by_handler(old_only), _by_handler(new_only)
    for key, before in befores.items():
        after = afters.get(key, [])
        if key[1] and len(before) == len(after):
            for old_key, new_key in zip(before, after, strict=True):
                yield _Move(key[0], old_only.pop(old_key), new_only.pop(new_key))


def _by_handler(endpoints: _Endpoints) -> dict[tuple[str, str], list[_Key]]:
    table: dict[tuple[str, str], list[_Key]] = {}
    for key in sorted(endpoints):
        table.setdefault((key[0], endpoints[key].handler), []).append(key)
    return table


def _grouped_moves(moves: Sequence[_Move]) -> Iterator[SurfaceChange]:
    """One change for all endpoints below a prefix that has changed."""
    groups: dict[tuple[str, str], list[_Move]] = {}
    for move in moves:
        groups.setdefault(move.heads, []).append(move)
    for heads, some in groups.items():
        first = min(some, key=lambda move: (move.now.path, move.now.line))
        if len(some) > 1:
            names = tuple(sorted(f"{move.method} {_tail(move, heads)}" for move in some))
            yield SurfaceChange(
                "endpoint", SurfaceChangeKind.CHANGED, names, *heads, "prefix", True, *_other_mount(first)
            )  # fmt: skip
        else:
            yield SurfaceChange(
                "endpoint", SurfaceChangeKind.CHANGED, (first.method,), first.was.route, first.now.route,
                "path", True, first.now.path, first.now.line,
            )  # fmt: skip


def _other_mount(move: _Move) -> tuple[RepoPath, int]:
    """The mount that has another prefix now; the route where no mount has."""
    for was, now in zip(move.was.chain, move.now.chain, strict=False):
        if was.prefix != now.prefix:
            return now.path, now.line
    return move.now.path, move.now.line


def _tail(move: _Move, heads: tuple[str, str]) -> str:
    """The part of a path that stays: what is behind the prefix."""
    return f"…/{move.now.route.removeprefix(heads[1]).strip('/')}"


def _other_methods(
    old_only: dict[_Key, EndpointFact], new_only: dict[_Key, EndpointFact]
) -> Iterator[SurfaceChange]:
    """Paths whose handler serves another method."""
    befores, afters = _by_path(old_only), _by_path(new_only)
    for key, before in befores.items():
        after = afters.get(key, [])
        if key[1] and len(before) == len(after) == 1:
            was, now = old_only.pop(before[0]), new_only.pop(after[0])
            yield SurfaceChange(
                "endpoint", SurfaceChangeKind.CHANGED, (min(was.route, now.route),), before[0][0],
                after[0][0], "method", True, now.path, now.line,
            )  # fmt: skip


def _by_path(endpoints: _Endpoints) -> dict[tuple[str, str], list[_Key]]:
    table: dict[tuple[str, str], list[_Key]] = {}
    for key in sorted(endpoints):
        table.setdefault((key[1], endpoints[key].handler), []).append(key)
    return table


def _listed(
    endpoints: _Endpoints, change: SurfaceChangeKind, *, is_breaking: bool
) -> Iterator[SurfaceChange]:
    """Endpoints that came or went: one by one, or those of a file together where they are many."""
    by_file: dict[RepoPath, list[_Key]] = {}
    for key in sorted(endpoints):
        by_file.setdefault(endpoints[key].path, []).append(key)
    for path, keys in by_file.items():
        groups = [keys] if len(keys) > _FEW else [[key] for key in keys]
        for group in groups:
            names = tuple(f"{key[0]} {endpoints[key].route}" for key in group)
            line = min(endpoints[key].line for key in group)
            handlers = {endpoints[key].handler for key in group}
            handler = handlers.pop() if len(group) == 1 else ""
            old, new = (handler, "") if change is SurfaceChangeKind.REMOVED else ("", handler)
            yield SurfaceChange("endpoint", change, names, old, new, "", is_breaking, path, line)


# Keys and tables


def _key_changes(old: Mapping[str, KeyFact], new: Mapping[str, KeyFact]) -> Iterator[SurfaceChange]:
    for key in old.keys() - new.keys():
        yield _key_change(key, old[key], SurfaceChangeKind.REMOVED)
    for key in new.keys() - old.keys():
        yield _key_change(key, new[key], SurfaceChangeKind.ADDED)
    for key in old.keys() & new.keys():
        was, now = old[key], new[key]
        if (was.default, was.is_required) != (now.default, now.is_required):
            yield SurfaceChange(
                "config", SurfaceChangeKind.CHANGED, (key,), _default(was), _default(now), "default",
                now.is_required and not was.is_required, now.path, now.line,
            )  # fmt: skip


def _key_change(key: str, fact: KeyFact, change: SurfaceChangeKind) -> SurfaceChange:
    is_new = change is SurfaceChangeKind.ADDED
    text = _default(fact)
    old, new = ("", text) if is_new else (text, "")
    is_breaking = is_new and fact.is_required
    return SurfaceChange("config", change, (key,), old, new, fact.pattern, is_breaking, fact.path, fact.line)


def _default(fact: KeyFact) -> str:
    if fact.default is not None:
        return f"default {fact.default!r}"
    return "required" if fact.is_required else "optional"


def _table_changes(old: Mapping[str, TableFact], new: Mapping[str, TableFact]) -> Iterator[SurfaceChange]:
    old_only = {name: old[name] for name in old.keys() - new.keys()}
    new_only = {name: new[name] for name in new.keys() - old.keys()}
    for before, after in _renames(old_only, new_only):
        now = new_only.pop(after)
        old_only.pop(before)
        yield SurfaceChange(
            "table", SurfaceChangeKind.CHANGED, (now.entity,), before, after, "name", True, now.path, now.line
        )
    for name, fact in old_only.items():
        yield SurfaceChange(
            "table", SurfaceChangeKind.REMOVED, (name,), fact.entity, "", "", True, fact.path, fact.line
        )
    for name, fact in new_only.items():
        yield SurfaceChange(
            "table", SurfaceChangeKind.ADDED, (name,), "", fact.entity, "", False, fact.path, fact.line
        )


def _renames(old_only: Mapping[str, TableFact], new_only: Mapping[str, TableFact]) -> list[tuple[str, str]]:
    """Tables whose class has another table now."""
    befores, afters = _by_entity(old_only.items()), _by_entity(new_only.items())
    return [
        (before[0], afters[entity][0])
        for entity, before in befores.items()
        if entity and len(before) == 1 and len(afters.get(entity, [])) == 1
    ]


def _by_entity(tables: Iterable[tuple[str, TableFact]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for name, fact in tables:
        table.setdefault(fact.entity, []).append(name)
    return table
