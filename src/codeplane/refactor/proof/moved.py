"""The comparison where definitions or files have moved or gone: places are describe_places by their names."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.jail import shown
from codeplane.languages.facts import Import, Occurrences, Role
from codeplane.names import Codebase, FileFacts
from codeplane.refactor.plan import Problem
from codeplane.refactor.proof.comparison import WHOLE, Comparison, Part, describe_places, inside

_SURE: Final = (Tier.PROVEN, Tier.STRONG)

Key = tuple[object, ...]
"""A place by names: its path, then name, owner, kind and number of each definition on the way to it."""


@dataclass(frozen=True)
class Effects:
    """What a change makes of places and imports."""

    carry: Callable[[Key], Key] = lambda key: key  # the key that a place has afterwards
    own: Collection[str] = ()  # files of which every name is looked at
    fresh: Collection[str] = ()  # that were not there before: a package that they come into is the same
    lost_imports: Collection[tuple[str, str]] = ()  # local names that are not imported any more, by path
    come: Collection[str] = ()  # files that get imports


class Moved(Comparison):
    """Compares files, or parts of them, wherever they are."""

    def __init__(
        self, before: Codebase, after: Codebase, words: Collection[str], effects: Effects | None = None
    ) -> None:
        super().__init__(before, after, words)
        effects = effects or Effects()
        self._carry, self._own = effects.carry, frozenset(effects.own)
        self._lost_imports, self._come = effects.lost_imports, effects.come
        self._was, self._is_now = _Keys(before), _Keys(after)
        self._fresh = {(str(path),) for path in effects.fresh}

    def _known(self, keys: Collection[Key]) -> tuple[Key, ...]:
        """The keys of a target without the files that were not there, where others stand beside them."""
        return tuple(key for key in keys if len(keys) == 1 or key not in self._fresh)

    def differences(self, part: Part, was: FileFacts, is_now: FileFacts) -> Iterator[Problem]:
        """What is imported in a file, and what the names in it mean."""
        if part.was == WHOLE or part.new == part.old:
            left = {name for path, name in self._lost_imports if path == part.old}
            yield from self._imports(part, left, is_open=part.new in self._come)
        yield from self._names(part, was, is_now)

    def _imports(self, part: Part, lost_names: Collection[str], *, is_open: bool) -> Iterator[Problem]:
        """All that is imported, by the local name: the same things as before."""
        before = {
            key: {tuple(sorted((self._carry(one) for one in target), key=str)) for target in targets}
            for key, targets in _imported(part.old, self.before, self._was).items()
        }
        after = {
            key: set(map(self._known, targets))
            for key, targets in _imported(part.new, self.after, self._is_now).items()
        }
        for name in sorted(before.keys() | after.keys()):
            is_said = name in lost_names or (is_open and name not in before)
            if not is_said and before.get(name) != after.get(name):
                text = f"What is imported as `{name}` would be {_told(after.get(name))}"
                yield Problem("binding", f"{text} instead of {_told(before.get(name))}.", part.old)

    def _names(self, part: Part, was: FileFacts, is_now: FileFacts) -> Iterator[Problem]:
        """The occurrences in what is left, one by one."""
        before, after = self.before.all_occurrences(part.old), self.after.all_occurrences(part.new)
        before_indices, left = inside(part.was, before), inside(part.is_now, after)
        if len(before_indices) != len(left):
            yield Problem("syntax", f"{shown(part.old)} would have other names in it.", part.old)
            return
        scopes = _Scopes(was, is_now)
        is_own = part.old in self._own or part.new in self._own
        names = None if is_own else self.named(was, before)
        is_alike = (
            names is not None and scopes.are_alike() and _are_alike((before, before_indices), (after, left))
        )
        for old, now in zip(before_indices, left, strict=True):
            pair = _Pair(part, before, after, old, now)
            if is_alike and names is not None and old not in names and pair.is_same:
                continue
            if text := self._differs(pair, scopes, is_own=is_own):
                yield Problem("binding", text, part.old, before.at(old).line)

    def _differs(self, pair: "_Pair", scopes: "_Scopes", *, is_own: bool) -> str:
        name, other = pair.names
        occurrence, sees = pair.before.at(pair.was), pair.after.at(pair.is_now)
        if name != other or occurrence.role != sees.role:
            return f"`{name}` would become something else."
        if not scopes.agree(occurrence.scope, sees.scope):
            return f"`{name}` would be in another scope."
        if occurrence.role is Role.IMPORT or not (
            is_own or self._is_concerned(scopes.was, name, occurrence.receiver)
        ):
            is_bound = occurrence.receiver or scopes.are_bound_alike(occurrence.target, sees.target)
            return "" if is_bound else f"`{name}` would mean something else in its file."
        before = self.before.structural_meaning(pair.part.old, name, occurrence)
        after = self.after.structural_meaning(pair.part.new, other, sees)
        was = sorted((self._carry(self._was.of(place)) for place in before.target), key=str)
        is_now = sorted(self._known([self._is_now.of(place) for place in after.target]), key=str)
        is_local = not was and not is_now and not occurrence.receiver
        if is_local and not scopes.are_bound_alike(occurrence.target, sees.target):
            return f"`{name}` would mean something else in its file."
        if was == is_now and (before.tier in _SURE) == (after.tier in _SURE):
            return ""
        return f"`{name}` would mean {_told({tuple(is_now)})} instead of {_told({tuple(was)})}."

    def _is_concerned(self, facts: FileFacts, name: str, receiver: int) -> bool:
        if name in self.words:
            return True
        return bool(receiver) and not self.words.isdisjoint(split_path(facts.receivers[receiver - 1]))


class _Pair(NamedTuple):
    """One occurrence before and after."""

    part: Part
    before: Occurrences
    after: Occurrences
    was: int
    is_now: int

    @property
    def is_same(self) -> bool:
        name, other = self.names
        return name == other

    @property
    def names(self) -> tuple[str, str]:
        before, after = self.before, self.after
        return before.texts[before.names[self.was]], after.texts[after.names[self.is_now]]


class _Scopes:
    """The scopes of a file before and after, whatever their numbers: each of one is one of the other."""

    def __init__(self, was: FileFacts, is_now: FileFacts) -> None:
        self.was, self.is_now = was, is_now
        self._ahead: dict[int, int] = {}
        self._back: dict[int, int] = {}

    def are_alike(self) -> bool:
        """Whether all scopes and binds are the same, whatever lines they are in."""
        was, is_now = self.was, self.is_now
        return (
            was.scopes.shape == is_now.scopes.shape
            and was.binds.scopes_and_reasons == is_now.binds.scopes_and_reasons
            and was.binds.names == is_now.binds.names
        )

    def agree(self, old: int, new: int) -> bool:
        is_same = self.was.scopes.kind(old) == self.is_now.scopes.kind(new)
        return is_same and self._ahead.setdefault(old, new) == new and self._back.setdefault(new, old) == old

    def are_bound_alike(self, old: int, new: int) -> bool:
        """Whether two targets of occurrences are the same bind; 0 is none."""
        if not old or not new:
            return old == new
        was, is_now = self.was.binds[old - 1], self.is_now.binds[new - 1]
        is_same = (was.name, was.reason, was.certain) == (is_now.name, is_now.reason, is_now.certain)
        return is_same and self.agree(was.scope, is_now.scope)


class _Keys:
    """The keys of the places of one view."""

    def __init__(self, code: Codebase) -> None:
        self._code = code
        self._files: dict[str, list[Key]] = {}

    def of(self, place: Place) -> Key:
        if place.definition < 0:
            return (place.path,)
        if place.path not in self._files:
            self._files[place.path] = self._numbered(place.path)
        return self._files[place.path][place.definition]

    def _numbered(self, path: str) -> list[Key]:
        facts = self._code.facts(path)
        items = list(facts.definitions) if facts is not None else []
        counts: dict[tuple[int, str, str, str], int] = {}
        own = []
        for item in items:
            alike = (item.parent, item.name, item.kind, item.owner)
            counts[alike] = counts.get(alike, -1) + 1
            own.append((item.name, item.owner, item.kind, counts[alike]))
        keys: list[Key] = []
        for at in range(len(items)):
            way: list[object] = []
            while at >= 0:
                way.append(own[at])
                at = items[at].parent
            keys.append((path, *reversed(way)))
        return keys


def _imported(path: str, code: Codebase, keys: _Keys) -> dict[str, set[tuple[Key, ...]]]:
    """Local name → what it brings; star imports and those for their effects alone together under "*"."""
    facts = code.require_facts(path)
    targets: dict[str, set[tuple[Key, ...]]] = {}
    for at, item in enumerate(facts.imports):
        target = code.imported(path, at)
        local = item.alias or "*"
        if _is_whole(item):
            target = tuple(code.module_places(path, item._replace(alias="")))
            local = "*"
        if target or local != "*":
            targets.setdefault(local, set()).add(tuple(sorted((keys.of(one) for one in target), key=str)))
    return targets


def _is_whole(item: Import) -> bool:
    """Whether it binds the first of several names and brings the last: `import a.b`."""
    return not item.name and bool(item.alias) and item.module.startswith(f"{item.alias}.")


def _are_alike(was: tuple[Occurrences, list[int]], is_now: tuple[Occurrences, list[int]]) -> bool:
    """Whether some occurrences are the same by role, scope, target and receiver, column by column."""
    (before, indices), (after, left) = was, is_now
    return all(
        [one[at] for at in indices] == [other[at] for at in left]
        for one, other in (
            (before.roles, after.roles),
            (before.scopes, after.scopes),
            (before.targets, after.targets),
            (before.receivers, after.receivers),
        )
    )


def _told(targets: Collection[Collection[Key]] | None) -> str:
    return describe_places(str(key[0]) for target in targets or () for key in target)


def carried_by(moves: Mapping[RepoPath, RepoPath], directory: Callable[[str], str]) -> Callable[[Key], Key]:
    """Keys after files have moved; `directory` tells where a directory (`dir/`) is."""
    paths = {str(old): str(new) for old, new in moves.items()}

    def carry(key: Key) -> Key:
        path = str(key[0])
        return (directory(path) if path.endswith("/") else paths.get(path, path), *key[1:])

    return carry
