"""Definitions that frameworks and languages reach by themselves: by name, by a mark, or through a base."""

import re
from functools import cached_property
from typing import Final

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.text import lines_of
from codeplane.graph.hierarchy import descendants, overriding
from codeplane.graph.places import position
from codeplane.languages.facts import CALLED, FLAG_OVERRIDE, FLAG_PRIVATE, Definition
from codeplane.names import FileFacts, Snapshot
from codeplane.names.meaning import is_external

# `@route("/")`, `#[test]`: what stands before a definition and names something.
_MARK: Final = re.compile(r"\s*(?:@|#!?\[)\s*([\w.:]+)")
# Marks that register nothing, in the languages that have no list of their own.
_PLAIN: Final = frozenset(
    "derive inline must_use allow expect cfg deprecated doc cold repr non_exhaustive track_caller "
    "Override Deprecated SuppressWarnings Nullable NotNull Nonnull FunctionalInterface SafeVarargs".split()
)
_OPTIONS: Final = frozenset(("Meta", "Config", "Media", "Params"))  # classes inside of others that are read
# What visitors, servers and shells of libraries look up by the kind of thing they meet.
_LOOKED_UP: Final = re.compile(r"(?:visit|depart|leave|enter|do|handle|on|cmd|complete|help)_\w+")
_SETTINGS: Final = re.compile(r"(?:settings|config|conf|defaults)(?:/[^/]*)?\.\w+\Z")
_NEAR: Final = 4  # lines up to where a member is asked for that may make its name
_BEGINS: Final = re.compile(r"[\"'`](\w{2,}_)(?=[\"'`{%$])")
_ENDS: Final = re.compile(r"(?<=[\"'`}s])(_\w{2,})(?=[\"'`])")


class Hooks:
    """Tells what is reached without a reference."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lines: tuple[str, list[str]] = ("", [])

    def is_hook(self, place: Place, item: Definition) -> bool:
        """Whether the language, a framework, or a base calls a definition."""
        return self.is_reserved(place, item) or self._is_called(place, item)

    def is_reserved(self, place: Place, item: Definition) -> bool:
        """Whether the name alone says that the language or a test framework calls a definition."""
        spec = self._snapshot.require_facts(place.path).spec
        patterns = filter(
            None,
            (
                spec.reflection.reserved_names,
                spec.testing.framework_hooks,
                spec.reflection.protocol_members if item.parent >= 0 else "",
                spec.entry_points.function,
            ),
        )
        is_listed = any(re.fullmatch(pattern, item.name) for pattern in patterns)
        return is_listed or item.name in spec.initializers

    def _is_called(self, place: Place, item: Definition) -> bool:
        """Whether a mark, a base or code that makes names at run time reaches a definition."""
        facts = self._snapshot.require_facts(place.path)
        if item.flags & FLAG_OVERRIDE or self._is_marked(place, item):
            return True
        owner = self._owner(place, facts, item)
        if owner is None:
            return self._is_looked_up(item.name) and item.body >= 0
        if item.kind in CLASSES:
            return item.name in _OPTIONS
        if self._snapshot.classes.overridden(place) or self._is_looked_up(item.name):
            return True
        is_called = self._is_implementing(owner, place, item) or self._is_of_outside(owner, item)
        return is_called or self._is_mixed_in(owner, item)

    def doubt(self, place: Place, item: Definition) -> str:
        """Why something may reach a definition by a name that is made at run time, or ""."""
        facts = self._snapshot.require_facts(place.path)
        owner = self._owner(place, facts, item)
        if owner is None:
            is_setting = item.kind in ("constant", "variable") and _SETTINGS.search(place.path)
            return "settings are read by name" if is_setting else ""
        if other := next(overriding(self._snapshot, place), None):
            return f"overridden at {position(self._snapshot, other.place or place)}"
        if self._is_marked(owner, facts.definitions[owner.definition]) and owner.path == place.path:
            return "a decorator of its class may use it"
        for target in self._snapshot.classes.order((owner,)):
            if is_external(target):
                continue
            for one in target:
                span = self._snapshot.definition(one).span
                for line, _ in self._snapshot.dynamics.asking().get(one.path, ()):
                    if span.start_line <= line <= span.end_line:
                        return f"its class looks up members by name at {one.path}:{line}"
        if item.flags & FLAG_PRIVATE and self._has_unknown_base(owner, item.name):
            return "a base outside the repository may call it"
        return ""

    def _owner(self, place: Place, facts: FileFacts, item: Definition) -> Place | None:
        """The class that a definition is a member of."""
        is_member = item.parent >= 0 and facts.definitions[item.parent].kind in CLASSES
        owners = self._snapshot.owner(place.path, facts, place.definition) if item.owner else ()
        return Place(place.path, item.parent) if is_member else next(iter(owners), None)

    def _is_marked(self, place: Place, item: Definition) -> bool:
        """Whether a decorator or attribute may register a definition somewhere."""
        if self._lines[0] != place.path:
            self._lines = (place.path, lines_of(self._snapshot.source(place.path)))
        lines = self._lines[1]
        first = item.span.start_line - 1
        while first > 0 and _MARK.match(lines[first - 1]):
            first -= 1
        plain = self._snapshot.require_facts(place.path).spec.reflection.transparent_decorators | _PLAIN
        marks = [result[1] for line in lines[first : item.name_line] if (result := _MARK.match(line))]
        return any(not plain.intersection(re.split(r"[.:]+", mark)) for mark in marks)

    def _is_looked_up(self, name: str) -> bool:
        """Whether code asks for members whose names begin or end so: `getattr(self, f"visit_{kind}")`."""
        begins, ends = self._asked_parts
        return name.startswith(begins) or name.endswith(ends)

    @cached_property
    def _asked_parts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the names begin and end with that are put together where members are asked for."""
        begins: set[str] = set()
        ends: set[str] = set()
        for path, sites in self._snapshot.dynamics.asking(CALLED).items():
            lines = lines_of(self._snapshot.source(RepoPath(path)))
            for line, _ in sites:
                near = "\n".join(lines[max(0, line - _NEAR) : line + 1])
                begins.update(_BEGINS.findall(near))
                ends.update(_ENDS.findall(near))
        return tuple(sorted(begins)), tuple(sorted(ends))

    def _is_implementing(self, owner: Place, place: Place, item: Definition) -> bool:
        """Whether an interface that types implement without naming it has a member of the name."""
        interfaces = self._snapshot.interfaces
        return interfaces.is_silent(owner) or any(True for _ in interfaces.with_member(item.name, place))

    def _is_of_outside(self, owner: Place, item: Definition) -> bool:
        """Whether a class that is not in the repository may have, or look up, a member of the name."""
        bases = [one for one in self._snapshot.classes.order((owner,)) if is_external(one)]
        if bases and _LOOKED_UP.fullmatch(item.name):
            return True
        return not item.flags & FLAG_PRIVATE and self._has_unknown_base(owner, item.name)

    def _is_mixed_in(self, owner: Place, item: Definition) -> bool:
        """Whether a derived class has another base whose member of the name this one takes the place of."""
        classes = self._snapshot.classes
        for heir, _ in descendants(self._snapshot, owner):
            order = classes.order((heir.place,)) if heir.place is not None else []
            behind = order[order.index((owner,)) + 1 :] if (owner,) in order else order
            types = self._snapshot.require_facts(owner.path).spec.types
            for base in behind:
                if is_external(base):
                    if types.may_have(base[0].path, item.name):
                        return True
                elif self._snapshot.require_facts(base[0].path).inside(base[0].definition, item.name):
                    return True
        return False

    def _has_unknown_base(self, owner: Place, name: str) -> bool:
        types = self._snapshot.require_facts(owner.path).spec.types
        order = self._snapshot.classes.order((owner,))
        bases = [one[0].path for one in order if is_external(one)]
        return not order or any(types.may_have(base, name) for base in bases)
