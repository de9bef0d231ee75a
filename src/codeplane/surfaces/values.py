"""What values in the code stand for: texts, objects of a framework, definitions, modules.

A value is followed through assignments, imports, classes and functions that return it. What could be several
things is nothing: a wrong route is worse than none.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Bind, Reason, Span
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names import Codebase, FileFacts
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, Target, is_external
from codeplane.surfaces.external_names import external_name
from codeplane.surfaces.file_sites import SITES, FileSites, load_sites, segments_of

_DEEPEST: Final = 24
# Variables that one question may lead to. Names of minified code are given each other's values over and over:
# without a bound, a bundle of a few kilobytes is followed for hours.
_MOST_FOLLOWED: Final = 100
_MOST_SOURCES: Final = 20  # values of one variable, beyond which it is not one thing
_VARIABLES: Final = frozenset({"variable", "constant", "field", "property"})
_CLASSES: Final = frozenset({"class", "struct", "interface", "object", "trait"})
_FUNCTIONS: Final = frozenset({"function", "method", "constructor"})
_SELVES: Final = frozenset({"self", "cls", "this"})


class ThingKind(Enum):
    """What a value turned out to be."""

    TEXT = "text"
    EXTERNAL = "external"  # something outside, by its full name
    OBJECT = "object"  # an instance, with the call that made it
    DEFINITION = "definition"
    MODULE = "module"
    LITERAL = "literal"  # a mapping or a list, as it is written at `made_by`
    FUNCTION = "function"  # one without a definition, as it is written at `made_by`
    UNKNOWN = "unknown"


class Origin(NamedTuple):
    """The call that made an object: equal origins are one object."""

    path: RepoPath
    start: int
    within: tuple["Origin", ...] = ()  # the calls of factories that led there


@dataclass(frozen=True)
class Environment:
    """Names that have a value of their own here: items of a loop, parameters of a factory."""

    values: Mapping[str, "Located"] = field(default_factory=dict)
    calls: tuple[Origin, ...] = ()
    things: Mapping[str, "Thing"] = field(default_factory=dict)
    is_conditional: bool = False  # what led here stands in an `if` or the like
    stands_at: "tuple[RepoPath, Site] | None" = None  # the call of a method that adds for its caller

    def without_self(self) -> "Environment":
        """What names stand for where nothing is known of the object that a method is called on."""
        return replace(self, things={name: one for name, one in self.things.items() if name != "self"})


_NO_ENVIRONMENT: Final = Environment()


class Located(NamedTuple):
    """A value and the file that it is written in."""

    path: RepoPath
    value: Value
    environment: Environment = _NO_ENVIRONMENT


class Thing(NamedTuple):
    """What a value stands for."""

    kind: ThingKind
    text: str = ""  # the text, or the full name of something outside; of an object, of its class
    target: Target = UNRESOLVED  # the definition or module; of an object, its class in the repository
    origin: Origin | None = None
    made_by: Located | None = None  # the call that made an object
    is_declared: bool = False  # known by a declared type alone


UNKNOWN: Final = Thing(ThingKind.UNKNOWN)


def single_thing(things: Sequence[Thing]) -> Thing:
    """The one thing that all of them are; unknown where they differ."""
    distinct = {(thing.kind, thing.text, thing.target, thing.origin) for thing in things}
    return things[0] if len(distinct) == 1 else UNKNOWN


class Evaluator:
    """Follows values through one state of the code."""

    def __init__(self, code: Codebase) -> None:
        self.code = code
        self._running: set[tuple[RepoPath, int, str]] = set()
        self._followed_count = 0
        self._sources_of: dict[RepoPath, dict[tuple[str, Place | None], list[Site]]] = {}
        self._segments_of: dict[RepoPath, tuple[list[int], list[int]]] = {}
        self._decorable_of: dict[RepoPath, list[tuple[int, int]]] = {}
        self._bodies_of: dict[RepoPath, dict[int, int]] = {}

    # Sites

    def sites(self, path: RepoPath) -> FileSites:
        facts = self.code.facts(path)
        if facts is None:
            return FileSites([])
        return facts.derived(SITES, lambda: load_sites(self.code, path, facts))

    def byte_span(self, path: RepoPath, span: Span) -> tuple[int, int]:
        """The bytes that a span of a file covers."""
        lines = self.code.all_occurrences(path).lines
        if not lines or span.start_line > len(lines):
            return 0, 1 << 62
        last = min(span.end_line, len(lines))
        return lines[span.start_line - 1] + span.start_column, lines[last - 1] + span.end_column

    def line_of(self, path: RepoPath, start: int) -> int:
        """The line of a byte."""
        return bisect_right(self.code.all_occurrences(path).lines, start) or 1

    def definition_around(self, path: RepoPath, start: int) -> Place | None:
        """The innermost definition that a byte is in; None for one at the top of the file."""
        starts, numbers = self._segments(path)
        number = numbers[bisect_right(starts, start) - 1] if starts and start >= starts[0] else -1
        return Place(path, number) if number >= 0 else None

    def _segments(self, path: RepoPath) -> tuple[list[int], list[int]]:
        """Where the innermost definition changes in a file, and to which; -1 is the top of the file."""
        self.code.facts(path)  # whoever notes what is read has to see each use
        segments = self._segments_of.get(path)
        if segments is None:
            segments = self._segments_of[path] = self._find_segments(path)
        return segments

    def _find_segments(self, path: RepoPath) -> tuple[list[int], list[int]]:
        facts = self.code.facts(path)
        spans = [
            (*self.byte_span(path, item.span), number)
            for number, item in enumerate(facts.definitions if facts is not None else ())
            if item.kind not in _VARIABLES
        ]
        return segments_of(spans)

    def decorated_by(self, path: RepoPath, site: Site) -> Place | None:
        """The definition that a decorator belongs to: the innermost around it, or the next behind it."""
        around = self.definition_around(path, site.start)
        facts = self.code.require_facts(path)
        line = self.line_of(path, site.end - 1)
        if around is not None and facts.definitions[around.definition].name_line >= line:
            return around
        later = self._decorable_of.get(path)
        if later is None:
            later = self._decorable_of[path] = sorted(
                (item.name_line, number)
                for number, item in enumerate(facts.definitions)
                if item.kind in ("function", "method", "class")
            )
        at = bisect_left(later, (line, -1))
        return Place(path, later[at][1]) if at < len(later) else None

    def full_name(self, path: RepoPath, value: Value) -> str:
        """The full name of something outside that a call or a decorator calls; empty for anything else."""
        owner = value.receiver
        text = f"{owner.text}.{value.text}" if owner is not None else value.text
        start = owner.start if owner is not None else value.start
        thing = self.evaluate(Located(path, Value(ValueKind.NAME, text, start)))
        return thing.text if thing.kind is ThingKind.EXTERNAL else ""

    # Values

    def evaluate(self, located: Located, depth: int = 0) -> Thing:
        """What a value stands for."""
        path, value, environment = located
        if depth > _DEEPEST:
            return UNKNOWN
        match value.kind:
            case ValueKind.TEXT:
                return Thing(ThingKind.TEXT, value.text)
            case ValueKind.NAME:
                return self._name(located, depth)
            case ValueKind.CONCAT:
                text = self.text(located, depth)
                return Thing(ThingKind.TEXT, text) if text is not None else UNKNOWN
            case ValueKind.MEMBER:
                owner = self.evaluate(Located(path, value.items[0], environment), depth + 1)
                return self.member(owner, value.text, depth)
            case ValueKind.CALL:
                return self._call(located, depth)
            case _:
                return UNKNOWN

    def text(self, located: Located, depth: int = 0) -> str | None:
        """The text that a value is; None where that isn't known."""
        path, value, environment = located
        if value.kind is ValueKind.TEXT:
            return value.text
        if value.kind is ValueKind.CONCAT:
            parts = [self.text(Located(path, item, environment), depth + 1) for item in value.items]
            return None if None in parts else "".join(filter(None, parts))
        thing = self.evaluate(located, depth + 1) if depth <= _DEEPEST else UNKNOWN
        return thing.text if thing.kind is ThingKind.TEXT else None

    def mapping_item(self, located: Located, key: str) -> Located | None:
        """The value of a key of a mapping that is written there."""
        path, value, environment = located
        item = next((one for one in value.items if one.keyword == key), None)
        return Located(path, item, environment) if item is not None else None

    def named_definition(self, located: Located) -> Place | None:
        """The definition that a name is, where what it holds is no definition itself."""
        del located
        return None

    def items(self, located: Located, depth: int = 0) -> list[Located] | None:
        """The items of a list, straight or behind a name; None where they aren't known."""
        path, value, environment = located
        if value.kind is ValueKind.LIST:
            return [Located(path, item, environment) for item in value.items]
        if value.kind is ValueKind.NAME and depth < _DEEPEST:
            source = self.source_of(located, depth)
            return self.items(source, depth + 1) if source is not None and source != located else None
        if value.kind is ValueKind.CONCAT:
            parts = [self.items(Located(path, item, environment), depth + 1) for item in value.items]
            return None if None in parts else [item for part in parts if part for item in part]
        return None

    def source_of(self, located: Located, depth: int = 0) -> Located | None:
        """The one value that a name was given, wherever that is written."""
        value, environment = located.value, located.environment
        if value.text in environment.values:
            return environment.values[value.text]
        thing = self._name(located, depth, follows=False)
        if thing.kind is not ThingKind.DEFINITION:
            return None
        sources = [source for source, _ in self.assigned_values(thing.target[0])]
        return sources[0] if len(sources) == 1 else None

    def sources_of(self, located: Located) -> list[tuple[Located, bool]]:
        """The values that a name was given, `+=` too, and whether only on a condition."""
        value, environment = located.value, located.environment
        if value.text in environment.values:
            return [(environment.values[value.text], False)]
        facts, name = self.code.facts(located.path), value.text
        bind = self._bind_at(located.path, facts, name, value.start) if facts is not None else None
        if bind is not None and bind.reason is Reason.LOCAL_ASSIGN:
            here = self._definition_of_scope(located.path, bind.scope)
            return self._given(located.path, name, here, environment)
        thing = self._name(located, 0, follows=False)
        return self.assigned_values(thing.target[0]) if thing.kind is ThingKind.DEFINITION else []

    def member(self, owner: Thing, name: str, depth: int = 0, *, follows: bool = True) -> Thing:
        """What a member of something stands for."""
        match owner.kind:
            case ThingKind.EXTERNAL:
                return Thing(ThingKind.EXTERNAL, f"{owner.text}.{name}")
            case ThingKind.MODULE | ThingKind.DEFINITION:
                target = self.code.member_of(owner.target, name)
                if owner.kind is ThingKind.DEFINITION and target != UNRESOLVED and is_external(target):
                    target = self._own_attribute(owner.target[0], name) or target
                return self._of_target(target, depth, follows=follows)
            case ThingKind.TEXT if name == "value":
                return owner  # of an enumeration
            case ThingKind.OBJECT:
                return self._attribute(owner, name, depth)
            case _:
                return UNKNOWN

    def _own_attribute(self, place: Place, name: str) -> Target | None:
        """What a class itself says, where classes outside that it is derived from may say more."""
        for number, item in enumerate(self.code.require_facts(place.path).definitions):
            if item.name == name and item.parent == place.definition:
                return (Place(place.path, number),)
        return None

    def parameter_owner(self, located: Located) -> Place | None:
        """The function that the first name of a value is a parameter of."""
        path, value, _ = located
        facts = self.code.facts(path)
        if facts is None or value.kind is not ValueKind.NAME:
            return None
        bind = self._bind_at(path, facts, value.text.split(".")[0], value.start)
        is_parameter = bind is not None and bind.reason is Reason.PARAM
        return self._definition_of_scope(path, bind.scope) if bind is not None and is_parameter else None

    def bases(self, place: Place, depth: int = 0) -> Iterator[str]:
        """The full names of the classes outside that a class is derived from, nearest first."""
        if depth > _DEEPEST:
            return
        definition = self.code.definition(place)
        first, last = self.byte_span(place.path, definition.span)
        for site in self.sites(place.path).within(first, last):
            if site.kind is SiteKind.CLASS and site.name == definition.name:
                for base in site.value.items:
                    if base.keyword:
                        continue
                    thing = self.evaluate(Located(place.path, base), depth + 1)
                    if thing.kind is ThingKind.EXTERNAL:
                        yield thing.text
                    elif thing.kind is ThingKind.DEFINITION and thing.target[0] != place:
                        yield from self.bases(thing.target[0], depth + 1)
                return

    def returned(self, place: Place, call: Located, depth: int = 0) -> list[Thing]:
        """What a function returns when it is called like this: one thing for each `return`."""
        return [self.evaluate(value, depth + 1) for value in self.returned_values(place, call)]

    def returned_values(self, place: Place, call: Located) -> list[Located]:
        """The values of the `return` statements of a function when it is called like this."""
        return [value for value, _ in self.conditional_returns(place, call)]

    def base_call(self, owner: Thing) -> Located | None:
        """The call of the constructor outside that makes an object."""
        return owner.made_by

    def construction(self, owner: Thing, wanted: Place) -> Environment | None:
        """What the parameters of a constructor are when an object is made."""
        return self.called_with(wanted, owner.made_by) if owner.made_by is not None else None

    def conditional_returns(self, place: Place, call: Located) -> list[tuple[Located, bool]]:
        """The values of the `return` statements of a function, and whether each stands in an `if`."""
        definition = self.code.definition(place)
        first, last = self.byte_span(place.path, definition.span)
        environment = self.called_with(place, call)
        return [
            (Located(place.path, site.value, environment), site.is_conditional)
            for site in self.sites(place.path).within(first, last)
            if (site.is_returned or site.kind is SiteKind.RETURN)
            and site.outer < 0
            and self.definition_around(place.path, site.start) == place
        ]

    # How names are followed

    def _name(self, located: Located, depth: int, *, follows: bool = True) -> Thing:
        value, environment = located.value, located.environment
        root, *rest = value.text.split(".")
        if root in environment.things:
            thing = environment.things[root]
        elif root in environment.values:
            thing = self.evaluate(environment.values[root], depth + 1)
        else:
            thing = self._root(located, root, depth, follows=follows and not rest)
            if rest and thing.kind is ThingKind.DEFINITION:
                thing = self._followed(thing, depth)
        for number, name in enumerate(rest, start=1):
            thing = self.member(thing, name, depth + 1, follows=follows or number < len(rest))
        return thing

    def _root(self, located: Located, root: str, depth: int, *, follows: bool) -> Thing:
        path, start = located.path, located.value.start
        facts = self.code.facts(path)
        if facts is None:
            return UNKNOWN
        bind = self._bind_at(path, facts, root, start)
        if root in _SELVES and (bind is None or (bind.reason is Reason.PARAM and not bind.type_name)):
            return self._instance_around(path, start)
        if bind is None:
            return self._unbound(path, root, start)
        match bind.reason:
            case Reason.IMPORT_ALIAS:
                return self._imported(path, facts, bind.target, depth, follows=follows)
            case Reason.DEF_IN_SCOPE:
                thing = Thing(ThingKind.DEFINITION, target=(Place(path, bind.target),))
                return self._followed(thing, depth) if follows else thing
            case Reason.LOCAL_ASSIGN:
                return self._local(located, bind, depth)
            case Reason.PARAM:
                return self._declared(path, bind.scope, bind.type_name)
        return UNKNOWN

    def _bind_at(self, path: RepoPath, facts: FileFacts, name: str, start: int) -> Bind | None:
        occurrences = self.code.all_occurrences(path)
        at = bisect_left(occurrences.starts, start)
        if at >= len(occurrences) or occurrences.starts[at] != start:
            return None
        item = occurrences.at(at)
        if item.receiver or not item.target:
            number = self.code.binding_at(facts, item.scope, name)
            return facts.binds[number] if number is not None and number >= 0 else None
        return facts.binds[item.target - 1]

    def _instance_around(self, path: RepoPath, start: int) -> Thing:
        """The object that a method is called on: an instance of the class around."""
        place = self.definition_around(path, start)
        while place is not None and self.code.definition_kind(place) not in _CLASSES:
            place = self.parent_of(place)
        return Thing(ThingKind.OBJECT, target=(place,)) if place is not None else UNKNOWN

    def parent_of(self, place: Place) -> Place | None:
        """The definition that holds another."""
        parent = self.code.require_facts(place.path).definitions[place.definition].parent
        return Place(place.path, parent) if parent >= 0 else None

    def _unbound(self, path: RepoPath, root: str, start: int) -> Thing:
        """A name that the file doesn't bind: a builtin, or something of the same package."""
        if self.code.source(path)[start : start + 1] == b"@":
            return self._attribute(self._instance_around(path, start), f"@{root}", 0)
        target = self.code.written(path, 0, root)
        if target in (UNRESOLVED, AMBIGUOUS) or is_external(target):
            return Thing(ThingKind.EXTERNAL, root)
        return Thing(ThingKind.DEFINITION, target=target)

    def _imported(self, path: RepoPath, facts: FileFacts, number: int, depth: int, *, follows: bool) -> Thing:
        target = self.code.imported(path, number)
        if target == AMBIGUOUS:
            return UNKNOWN
        if target == UNRESOLVED or is_external(target):
            return Thing(ThingKind.EXTERNAL, external_name(facts.imports[number]))
        return self._of_target(target, depth, follows=follows)

    def _of_target(self, target: Target, depth: int, *, follows: bool = True) -> Thing:
        if target in (UNRESOLVED, AMBIGUOUS):
            return UNKNOWN
        if is_external(target):
            return Thing(ThingKind.EXTERNAL, str(target[0].path))
        if target[0].definition < 0:
            return Thing(ThingKind.MODULE, target=target)
        thing = Thing(ThingKind.DEFINITION, target=target)
        return self._followed(thing, depth) if follows else thing

    def _followed(self, thing: Thing, depth: int) -> Thing:
        """What a variable holds; anything else is itself."""
        place = thing.target[0]
        if self.code.definition_kind(place) not in _VARIABLES or depth > _DEEPEST:
            return thing
        key = (place.path, place.definition, "")
        if not self._may_follow(key):
            return UNKNOWN
        self._running.add(key)
        try:
            value = self._single([source for source, _ in self.assigned_values(place)], depth)
            return value if value.kind is not ThingKind.UNKNOWN else self._of_annotation(place)
        finally:
            self._running.discard(key)

    def _may_follow(self, key: tuple[RepoPath, int, str]) -> bool:
        """Whether a variable is followed: not while it is being followed, and not beyond the bound."""
        self._followed_count = self._followed_count + 1 if self._running else 0
        return key not in self._running and self._followed_count <= _MOST_FOLLOWED

    def _of_annotation(self, place: Place) -> Thing:
        """A variable or field that is known by its declared type alone."""
        item = self.code.definition(place).item
        return self._declared(place.path, item.scope, item.annotation) if item.annotation else UNKNOWN

    def _single(self, sources: list[Located], depth: int) -> Thing:
        if len(sources) > _MOST_SOURCES:
            return UNKNOWN
        return single_thing([self.evaluate(source, depth + 1) for source in sources])

    def assigned_values(self, place: Place) -> list[tuple[Located, bool]]:
        """The values that a variable of a file or a class is given, and whether only on a condition."""
        definition = self.code.definition(place)
        around = self.parent_of(place)
        values = self._given(place.path, definition.name, around)
        if values or around is None or self.code.definition_kind(around) not in _CLASSES:
            return values
        return self._given_by_methods(around, definition.name)

    def _given_by_methods(
        self, owner: Place, name: str, prefixes: Sequence[str] = ("self.", "this.")
    ) -> list[tuple[Located, bool]]:
        """What the methods of a class give an attribute: `self.name = …`."""
        path = owner.path
        return [
            (Located(path, site.value), site.is_conditional)
            for prefix in prefixes
            for site in self.sites(path).by_name.get(f"{prefix}{name}", ())
            if (method := self.definition_around(path, site.start)) is not None
            and self.parent_of(method) == owner
        ]

    def _given(
        self, path: RepoPath, name: str, around: Place | None, environment: Environment = _NO_ENVIRONMENT
    ) -> list[tuple[Located, bool]]:
        self.code.facts(path)  # whoever notes what is read has to see each use
        sources = self._sources_of.get(path)
        if sources is None:
            sources = self._sources_of[path] = {}
            for target, sites in self.sites(path).by_name.items():
                for site in sites:
                    key = (target, self.definition_around(path, site.start))
                    sources.setdefault(key, []).append(site)
        return [
            (Located(path, site.value, environment), site.is_conditional)
            for site in sources.get((name, around), ())
        ]

    def _local(self, located: Located, bind: Bind, depth: int) -> Thing:
        """A variable of a function: the values that it is given there."""
        path, environment, name = located.path, located.environment, bind.name
        here = self._definition_of_scope(path, bind.scope)
        sources = [source for source, _ in self._given(path, name, here, environment)]
        key = (path, located.value.start, name)
        if not sources or not self._may_follow(key):
            return UNKNOWN
        self._running.add(key)
        try:
            return self._single(sources, depth)
        finally:
            self._running.discard(key)

    def _definition_of_scope(self, path: RepoPath, scope: int) -> Place | None:
        """The definition that a scope is the body of, or is inside of."""
        facts = self.code.require_facts(path)
        bodies = self._bodies_of.get(path)
        if bodies is None:
            bodies = self._bodies_of[path] = {
                item.body: number for number, item in enumerate(facts.definitions) if item.body >= 0
            }
        while scope > 0 and scope not in bodies:
            scope = facts.scopes[scope].parent
        return Place(path, bodies[scope]) if scope in bodies else None

    def _declared(self, path: RepoPath, scope: int, type_name: str) -> Thing:
        """A parameter: an instance of its declared type."""
        if not type_name or type_name.endswith(")"):
            return UNKNOWN
        facts = self.code.require_facts(path)
        root, *rest = type_name.split(".")
        number = self.code.binding_at(facts, scope, root)
        if number is None or number < 0:
            return UNKNOWN
        bind = facts.binds[number]
        if bind.reason is Reason.IMPORT_ALIAS:
            thing = self._imported(path, facts, bind.target, 0, follows=True)
        elif bind.reason is Reason.DEF_IN_SCOPE:
            thing = Thing(ThingKind.DEFINITION, target=(Place(path, bind.target),))
        else:
            return UNKNOWN
        for name in rest:
            thing = self.member(thing, name)
        if thing.kind is ThingKind.EXTERNAL:
            return Thing(ThingKind.OBJECT, thing.text, is_declared=True)
        if thing.kind is ThingKind.DEFINITION:
            return Thing(ThingKind.OBJECT, target=thing.target, is_declared=True)
        return UNKNOWN

    def _call(self, located: Located, depth: int) -> Thing:
        path, value, environment = located
        if value.text == "[]":
            return UNKNOWN
        receiver = value.receiver
        if receiver is None:
            called = self._name(
                Located(path, Value(ValueKind.NAME, value.text, value.start), environment), depth
            )
        else:
            owner = self.evaluate(Located(path, receiver, environment), depth + 1)
            called = self.member(owner, value.text, depth)
        return self.result_of(called, located, depth)

    def result_of(self, called: Thing, located: Located, depth: int = 0) -> Thing:
        """What a call of something gives."""
        origin = Origin(located.path, located.value.start, located.environment.calls)
        if called.kind is ThingKind.EXTERNAL:
            return Thing(ThingKind.OBJECT, called.text, origin=origin, made_by=located)
        if called.kind is not ThingKind.DEFINITION:
            return UNKNOWN
        place = called.target[0]
        kind = self.code.definition_kind(place)
        if kind in _CLASSES:
            return Thing(ThingKind.OBJECT, target=called.target, origin=origin, made_by=located)
        if kind in _FUNCTIONS and depth < _DEEPEST:
            return self._result_of_function(place, located, depth)
        return UNKNOWN

    def _result_of_function(self, place: Place, located: Located, depth: int) -> Thing:
        """What a function returns; unknown for one that is being followed already."""
        key = (place.path, place.definition, "()")
        if key in self._running:
            return UNKNOWN
        self._running.add(key)
        try:
            return single_thing(self.returned(place, located, depth))
        finally:
            self._running.discard(key)

    def _attribute(self, owner: Thing, name: str, depth: int) -> Thing:
        """A member of an instance: of a class here, what the class says; else a member of a class outside."""
        if owner.target == UNRESOLVED:
            return Thing(ThingKind.EXTERNAL, f"{owner.text}().{name}")
        if name.startswith("@"):  # an instance variable, which only methods give a value
            values = self._given_by_methods(owner.target[0], name, prefixes=("",))
            return self._single([value for value, _ in values], depth)
        member = self.code.member_of(owner.target, name)
        if member not in (UNRESOLVED, AMBIGUOUS) and not is_external(member):
            return self._of_target(member, depth)
        outside = next(self.bases(owner.target[0], depth), None)
        return Thing(ThingKind.EXTERNAL, f"{outside}().{name}") if outside else UNKNOWN

    def called_with(self, place: Place, call: Located) -> Environment:
        """The parameters of a function as a call gives them."""
        facts = self.code.require_facts(place.path)
        body = facts.definitions[place.definition].body
        names = facts.parameters.get(body, ())
        names = names[1:] if names[:1] in (("self",), ("cls",)) else names
        values: dict[str, Located] = {}
        positional = [item for item in call.value.arguments if not item.keyword]
        for name, item in zip(names, positional, strict=False):
            values[name] = Located(call.path, item, call.environment)
        for item in call.value.arguments:
            if item.keyword in names:
                values[item.keyword] = Located(call.path, item, call.environment)
        origin = Origin(call.path, call.value.start, call.environment.calls)
        return Environment(values, (*call.environment.calls, origin))
