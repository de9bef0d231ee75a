"""The annotations of definitions, those of annotations themselves among them."""

from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.annotated.rule import AnnotationRule
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.flow.verbs import verbs_of_value
from codeplane.surfaces.values import Evaluator, Located, Thing, ThingKind

_DEEPEST: Final = 4  # annotations of annotations
_SELVES: Final = frozenset({"self", "static"})


class Mark(NamedTuple):
    """An annotation of a definition, by the name that the rule has for it."""

    name: str
    path: RepoPath
    site: Site

    @property
    def call(self) -> Located:
        return Located(self.path, self.site.value)


class Marks:
    """The annotations of one framework."""

    def __init__(self, evaluator: Evaluator, rule: AnnotationRule) -> None:
        self._evaluator, self._rule, self._arguments = evaluator, rule, Arguments(evaluator)
        self._code = evaluator.code
        names = {
            *rule.markers,
            *rule.excludes,
            *rule.class_path,
            *rule.methods,
            *rule.application,
            *rule.hidden,
        }
        names |= set(rule.tokens.values())
        self._names = {name for name in names if name}
        self._marks_in: dict[RepoPath, dict[Place, list[Mark]]] = {}

    def of(self, place: Place, depth: int = 0) -> list[Mark]:
        """The annotations of a definition that the rule knows."""
        table = self._marks_in.get(place.path)
        if table is None:
            table = self._marks_in[place.path] = {}
            for site in self._evaluator.sites(place.path).sites:
                if site.kind is SiteKind.DECORATOR and site.value.text:
                    owner = self._evaluator.decorated_by(place.path, site)
                    if owner is not None:
                        table.setdefault(owner, []).extend(self._named(place.path, site, depth))
        return table.get(place, [])

    def _named(self, path: RepoPath, site: Site, depth: int) -> list[Mark]:
        value = site.value
        owner = value.receiver
        text = f"{owner.text}.{value.text}" if owner is not None else value.text
        start = owner.start if owner is not None else value.start
        thing = self._evaluator.evaluate(Located(path, Value(ValueKind.NAME, text, start)))
        if thing.kind is ThingKind.DEFINITION and depth < _DEEPEST:
            return self._of_annotation(path, site, thing.target[0], depth)
        shortened_class = self._derived(text) if self._rule.suffix else None
        if shortened_class is not None and depth < _DEEPEST:
            return self._of_annotation(path, site, shortened_class, depth)
        full = thing.text.replace("\\", ".") if thing.kind is ThingKind.EXTERNAL else text
        name = self._known_name(path, full)
        return [Mark(name, path, site)] if name else []

    def _derived(self, text: str) -> Place | None:
        """The class of the repository whose name an annotation shortens: `[ApiGet]` is ApiGetAttribute."""
        candidates = self._code.definitions(f"{text}{self._rule.suffix}")
        places = [place for place in candidates if self._code.definition_kind(place) == "class"]
        return places[0] if len(places) == 1 else None

    def _known_name(self, path: RepoPath, full: str) -> str:
        head, _, tail = full.rpartition(".")
        tail = tail.removesuffix(self._rule.suffix) if tail not in self._names and self._rule.suffix else tail
        if tail not in self._names:
            return ""
        if head in self._rule.package or self._rule.is_bare:
            return tail
        stars = {item.module for item in self._code.require_facts(path).imports if item.name == "*"}
        return tail if not head and stars & set(self._rule.package) else ""

    def _of_annotation(self, path: RepoPath, site: Site, place: Place, depth: int) -> list[Mark]:
        """What an annotation of the repository stands for: its own annotations, or the class above it."""
        definition = self._code.definition(place)
        marks = [
            # Its own arguments win where it has some: `@AdminGet("/x")`.
            Mark(mark.name, path, site) if site.value.arguments else mark
            for mark in self.of(place, depth + 1)
        ]
        for base in definition.item.bases:
            name = self._known_name(place.path, base.rpartition(".")[2] if self._rule.is_bare else base)
            if name:
                marks.append(Mark(name, path, site))
        return marks

    # Arguments

    def texts(self, mark: Mark, where: str) -> list[str] | None:
        """The paths of an annotation; one empty text where it has none, None where they aren't known."""
        value = self._arguments.value(mark.call, where)
        if value is None:
            return [""]
        texts: list[str] = []
        for item in self._listed(value):
            text = self._text(item)
            if text is None:
                return None
            texts.append(text)
        return texts

    def _text(self, located: Located) -> str | None:
        """A text; `self::NAME` is a constant of the class around."""
        path, value, _ = located
        head, _, name = value.text.partition(".")
        if value.kind is not ValueKind.NAME or head not in _SELVES or not name:
            return self._evaluator.text(located)
        place = self._evaluator.definition_around(path, value.start)
        while place is not None and self._code.definition_kind(place) != "class":
            parent = self._code.definition(place).parent
            place = parent.place if parent is not None else None
        if place is None:
            return None
        thing = self._evaluator.member(Thing(ThingKind.DEFINITION, target=(place,)), name)
        return thing.text if thing.kind is ThingKind.TEXT else None

    def has(self, mark: Mark, where: str) -> bool:
        return self._arguments.value(mark.call, where) is not None

    def verbs(self, mark: Mark, where: str) -> tuple[str, ...] | None:
        """The verbs that an annotation names; none where it names none."""
        value = self._arguments.value(mark.call, where) if where else None
        if value is None:
            return ()
        verbs: list[str] = []
        for item in self._listed(value):
            some = verbs_of_value(self._evaluator, item)
            if some is None:
                return None
            verbs += some
        return tuple(verbs)

    def _listed(self, value: Located) -> list[Located]:
        """The items of a list, of `arrayOf(…)`, or the value itself."""
        if value.value.kind is ValueKind.CALL and value.value.text == "arrayOf":
            return [Located(value.path, item, value.environment) for item in value.value.arguments]
        if value.value.kind is ValueKind.MAPPING:
            return [Located(value.path, item, value.environment) for item in value.value.items]
        items = self._evaluator.items(value) if value.value.kind is not ValueKind.TEXT else None
        return items if items is not None else [value]
