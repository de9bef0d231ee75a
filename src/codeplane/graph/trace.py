"""What runs when some code runs: the calls in it, what they may be dispatched to, what it hands over."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import InterfaceSlot
from codeplane.graph.calls import PROVED, run_by
from codeplane.graph.hierarchy import dispatch_targets, is_class, owner_is_silent, owner_of
from codeplane.languages.facts import FLAG_ABSTRACT, Occurrence, Occurrences, Role, Span
from codeplane.names import FileFacts, RefFact, Snapshot
from codeplane.names.meaning import known

_FUNCTIONS: Final = frozenset(("function", "method", "constructor"))
_DECORATES: Final = re.compile(rb"(?:@|#\[)\s*(?:[\w$]+\s*\.\s*)*$")
_LONGEST_CALL: Final = 48
_VALUES: Final = frozenset(("variable", "constant", "type"))
_SELVES: Final = frozenset(("self", "cls", "this", "super", "super()", "base", "parent"))
_CLASS_KINDS: Final = frozenset(("class", "struct", "object", "interface", "trait"))
_MOST_KEPT: Final = 20_000
_MOST_TARGETS: Final = 6  # implementations of one member


class Way(StrEnum):
    """How one piece of code leads to another."""

    CALL = "call"
    IMPLEMENTATION = "implementation"  # of an interface's or abstract member that is called
    OVERRIDE = "override"  # of a member that is called on a value whose class may be a derived one
    PASSED = "passed"  # a function that is handed to something
    DECORATOR = "decorator"
    DEPENDENCY = "dependency"  # a function that the header names: what is injected
    MIDDLEWARE = "middleware"  # what a request passes before its handler
    MEMBER = "member"  # of the class that a trace begins with


class Region(NamedTuple):
    """Code that runs: that of a definition, or of a function without a name."""

    path: RepoPath
    place: Place | None
    first: int  # byte
    last: int


class Step(NamedTuple):
    """One way on. `owner` is the class of the object that the callee runs on, where that is known."""

    callee: Place
    tier: Tier
    line: int
    way: Way = Way.CALL
    via: Place | None = None
    owner: Place | None = None


@dataclass
class Steps:
    """The ways on from some code, and what is called that leads nowhere here."""

    steps: list[Step] = field(default_factory=list)
    created: list[Place] = field(default_factory=list)  # classes without code that runs when they are made
    outside: "Counter[str]" = field(default_factory=Counter)
    unproven: "Counter[str]" = field(default_factory=Counter)
    is_recursive: bool = False
    more_targets: int = 0  # implementations beyond the bound


_STEPS: Final = InterfaceSlot[tuple[Region, int | None, Place | None], Steps]("ways on from some code")


class Tracer:
    """Finds the ways on, in one state of the code."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._tests = snapshot.tests()
        self._function_names: dict[str, bool] = {}
        self._aliases: dict[RepoPath, dict[str, str]] = {}

    def region(self, place: Place) -> Region:
        """The code of a definition with its header."""
        occurrences = self._snapshot.all_occurrences(place.path)
        return Region(place.path, place, *_byte_span(occurrences, self._snapshot.definition(place).item.span))

    def steps(self, region: Region, owner: Place | None = None) -> Steps:
        """The ways on from some code that runs on an instance of `owner`."""
        table = self._snapshot.answers(_STEPS)
        if len(table) > _MOST_KEPT:
            table.clear()
        key = (region, self._snapshot.layout.blobs.get(region.path), owner)
        return self._snapshot.once(_STEPS, key, lambda: self._find_steps(region, owner))

    def _find_steps(self, region: Region, owner: Place | None) -> Steps:
        collected = Steps()
        place = region.place
        regions = [region]
        if place is not None and is_class(self._snapshot, place):
            regions = [self.region(one) for one in run_by(self._snapshot, place)]
            owner = place
        elif place is not None and owner is None:
            owner = self.class_of(place)
        for one in regions:
            self._collect(one, owner, collected)
        collected.is_recursive = any(step.callee == place for step in collected.steps)
        inside = {one.place for one in regions} | {place}
        collected.steps = [
            step for step in _distinct(collected.steps) if not self._is_within(step.callee, inside)
        ]
        return collected

    def _is_within(self, place: Place, holders: set[Place | None]) -> bool:
        """Whether a definition is one of some, or stands inside of one: its code is theirs already."""
        facts = self._snapshot.require_facts(place.path)
        at = place.definition
        while at >= 0:
            if Place(place.path, at) in holders:
                return facts.definitions[at].kind not in _CLASS_KINDS or at == place.definition
            at = facts.definitions[at].parent
        return False

    def members(self, place: Place) -> list[Step]:
        """The methods of a class, as ways on from it."""
        facts = self._snapshot.require_facts(place.path)
        return [
            Step(Place(place.path, at), Tier.PROVEN, item.name_line, Way.MEMBER, owner=place)
            for at, item in enumerate(facts.definitions)
            if item.parent == place.definition and item.kind in _FUNCTIONS
        ]

    def class_of(self, place: Place) -> Place | None:
        """The class that a definition is a member of."""
        owner = owner_of(self._snapshot, place)
        return owner if owner is not None and is_class(self._snapshot, owner) else None

    def _collect(self, region: Region, owner: Place | None, collected: Steps) -> None:
        facts = self._snapshot.require_facts(region.path)
        occurrences = self._snapshot.all_occurrences(region.path)
        body = self._body_scopes(facts, region.place)
        first = bisect_left(occurrences.starts, region.first)
        last = bisect_left(occurrences.starts, region.last)
        for at in range(first, last):
            role, name = occurrences.roles[at], occurrences.texts[occurrences.names[at]]
            in_header = body is not None and occurrences.scopes[at] not in body
            if role == Role.CALL:
                ref = self._ref(region.path, facts, name, occurrences.at(at))
                self._add_call(region, ref, owner, collected, in_header=in_header)
            elif role == Role.READ or (in_header and role == Role.TYPE):
                self._add_read(region, facts, name, occurrences.at(at), collected, in_header=in_header)

    def _body_scopes(self, facts: FileFacts, place: Place | None) -> set[int] | None:
        """The scopes inside of a definition; what is outside of them is its header."""
        body = facts.definitions[place.definition].body if place is not None else -1
        if body < 0:
            return None
        scopes = {body}
        for at in range(body + 1, len(facts.scopes)):  # parents come before children
            if facts.scopes.parent(at) in scopes:
                scopes.add(at)
        return scopes

    def _ref(self, path: RepoPath, facts: FileFacts, name: str, item: Occurrence) -> RefFact:
        meaning = self._snapshot.meaning(path, name, item)
        receiver = facts.receivers[item.receiver - 1] if item.receiver else ""
        return RefFact(
            path, name, item.line, item.column, item.role, item.scope, meaning.tier, receiver, meaning.target
        )

    # Calls

    def _add_call(
        self, region: Region, ref: RefFact, owner: Place | None, collected: Steps, *, in_header: bool
    ) -> None:
        target = ref.target[0] if ref.target else None
        is_here = target is not None and target.definition >= 0 and ref.tier in PROVED
        if not is_here or target is None:
            if not in_header:
                self._count_open(ref, collected)
            return
        if in_header:
            way = self._header_way(region, ref)
            collected.steps.append(Step(target, ref.tier, ref.line, way, owner=self._owner_after(target)))
            return
        is_self = ref.receiver in _SELVES
        if is_self and owner is not None and ref.receiver not in ("super", "super()", "base", "parent"):
            target = self._of_instance(owner, ref.name) or target
        if self._snapshot.definition_kind(target) in _VALUES:
            self._count_open(ref, collected)
        elif is_class(self._snapshot, target):
            self._add_class(target, ref, collected)
        elif is_self:
            collected.steps.append(Step(target, ref.tier, ref.line, owner=owner))
        else:
            collected.steps += self._dispatched(target, ref, collected)

    def _of_instance(self, owner: Place, name: str) -> Place | None:
        """The member that an instance of a class has, where a method of a base calls it."""
        target = known(self._snapshot.classes.member(self._snapshot.grouped(owner), name))
        return target[0] if len(target) == 1 and target[0].definition >= 0 else None

    def _add_class(self, target: Place, ref: RefFact, collected: Steps) -> None:
        if run_by(self._snapshot, target):
            collected.steps.append(Step(target, ref.tier, ref.line, owner=target))
        elif target not in collected.created:
            collected.created.append(target)

    def _dispatched(self, target: Place, ref: RefFact, collected: Steps) -> Iterator[Step]:
        """A member and what may run in its place."""
        owner = self._owner_after(target)
        if owner is None or not ref.receiver:
            yield Step(target, ref.tier, ref.line, owner=owner)
            return
        is_open = self._is_open(target)
        others = self._targets(target) if is_open or self._snapshot.references.may_dispatch(ref) else []
        if not is_open or not others:
            yield Step(target, ref.tier, ref.line, owner=owner)
        way = Way.IMPLEMENTATION if is_open else Way.OVERRIDE
        for place, tier in others[:_MOST_TARGETS]:
            yield Step(place, tier, ref.line, way, target, self._owner_after(place))
        collected.more_targets += max(0, len(others) - _MOST_TARGETS)

    def _is_open(self, target: Place) -> bool:
        """Whether a member has no code of its own: that of an interface, or an abstract one."""
        if self._snapshot.definition(target).flags & FLAG_ABSTRACT or owner_is_silent(self._snapshot, target):
            return True
        owner = self._owner_after(target)
        return owner is not None and self._snapshot.definition_kind(owner) == "interface"

    def _targets(self, target: Place) -> list[tuple[Place, Tier]]:
        return [
            (one.place, one.tier)
            for one in dispatch_targets(self._snapshot, target)
            if one.place.path not in self._tests
        ]

    def _owner_after(self, place: Place) -> Place | None:
        return place if is_class(self._snapshot, place) else self.class_of(place)

    def _count_open(self, ref: RefFact, collected: Steps) -> None:
        """A call that leads outside by an import, or one that may lead to the repository and isn't proven to.

        Builtins are neither, nor what is called on the result of another call.
        """
        root = ref.receiver.partition(".")[0] if ref.receiver else ref.name
        if not root.isidentifier() or "(" in ref.receiver or "[" in ref.receiver:
            return
        text = f"{ref.receiver}.{ref.name}" if ref.receiver else ref.name
        if len(text) > _LONGEST_CALL:
            text = f"….{ref.name}"
        if root in self._original_names(ref.path):
            collected.outside[text] += 1
        elif ref.receiver and ref.tier is not Tier.PROVEN and self._may_be_function(ref.path, ref.name):
            collected.unproven[text] += 1

    # Functions that are named and not called

    def _add_read(
        self,
        region: Region,
        facts: FileFacts,
        name: str,
        item: Occurrence,
        collected: Steps,
        *,
        in_header: bool,
    ) -> None:
        if not self._may_be_function(region.path, name):
            return
        ref = self._ref(region.path, facts, name, item)
        target = ref.target[0] if ref.target else None
        if target is None or target.definition < 0 or ref.tier not in PROVED:
            return
        kind = self._snapshot.definition_kind(target)
        if kind in _FUNCTIONS:
            way = self._header_way(region, ref) if in_header else Way.PASSED
            collected.steps.append(Step(target, ref.tier, ref.line, way, owner=self._owner_after(target)))
        elif in_header and kind in _VALUES:
            collected.steps += self._in_alias(target, ref)

    def _may_be_function(self, path: RepoPath, name: str) -> bool:
        """Whether anything in the repository that has this name can be run, or stand for what can."""
        original = self._original_names(path).get(name, name)
        is_one = self._function_names.get(original)
        if is_one is None:
            kinds = {self._snapshot.definition_kind(one) for one in self._snapshot.definitions(original)}
            is_one = original == "default" or bool(kinds & (_FUNCTIONS | _VALUES))
            self._function_names[original] = is_one
        return is_one

    def _original_names(self, path: RepoPath) -> dict[str, str]:
        """The names that the imports of a file give other names, by these."""
        names = self._aliases.get(path)
        if names is None:
            names = self._aliases[path] = {
                item.alias: item.name for item in self._snapshot.imports(path) if item.alias
            }
        return names

    def _in_alias(self, alias: Place, ref: RefFact) -> Iterator[Step]:
        """The functions that the value of a type alias names: `Session = Annotated[…, Depends(get_db)]`."""
        region = self.region(alias)
        facts = self._snapshot.require_facts(alias.path)
        occurrences = self._snapshot.all_occurrences(alias.path)
        first = bisect_left(occurrences.starts, region.first)
        for at in range(first, bisect_left(occurrences.starts, region.last)):
            if occurrences.roles[at] not in (Role.READ, Role.CALL):
                continue
            name = occurrences.texts[occurrences.names[at]]
            inner = self._ref(alias.path, facts, name, occurrences.at(at))
            target = inner.target[0] if inner.target else None
            if target is None or target.definition < 0 or inner.tier not in PROVED:
                continue
            if self._snapshot.definition_kind(target) in _FUNCTIONS:
                yield Step(target, inner.tier, ref.line, Way.DEPENDENCY, alias, self._owner_after(target))

    def _header_way(self, region: Region, ref: RefFact) -> Way:
        """A decorator, or what is named in one or among the parameters."""
        assert region.place is not None, "BUG: only a definition has a header"
        if ref.line > self._snapshot.definition(region.place).item.name_line:
            return Way.DEPENDENCY
        source = self._snapshot.source(region.path)
        start = self._snapshot.all_occurrences(region.path).lines[ref.line - 1] + ref.column
        return Way.DECORATOR if _DECORATES.search(source, max(0, start - 200), start) else Way.DEPENDENCY


def _distinct(steps: list[Step]) -> list[Step]:
    """Each way on once, in the order of the code."""
    by_key: dict[tuple[Place, Place | None], Step] = {}
    for step in sorted(steps, key=lambda step: (step.way is Way.PASSED, step.line)):
        by_key.setdefault((step.callee, step.owner), step)
    return sorted(by_key.values(), key=lambda step: step.line)


def _byte_span(occurrences: Occurrences, span: Span) -> tuple[int, int]:
    lines = occurrences.lines
    if not lines or span.start_line > len(lines):
        return 0, 0
    end = min(span.end_line, len(lines))
    return lines[span.start_line - 1] + span.start_column, lines[end - 1] + span.end_column
