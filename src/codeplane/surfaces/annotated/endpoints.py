"""The endpoints of controllers: the prefixes of a class, the paths and verbs of its methods."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.surfaces.annotated.classes import Classes
from codeplane.surfaces.annotated.marks import Mark, Marks
from codeplane.surfaces.annotated.prefixes import configured_prefix, directory_prefixes
from codeplane.surfaces.annotated.rule import AnnotationRule
from codeplane.surfaces.flow.files import users_of
from codeplane.surfaces.routes import Endpoint, Step, joined_route
from codeplane.surfaces.values import Evaluator

_DEEPEST = 6  # sub-resources in sub-resources


class Served(NamedTuple):
    """What the annotations of a method say: verbs and a path, or that the path isn't known."""

    verbs: tuple[str, ...]
    text: str | None
    mark: Mark | None
    is_locator: bool = False


class AnnotatedFramework:
    """The endpoints of one framework."""

    def __init__(self, evaluator: Evaluator, rule: AnnotationRule) -> None:
        self._evaluator, self._rule, self._code = evaluator, rule, evaluator.code
        self._marks, self._classes = Marks(evaluator, rule), Classes(evaluator.code)
        self._bases = {name.rpartition(".")[2] for name in rule.bases}
        self._class_marks = {*rule.markers, *rule.class_path}
        self.dynamic: dict[RepoPath, int] = {}

    def endpoints(self) -> list[Endpoint]:
        """Every endpoint of the framework."""
        paths = users_of(self._code, self._rule)
        if not paths:
            return []
        paths = self._with_subclasses(paths)
        self._root = self._application_prefix(paths)
        self._directories = directory_prefixes(self._code, self._rule.prefix_files)
        rows: list[Endpoint] = []
        for path in sorted(paths):
            facts = self._code.facts(path)
            speaks = facts is not None and facts.language in self._rule.languages
            for number, item in enumerate(facts.definitions if facts is not None and speaks else ()):
                place = Place(path, number)
                if self._classes.is_class(place) and item.kind != "object" and self._is_controller(place):
                    rows += self._of_class(place, self._prefixes(place), (), 0)
        return rows

    def _with_subclasses(self, paths: set[RepoPath]) -> set[RepoPath]:
        """The files, and those with classes that are derived from annotated ones."""
        pending, files = sorted(paths), set(paths)
        while pending and self._rule.inherits:
            path = pending.pop()
            for number, item in enumerate(self._code.require_facts(path).definitions):
                place = Place(path, number)
                if not self._classes.is_class(place) or not self._is_annotated(place):
                    continue
                below = {other.path for other in self._code.extending(item.name)} - files
                files |= below
                pending += sorted(below)
        return files

    def _is_annotated(self, place: Place) -> bool:
        owners = self._classes.lineage(place)
        return any(
            self._marks.of(one) or any(self._marks.of(method) for method in self._classes.methods(one))
            for one in owners
        )

    # Classes

    def _is_controller(self, place: Place) -> bool:
        if not self._classes.is_made(place):
            return False
        own = {mark.name for mark in self._marks.of(place)}
        if own & set(self._rule.excludes):
            return False
        if own & set(self._rule.markers):
            return True
        if self._rule.markers and not self._rule.bases and not self._rule.inherits:
            return False
        if self._bases and self._bases & self._classes.base_names(place):
            return True
        if self._rule.class_suffix:
            is_named = self._code.definition(place).name.endswith(self._rule.class_suffix)
            return is_named and self._is_annotated(place)
        all_marks = {
            mark.name
            for one in self._classes.lineage(place)
            for mark in self._marks.of(one)
            if self._rule.inherits or one == place
        }
        if all_marks & set(self._rule.excludes) and not own:
            return False
        markers = self._rule.markers or self._rule.class_path
        return bool(all_marks & set(markers)) or (not self._rule.markers and not self._rule.needs_verb)

    def _class_marks_of(self, place: Place) -> list[Mark]:
        """The annotations with the prefix of a class: its own, or the nearest above."""
        for one in self._classes.lineage(place) if self._rule.inherits else [place]:
            marks = [mark for mark in self._marks.of(one) if mark.name in self._rule.class_path]
            if marks:
                return marks
        return []

    def _prefixes(self, place: Place) -> list[str] | None:
        marks = self._class_marks_of(place)
        prefixes: list[str] = []
        for mark in marks:
            texts = self._marks.texts(mark, self._rule.path)
            if texts is None:
                return None
            prefixes += texts
        above = _joined(self._configured(place), self._root) if self._root else self._configured(place)
        above += next(
            (prefix for directory, prefix in self._directories if place.path.startswith(directory)), ""
        )
        return [_joined(above, prefix) if above else prefix for prefix in prefixes or [""]]

    def _configured(self, place: Place) -> str:
        """The prefix that the settings of the application give."""
        return (
            configured_prefix(self._code, place.path, self._rule.prefix_keys)
            if self._rule.prefix_keys
            else ""
        )

    def _application_prefix(self, paths: set[RepoPath]) -> str:
        """The prefix of the one application class, where there is one."""
        texts = []
        for path in sorted(paths) if self._rule.application else ():
            if path in self._code.tests():
                continue
            for number, item in enumerate(self._code.require_facts(path).definitions):
                if item.kind != "class":
                    continue
                texts += [
                    self._marks.texts(mark, self._rule.path)
                    for mark in self._marks.of(Place(path, number))
                    if mark.name in self._rule.application
                ]
        text = texts[0] if len(texts) == 1 else None
        return text[0] if text else ""

    # Methods

    def _of_class(
        self, place: Place, prefixes: Sequence[str] | None, steps: tuple[Step, ...], depth: int
    ) -> Iterator[Endpoint]:
        names: set[tuple[str, int]] = set()
        class_verbs = self._class_verbs(place)
        is_first = True
        for owner in self._classes.lineage(place):
            if not is_first and not self._rule.inherits:
                continue
            for method in self._classes.methods(owner):
                definition = self._code.definition(method)
                key = (definition.name, definition.item.signature.count(","))
                if key in names or (not is_first and self._code.definition_kind(owner) == "interface"):
                    continue
                names.add(key)
                for service in self._served(place, owner, method):
                    yield from self._serve(place, method, service, prefixes, steps, class_verbs, depth)
            is_first = False
        yield from self._invoked(place, prefixes, steps)

    def _class_verbs(self, place: Place) -> tuple[str, ...]:
        if not self._rule.class_method:
            return ()
        verbs: tuple[str, ...] = ()
        for mark in self._class_marks_of(place):
            verbs += self._marks.verbs(mark, self._rule.class_method) or ()
        return verbs

    def _method_marks(self, owner: Place, method: Place) -> list[Mark]:
        """The annotations of a method, or of the nearest one that it overrides."""
        marks = [mark for mark in self._marks.of(method) if mark.name in self._rule.methods]
        if marks or not self._rule.inherits:
            return marks
        for above in self._classes.overridden(owner, method):
            marks = [mark for mark in self._marks.of(above) if mark.name in self._rule.methods]
            if marks:
                return marks
        return []

    def _served(self, place: Place, owner: Place, method: Place) -> Iterator[Served]:
        marks = self._method_marks(owner, method)
        if any(mark.name in self._rule.hidden for mark in self._marks.of(method)):
            return
        if not marks:
            is_action = self._rule.public and self._class_marks_of(place) and self._classes.is_public(method)
            if is_action and self._code.definition(method).name != self._code.definition(place).name:
                yield Served((self._rule.default_method,), "", None)
            return
        if self._rule.needs_verb or self._rule.combine == "split":
            yield from self._combined(marks)
            return
        for mark in marks:
            mapping = self._rule.methods[mark.name]
            verbs = self._marks.verbs(mark, mapping.method)
            texts = self._marks.texts(mark, mapping.path or self._rule.path)
            if verbs is None or texts is None:
                yield Served((), None, mark)
                continue
            for text in texts:
                yield Served(verbs or ((mapping.verb,) if mapping.verb else ()), text, mark)

    def _combined(self, marks: Sequence[Mark]) -> Iterator[Served]:
        """Annotations that have a path beside those that only say a verb."""
        alone: list[str] = []
        alone_mark: Mark | None = None
        routes: list[tuple[Mark, list[str] | None]] = []
        for mark in marks:
            mapping = self._rule.methods[mark.name]
            where = mapping.path or self._rule.path
            verbs = self._marks.verbs(mark, mapping.method) or ((mapping.verb,) if mapping.verb else ())
            has_path = mapping.has_path and self._marks.has(mark, where)
            texts = self._marks.texts(mark, where) if has_path else None
            if not has_path:
                alone += verbs
                alone_mark = mark
            elif verbs:
                for text in texts if texts is not None else [None]:
                    yield Served(verbs, text, mark)
            else:
                routes.append((mark, texts))
        for mark, texts in routes:
            for one in texts if texts is not None else [None]:
                is_locator = self._rule.needs_verb and not alone
                yield Served(tuple(alone), one, mark, is_locator)
        if alone and not routes:
            yield Served(tuple(alone), "", alone_mark)

    def _serve(
        self,
        place: Place,
        method: Place,
        service: Served,
        prefixes: Sequence[str] | None,
        steps: tuple[Step, ...],
        class_verbs: tuple[str, ...],
        depth: int,
    ) -> Iterator[Endpoint]:
        path = service.mark.path if service.mark is not None else method.path
        if prefixes is None or service.text is None:
            self.dynamic[path] = self.dynamic.get(path, 0) + 1
            return
        line = (
            self._evaluator.line_of(path, service.mark.site.start)
            if service.mark is not None
            else self._code.definition(method).name_line
        )
        routes = [self._route(place, method, prefix, service.text) for prefix in prefixes]
        if service.is_locator:
            yield from self._located(method, routes, (*steps, Step(path, line, service.text)), depth)
            return
        verbs = tuple(dict.fromkeys((*class_verbs, *service.verbs))) or (self._rule.default_method,)
        for route in dict.fromkeys(routes):
            for verb in verbs:
                yield self._endpoint(verb, route, path, line, method, steps)

    def _located(
        self, method: Place, routes: Sequence[str], steps: tuple[Step, ...], depth: int
    ) -> Iterator[Endpoint]:
        """The methods of the class that a sub-resource locator returns."""
        target = self._classes.result_type(method)
        if target is None or depth >= _DEEPEST:
            self.dynamic[method.path] = self.dynamic.get(method.path, 0) + 1
            return
        yield from self._of_class(target, routes, steps, depth + 1)

    def _invoked(
        self, place: Place, prefixes: Sequence[str] | None, steps: tuple[Step, ...]
    ) -> Iterator[Endpoint]:
        """The class itself as a route, handled by the one method that is called by its name."""
        if not self._rule.invoke:
            return
        methods = {self._code.definition(one).name: one for one in self._classes.methods(place)}
        method = methods.get(self._rule.invoke)
        marks = [mark for mark in self._marks.of(place) if mark.name in self._rule.class_path]
        if method is None or not marks or any(self._method_marks(place, one) for one in methods.values()):
            return
        for mark in marks:
            line = self._evaluator.line_of(mark.path, mark.site.start)
            verbs = self._marks.verbs(mark, self._rule.methods[mark.name].method)
            for prefix in prefixes or ():
                for verb in verbs or (self._rule.default_method,):
                    yield self._endpoint(verb, _joined(prefix, ""), mark.path, line, method, steps)

    def _endpoint(
        self, verb: str, route: str, path: RepoPath, line: int, method: Place, steps: tuple[Step, ...]
    ) -> Endpoint:
        return Endpoint(
            verb,
            route,
            path,
            line,
            self._rule.framework,
            Tier.STRONG,
            method,
            self._code.definition(method).name_line,
            steps,
        )

    # Paths

    def _route(self, place: Place, method: Place, prefix: str, text: str) -> str:
        for beginning in self._rule.overrides:
            if text.startswith(beginning):
                return self._filled(place, method, _joined("", text.removeprefix("~")))
        return self._filled(place, method, _joined(prefix, text))

    def _filled(self, place: Place, method: Place, route: str) -> str:
        """A path with its tokens replaced: `[controller]`, `[action]`, `[area]`."""
        for token, source in self._rule.tokens.items():
            if token.lower() not in route.lower():
                continue
            text = self._token(place, method, token, source)
            start = route.lower().find(token.lower())
            while text and start >= 0:
                route = route[:start] + text + route[start + len(token) :]
                start = route.lower().find(token.lower())
        return route

    def _token(self, place: Place, method: Place, token: str, source: str) -> str:
        subject = method if "action" in token else place
        owners = [method] if subject is method else list(self._classes.lineage(place))
        for owner in owners if source else ():
            for mark in self._marks.of(owner):
                texts = self._marks.texts(mark, "arg0") if mark.name == source else None
                if texts:
                    return texts[0]
        name = self._code.definition(subject).name
        if subject is method:
            return name.removesuffix("Async")
        return name.removesuffix(self._rule.class_suffix) if "controller" in token else ""


def _joined(prefix: str, text: str) -> str:
    """A path below a prefix, with one slash between them; a slash at its end stays."""
    if not text:
        return joined_route(prefix.rstrip("/") if len(prefix) > 1 else prefix, "")
    return joined_route(f"{prefix.rstrip('/')}/", text.lstrip("/"))
