"""Routes of Rails: `config/routes.rb`, read as the router does."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import Value, ValueKind
from codeplane.surfaces.dsl.inflection import camelized, plural, singular
from codeplane.surfaces.dsl.statements import Statement, Statements
from codeplane.surfaces.routes import Endpoint, Step, joined_parts
from codeplane.surfaces.values import Evaluator

_VERBS: Final = frozenset({"get", "post", "put", "patch", "delete", "options", "head"})
_COLLECTION: Final = (("index", ("GET",), ""), ("create", ("POST",), ""), ("new", ("GET",), "new"))
_MEMBER: Final = (
    ("edit", ("GET",), "edit"),
    ("show", ("GET",), ""),
    ("update", ("PATCH", "PUT"), ""),
    ("destroy", ("DELETE",), ""),
)
_AROUND: Final = frozenset(
    "constraints defaults authenticate authenticated unauthenticated devise_scope shallow "
    "with_options".split()
)
_IGNORED: Final = frozenset(
    "require require_relative require_dependency include extend puts raise direct resolve lambda proc load "
    "default_url_options redirect".split()
)
_OPTIONAL: Final = re.compile(r"/(\(+)/?")
_RECEIVERS: Final = frozenset({"map", "self", "mapper", "options", "opts", "option", "route", "routes"})
_DEEPEST: Final = 20


@dataclass(frozen=True)
class Scope:
    """What the calls around a route say about it."""

    path: str = ""
    module: str = ""
    controller: str = ""
    collection: str = ""  # of the resources around: `/photos`
    member: str = ""  # `/photos/:id`
    nested_path: str = ""  # `/photos/:photo_id`
    is_shallow: bool = False
    shallow_path: str = ""
    is_singular: bool = False
    is_conditional: bool = False
    steps: tuple[Step, ...] = ()
    only: tuple[str, ...] | None = None
    exclusions: tuple[str, ...] = ()
    options: tuple[Value, ...] = ()  # of `with_options` around

    @property
    def here(self) -> str:
        """The path that a route without `on` gets."""
        return self.nested_path or self.path


@dataclass
class _Draw:
    """What is being drawn: a file with its concerns."""

    is_rooted: bool = True
    concerns: dict[str, tuple[Statement, Value]] = field(default_factory=dict)


class Rails:
    """The endpoints of the Rails applications and engines of a repository."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._statements = Statements(evaluator)
        self.dynamic: dict[RepoPath, int] = {}
        self._engines: dict[str, list[Scope]] = {}
        self._rows: list[Endpoint] = []
        self._controllers: dict[str, Place | None] = {}
        self._readers: dict[str, Callable[[Statement, Value, Scope, _Draw, int], None]] = {
            "scope": self._read_scope,
            "namespace": self._read_namespace,
            "controller": self._read_controller,
            "resources": self._read_resources,
            "resource": self._read_resources,
            "member": self._read_member,
            "collection": self._read_collection,
            "new": self._read_new,
            "nested": self._block,
            "concern": self._read_concern,
            "concerns": self._read_concerns,
            "draw": self._read_draw,
            "root": self._read_root,
            "mount": self._read_mount,
            "match": self._read_match,
        }

    def endpoints(self) -> list[Endpoint]:
        """Every endpoint."""
        draws = [
            (statement, call, _owner_name(call))
            for path in sorted(self._code.paths_with("draw"))
            if self._is_ruby(path)
            for statement in self._statements.of_file(path)
            for call in statement.chain
            if call.text == "draw" and call.receiver is not None and call.receiver.text == "routes"
        ]
        applications = [draw for draw in draws if not draw[2].endswith("Engine")]
        for statement, call, _ in applications:
            self._draw(statement, call, Scope(), is_rooted=True)
        for statement, call, name in draws:
            if name.endswith("Engine"):
                mounts = self._engines.get(name)
                for scope in mounts or [Scope()]:
                    self._draw(statement, call, scope, is_rooted=mounts is not None)
        return self._rows

    def _is_ruby(self, path: RepoPath) -> bool:
        facts = self._code.facts(path)
        return facts is not None and facts.language == "ruby"

    def _draw(self, statement: Statement, call: Value, scope: Scope, *, is_rooted: bool) -> None:
        draw = _Draw(is_rooted)
        for one in self._statements.of_block(statement, call):
            self._read(one, scope, draw, 0)

    def _block(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int) -> None:
        for one in self._statements.of_block(statement, call):
            self._read(one, scope, draw, depth + 1)

    # Statements

    def _read(self, statement: Statement, scope: Scope, draw: _Draw, depth: int) -> None:
        if depth > _DEEPEST:
            return
        call = statement.site.value
        if statement.site.is_conditional:
            scope = replace(scope, is_conditional=True)
        if scope.options:
            keywords = {item.keyword for item in call.arguments}
            call = call._replace(
                items=(*call.items, *(one for one in scope.options if one.keyword not in keywords))
            )
        if call.receiver is not None and call.receiver.kind is not ValueKind.NAME:
            self._block(statement, call, scope, draw, depth)
            return
        if call.receiver is not None and call.receiver.text not in _RECEIVERS:
            self._block(statement, call, scope, draw, depth)
            return
        name = call.text
        reader = self._readers.get(name)
        if name in _VERBS:
            self._add_mapped(statement, call, scope, draw, (name.upper(),))
        elif reader is not None:
            reader(statement, call, scope, draw, depth)
        elif name in _AROUND:
            inner = replace(scope, is_shallow=True, shallow_path=scope.path) if name == "shallow" else scope
            if name == "with_options":
                options = tuple(item for item in call.arguments if item.keyword and item.keyword[0] != "&")
                inner = replace(scope, options=(*options, *scope.options))
            self._block(statement, call, inner, draw, depth)
        elif name not in _IGNORED:
            self._other_call(statement, call, scope, draw, depth)

    def _other_call(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int) -> None:
        """A method of the file itself, a block that changes nothing, or a call of a library."""
        place = next(
            (
                Place(statement.path, number)
                for number, item in enumerate(self._code.require_facts(statement.path).definitions)
                if item.name == call.text and item.kind in ("method", "function")
            ),
            None,
        )
        if place is not None:
            first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
            for one in self._statements.between(place.path, first, last, statement.environment):
                self._read(one, scope, draw, depth + 1)
        elif any(item.kind is ValueKind.FUNCTION for item in call.arguments):
            self._block(statement, call, scope, draw, depth)
        elif call.arguments:
            self._count(statement)

    def _count(self, statement: Statement) -> None:
        self.dynamic[statement.path] = self.dynamic.get(statement.path, 0) + 1

    def _read_scope(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int) -> None:
        options = self._options(statement, call)
        parts = [self._text(statement, item) for item in call.arguments if _is_positional(item)]
        parts = [options["path"]] if "path" in options else parts
        if None in parts:
            self._count(statement)
            return
        module = _joined_module(scope.module, options.get("module") or "")
        path = joined_parts(scope.here, *(part for part in parts if part is not None)).rstrip("/")
        inner = replace(
            scope,
            path=path,
            module=module,
            controller=options.get("controller") or scope.controller,
            collection="",
            member="",
            nested_path="",
            only=self._list(statement, call, "only") or scope.only,
            exclusions=self._list(statement, call, "except") or scope.exclusions,
            is_shallow=scope.is_shallow or options.get("shallow") == "true",
        )
        self._block(statement, call, inner, draw, depth)

    def _read_namespace(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int
    ) -> None:
        options = self._options(statement, call)
        first = call.argument(0)
        name = self._text(statement, first) if first is not None else None
        if name is None:
            self._count(statement)
            return
        part = options.get("path", name)
        module = options.get("module", name)
        inner = replace(
            scope,
            path=joined_parts(scope.here, part or "").rstrip("/"),
            module=_joined_module(scope.module, module or ""),
            collection="",
            member="",
            nested_path="",
        )
        self._block(statement, call, inner, draw, depth)

    def _read_controller(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int
    ) -> None:
        first = call.argument(0)
        name = self._text(statement, first) if first is not None else None
        self._block(statement, call, replace(scope, controller=name or ""), draw, depth)

    def _read_resources(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int
    ) -> None:
        for item in call.arguments:
            if _is_positional(item):
                self._resource(statement, call, scope, draw, depth, item)

    def _resource(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int, item: Value
    ) -> None:
        name, options = self._text(statement, item), self._options(statement, call)
        path = options.get("path", name)
        if name is None or path is None:
            self._count(statement)
            return
        is_singular = call.text == "resource"
        controller = options.get("controller") or (plural(name) if is_singular else name)
        parameter = options.get("param") or "id"
        base = joined_parts(scope.here, path).rstrip("/")
        is_shallow = scope.is_shallow or options.get("shallow") == "true"
        outermost = scope.shallow_path if scope.nested_path or scope.is_shallow else scope.path
        key = (
            singular(name.rpartition("/")[2]) if options.get("as") is None else singular(options["as"] or "")
        )
        single = base
        if is_shallow and scope.nested_path:
            single = joined_parts(outermost, path).rstrip("/")
        inner = replace(
            scope,
            path=base,
            controller=controller,
            module=_joined_module(scope.module, options.get("module") or ""),
            collection=base,
            member=base if is_singular else f"{single}/:{parameter}",
            nested_path=base if is_singular else f"{single}/:{key}_{parameter}",
            is_shallow=is_shallow,
            shallow_path=outermost,
            is_singular=is_singular,
            only=None,
            exclusions=(),
        )
        self._add_standard(statement, call, inner, draw, scope)
        for concern in self._list(statement, call, "concerns") or ():
            self._concern(concern, inner, draw, depth)
        self._block(statement, call, inner, draw, depth)

    def _add_standard(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, above: Scope
    ) -> None:
        only, exclusions = self._list(statement, call, "only"), self._list(statement, call, "except")
        only = only if only is not None else above.only
        exclusions = exclusions if exclusions is not None else above.exclusions
        names = self._path_names(statement, call)
        for table, base in ((_COLLECTION, scope.collection), (_MEMBER, scope.member)):
            for action, verbs, suffix in table:
                if action == "index" and scope.is_singular:
                    continue
                if (only is not None and action not in only) or action in (exclusions or ()):
                    continue
                path = joined_parts(base, names.get(action, suffix) if suffix else "")
                self._add(statement, scope, draw, verbs, path, (scope.controller, action))

    def _path_names(self, statement: Statement, call: Value) -> Mapping[str, str]:
        value = call.keyword_argument("path_names")
        pairs = value.items if value is not None else ()
        return {item.keyword: self._text(statement, item) or item.keyword for item in pairs}

    def _read_member(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int) -> None:
        self._block(statement, call, replace(scope, nested_path=scope.member), draw, depth)

    def _read_collection(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int
    ) -> None:
        self._block(statement, call, replace(scope, nested_path=scope.collection), draw, depth)

    def _read_new(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int) -> None:
        self._block(statement, call, replace(scope, nested_path=f"{scope.collection}/new"), draw, depth)

    def _read_concern(
        self, statement: Statement, call: Value, _scope: Scope, draw: _Draw, _depth: int
    ) -> None:
        first = call.argument(0)
        name = self._text(statement, first) if first is not None else None
        if name is not None:
            draw.concerns[name] = (statement, call)

    def _read_concerns(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int
    ) -> None:
        for item in call.arguments:
            texts = self._statements.texts(statement.path, item, statement.environment) or ()
            for name in texts if not item.keyword else ():
                self._concern(name, scope, draw, depth)

    def _concern(self, name: str, scope: Scope, draw: _Draw, depth: int) -> None:
        if name in draw.concerns and depth < _DEEPEST:
            self._block(*draw.concerns[name], scope, draw, depth + 1)

    def _read_draw(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, depth: int) -> None:
        """`draw(:admin)`: the routes of another file."""
        first = call.argument(0)
        name = self._text(statement, first) if first is not None else None
        paths = list(self._code.paths_named(f"{(name or '').rpartition('/')[2]}.rb"))
        paths = [path for path in paths if path.endswith(f"config/routes/{name}.rb")]
        root = statement.path.partition("config/")[0]
        path = next((path for path in paths if path.startswith(root)), None)
        if path is None:
            self._count(statement)
            return
        step = Step(statement.path, self._evaluator.line_of(statement.path, statement.site.start), "")
        inner = replace(scope, steps=(*scope.steps, step))
        for one in self._statements.of_file(path):
            self._read(one, inner, draw, depth + 1)

    def _read_root(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, _depth: int) -> None:
        options = self._options(statement, call)
        first = call.argument(0)
        target = options.get("to") or (self._text(statement, first) if first is not None else None)
        self._add(
            statement, scope, draw, ("GET",), joined_parts(scope.here), self._target(target, options, scope)
        )

    def _read_mount(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, _depth: int) -> None:
        """Another application: an engine of the repository brings its own routes."""
        pair = next((item for item in call.arguments if item.keyword[:1].isupper()), None)
        at = call.keyword_argument("at")
        first = call.argument(0)
        where = pair if pair is not None else at
        name = pair.keyword if pair is not None else first.text if first is not None else ""
        text = self._text(statement, where) if where is not None else None
        if text is None:
            self._count(statement)
            return
        path = joined_parts(scope.here, text)
        line = self._evaluator.line_of(statement.path, statement.site.start)
        step = Step(statement.path, line, text)
        inner = Scope(path=path.rstrip("/"), steps=(*scope.steps, step), is_conditional=scope.is_conditional)
        self._engines.setdefault(name.replace("::", "."), []).append(inner)
        self._add(statement, scope, draw, ("ANY",), path, ("", ""))

    def _read_match(self, statement: Statement, call: Value, scope: Scope, draw: _Draw, _depth: int) -> None:
        verbs = self._list(statement, call, "via")
        if verbs is None and call.keyword_argument("via") is not None:
            self._count(statement)
            return
        upper = tuple("ANY" if verb == "all" else verb.upper() for verb in verbs or ("all",))
        self._add_mapped(statement, call, scope, draw, upper)

    # Routes

    def _add_mapped(
        self, statement: Statement, call: Value, scope: Scope, draw: _Draw, verbs: tuple[str, ...]
    ) -> None:
        """`get "path", to: "controller#action"`, `get "path" => target`, `get :action`."""
        options = self._options(statement, call)
        base = {"member": scope.member, "collection": scope.collection, "new": f"{scope.collection}/new"}.get(
            options.get("on") or "", scope.here
        )
        entries: list[tuple[str | None, str | None]] = []
        for item in call.arguments:
            if _is_positional(item):
                entries.append((self._text(statement, item), options.get("to")))
            elif not item.keyword.startswith("&") and _is_path_key(item.keyword):
                target = self._text(statement, item)
                entries.append((item.keyword.strip("\"':"), target))
        for text, target in entries:
            text = options["path"] if options.get("path") and text is not None else text
            if text is None:
                self._count(statement)
                continue
            text = text.removesuffix("(.:format)")
            is_elsewhere = target is None and "to" in options  # `to: redirect("/")`
            where = ("", "") if is_elsewhere else self._target(target, options, scope, text)
            self._add(statement, scope, draw, verbs, joined_parts(base, text), where)

    def _target(
        self, target: str | None, options: Mapping[str, str | None], scope: Scope, text: str = ""
    ) -> tuple[str, str]:
        """The controller and the action of a route."""
        module = options.get("module") or ""
        controller, hash_, action = (target or "").partition("#")
        if not hash_:
            controller, action = "", target or ""
        controller = controller or options.get("controller") or scope.controller
        action = action or options.get("action") or ""
        if not action and not target:
            parts = text.strip("/").replace("-", "_").split("/")
            action = parts[-1]
            if not controller and len(parts) > 1:
                controller = "/".join(parts[:-1])
        return (f"{module}/{controller}" if module and controller else controller), action

    def _add(
        self,
        statement: Statement,
        scope: Scope,
        draw: _Draw,
        verbs: tuple[str, ...],
        path: str,
        target: tuple[str, str],
    ) -> None:
        line = self._evaluator.line_of(statement.path, statement.site.start)
        controller, action = target
        handler = self._handler(controller, action, scope) if controller and action else None
        mount_state = "conditional" if scope.is_conditional else "always"
        for verb in verbs:
            self._rows.append(
                Endpoint(
                    verb,
                    _OPTIONAL.sub(r"\1/", path) or "/",  # an optional part brings its own slash
                    statement.path,
                    line,
                    "rails",
                    Tier.STRONG,
                    handler,
                    self._code.definition(handler).name_line if handler is not None else 0,
                    scope.steps,
                    mount_state if draw.is_rooted else "never seen",
                )
            )

    def _handler(self, controller: str, action: str, scope: Scope) -> Place | None:
        is_absolute = controller.startswith("/")
        name = controller.strip("/") if is_absolute else _joined_module(scope.module, controller)
        place = self._controller(name)
        if place is None:
            return None
        target = self._code.member_of((place,), action)
        is_own = (
            len(target) == 1 and target[0].definition >= 0 and self._code.facts(target[0].path) is not None
        )
        return target[0] if is_own else place

    def _controller(self, name: str) -> Place | None:
        """The class of a controller, in the file that its path names."""
        if name not in self._controllers:
            self._controllers[name] = None
            last = camelized(name).rpartition("::")[2]
            for path in self._code.paths_named(f"{name.rpartition('/')[2]}_controller.rb"):
                if not path.endswith(f"controllers/{name}_controller.rb"):
                    continue
                definitions = self._code.require_facts(path).definitions
                number = next(
                    (
                        at
                        for at, item in enumerate(definitions)
                        if item.kind == "class" and item.name.endswith(f"{last}Controller")
                    ),
                    None,
                )
                if number is not None:
                    self._controllers[name] = Place(path, number)
                    break
        return self._controllers[name]

    # Arguments

    def _text(self, statement: Statement, value: Value) -> str | None:
        return self._statements.text(statement.path, value, statement.environment)

    def _options(self, statement: Statement, call: Value) -> dict[str, str | None]:
        """The options of a call that are texts; `to: redirect(…)` is no text and has no handler."""
        options: dict[str, str | None] = {}
        for item in call.arguments:
            if item.keyword and not item.keyword.startswith("&"):
                name = item.keyword.strip(":\"'")
                if item.kind is ValueKind.CONSTANT:
                    options[name] = item.text
                elif item.kind is not ValueKind.LIST:
                    options[name] = self._text(statement, item)
        return options

    def _list(self, statement: Statement, call: Value, name: str) -> tuple[str, ...] | None:
        value = call.keyword_argument(name)
        if value is None:
            return None
        texts = self._statements.texts(statement.path, value, statement.environment)
        return tuple(texts) if texts is not None else None


def _is_positional(item: Value) -> bool:
    return not item.keyword and item.kind is not ValueKind.FUNCTION


def _is_path_key(text: str) -> bool:
    """Whether a key of a route is its path: `"about" => "pages#about"`."""
    return text not in _OPTIONS


_OPTIONS: Final = frozenset(
    "to as on via controller action module path only except param shallow constraints defaults format "
    "concerns path_names anchor at shallow_path shallow_prefix requirements internal".split()
)


def _joined_module(*parts: str) -> str:
    return "/".join(part.strip("/") for part in parts if part.strip("/"))


def _owner_name(call: Value) -> str:
    """What the routes are drawn of: `Rails.application`, `Blog.Engine`."""
    receiver = call.receiver
    owner = receiver.receiver if receiver is not None else None
    if owner is None:
        return ""
    if owner.kind is ValueKind.CALL and owner.receiver is not None:
        return f"{owner.receiver.text}.{owner.text}"
    return owner.text
