"""Routes of Laravel: route files, the groups around their calls, and the providers that load them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import Value, ValueKind
from codeplane.surfaces.dsl.inflection import singular
from codeplane.surfaces.dsl.statements import Statement, Statements
from codeplane.surfaces.flow.names import Names
from codeplane.surfaces.routes import Endpoint, Step, joined_parts
from codeplane.surfaces.values import Evaluator, Located

_FACADE: Final = "Illuminate.Support.Facades.Route"
_VERBS: Final = {
    "get": ("GET",),
    "post": ("POST",),
    "put": ("PUT",),
    "patch": ("PATCH",),
    "delete": ("DELETE",),
    "options": ("OPTIONS",),
    "any": ("ANY",),
    "view": ("GET",),
    "redirect": ("ANY",),
    "permanentRedirect": ("ANY",),
}
_ACTIONS: Final = (
    ("index", "GET", ""),
    ("create", "GET", "/create"),
    ("store", "POST", ""),
    ("show", "GET", "/{id}"),
    ("edit", "GET", "/{id}/edit"),
    ("update", "PUT", "/{id}"),
    ("update", "PATCH", "/{id}"),
    ("destroy", "DELETE", "/{id}"),
)
_SINGLETON: Final = (
    ("show", "GET", ""),
    ("edit", "GET", "/edit"),
    ("update", "PUT", ""),
    ("update", "PATCH", ""),
)
_RESOURCES: Final = frozenset(
    {"resource", "apiResource", "resources", "apiResources", "singleton", "apiSingleton"}
)
_ROUTERS: Final = frozenset({"router", "api", "app.router", "app"})
_DEEPEST: Final = 12


@dataclass(frozen=True)
class Group:
    """What the groups around a route say about it."""

    prefix: str = ""
    controller: Located | None = None
    is_conditional: bool = False
    is_loaded: bool = True
    steps: tuple[Step, ...] = ()


class Laravel:
    """The endpoints of the Laravel applications of a repository."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._statements = Statements(evaluator)
        self.dynamic: dict[RepoPath, int] = {}
        self._rows: list[Endpoint] = []
        self._files: dict[RepoPath, list[Group]] = {}

    def endpoints(self) -> list[Endpoint]:
        """Every endpoint."""
        paths = [path for path in sorted(self._code.paths_with("Route")) if self._uses(path)]
        if not paths:
            return []
        self._names = Names(self._evaluator, set(paths))
        for path in sorted(self._code.paths_with("withRouting")):
            self._read_bootstrap(path)
        route_files = [path for path in paths if "routes/" in f"/{path}" and self._is_flat(path)]
        for path in paths:
            if path not in route_files:
                self._read_file(path, Group(), 0)
        pending = sorted(self._files)
        pending += sorted(set(route_files) - self._files.keys(), key=lambda path: (not _is_main(path), path))
        includes: set[RepoPath] = set()
        for path in pending:
            if path not in includes:
                for group in self._files.get(path) or self._defaults(path):
                    self._read_routes(path, group, includes, 0)
        return self._rows

    def _uses(self, path: RepoPath) -> bool:
        facts = self._code.facts(path)
        if facts is None or facts.language != "php":
            return False
        names = {f"{item.module}\\{item.name}".replace("\\", ".") for item in facts.imports}
        return _FACADE in names or (
            "routes/" in f"/{path}" and not any(item.alias == "Route" for item in facts.imports)
        )

    def _is_flat(self, path: RepoPath) -> bool:
        return not any(item.kind == "class" for item in self._code.require_facts(path).definitions)

    def _defaults(self, path: RepoPath) -> list[Group]:
        """How a file is loaded where no code says it: `routes/api.php` below `/api`."""
        name = path.rpartition("/")[2]
        is_included = bool(self._files)
        if name == "api.php" and not is_included:
            return [Group(prefix="api")]
        return [Group(is_loaded=not is_included or name in ("web.php", "api.php"))]

    # Files

    def _read_bootstrap(self, path: RepoPath) -> None:
        """`->withRouting(web: …, api: …, apiPrefix: …)`."""
        for statement in self._statements.of_file(path):
            for call in statement.chain:
                if call.text != "withRouting":
                    continue
                prefix = call.keyword_argument("apiPrefix")
                text = self._text(statement, prefix) if prefix is not None else "api"
                for name in ("web", "api"):
                    value = call.keyword_argument(name)
                    group = Group(prefix=(text or "") if name == "api" else "")
                    for item in (
                        value.items if value is not None and value.kind is ValueKind.LIST else [value]
                    ):
                        if item is not None:
                            self._load(statement, item, group)
                for item in call.arguments:
                    if item.keyword == "then" and item.kind is ValueKind.FUNCTION:
                        self._block(statement, call, Group(), 0)

    def _load(self, statement: Statement, value: Value, group: Group) -> bool:
        """A file that a path names by its end: `base_path('routes/api.php')`, `__DIR__.'/auth.php'`."""
        text = _path_text(value)
        if not text.endswith(".php"):
            return False
        name = text.rpartition("/")[2]
        tail = text.replace("../", "").lstrip("./")
        here = statement.path.rpartition("/")[0]
        paths = [path for path in self._code.paths_named(name) if path == tail or path.endswith(f"/{tail}")]
        beside = [path for path in paths if path == f"{here}/{tail}".lstrip("/")]
        nearest = sorted(paths, key=lambda path: (-_shared(path, statement.path), len(path)))
        path = next(iter(beside or nearest), None)
        if path is None:
            return False
        step = Step(
            statement.path, self._evaluator.line_of(statement.path, statement.site.start), group.prefix
        )
        self._files.setdefault(path, []).append(replace(group, steps=(*group.steps, step)))
        return True

    def _read_file(self, path: RepoPath, group: Group, depth: int) -> None:
        for statement in self._statements.of_file(path):
            self._read(statement, group, depth)

    def _read_routes(self, path: RepoPath, group: Group, includes: set[RepoPath], depth: int) -> None:
        """The routes of a file and of those that it includes: `require __DIR__.'/auth.php'`."""
        self._read_file(path, group, 0)
        for item in self._code.require_facts(path).imports if depth < _DEEPEST else ():
            if item.kind != "php_include":
                continue
            target = RepoPath(f"{path.rpartition('/')[0]}/{item.module.removeprefix('./')}".lstrip("/"))
            if self._code.facts(target) is not None and target != path:
                includes.add(target)
                step = Step(path, item.line, "")
                self._read_routes(target, replace(group, steps=(*group.steps, step)), includes, depth + 1)

    def _block(self, statement: Statement, call: Value, group: Group, depth: int) -> None:
        for one in self._statements.of_block(statement, call):
            self._read(one, group, depth + 1)

    # Statements

    def _read(self, statement: Statement, group: Group, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if statement.site.is_conditional:
            group = replace(group, is_conditional=True)
        chain, head = statement.chain, statement.head
        if head is None or not self._is_router(statement, head):
            for call in chain:
                if call.text == "loadRoutesFrom" and call.arguments:
                    self._load(statement, call.arguments[0], group)
                self._block(statement, call, group, depth)
            return
        for number, call in enumerate(chain):
            if call.text == "group":
                self._read_group(statement, call, group, depth)
                return
            if call.text in _RESOURCES:
                self._add_resources(statement, call, chain[number + 1 :], group)
                return
            if call.text in _VERBS or call.text in ("match", "fallback"):
                self._add_route(statement, call, chain[number + 1 :], group)
                return
            inner = self._changed(statement, call, group)
            if inner is None:
                self._count(statement)
                return
            group = inner

    def _is_router(self, statement: Statement, head: Value) -> bool:
        if head.kind is not ValueKind.NAME:
            return False
        if head.text.rpartition(".")[2] == "Route":
            full = self._names.full_name(Located(statement.path, head))
            return full in ("Route", _FACADE)
        return head.text in _ROUTERS and "routes/" in f"/{statement.path}"

    def _changed(self, statement: Statement, call: Value, group: Group) -> Group | None:
        """The group with what a call before `group` adds to it; None where that isn't known."""
        first = call.argument(0)
        if call.text == "prefix" and first is not None:
            text = self._text(statement, first)
            return replace(group, prefix=f"{group.prefix}/{text}") if text is not None else None
        if call.text == "controller" and first is not None:
            return replace(group, controller=Located(statement.path, first))
        return group

    def _read_group(self, statement: Statement, call: Value, group: Group, depth: int) -> None:
        for item in call.arguments:
            if item.kind is ValueKind.LIST:
                option = next((one for one in item.items if one.keyword == "prefix"), None)
                if option is not None:
                    text = self._text(statement, option)
                    if text is None:
                        self._count(statement)
                        return
                    group = replace(group, prefix=f"{group.prefix}/{text}")
        if any(item.kind is ValueKind.FUNCTION for item in call.arguments):
            self._block(statement, call, group, depth)
            self._included(statement, call, group)
        elif call.arguments:
            self._load(statement, call.arguments[-1], group)

    def _included(self, statement: Statement, call: Value, group: Group) -> None:
        """`->group(function () { require base_path('routes/api.php'); })`."""
        start = min(item.start for item in call.arguments if item.kind is ValueKind.FUNCTION)
        text = self._code.source(statement.path)[start : statement.site.end].decode("utf-8", "replace")
        for name in re.findall(r"\b(?:require|include)(?:_once)?\b[^;'\"]*['\"]([^'\"]+\.php)['\"]", text):
            self._load(statement, Value(ValueKind.TEXT, name), group)

    def _count(self, statement: Statement) -> None:
        self.dynamic[statement.path] = self.dynamic.get(statement.path, 0) + 1

    # Routes

    def _add_route(self, statement: Statement, call: Value, after: Sequence[Value], group: Group) -> None:
        arguments = [item for item in call.arguments if not item.keyword]
        verbs: tuple[str, ...] | None = _VERBS.get(call.text, ("ANY",))
        if call.text == "match":
            texts = (
                self._statements.texts(statement.path, arguments[0], statement.environment)
                if arguments
                else None
            )
            verbs, arguments = (tuple(text.upper() for text in texts) if texts else None), arguments[1:]
        if call.text == "fallback":
            verbs, arguments = ("GET",), [Value(ValueKind.TEXT, "{fallbackPlaceholder}"), *arguments]
        text = self._text(statement, arguments[0]) if arguments else None
        group = self._after(statement, after, group)
        if verbs is None or text is None:
            if arguments:
                self._count(statement)
            return
        handler = self._handler(statement, arguments[1], group) if len(arguments) > 1 else None
        if call.text in ("view", "redirect", "permanentRedirect"):
            handler = None
        for verb in verbs:
            self._add(statement, verb, joined_parts(group.prefix, text), group, handler)

    def _after(self, statement: Statement, after: Sequence[Value], group: Group) -> Group:
        """`Route::get(…)->prefix('x')`."""
        for call in after:
            if call.text == "prefix" and call.arguments:
                text = self._text(statement, call.arguments[0])
                group = replace(group, prefix=f"{group.prefix}/{text}") if text is not None else group
        return group

    def _add_resources(self, statement: Statement, call: Value, after: Sequence[Value], group: Group) -> None:
        first = call.argument(0)
        if first is None:
            return
        if call.text in ("resources", "apiResources"):
            for item in first.items:
                self._add_resource(statement, call, after, group, (item.keyword, item))
            return
        name = self._text(statement, first)
        controller = call.argument(1)
        if name is None:
            self._count(statement)
            return
        self._add_resource(statement, call, after, group, (name, controller))

    def _add_resource(
        self,
        statement: Statement,
        call: Value,
        after: Sequence[Value],
        group: Group,
        resource: tuple[str, Value | None],
    ) -> None:
        name, controller = resource
        place = self._class_of(Located(statement.path, controller)) if controller is not None else None
        is_api = call.text.startswith("api")
        is_single = call.text.endswith("ingleton")
        only, exclusions = self._limits(statement, call, after)
        parameters = self._parameters(statement, call, after)
        is_shallow = any(one.text == "shallow" for one in after)
        base, parameter = _resource_path(name, parameters)
        short = joined_parts(base.rpartition("}/")[2]) if is_shallow else base
        for action, verb, suffix in _SINGLETON if is_single else _ACTIONS:
            is_form = action in ("create", "edit")
            if (is_api and is_form) or (only is not None and action not in only) or action in exclusions:
                continue
            start = base if action in ("index", "create", "store") or is_single else short
            path = f"{start}{suffix}".replace("{id}", f"{{{parameter}}}")
            method = self._method_of(place, action) if place is not None else None
            self._add(statement, verb, joined_parts(group.prefix, path), group, method)

    def _limits(
        self, statement: Statement, call: Value, after: Sequence[Value]
    ) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
        only: tuple[str, ...] | None = None
        exclusions: tuple[str, ...] = ()
        options = call.argument(2)
        values = [(one.keyword, one) for one in options.items] if options is not None else []
        values += [(one.text, one.arguments[0]) for one in after if one.arguments]
        for name, value in values:
            if name in ("only", "except"):
                texts = self._statements.texts(statement.path, value, statement.environment)
                if texts is not None and name == "only":
                    only = tuple(texts)
                elif texts is not None:
                    exclusions = tuple(texts)
        return only, exclusions

    def _parameters(self, statement: Statement, call: Value, after: Sequence[Value]) -> dict[str, str]:
        """`->parameters(['users' => 'admin_user'])`, `->parameter('users', 'user')`."""
        table: dict[str, str] = {}
        options = call.argument(2)
        lists = [one for one in (options.items if options is not None else ()) if one.keyword == "parameters"]
        for one in after:
            if one.text == "parameters" and one.arguments:
                lists.append(one.arguments[0])
            elif one.text == "parameter" and len(one.arguments) == 2:
                table[one.arguments[0].text] = one.arguments[1].text
        for value in lists:
            for item in value.items:
                table[item.keyword] = self._text(statement, item) or item.keyword
        return table

    def _add(self, statement: Statement, verb: str, path: str, group: Group, handler: Place | None) -> None:
        line = self._evaluator.line_of(statement.path, statement.chain[0].start)
        mount_state = "conditional" if group.is_conditional else "always"
        mount_state = mount_state if group.is_loaded else "never seen"
        self._rows.append(
            Endpoint(
                verb,
                path,
                statement.path,
                line,
                "laravel",
                Tier.STRONG,
                handler,
                self._code.definition(handler).name_line if handler is not None else line,
                group.steps,
                mount_state,
            )
        )

    # Handlers

    def _handler(self, statement: Statement, value: Value, group: Group) -> Place | None:
        if value.kind is ValueKind.LIST:
            uses = next((item for item in value.items if item.keyword == "uses"), None)
            if uses is not None:
                return self._handler(statement, uses, group)
            items = [item for item in value.items if not item.keyword]
            if len(items) == 2:
                place = self._class_of(Located(statement.path, items[0]))
                return self._method_of(place, items[1].text) if place is not None else None
            return None
        if value.kind is ValueKind.TEXT:
            name, at, method = value.text.partition("@")
            if at:
                place = self._class_named(name.rpartition("\\")[2])
            else:
                place = self._class_of(group.controller) if group.controller is not None else None
                method = value.text
            return self._method_of(place, method) if place is not None else None
        place = self._class_of(Located(statement.path, value))
        return self._method_of(place, "__invoke") if place is not None else None

    def _class_of(self, located: Located) -> Place | None:
        """The class of `Users::class`, or of a text."""
        value = located.value
        if value.kind is ValueKind.TEXT:
            return self._class_named(value.text.rpartition("\\")[2])
        if value.kind is not ValueKind.NAME or not value.text.endswith(".class"):
            return None
        name = value.text.removesuffix(".class")
        place = self._names.definition(located.path, Value(ValueKind.NAME, name, value.start))
        return place or self._class_named(name.rpartition(".")[2])

    def _class_named(self, name: str) -> Place | None:
        places = [
            place for place in self._code.definitions(name) if self._code.definition_kind(place) == "class"
        ]
        return places[0] if len(places) == 1 else None

    def _method_of(self, place: Place, name: str) -> Place:
        target = self._code.member_of((place,), name)
        is_here = (
            len(target) == 1 and target[0].definition >= 0 and self._code.facts(target[0].path) is not None
        )
        return target[0] if is_here else place

    def _text(self, statement: Statement, value: Value) -> str | None:
        return self._evaluator.text(Located(statement.path, value, statement.environment))


def _is_main(path: RepoPath) -> bool:
    """Whether a file of routes is one that Laravel itself loads."""
    return path.endswith(("routes/web.php", "routes/api.php"))


def _resource_path(name: str, parameters: dict[str, str]) -> tuple[str, str]:
    """`photos.comments`: the path of the collection, and the parameter of one of its members."""
    parts = name.strip("/").split(".")
    path = ""
    parameter = ""
    for number, part in enumerate(parts):
        last = part.rpartition("/")[2]
        parameter = parameters.get(last) or singular(last.replace("-", "_"))
        path += f"/{part}"
        if number < len(parts) - 1:
            path += f"/{{{parameter}}}"
    return path, parameter


def _path_text(value: Value) -> str:
    """The text at the end of a path: of a concatenation its last one, of a call its argument."""
    if value.kind is ValueKind.TEXT:
        return value.text
    if value.kind is ValueKind.CONCAT and value.items:
        return _path_text(value.items[-1])
    if value.kind is ValueKind.CALL and value.arguments:
        return _path_text(value.arguments[0])
    return ""


def _shared(one: str, other: str) -> int:
    """How many directories two paths share."""
    count = 0
    for left, right in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
