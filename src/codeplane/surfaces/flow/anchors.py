"""Which router a value is: the call that made it, and the prefixes between that one and the value."""

import re
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import OTHER_TYPE, Bind, Reason
from codeplane.languages.sites import Site, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.flow.callers import Callers
from codeplane.surfaces.flow.closures import Closure, Closures
from codeplane.surfaces.flow.rule import FlowRule, LinkRule
from codeplane.surfaces.flow.wrappers import Wrappers
from codeplane.surfaces.values import Environment, Evaluator, Located, Origin

_DEEPEST: Final = 150
_MOST_STEPS: Final = 4_000  # to resolve one value
_MOST: Final = 60  # routers that one value may be
_MOST_CLOSURES: Final = 6  # closures kept in variables, each called in the one before
_WORD: Final = re.compile(r"\w+")
_NO_ENVIRONMENT: Final = Environment()
_VARIABLES: Final = frozenset({"variable", "constant", "field", "property"})
_FUNCTIONS: Final = frozenset({"function", "method", "constructor"})


class Base(NamedTuple):
    """What a router was in the beginning: a call, or something that is only known by its type."""

    kind: str  # `made`, `declared`, `default`
    path: RepoPath
    start: int
    type_name: str = ""
    calls: tuple[Origin, ...] = ()  # of the functions that have result it, the innermost first

    def may_be(self, other: "Base") -> bool:
        """Whether two are one router: seen from inside of a function, it is each that the function makes."""
        length = min(len(self.calls), len(other.calls))
        return self[:3] == other[:3] and self.calls[:length] == other.calls[:length]


class Link(NamedTuple):
    """A prefix on the way from a router to one that is derived from it; its text may depend on a caller."""

    path: RepoPath
    line: int
    value: Located | None
    text: str | None
    is_mount: bool = True


class Anchor(NamedTuple):
    """A router as seen from one place."""

    type_name: str
    base: Base
    links: tuple[Link, ...] = ()
    environment: Environment = _NO_ENVIRONMENT  # of the function that the router is seen in
    frame: Environment = _NO_ENVIRONMENT  # of the function that has made it
    outer: str = ""  # a prefix that a function around it takes away
    is_declared: bool = False
    is_conditional: bool = False


class _Spot(NamedTuple):
    """The name of a router in a file, and where the scope begins that binds it."""

    path: RepoPath
    root: str
    bound: int


class Anchors:
    """The routers of one framework."""

    def __init__(
        self, evaluator: Evaluator, rule: FlowRule, callers: Callers, wrappers: Wrappers, paths: Set[RepoPath]
    ) -> None:
        self._evaluator, self._rule, self._names = evaluator, rule, callers.names
        self._callers, self._wrappers = callers, wrappers
        self._closures = Closures(evaluator, callers)
        self._code, self._arguments = evaluator.code, Arguments(evaluator)
        self._links: dict[str, list[LinkRule]] = {}
        for link in rule.links:
            for name in link.call:
                self._links.setdefault(name, []).append(link)
        self._makers = {name: kind for kind, one in rule.types.items() for name in one.new}
        self._declared = {name: kind for kind, one in rule.types.items() for name in one.declared}
        self._facades = {name: kind for kind, one in rule.types.items() for name in one.facade}
        self._paths = paths
        self._steps = 0  # of the value that is being resolved
        self._running: set[tuple[RepoPath, int, str]] = set()
        self._cuts = 0  # how often a value was found to depend on itself
        self._memo: dict[tuple[RepoPath, int, str], list[Anchor]] = {}

    def resolve(self, located: Located, depth: int = 0) -> list[Anchor]:
        """The routers that a value may be."""
        value = located.value
        if depth > _DEEPEST or value.kind not in (ValueKind.NAME, ValueKind.CALL, ValueKind.MEMBER):
            return []
        key = (located.path, value.start, f"{value.kind}{value.text}{len(value.items)}")
        is_plain = not located.environment.values
        self._steps = self._steps + 1 if self._running else 0
        if self._steps > _MOST_STEPS:
            return []
        if is_plain and key in self._memo:
            return self._memo[key]
        if key in self._running:
            self._cuts += 1
            return []
        self._running.add(key)
        cuts = self._cuts
        try:
            anchors = (
                self._call(located, depth) if value.kind is ValueKind.CALL else self._name(located, depth)
            )
        finally:
            self._running.discard(key)
        anchors = _unique(anchors)[:_MOST]
        if is_plain and (cuts == self._cuts or not self._running):
            self._memo[key] = anchors
        return anchors

    # Names

    def _name(self, located: Located, depth: int) -> list[Anchor]:
        path, value, _environment = located
        root, _, rest = value.text.partition(".")
        if value.kind is ValueKind.NAME and not rest:
            anchors = self._single(located, root, depth)
        else:
            anchors = self._member(located, depth)
        if not anchors:
            return []
        return [inner for anchor in anchors for inner in self._inside_closures(path, value, anchor)]

    def _single(self, located: Located, name: str, depth: int) -> list[Anchor]:
        path, value, environment = located
        if name in environment.values:
            anchors = self.resolve(environment.values[name], depth + 1)
            return [anchor._replace(environment=environment) for anchor in anchors]
        binds = self._names.binds(path, name, value.start)
        local = next((bind for bind in binds if bind.reason is Reason.LOCAL_ASSIGN), None)
        if local is not None:
            values = self._names.local_values(path, local, value.start)
            if values:
                return self._of_values(
                    [(one._replace(environment=environment), c) for one, c in values], depth
                )
        parameter = next((bind for bind in binds if bind.reason is Reason.PARAM), None)
        if parameter is not None:
            return self._parameter(path, parameter, depth)
        return self._of_definition(located, depth) or self._facade(located)

    def _member(self, located: Located, depth: int) -> list[Anchor]:
        anchors = self._of_definition(located, depth)
        return anchors or self._facade(located)

    def _facade(self, located: Located) -> list[Anchor]:
        kind = self._facades.get(self._names.full_name(located)) if self._facades else None
        return [Anchor(kind, Base("default", RepoPath(""), 0, kind))] if kind is not None else []

    def _of_definition(self, located: Located, depth: int) -> list[Anchor]:
        """A variable of a file or package, or a field, with all values that it is given."""
        place = self._names.definition(located.path, located.value)
        if place is None or self._code.definition_kind(place) not in _VARIABLES:
            return []
        annotation = self._code.definition(place).item.annotation
        if annotation not in ("", OTHER_TYPE) and not self._names_router(annotation):
            return []
        values = [
            (Located(one.path, one.value), one.site.is_conditional)
            for one in self._names.assignments_to(place)
        ]
        values += [(value, False) for value in self._names.keyword_values(place)]
        anchors = self._of_values(values, depth)
        anchors = [anchor._replace(environment=located.environment) for anchor in anchors]
        return anchors or self._declared_as(place)

    @cached_property
    def _type_words(self) -> frozenset[str]:
        names = {name.rpartition(".")[2] for name in self._declared}
        return frozenset(names | set(self._rule.opaque) | self._wrappers.names(self._paths))

    def _names_router(self, text: str) -> bool:
        """Whether the header of a function or a declared type has the name of a router in it."""
        return not self._rule.is_typed or not self._type_words.isdisjoint(_WORD.findall(text))

    def _declared_as(self, place: Place) -> list[Anchor]:
        item = self._code.definition(place).item
        kind = self._type_of(place.path, item.annotation)
        if kind is None:
            return []
        return [Anchor(kind, Base("declared", place.path, -1 - place.definition, kind), is_declared=True)]

    def _type_of(self, path: RepoPath, text: str) -> str | None:
        if not text:
            return None
        return self._declared.get(self._names.type_name(path, text)) or self._wrappers.declared(path, text)

    def _of_values(self, values: Sequence[tuple[Located, bool]], depth: int) -> list[Anchor]:
        return [
            anchor._replace(is_conditional=anchor.is_conditional or (is_conditional and len(values) == 1))
            for value, is_conditional in values
            for anchor in self.resolve(value, depth + 1)
        ]

    # Parameters

    def _parameter(self, path: RepoPath, bind: Bind, depth: int) -> list[Anchor]:
        """What callers hand over, or the call that a closure is an argument of."""
        function = self._callers.function_of(path, bind.scope)
        if function is None:
            return self._closure_parameter(path, bind, depth)
        anchors: list[Anchor] = []
        for call, item, is_conditional in self._callers.arguments_for(function, bind.name):
            for anchor in self.resolve(Located(call.path, item), depth + 1):
                environment = self._callers.environment(function, call, anchor.environment)
                is_conditional |= anchor.is_conditional
                anchors.append(anchor._replace(environment=environment, is_conditional=is_conditional))
        for site_path, site in self._callers.handed_over(function):
            anchors += self._handed(site_path, site, depth)
        if anchors:
            return anchors
        kind = self._type_of(path, bind.type_name) or self._by_signature(function, bind.name)
        if kind is None:
            return []
        return [Anchor(kind, Base("declared", path, bind.scope * 1000 + bind.line, kind), is_declared=True)]

    def _by_signature(self, function: Place, name: str) -> str | None:
        """The type of a parameter where the language writes more than a name: `cfg: &mut ServiceConfig`."""
        text = self._callers.declared_type(function, name)
        for full_name, kind in self._declared.items():
            if full_name.rpartition(".")[2] in text:
                return kind
        return None

    def _closure_parameter(self, path: RepoPath, bind: Bind, depth: int) -> list[Anchor]:
        start = self._callers.scope_start(path, bind.scope)
        site = self._callers.closures(path).get(start)
        anchors = self._handed(path, site, depth) if site is not None else []
        if site is None:
            for call, item in self._callers.arguments_of_closure(path, bind.scope, bind.name):
                anchors += self.resolve(Located(call.path, item), depth + 1)
        kind = self._type_of(path, bind.type_name) if not anchors else None
        if kind is not None:
            return [
                Anchor(kind, Base("declared", path, bind.scope * 1000 + bind.line, kind), is_declared=True)
            ]
        return anchors

    def _handed(self, path: RepoPath, site: Site, depth: int) -> list[Anchor]:
        """The routers that a call hands to the function among its arguments."""
        receiver = site.value.receiver
        if receiver is None:
            return []
        anchors: list[Anchor] = []
        for owner in self.resolve(Located(path, receiver), depth + 1):
            for link in self._links.get(site.value.text, ()):
                if link.function and owner.type_name in link.owner:
                    child = self._derived(Located(path, site.value), owner, link)
                    anchors.append(
                        child._replace(
                            is_conditional=child.is_conditional or site.is_conditional,
                            environment=_NO_ENVIRONMENT
                            if not owner.environment.values
                            else owner.environment,
                        )
                    )
                    break
        return anchors

    # Closures

    def _inside_closures(self, path: RepoPath, value: Value, anchor: Anchor) -> Iterator[Anchor]:
        """A router as code in closures sees it: below what the calls that get them put it."""
        if not self._rule.wrapped:
            yield anchor
            return
        root = value.text.partition(".")[0]
        yield from self._seen(_Spot(path, root, self._closures.bound_at(path, value)), value.start, anchor, 0)

    def _seen(self, spot: _Spot, start: int, anchor: Anchor, depth: int) -> Iterator[Anchor]:
        around = self._closures.around(spot.path, start, spot.bound)
        kept = max((at for at, one in enumerate(around) if one.site is None), default=-1)
        for inner in [anchor] if kept < 0 else self._where_used(spot, around[kept], anchor, depth):
            for closure in around[kept + 1 :]:
                if closure.site is not None and not closure.has_parameters:
                    inner = self._grouped(spot, closure.site, inner)
            yield inner

    def _where_used(self, spot: _Spot, closure: Closure, anchor: Anchor, depth: int) -> list[Anchor]:
        """A router in a closure that is kept: once for each call of the closure."""
        anchors: list[Anchor] = []
        for site, is_handed in self._closures.uses(spot.path, closure) if depth < _MOST_CLOSURES else ():
            if closure.start <= site.start < closure.end:
                continue  # what it calls itself
            for one in self._seen(spot, site.start, anchor, depth + 1):
                inner = self._grouped(spot, site, one, must_be_known=True) if is_handed else one
                is_conditional = inner.is_conditional or site.is_conditional
                anchors.append(inner._replace(is_conditional=is_conditional))
        return anchors or [self._somewhere(spot.path, closure.start, anchor)]

    def _grouped(self, spot: _Spot, site: Site, anchor: Anchor, must_be_known: bool = False) -> Anchor:
        """A router in a closure that a call gets: below the call's prefix where that is a call of its own."""
        path, receiver = spot.path, site.value.receiver
        is_own = receiver is not None and receiver.kind is ValueKind.NAME
        is_own = is_own and receiver is not None and receiver.text.partition(".")[0] == spot.root
        links = self._links.get(site.value.text, ())
        link = next((one for one in links if one.function and anchor.type_name in one.owner), None)
        if is_own and link is not None:
            anchor = self._derived(Located(path, site.value, anchor.environment), anchor, link)
        elif must_be_known or (
            is_own and self._wrappers.may_prefix(self._names.definition(path, site.value))
        ):
            anchor = self._somewhere(path, site.start, anchor)
        return anchor._replace(is_conditional=anchor.is_conditional or site.is_conditional)

    def _somewhere(self, path: RepoPath, start: int, anchor: Anchor) -> Anchor:
        """A router below a prefix that nobody knows."""
        link = Link(path, self._evaluator.line_of(path, start), None, None)
        return anchor._replace(links=(*anchor.links, link))

    # Calls

    def _call(self, located: Located, depth: int) -> list[Anchor]:
        path, value, environment = located
        receiver = value.receiver
        owners = self.resolve(Located(path, receiver, environment), depth + 1) if receiver is not None else []
        function = self._names.definition(path, value)
        if owners:
            anchors = self._derived_all(located, owners)
            if anchors is not None:
                return anchors
            function = function or self._callers.extension(value.text)
            if function is not None and self._wrappers.is_around(function):
                link = LinkRule(owner=(), call=(), prefix="text0")
                return [self._derived(located, owner, link) for owner in owners]
        if function is not None:
            return self._of_function(function, located, depth)
        if owners:
            return owners if self._rule.is_builder else []
        return self._outside(located, depth)

    def _derived_all(self, located: Located, owners: Sequence[Anchor]) -> list[Anchor] | None:
        anchors: list[Anchor] = []
        links = [link for link in self._links.get(located.value.text, ()) if not link.function or link.gives]
        for owner in owners:
            link = next((one for one in links if owner.type_name in one.owner), None)
            if link is not None:
                anchors.append(self._derived(located, owner, link))
        return anchors or None

    def _derived(self, located: Located, owner: Anchor, link: LinkRule) -> Anchor:
        path, value, _ = located
        line = self._evaluator.line_of(path, value.start)
        call = Located(path, value, owner.environment)
        texts = self._arguments.texts(call, link.prefix) if link.prefix else [""]
        text = texts[0] if texts is not None and len(texts) == 1 else None
        links = owner.links
        if text != "":
            where = self._arguments.value(call, link.prefix)
            links = (*links, Link(path, line, where, text))
        return owner._replace(type_name=link.gives or owner.type_name, links=links)

    def _of_function(self, function: Place, located: Located, depth: int) -> list[Anchor]:
        kind = self._code.definition_kind(function)
        path, value, environment = located
        router_kind = self._wrappers.made(function)
        if router_kind is not None:
            return [Anchor(router_kind, Base("made", path, value.start, router_kind), is_declared=True)]
        if kind not in _FUNCTIONS or not self._names_router(self._code.definition(function).item.signature):
            return []
        inner = self._callers.environment(function, located, environment)
        anchors = []
        for result in self._evaluator.returned_values(function, located):
            for anchor in self.resolve(Located(result.path, result.value, inner), depth + 1):
                frame = anchor.frame if anchor.frame.values else inner
                base = anchor.base
                if base.kind == "made":
                    base = base._replace(calls=(*base.calls, Origin(path, value.start))[-6:])
                anchors.append(anchor._replace(base=base, environment=environment, frame=frame))
        return anchors

    def _outside(self, located: Located, depth: int) -> list[Anchor]:
        name = self._names.full_name(located)
        kind = self._makers.get(name)
        if kind is not None:
            return [self._made(located, kind)]
        for wrap in self._rule.wraps:
            if name not in wrap.function:
                continue
            child = self._arguments.value(located, wrap.child)
            texts = self._arguments.texts(located, wrap.prefix) if wrap.prefix else [""]
            if child is None or texts is None:
                return []
            return [one._replace(outer=texts[0] + one.outer) for one in self.resolve(child, depth + 1)]
        return []

    def _made(self, located: Located, kind: str) -> Anchor:
        path, value, environment = located
        anchor = Anchor(kind, Base("made", path, value.start, kind), environment=environment)
        prefix = self._rule.types[kind].prefix
        if not prefix or self._arguments.value(located, prefix) is None:
            return anchor
        texts = self._arguments.texts(located, prefix)
        text = texts[0] if texts is not None and len(texts) == 1 else None
        line = self._evaluator.line_of(path, value.start)
        where = self._arguments.value(located, prefix)
        return anchor._replace(links=(Link(path, line, where, text, is_mount=False),))


def _unique(anchors: list[Anchor]) -> list[Anchor]:
    distinct: dict[object, Anchor] = {}
    for anchor in anchors:
        links = tuple((link.path, link.line, link.text) for link in anchor.links)
        calls = anchor.environment.calls, anchor.frame.calls
        distinct.setdefault((anchor.type_name, anchor.base, links, calls), anchor)
    return list(distinct.values())
