"""Routes of Sinatra: verbs with blocks in an application class or at the top of a file."""

from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.dsl.statements import Statement, Statements
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.routes import Endpoint, Step, joined_route
from codeplane.surfaces.values import Environment, Evaluator, Located, ThingKind

_VERBS: Final = frozenset("get post put patch delete head options link unlink".split())
_CLASSES: Final = frozenset({"Sinatra.Base", "Sinatra.Application", "Sinatra::Base", "Sinatra::Application"})
_SCOPES: Final = frozenset({"namespace"})


class Sinatra:
    """The endpoints of the Sinatra applications of a repository."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._statements = Statements(evaluator)
        self.dynamic: dict[RepoPath, int] = {}
        self._mounts: dict[Place, list[Step]] = {}
        self._rows: list[Endpoint] = []

    def endpoints(self) -> list[Endpoint]:
        """Every endpoint."""
        files = self._code.importing({"sinatra"}) | self._code.paths_with_any(["Sinatra"])
        paths = [path for path in sorted(files) if self._is_ruby(path)]
        if not paths:
            return []
        classes = self._classes(paths)
        for path in sorted(self._code.paths_with("run")):
            if self._is_ruby(path):
                self._read_rack(path)
        for place in classes:
            self._read_class(place)
        for path in paths:
            if self._is_classic(path):
                for statement in self._statements.of_file(path):
                    if self._evaluator.definition_around(path, statement.site.start) is None:
                        self._read(statement, "", [])
        return self._rows

    def _is_ruby(self, path: RepoPath) -> bool:
        facts = self._code.facts(path)
        return facts is not None and facts.language == "ruby"

    def _is_classic(self, path: RepoPath) -> bool:
        return any(
            item.module in ("sinatra", "sinatra/main") for item in self._code.require_facts(path).imports
        )

    def _classes(self, paths: list[RepoPath]) -> list[Place]:
        """The application classes, those that are derived from others among them."""
        classes: dict[Place, None] = {}
        pending = [
            Place(path, number)
            for path in paths
            for number, item in enumerate(self._code.require_facts(path).definitions)
            if item.kind == "class"
        ]
        while pending:
            place = pending.pop()
            is_one = any(
                (isinstance(one, str) and one in _CLASSES) or (isinstance(one, Place) and one in classes)
                for one in ancestry(self._evaluator, place)
            )
            if is_one and place not in classes:
                classes[place] = None
                pending += self._code.extending(self._code.definition(place).name)
        return sorted(classes)

    # Mounts in config.ru

    def _read_rack(self, path: RepoPath) -> None:
        for statement in self._statements.of_file(path):
            self._read_mount(statement, "")

    def _read_mount(self, statement: Statement, prefix: str) -> None:
        call = statement.site.value
        first = call.argument(0)
        if call.text == "map" and first is not None:
            text = self._statements.text(statement.path, first, statement.environment)
            for inner in self._statements.of_block(statement, call) if text is not None else ():
                self._read_mount(inner, joined_route(prefix, text or ""))
        elif call.text == "run" and first is not None:
            thing = self._evaluator.evaluate(Located(statement.path, _application(first)))
            if thing.kind is ThingKind.DEFINITION:
                line = self._evaluator.line_of(statement.path, statement.site.start)
                self._mounts.setdefault(thing.target[0], []).append(Step(statement.path, line, prefix))

    # Routes

    def _read_class(self, place: Place) -> None:
        definition = self._code.definition(place)
        first, last = self._evaluator.byte_span(place.path, definition.span)
        mounts = self._mounts.get(place, [])
        for statement in self._statements.between(place.path, first, last, Environment()):
            around = self._evaluator.definition_around(place.path, statement.site.start)
            if around == place:
                self._read(statement, "", mounts)

    def _read(self, statement: Statement, prefix: str, mounts: list[Step]) -> None:
        call = statement.site.value
        first = call.argument(0)
        if call.receiver is not None or first is None:
            return
        has_block = any(item.kind is ValueKind.FUNCTION for item in call.arguments)
        if call.text in _SCOPES and has_block:
            text = self._statements.text(statement.path, first, statement.environment)
            for inner in self._statements.of_block(statement, call) if text is not None else ():
                self._read(inner, f"{prefix}{text}", mounts)
        elif call.text in _VERBS and has_block and statement.site.kind is SiteKind.CALL:
            text = self._pattern(statement, first)
            if text is None:
                self.dynamic[statement.path] = self.dynamic.get(statement.path, 0) + 1
                return
            self._add(statement, call.text.upper(), f"{prefix}{text}", mounts)

    def _pattern(self, statement: Statement, value: Value) -> str | None:
        return self._statements.text(statement.path, value, statement.environment)

    def _add(self, statement: Statement, verb: str, text: str, mounts: list[Step]) -> None:
        line = self._evaluator.line_of(statement.path, statement.site.start)
        mount_state = "conditional" if statement.site.is_conditional else "always"
        for step in mounts or [Step(statement.path, line, "")]:
            steps = (step,) if step.prefix else ()
            route = joined_route(step.prefix.rstrip("/"), text)
            self._rows.append(
                Endpoint(
                    verb, route, statement.path, line, "sinatra", Tier.STRONG, None, line, steps, mount_state
                )
            )


def _application(value: Value) -> Value:
    """The class of `App`, `App.new` or `App.freeze.app`."""
    while value.kind is ValueKind.CALL and value.receiver is not None:
        value = value.receiver
    return value
