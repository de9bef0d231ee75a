"""Lists of routes: of a module, of an object that is made with one, or added to an object later."""

from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Import
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.handlers import Handlers
from codeplane.surfaces.kinds import Kinds, Typed, ancestry, class_attribute
from codeplane.surfaces.routes import Collected, Mount, Route, Step, joined_parts, spelled_pattern
from codeplane.surfaces.rule import EntryRule, Rule
from codeplane.surfaces.values import UNKNOWN, Evaluator, Located, Origin, ThingKind

_DEEPEST: Final = 8


class TableOwner(NamedTuple):
    """The object that a list belongs to, and whether that list is only used on a condition."""

    typed: Typed
    is_conditional: bool = False


class Tables:
    """Reads the lists of routes of one framework."""

    def __init__(
        self, evaluator: Evaluator, rule: Rule, kinds: Kinds, handlers: Handlers, collected: Collected
    ) -> None:
        self._evaluator, self._rule, self._kinds = evaluator, rule, kinds
        self._code, self._arguments, self._handlers = evaluator.code, Arguments(evaluator), handlers
        self._collected = collected
        self._entries = {name: entry for entry in rule.entries for name in entry.function}
        self._tuple = next((entry for entry in rule.entries if entry.is_tuple), None)
        self.roots: set[RepoPath] = set()

    def read_module(self, path: RepoPath) -> None:
        """The list that a variable of a module is, and what is appended to it."""
        for kind, rule in self._rule.types.items():
            if not rule.variable:
                continue
            typed = self._module_object(path, kind)
            for site in self._evaluator.sites(path).sites:
                if self._evaluator.definition_around(path, site.start) is not None:
                    continue
                owner, value = TableOwner(typed, site.is_conditional), site.value
                is_assigned = site.kind in (SiteKind.ASSIGN, SiteKind.CALL) and site.name == rule.variable
                if is_assigned:
                    self.read_table(owner, Located(path, value))
                elif site.kind is SiteKind.CALL and _is_append(value, rule.variable):
                    self.read_item(owner, Located(path, value.arguments[-1]))

    def read_object(self, typed: Typed) -> None:
        """The list that an object is made with, what it wraps, and what it is put on."""
        call, rule = self._evaluator.base_call(typed.thing), self._rule.types[typed.kind]
        if call is None:
            return
        table = self._arguments.value(call, rule.table) if rule.table else None
        if table is not None:
            self.read_table(TableOwner(typed), table)
        inner = self._arguments.value(call, rule.inner) if rule.inner else None
        child = self._kinds.typed_object(inner) if inner is not None else None
        if child is not None:
            self._mount(TableOwner(typed), child, "", call)
        above = self._arguments.value(call, rule.parent) if rule.parent else None
        parent = self._kinds.typed_object(above) if above is not None else None
        if parent is not None:
            self._mount(TableOwner(parent), typed, "", call)

    def read_table(self, owner: TableOwner, located: Located, depth: int = 0) -> None:
        """Every item of a list, of lists that are joined, or of the list behind a name or a call."""
        path, value, environment = located
        if depth > _DEEPEST:
            return
        if value.kind in (ValueKind.LIST, ValueKind.CONCAT):
            for item in value.items:
                self.read_item(owner, Located(path, item, environment), depth + 1)
        else:
            self.read_item(owner, located, depth + 1)

    def read_item(self, owner: TableOwner, located: Located, depth: int = 0) -> None:
        """A route, a mount, or another list."""
        if depth > _DEEPEST:
            return
        match located.value.kind:
            case ValueKind.LIST if self._tuple is not None and self._is_route_tuple(located):
                path, value, environment = located
                call = Value(ValueKind.CALL, "", value.start, value.items)
                self._add_entry(owner, Located(path, call, environment), self._tuple)
            case ValueKind.LIST | ValueKind.CONCAT:
                self.read_table(owner, located, depth)
            case ValueKind.CALL:
                self._read_call(owner, located, depth)
            case ValueKind.NAME | ValueKind.MEMBER:
                self._read_name(owner, located, depth)
            case ValueKind.TEXT:
                self._mount_module(owner, located)
            case ValueKind.OTHER:
                self._collected.count_dynamic(located.path)
            case _:
                pass

    def _is_route_tuple(self, located: Located) -> bool:
        path, value, environment = located
        is_pair = len(value.items) >= 2 and value.items[0].kind is not ValueKind.LIST
        return is_pair and self._evaluator.text(Located(path, value.items[0], environment)) is not None

    def _read_call(self, owner: TableOwner, located: Located, depth: int) -> None:
        thing = self._evaluator.evaluate(located)
        kind = self._kinds.type_of(thing)
        if kind is not None:
            self._mount(owner, Typed(thing, kind), "", located)
            return
        entry = self._entries.get(thing.text) if thing.kind is ThingKind.OBJECT else None
        if entry is not None:
            self._add_entry(owner, located, entry)
        elif thing.text in self._rule.passes:
            table = self._arguments.value(located, self._rule.passes[thing.text])
            if table is not None:
                self.read_table(owner, table, depth + 1)
        elif thing.text not in self._rule.ignores:
            self._read_returned(owner, located, depth)

    def _read_returned(self, owner: TableOwner, located: Located, depth: int) -> None:
        """The list that a function of the repository returns."""
        path, value, environment = located
        name = f"{value.receiver.text}.{value.text}" if value.receiver is not None else value.text
        called = self._evaluator.evaluate(
            Located(path, Value(ValueKind.NAME, name, value.start), environment)
        )
        is_function = called.kind is ThingKind.DEFINITION and self._code.definition_kind(
            called.target[0]
        ) in ("function", "method")
        values = self._returned(called.target[0], located) if is_function else []
        for returned, is_conditional in values:
            below = owner._replace(is_conditional=owner.is_conditional or is_conditional)
            self.read_table(below, returned, depth + 1)
        if not values:
            self._collected.count_dynamic(path)

    def _returned(self, place: Place, call: Located) -> list[tuple[Located, bool]]:
        """What a function returns and whether on a condition; of a method that returns nothing, what those
        return that override it."""
        values = self._evaluator.conditional_returns(place, call)
        if not values:
            for one in self._overriding(place):
                for value, is_conditional in self._evaluator.conditional_returns(one, call):
                    # The object is one of the class that overrides.
                    values.append(
                        (value._replace(environment=value.environment.without_self()), is_conditional)
                    )
        return values

    def _overriding(self, place: Place) -> list[Place]:
        """The methods that take the place of one in classes that are derived from its class."""
        name, owner = self._code.definition(place).name, self._evaluator.parent_of(place)
        tests = self._code.tests()
        if owner is None:
            return []
        return [
            other
            for other in self._code.definitions(name)
            if other != place
            and other.path not in tests
            and (below := self._evaluator.parent_of(other)) is not None
            and owner in ancestry(self._evaluator, below)
        ]

    def _read_name(self, owner: TableOwner, located: Located, depth: int) -> None:
        typed = self._kinds.listed_object(located) or self._kinds.typed_object(located)
        if typed is not None:
            self._mount(owner, typed, "", located)
            return
        thing = self._evaluator.evaluate(located)
        if thing.kind is ThingKind.MODULE:
            self._mount_path(owner, thing.target[0].path, located)
        elif thing.kind is ThingKind.DEFINITION:
            self._add_marked(owner, thing.target[0])
        elif located.value.kind is ValueKind.NAME:
            for source, is_conditional in self._evaluator.sources_of(located):
                below = TableOwner(owner.typed, owner.is_conditional or is_conditional)
                self.read_table(below, source, depth + 1)

    # Routes

    def _add_entry(self, owner: TableOwner, call: Located, entry: EntryRule) -> None:
        texts = self._arguments.texts(call, entry.path)
        value = self._arguments.value(call, entry.handler)
        if value is None:
            return
        child = self._kinds.typed_object(value) or self._kinds.listed_object(value)
        methods = self._entry_methods(call, entry)
        if texts is None or methods is None:
            self._collected.count_dynamic(call.path)
            return
        for text in texts:
            path = spelled_pattern(text) if entry.style == "regex" else text
            if child is not None:
                self._mount(owner, child, path, call)
            elif self._is_outside(value):
                continue
            else:
                for handler in self._handlers.resolve(value):
                    verbs = methods or handler.methods or (self._rule.default_method,)
                    self._route(owner, verbs, path, call, (handler.place, handler.line))

    def _entry_methods(self, call: Located, entry: EntryRule) -> tuple[str, ...] | None:
        """The methods that an entry names; none where its handler says them."""
        if entry.method == "class":
            return ()
        if entry.method == "name":
            return (call.value.text.upper(),)
        if self._arguments.value(call, entry.method) is None:
            return ()
        texts = self._arguments.texts(call, entry.method)
        return None if texts is None else tuple("ANY" if text == "*" else text.upper() for text in texts)

    def _is_outside(self, value: Located) -> bool:
        """Whether something of another distribution handles it: `admin.site.urls`."""
        thing = self._evaluator.evaluate(value)
        return thing.kind is ThingKind.EXTERNAL and thing.text.endswith(".urls")

    def _route(
        self,
        owner: TableOwner,
        methods: tuple[str, ...],
        text: str,
        call: Located,
        handler: tuple[Place | None, int],
    ) -> None:
        line = self._evaluator.line_of(call.path, call.value.start)
        self._collected.routes.append(
            Route(*owner.typed, methods, text, call.path, line, *handler, owner.is_conditional)
        )

    def _add_marked(self, owner: TableOwner, place: Place) -> None:
        """A function that a decorator makes a route, or a class whose methods are such."""
        marked = self._rule.marked
        if marked is None:
            return
        if self._code.definition_kind(place) != "class":
            self._add_decorated(owner, place, "")
            return
        classes = list(ancestry(self._evaluator, place))
        if not any(one in marked.base for one in classes if isinstance(one, str)):
            return
        value = class_attribute(self._evaluator, place, marked.base_prefix)
        prefix = self._evaluator.text(value) if value is not None else ""
        if prefix is None:
            self._collected.count_dynamic(place.path)
            return
        for one in classes:
            if isinstance(one, Place):
                facts = self._code.require_facts(one.path)
                for number, item in enumerate(facts.definitions):
                    if item.parent == one.definition and item.kind in ("method", "function"):
                        self._add_decorated(owner, Place(one.path, number), prefix)

    def _add_decorated(self, owner: TableOwner, place: Place, prefix: str) -> None:
        marked = self._rule.marked
        assert marked is not None, "BUG: asked for before"
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        line = self._code.definition(place).name_line
        for site in self._evaluator.sites(place.path).within(first, last):
            is_own = site.kind is SiteKind.DECORATOR and (
                self._evaluator.decorated_by(place.path, site) == place
            )
            verb = marked.methods.get(self._evaluator.full_name(place.path, site.value)) if is_own else None
            if verb is None:
                continue
            call = Located(place.path, site.value)
            texts = self._arguments.texts(call, marked.path)
            methods = self._arguments.texts(call, verb) if verb.startswith("kw.") else [verb]
            if texts is None or methods is None:
                self._collected.count_dynamic(place.path)
                continue
            verbs = tuple(method.upper() for method in methods)
            for text in texts:
                self._route(owner, verbs, joined_parts(prefix, text), call, (place, line))

    # Mounts

    def _mount(self, owner: TableOwner, child: Typed, prefix: str, at: Located) -> None:
        step = Step(at.path, self._evaluator.line_of(at.path, at.value.start), prefix)
        self._collected.mounts.append(
            Mount(*owner.typed, child.thing, prefix, False, step, owner.is_conditional)
        )

    def _mount_module(self, owner: TableOwner, located: Located) -> None:
        """The list of a module that is named by a text."""
        path = self.module_path(located.path, located.value.text)
        if path is not None:
            self._mount_path(owner, path, located)

    def _mount_path(self, owner: TableOwner, path: RepoPath, at: Located) -> None:
        for kind, rule in self._rule.types.items():
            if rule.variable and rule.variable in self._evaluator.sites(path).by_name:
                self._mount(owner, self._module_object(path, kind), "", at)

    def module_path(self, path: RepoPath, text: str) -> RepoPath | None:
        """The file of a module by its dotted name."""
        facts = self._code.facts(path)
        if facts is None or not text:
            return None
        statement = Import(0, f"{facts.language}_import", text, "", "module", 1, 0)
        places = self._code.module_places(path, statement)
        return places[0].path if len(places) == 1 and self._code.facts(places[0].path) else None

    def _module_object(self, path: RepoPath, kind: str) -> Typed:
        return Typed(UNKNOWN._replace(kind=ThingKind.OBJECT, text=f"<{kind}>", origin=Origin(path, -1)), kind)

    def find_roots(self) -> None:
        """The modules that a setting names."""
        for rule in self._rule.types.values():
            if not rule.root_setting:
                continue
            for path in self._code.paths_with(rule.root_setting):
                for site in self._evaluator.sites(path).by_name.get(rule.root_setting, ()):
                    text = self._evaluator.text(Located(path, site.value))
                    module = self.module_path(path, text) if text else None
                    if module is not None:
                        self.roots.add(module)


def _is_append(value: Value, variable: str) -> bool:
    owner = value.receiver
    is_call = owner is not None and owner.kind is ValueKind.NAME and owner.text == variable
    return is_call and value.text in ("append", "extend", "insert") and bool(value.arguments)
