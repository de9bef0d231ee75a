"""Values of languages in which modules and functions are objects: JavaScript and TypeScript."""

from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Bind, Import
from codeplane.languages.sites import (
    CHOICE,
    DEFAULT_EXPORT,
    FALLBACK,
    SPREAD,
    Site,
    SiteKind,
    Value,
    ValueKind,
)
from codeplane.names import Codebase, FileFacts
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, is_external
from codeplane.surfaces.functions import FILE, FileFunctions, FunctionRef, bound, calls_below
from codeplane.surfaces.instances import InstanceEvaluator
from codeplane.surfaces.values import (
    UNKNOWN,
    Environment,
    Located,
    Origin,
    Thing,
    ThingKind,
    single_thing,
)

SCRIPTS: Final = frozenset({"javascript", "typescript", "tsx", "vue", "svelte"})
_ENVIRONMENTS: Final = ("process.env", "import.meta.env", "Deno.env", "Bun.env")
_FUNCTIONS: Final = frozenset({"function", "method", "constructor", "property"})
_SAME: Final = frozenset({"bind", "freeze", "seal"})
_VIEWS: Final = frozenset({"values", "keys", "entries"})
DEEPEST: Final = 24
_MOST_SPREAD: Final = 8  # mappings in mappings
_NOTHING: Final = Environment()
_NONE: Final = frozenset({"null", "undefined"})
_INTEROP: Final = frozenset(
    {"_interopRequireDefault", "_interopRequireWildcard", "__importDefault", "__importStar", "__toESM"}
)


class ScriptValues(InstanceEvaluator):
    """Follows values through modules, closures, classes and literals."""

    def __init__(self, code: Codebase) -> None:
        super().__init__(code)
        self._functions_of: dict[RepoPath, FileFunctions] = {}
        self._is_script: dict[RepoPath, bool] = {}
        self._evaluating: set[tuple[object, ...]] = set()

    def speaks(self, path: RepoPath) -> bool:
        """Whether a file is of such a language."""
        is_script = self._is_script.get(path)
        if is_script is None:
            facts = self.code.facts(path)
            is_script = self._is_script[path] = facts is not None and facts.language in SCRIPTS
        return is_script

    def functions(self, path: RepoPath) -> FileFunctions:
        functions = self._functions_of.get(path)
        if functions is None:
            lines = list(self.code.all_occurrences(path).lines)
            facts, source = self.code.require_facts(path), self.code.source(path)
            functions = self._functions_of[path] = FileFunctions(facts, lines, source, self.sites(path))
        return functions

    # Values

    def evaluate(self, located: Located, depth: int = 0) -> Thing:
        if depth > DEEPEST or not self.speaks(located.path):
            return super().evaluate(located, depth)
        path, value, environment = located
        match value.kind:
            case ValueKind.MAPPING | ValueKind.LIST:
                origin = Origin(path, value.start, environment.calls)
                return Thing(ThingKind.LITERAL, origin=origin, made_by=located)
            case ValueKind.FUNCTION:
                return self._function_thing(located)
            case ValueKind.CALL if value.text == FALLBACK:
                first = self.evaluate(Located(path, value.items[0], environment), depth + 1)
                is_environment = first.kind is ThingKind.EXTERNAL and first.text.startswith(_ENVIRONMENTS)
                if not is_environment or len(value.items) < 2:
                    return first
                return self.evaluate(Located(path, value.items[1], environment), depth + 1)
            case ValueKind.CALL if value.text == CHOICE:
                return single_thing(
                    [self.evaluate(Located(path, item, environment), depth + 1) for item in value.items]
                )
            case _:
                return super().evaluate(located, depth)

    def _function_thing(self, located: Located) -> Thing:
        path, value, environment = located
        functions = self.functions(path)
        if value.start in functions.classes:
            return Thing(ThingKind.DEFINITION, target=(Place(path, functions.classes[value.start]),))
        scope = functions.by_start.get(value.start, FILE)
        number = functions.definitions.get(scope)
        if number is not None and functions.outside(scope) == FILE:
            return Thing(ThingKind.DEFINITION, target=(Place(path, number),))
        target = (Place(path, number),) if number is not None else UNRESOLVED
        origin = Origin(path, value.start, environment.calls)
        return Thing(ThingKind.FUNCTION, target=target, origin=origin, made_by=located)

    def items(self, located: Located, depth: int = 0) -> list[Located] | None:
        path, value, environment = located
        if not self.speaks(path) or depth > DEEPEST:
            return super().items(located, depth)
        if value.kind is ValueKind.LIST:
            rows: list[Located] = []
            for item in value.items:
                if item.kind is ValueKind.CALL and item.text == SPREAD:
                    inner = self.items(Located(path, item.items[0], environment), depth + 1)
                    if inner is None:
                        return None
                    rows += inner
                else:
                    rows.append(Located(path, item, environment))
            return rows
        if value.kind is ValueKind.CALL and value.text in (*_VIEWS, "concat", "flat", "map"):
            return self._listed_items(located, depth)
        thing = self.evaluate(located, depth + 1)
        if thing.kind is not ThingKind.LITERAL or thing.made_by is None:
            return None
        if thing.made_by.value.kind is not ValueKind.LIST:
            return None
        literal = self.items(thing.made_by, depth + 1)
        return [*literal, *self._pushed(located)] if literal is not None else None

    def _pushed(self, located: Located) -> list[Located]:
        """What calls in the same function add to a list."""
        path, value, environment = located
        if value.kind is not ValueKind.NAME or value.text in environment.values:
            return []
        functions = self.functions(path)
        scope = functions.at(value.start)
        return [
            Located(path, item, environment)
            for site in functions.pushes.get(value.text, ())
            if site.loop < 0 and functions.at(site.start) in (scope, FILE)
            for item in site.value.arguments
        ]

    def _listed_items(self, located: Located, depth: int) -> list[Located] | None:
        """The items of `Object.entries(x)`, `a.concat(b)`, `a.map(f)`."""
        path, value, environment = located
        owner = value.receiver
        if owner is None:
            return None
        if value.text in _VIEWS:
            pairs = self._pairs(Located(path, value.items[1], environment)) if len(value.items) > 1 else None
            if owner.text != "Object" or pairs is None:
                return None
            keys = [
                Value(ValueKind.TEXT, item.value.keyword.strip("\"'"), item.value.start) for item in pairs
            ]
            if value.text == "keys":
                return [item._replace(value=key) for key, item in zip(keys, pairs, strict=True)]
            if value.text == "values":
                return pairs
            # An entry is evaluated where it is written, so its parts keep their own environment.
            return [
                item._replace(value=Value(ValueKind.LIST, start=item.value.start, items=(key, item.value)))
                for key, item in zip(keys, pairs, strict=True)
            ]
        rows = self.items(Located(path, owner, environment), depth + 1)
        if rows is None or value.text == "flat":
            return rows
        if value.text == "concat":
            for argument in value.arguments:
                more = self.items(Located(path, argument, environment), depth + 1)
                if more is None:
                    return None
                rows = [*rows, *more]
            return rows
        return self._mapped(rows, located)

    def _mapped(self, rows: list[Located], located: Located) -> list[Located] | None:
        mapping = located.value.argument(0)
        ref = (
            self.function_of(self.evaluate(Located(located.path, mapping, located.environment)))
            if mapping
            else None
        )
        if ref is None:
            return None
        results: list[Located] = []
        for row in rows:
            call = Value(ValueKind.CALL, "", located.value.start, (row.value,))
            values = self.returned_by(ref, Located(row.path, call, row.environment))
            if len(values) != 1:
                return None
            results += values
        return results

    def _pairs(self, located: Located) -> list[Located] | None:
        thing = self.evaluate(located)
        made_by = thing.made_by
        if (
            thing.kind is not ThingKind.LITERAL
            or made_by is None
            or made_by.value.kind is not ValueKind.MAPPING
        ):
            return None
        return [
            Located(made_by.path, item, made_by.environment) for item in made_by.value.items if item.keyword
        ]

    def named_definition(self, located: Located) -> Place | None:
        path, value, _ = located
        if not self.speaks(path) or value.kind is not ValueKind.NAME:
            return None
        thing = self._name(located, 0, follows=False)
        return thing.target[0] if thing.kind is ThingKind.DEFINITION else None

    # Members

    def member(self, owner: Thing, name: str, depth: int = 0, *, follows: bool = True) -> Thing:
        match owner.kind:
            case ThingKind.LITERAL:
                item = self.literal_member(owner, name)
                if item is None:
                    return UNKNOWN
                is_name = item.value.kind is ValueKind.NAME and not follows
                return (
                    self._name(item, depth + 1, follows=False) if is_name else self.evaluate(item, depth + 1)
                )
            case ThingKind.EXTERNAL if name == "default":
                return owner
            case ThingKind.MODULE if self.speaks(owner.target[0].path):
                return self._module_member(owner, name, depth, follows=follows)
            case ThingKind.DEFINITION if self.code.definition_kind(owner.target[0]) == "enum":
                place = owner.target[0]
                first, last = self.byte_span(place.path, self.code.definition(place).span)
                sites = self.sites(place.path).by_name.get(name, ())
                sources = [Located(place.path, one.value) for one in sites if first <= one.start < last]
                return self.evaluate(sources[0], depth + 1) if len(sources) == 1 else UNKNOWN
            case _:
                return super().member(owner, name, depth, follows=follows)

    def mapping_item(self, located: Located, key: str) -> Located | None:
        if not self.speaks(located.path):
            return super().mapping_item(located, key)
        return self.literal_member(Thing(ThingKind.LITERAL, made_by=located), key)

    def literal_member(self, owner: Thing, name: str, depth: int = 0) -> Located | None:
        """The value of a key of a mapping, spread mappings included."""
        if owner.made_by is None or depth > _MOST_SPREAD:
            return None
        path, value, environment = owner.made_by
        for item in reversed(value.items):
            if item.keyword.strip("\"'") == name:
                return Located(path, item, environment)
            if item.kind is ValueKind.CALL and item.text == SPREAD and not item.keyword:
                inner = self.evaluate(Located(path, item.items[0], environment))
                member = (
                    self.literal_member(inner, name, depth + 1) if inner.kind is ThingKind.LITERAL else None
                )
                if member is not None:
                    return member
        return None

    def _module_member(self, owner: Thing, name: str, depth: int, *, follows: bool) -> Thing:
        path = owner.target[0].path
        if name == "exports":
            return self.module_value(path, depth)
        target = self.code.member_of(owner.target, name)
        if target not in (UNRESOLVED, AMBIGUOUS) and not is_external(target):
            return self._of_target(target, depth, follows=follows)
        table = self.sites(path).by_name
        sites = [site for head in ("exports", "module.exports") for site in table.get(f"{head}.{name}", ())]
        sources = [Located(path, site.value) for site in sites if site.value.text != "undefined"]
        sources = [one for one in sources if one.value.kind is not ValueKind.CONSTANT]
        if sources:
            return single_thing([self.evaluate(source, depth + 1) for source in sources])
        value = self.module_value(path, depth)
        if value.kind is ThingKind.MODULE:
            return UNKNOWN
        return value if name == "default" else self.member(value, name, depth + 1, follows=follows)

    def module_value(self, path: RepoPath, depth: int = 0) -> Thing:
        """What requiring a module gives: what it assigns to `module.exports`, else the module itself."""
        module = Thing(ThingKind.MODULE, target=(Place(path, -1),))
        key = (path, "module.exports")
        if key in self._evaluating or depth > DEEPEST:
            return UNKNOWN
        self._evaluating.add(key)
        try:
            sites = self.sites(path).by_name.get("module.exports", [])
            things = [self.evaluate(Located(path, site.value), depth + 1) for site in sites]
            value = single_thing(things) if things else module
            if value.kind is ThingKind.UNKNOWN:
                for number, item in enumerate(self.code.require_facts(path).definitions):
                    if item.name == "exports" and item.parent < 0:
                        return Thing(ThingKind.DEFINITION, target=(Place(path, number),))
            return value
        finally:
            self._evaluating.discard(key)

    def default_of(self, thing: Thing) -> Thing:
        """What a module exports without a name; anything else is itself."""
        if thing.kind is not ThingKind.MODULE or not self.speaks(thing.target[0].path):
            return thing
        value = self.module_value(thing.target[0].path)
        return value if value.kind is not ThingKind.MODULE else self.member(thing, "default")

    def required(self, path: RepoPath, text: str, depth: int = 0, *, is_whole: bool = True) -> Thing:
        """What `require(text)` or `import(text)` gives."""
        statement = Import(0, "js_require", text, "", "module", 1, 0)
        places = self.code.module_places(path, statement)
        if len(places) == 1 and self.code.facts(places[0].path) is not None:
            target = places[0].path
            return (
                self.module_value(target, depth)
                if is_whole
                else Thing(ThingKind.MODULE, target=tuple(places))
            )
        is_own = text.startswith((".", "/"))
        return UNKNOWN if is_own else Thing(ThingKind.EXTERNAL, text.removeprefix("node:"))

    # Names

    def _root(self, located: Located, root: str, depth: int, *, follows: bool) -> Thing:
        path, value, _ = located
        if not self.speaks(path):
            return super()._root(located, root, depth, follows=follows)
        if root == "this":
            return self.anonymous_instance(path, value.start)
        if root == "exports" or root == "module":
            facts = self.code.facts(path)
            if facts is None or self._bind_at(path, facts, root, value.start) is None:
                return Thing(ThingKind.MODULE, target=(Place(path, -1),))
        return super()._root(located, root, depth, follows=follows)

    def anonymous_instance(self, path: RepoPath, start: int) -> Thing:
        """`this` in a class: an instance of which no more is is_script."""
        place = self.definition_around(path, start)
        while place is not None and self.code.definition_kind(place) != "class":
            parent = self.code.require_facts(path).definitions[place.definition].parent
            place = Place(path, parent) if parent >= 0 else None
        return Thing(ThingKind.OBJECT, target=(place,)) if place is not None else UNKNOWN

    def _imported(self, path: RepoPath, facts: FileFacts, number: int, depth: int, *, follows: bool) -> Thing:
        if not self.speaks(path):
            return super()._imported(path, facts, number, depth, follows=follows)
        item, target = facts.imports[number], self.code.imported(path, number)
        is_definition = (
            target not in (UNRESOLVED, AMBIGUOUS) and not is_external(target) and target[0].definition >= 0
        )
        if is_definition:
            return self._of_target(target, depth, follows=follows)
        whole = self.required(path, item.module, depth, is_whole=item.kind == "js_require")
        if whole.kind is ThingKind.EXTERNAL or whole.kind is ThingKind.UNKNOWN:
            return super()._imported(path, facts, number, depth, follows=follows)
        if not item.name or item.name == "*":
            return whole
        return (
            self.default_of(whole)
            if item.name == "default"
            else self.member(whole, item.name, depth + 1, follows=follows)
        )

    def _given(
        self, path: RepoPath, name: str, around: Place | None, environment: Environment = _NOTHING
    ) -> list[tuple[Located, bool]]:
        if not self.speaks(path):
            return super()._given(path, name, around, environment)
        name = DEFAULT_EXPORT if name == "default" and around is None else name
        functions, number = self.functions(path), around.definition if around is not None else None
        return [
            (Located(path, site.value, environment), site.is_conditional)
            for site in self.sites(path).by_name.get(name, ())
            if site.value.text not in _NONE
            and (
                functions.stands_in(site.start, number)
                or (number is None and self._is_global(path, site, name))
            )
        ]

    def _is_global(self, path: RepoPath, site: Site, name: str) -> bool:
        """Whether a function gives a variable of the file its value: `function start() { app = … }`."""
        functions, facts = self.functions(path), self.code.require_facts(path)
        scope = functions.at(site.start)
        if scope == FILE or "." in name:
            return False
        number = self.code.binding_at(facts, scope, name)
        names = {bind.scope for bind in facts.binds if bind.name == name}
        is_own = any(functions.around(one) == scope for one in names if one > 0)
        return number is not None and number >= 0 and facts.binds[number].scope == 0 and not is_own

    def _local(self, located: Located, bind: Bind, depth: int) -> Thing:
        path, environment, name = located.path, located.environment, bind.name
        if not self.speaks(path):
            return super()._local(located, bind, depth)
        functions = self.functions(path)
        scope = functions.around(bind.scope)
        sites = [site for site in self.sites(path).by_name.get(name, ()) if functions.at(site.start) == scope]
        key = (path, located.value.start, name)
        if not sites or not self._may_follow(key):
            return UNKNOWN
        self._running.add(key)
        try:
            return self._single([Located(path, site.value, environment) for site in sites], depth)
        finally:
            self._running.discard(key)

    # Calls

    def _call(self, located: Located, depth: int) -> Thing:
        path, value, environment = located
        if not self.speaks(path):
            return super()._call(located, depth)
        first = value.argument(0)
        receiver = value.receiver
        if value.text == "[]":
            return self._subscript(located, depth)
        if receiver is None:
            if value.text == "require" and first is not None and first.kind is ValueKind.TEXT:
                return self.required(path, first.text, depth)
            if value.text in _INTEROP and first is not None:
                thing = self.evaluate(Located(path, first, environment), depth + 1)
                is_whole = thing.kind in (ThingKind.MODULE, ThingKind.EXTERNAL)
                return (
                    thing
                    if is_whole
                    else Thing(ThingKind.LITERAL, made_by=_as_default(path, first, environment))
                )
        elif receiver.kind is ValueKind.OTHER and value.text == "" and first is not None:
            if first.kind is ValueKind.TEXT:
                return self.required(path, first.text, depth, is_whole=False)
        elif value.text == "then" and first is not None and first.kind is ValueKind.FUNCTION:
            ref = self.function_of(self.evaluate(Located(path, first, environment), depth + 1))
            call = Value(ValueKind.CALL, "", value.start, (receiver,))
            return self._result(ref, Located(path, call, environment), depth)
        elif value.text in _SAME:
            subject = receiver if value.text == "bind" else first
            return self.evaluate(Located(path, subject, environment), depth + 1) if subject else UNKNOWN
        callee = self.called(located, depth)
        if callee.kind is ThingKind.FUNCTION:
            return self._result(self.function_of(callee), located, depth)
        return self.result_of(callee, located, depth)

    def called(self, located: Located, depth: int = 0) -> Thing:
        """What a call calls."""
        path, value, environment = located
        receiver = value.receiver
        if receiver is None:
            return self._name(
                Located(path, Value(ValueKind.NAME, value.text, value.start), environment), depth
            )
        owner = self.evaluate(Located(path, receiver, environment), depth + 1)
        return self.member(owner, value.text, depth) if value.text else owner

    def _subscript(self, located: Located, depth: int) -> Thing:
        path, value, environment = located
        owner = self.evaluate(Located(path, value.items[0], environment), depth + 1)
        key = (
            self.text(Located(path, value.items[1], environment), depth + 1) if len(value.items) > 1 else None
        )
        return self.member(owner, key, depth + 1) if key is not None else UNKNOWN

    def _result(self, ref: FunctionRef | None, call: Located, depth: int) -> Thing:
        if ref is None or depth > DEEPEST:
            return UNKNOWN
        key = (ref.path, ref.scope, "()")
        if key in self._running:
            return UNKNOWN
        self._running.add(key)
        try:
            things = [self.evaluate(value, depth + 1) for value in self.returned_by(ref, call)]
            return single_thing([thing for thing in things if thing.kind is not ThingKind.UNKNOWN] or things)
        finally:
            self._running.discard(key)

    def _result_of_function(self, place: Place, located: Located, depth: int) -> Thing:
        ref = (
            self.function_of(Thing(ThingKind.DEFINITION, target=(place,)))
            if self.speaks(place.path)
            else None
        )
        if ref is None:
            return super()._result_of_function(place, located, depth)
        return self._result(ref, located, depth)

    def returned_values(self, place: Place, call: Located) -> list[Located]:
        ref = (
            self.function_of(Thing(ThingKind.DEFINITION, target=(place,)))
            if self.speaks(place.path)
            else None
        )
        return self.returned_by(ref, call) if ref is not None else super().returned_values(place, call)

    def returned_by(self, ref: FunctionRef, call: Located) -> list[Located]:
        """The values that a function returns when it is called like this."""
        return self._returned_in(ref, self.entered(ref, call))

    def _returned_in(self, ref: FunctionRef, environment: Environment) -> list[Located]:
        sites = self.functions(ref.path).sites_of.get(ref.scope, ())
        return [
            Located(ref.path, site.value, environment)
            for site in sites
            if site.kind is SiteKind.RETURN or (site.is_returned and site.outer < 0)
        ]

    def entered(self, ref: FunctionRef, call: Located) -> Environment:
        """The names in a function as a call gives them."""
        values = {**ref.environment.values, **bound(self.functions(ref.path).parameters(ref.scope), call)}
        things = dict(ref.environment.things)
        receiver = call.value.receiver
        if ref.place is not None and receiver is not None and call.value.text:
            owner = self.evaluate(Located(call.path, receiver, call.environment))
            if owner.kind is ThingKind.OBJECT and owner.target != UNRESOLVED:
                things["this"] = owner
        for name in values.keys() & things.keys():
            if name in ref.environment.things:
                del things[name]
        return Environment(values, calls_below(call), things, call.environment.is_conditional)

    def function_of(self, thing: Thing) -> FunctionRef | None:
        """The function that something is."""
        if thing.kind is ThingKind.FUNCTION and thing.made_by is not None:
            path, value, environment = thing.made_by
            scope = self.functions(path).by_start.get(value.start)
            place = thing.target[0] if thing.target != UNRESOLVED else None
            return FunctionRef(path, scope, environment, place) if scope is not None else None
        if thing.kind is not ThingKind.DEFINITION or not self.speaks(thing.target[0].path):
            return None
        place = thing.target[0]
        if self.code.definition_kind(place) not in _FUNCTIONS:
            return None
        functions = self.functions(place.path)
        scope = functions.scope_of(place.definition)
        if scope == FILE:  # `export default () => …` has no body of its own
            sites = self.sites(place.path).by_name.get(DEFAULT_EXPORT, ())
            scope = next((functions.by_start.get(site.value.start, FILE) for site in sites), FILE)
        return FunctionRef(place.path, scope, Environment(), place) if scope in functions.spans else None


def _as_default(path: RepoPath, value: Value, environment: Environment) -> Located:
    """`{default: value}`, as helpers of compilers make it."""
    return Located(path, Value(ValueKind.MAPPING, items=(value._replace(keyword="default"),)), environment)


def function_values(values: Sequence[Value]) -> list[Value]:
    """The functions that are written in values, not those in calls inside of them."""
    functions: list[Value] = []
    pending = list(values)
    while pending:
        value = pending.pop(0)
        if value.kind is ValueKind.FUNCTION:
            functions.append(value)
        elif value.kind in (ValueKind.LIST, ValueKind.MAPPING):
            pending += value.items
    return functions
