"""What names in a file mean where routers are followed: binds, definitions, assignments."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Set
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Bind
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names import FileFacts
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, is_external
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_VERSION: Final = re.compile(r"/v\d+(?=[./]|$)")
_SPLIT: Final = re.compile(r"[,\s()]+")


def plain_name(text: str) -> str:
    """A full name with dots between its parts, without the version of a Go module."""
    return _VERSION.sub("", text).replace("::", ".").replace("\\", ".").lstrip(".")


class Assignment(NamedTuple):
    """A name that is given a value."""

    path: RepoPath
    site: Site
    value: Value
    name_start: int


class Names:
    """Names in the files of one framework."""

    def __init__(self, evaluator: Evaluator, paths: Set[RepoPath]) -> None:
        self._evaluator, self._code, self._paths = evaluator, evaluator.code, paths
        self._binds_of: dict[RepoPath, dict[tuple[int, str], list[Bind]]] = {}

    def binds(self, path: RepoPath, name: str, start: int) -> list[Bind]:
        """The binds of a name in the innermost scope that knows it, seen from one of its occurrences."""
        facts = self._code.facts(path)
        occurrences = self._code.all_occurrences(path)
        at = bisect_left(occurrences.starts, start)
        if facts is None or at >= len(occurrences) or occurrences.starts[at] != start:
            return []
        table = self._binds_of.get(path)
        if table is None:
            table = self._binds_of[path] = {}
            for bind in facts.binds:
                table.setdefault((bind.scope, bind.name), []).append(bind)
        scope = occurrences.at(at).scope
        while scope >= 0:
            binds = table.get((scope, name))
            if binds:
                return binds
            scope = facts.scopes[scope].parent
        return []

    def last_start(self, path: RepoPath, value: Value) -> int:
        """The byte of the last part of a full name."""
        last = value.text.rpartition(".")[2]
        if last == value.text:
            return value.start
        starts = self._code.starts(path, last)
        at = bisect_left(starts, value.start + len(value.text) - len(last))
        return starts[at] if at < len(starts) else -1

    def definition(self, path: RepoPath, value: Value) -> Place | None:
        """The definition that a name, or the name of a call, means."""
        name = value.text.rpartition(".")[2]
        start = value.start
        owner = value.receiver if value.kind is ValueKind.CALL else None
        if owner is not None and owner.start == value.start:
            full = Value(ValueKind.NAME, f"{owner.text}.{name}", value.start)
            start = self.last_start(path, full)
        elif value.kind is not ValueKind.CALL:
            start = self.last_start(path, value)
        place = self.definition_at(path, name, start)
        if place is None and owner is not None:
            thing = self._evaluator.member(self._evaluator.evaluate(Located(path, owner)), name)
            place = thing.target[0] if thing.kind is ThingKind.DEFINITION else None
        return place

    def definition_at(self, path: RepoPath, name: str, start: int) -> Place | None:
        """The definition that the name at a byte means."""
        occurrences = self._code.all_occurrences(path)
        at = bisect_left(occurrences.starts, start)
        if start < 0 or at >= len(occurrences) or occurrences.starts[at] != start:
            return None
        target = self._code.structural_meaning(path, name, occurrences.at(at)).target
        if target in (UNRESOLVED, AMBIGUOUS) or is_external(target) or len(target) != 1:
            return None
        return target[0] if target[0].definition >= 0 else None

    def facts(self, path: RepoPath) -> FileFacts:
        return self._code.require_facts(path)

    def full_name(self, located: Located) -> str:
        """The full name of what a value is, where that is outside."""
        path, value, environment = located
        if value.kind is ValueKind.CALL:
            owner = value.receiver
            if owner is not None and owner.kind is not ValueKind.NAME:
                thing = self._evaluator.evaluate(Located(path, owner, environment))
                thing = self._evaluator.member(thing, value.text)
            else:
                text = f"{owner.text}.{value.text}" if owner is not None else value.text
                start = owner.start if owner is not None else value.start
                thing = self._evaluator.evaluate(Located(path, Value(ValueKind.NAME, text, start)))
        else:
            thing = self._evaluator.evaluate(located)
        is_outside = thing.kind in (ThingKind.EXTERNAL, ThingKind.OBJECT) and thing.target == UNRESOLVED
        return plain_name(thing.text) if is_outside else ""

    def type_name(self, path: RepoPath, text: str) -> str:
        """The full name of a declared type that is defined outside; empty for one of the repository."""
        head, _, rest = plain_name(text.partition("<")[0].strip("*&?[]")).partition(".")
        for item in self.facts(path).imports:
            if item.alias == head:
                full = f"{item.module}.{item.name}" if item.name not in ("", "*") else item.module
                return plain_name(f"{full}.{rest}" if rest else full)
        if not rest and self._code.definitions(head):
            return ""
        return f"{head}.{rest}" if rest else head

    # Assignments

    def assignments_to(self, place: Place) -> Iterator[Assignment]:
        """Where a variable or a field gets a value, wherever in the files that is."""
        name = self._code.definition(place).name
        for one in self._assignments.get(name, ()):
            if one.name_start < 0 or self.definition_at(one.path, name, one.name_start) == place:
                yield one

    def keyword_values(self, place: Place) -> Iterator[Located]:
        """What literals of its type give a field: `Server{router: r}`."""
        definition = self._code.definition(place)
        parent = definition.parent
        for path, value in self._keywords.get(definition.name, ()) if parent is not None else ():
            owner = self.definition(path, value)
            item = value.keyword_argument(definition.name)
            if item is not None and parent is not None and owner == parent.place:
                yield Located(path, item)

    def local_values(self, path: RepoPath, bind: Bind, start: int) -> list[tuple[Located, bool]]:
        """The values that a local variable may have at a byte, and whether only on a condition."""
        values: list[tuple[Located, bool]] = []
        later: list[tuple[Located, bool]] = []
        for one in self._assignments_in(path).get(bind.name, ()):
            binds = self.binds(path, bind.name, one.name_start)
            if not binds or binds[0].scope != bind.scope:
                continue
            entry = (Located(path, one.value), one.site.is_conditional)
            if one.value.start >= start or one.site.start >= start:
                later.append(entry)
            elif one.site.is_conditional:
                values.append(entry)
            else:
                values = [entry]
        return values or later

    @cached_property
    def _assignments(self) -> dict[str, list[Assignment]]:
        table: dict[str, list[Assignment]] = {}
        for path in sorted(self._paths):
            for name, entries in self._assignments_in(path).items():
                table.setdefault(name, []).extend(entries)
        return table

    @cached_property
    def _assigned_in(self) -> dict[RepoPath, dict[str, list[Assignment]]]:
        return {}

    def _assignments_in(self, path: RepoPath) -> dict[str, list[Assignment]]:
        table = self._assigned_in.get(path)
        if table is None:
            table = self._assigned_in[path] = {}
            for site in self._evaluator.sites(path).sites:
                if site.name and site.kind in (SiteKind.CALL, SiteKind.ASSIGN):
                    for one in self._split(path, site):
                        name = one[0]
                        table.setdefault(name, []).append(one[1])
        return table

    def _split(self, path: RepoPath, site: Site) -> Iterator[tuple[str, Assignment]]:
        """`a, b = f()` gives both names; `s.router = r` the last part."""
        names = [
            name for name in _SPLIT.split(site.name) if name and name not in ("mut", "var", "let", "const")
        ]
        for name in names[:4]:
            last = name.replace("::", ".").replace("->", ".").rpartition(".")[2].lstrip("$@")
            starts = self._code.starts(path, last)
            before = bisect_left(starts, _value_start(site))
            start = starts[before - 1] if before else -1
            value = site.value
            if value.kind is ValueKind.LIST and len(value.items) == len(names) > 1:
                value = value.items[names.index(name)]
            yield last, Assignment(path, site, value, start)

    @cached_property
    def _keywords(self) -> dict[str, list[tuple[RepoPath, Value]]]:
        table: dict[str, list[tuple[RepoPath, Value]]] = {}
        for path in sorted(self._paths):
            for site in self._evaluator.sites(path).sites:
                if site.kind is SiteKind.CALL:
                    for item in site.value.arguments:
                        if item.keyword:
                            table.setdefault(item.keyword, []).append((path, site.value))
        return table


def _value_start(site: Site) -> int:
    """Where the value of an assignment begins: a call's own node, for anything else the value."""
    return site.start if site.kind is SiteKind.CALL or site.value.start < 0 else site.value.start
