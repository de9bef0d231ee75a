"""Facts that rules describe: calls and decorators by the full names of what they are called on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.calls import argument, full_name, loop_environments
from codeplane.surfaces.fact_rules import FactPattern, FactRule
from codeplane.surfaces.facts import REVERSED, Fact
from codeplane.surfaces.owners import Owners
from codeplane.surfaces.rule import selector
from codeplane.surfaces.shown import shown_options, shown_value, shortened
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_DECORATED: Final = ("function", "method", "class", "constructor", "struct", "interface")
_CLASSES: Final = ("class", "struct", "object", "interface", "trait")


class Entry(NamedTuple):
    """A pattern of a rule."""

    rule: FactRule
    pattern: FactPattern


@dataclass
class _Index:
    """The patterns of one language by the last names that they are written with."""

    calls: dict[str, list[Entry]] = field(default_factory=dict)
    decorators: dict[str, list[Entry]] = field(default_factory=dict)
    methods: dict[str, list[Entry]] = field(default_factory=dict)
    beginnings: list[tuple[str, Entry]] = field(default_factory=list)
    variables: dict[str, list[Entry]] = field(default_factory=dict)

    @cached_property
    def names(self) -> set[str]:
        return {*self.calls, *self.decorators, *self.methods}

    def methods_called(self, name: str) -> Iterator[Entry]:
        yield from self.methods.get(name, ())
        for beginning, entry in self.beginnings:
            if name.startswith(beginning) and name not in entry.pattern.except_methods:
                yield entry


class FactReader:
    """Reads the facts of files by the rules of one kind."""

    def __init__(self, evaluator: Evaluator, rules: Sequence[FactRule], kind: str) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._owners = Owners(evaluator)
        self._rules, self._kind = rules, kind
        self._indexes: dict[str, _Index] = {}

    def paths(self) -> list[RepoPath]:
        """The files that have a word of a rule and may speak its language, and those that import from them."""
        paths: set[RepoPath] = set()
        for rule in self._rules:
            patterns = [pattern for pattern in rule.facts if pattern.kind == self._kind]
            if not patterns:
                continue
            users = self._code.paths_with_any(sorted(rule.words))
            methods = sorted(name for pattern in patterns for name in pattern.methods if "*" not in name)
            if methods and users:
                users |= self._importers(users, rule) & self._code.paths_with_any(methods)
            paths |= {path for path in users if self._speaks(path, rule)}
        return sorted(paths)

    def _importers(self, users: set[RepoPath], rule: FactRule) -> set[RepoPath]:
        """The files that import from files with a word of a rule."""
        speaking = [path for path in users if self._speaks(path, rule)]
        stems = {path.rpartition("/")[2].rpartition(".")[0] for path in speaking}
        stems |= {path.split("/")[-2] for path in speaking if "/" in path}
        return set(self._code.importing(stems))

    def _speaks(self, path: RepoPath, rule: FactRule) -> bool:
        facts = self._code.facts(path)
        return facts is not None and facts.language in rule.languages

    def facts(self, path: RepoPath) -> Iterator[Fact]:
        """The facts of one file."""
        language = self._code.require_facts(path).language
        index = self._indexes.get(language)
        if index is None:
            index = self._indexes[language] = self._index_of(language)
        rules = {id(rule) for rule in self._rules if self._counts(path, rule)}
        aliases = {
            item.alias: item.name
            for item in self._code.require_facts(path).imports
            if item.name in index.names
        }
        for site in self._evaluator.sites(path).sites:
            for entry in self._entries(index, site, aliases):
                if id(entry.rule) in rules:
                    yield from self._facts_of_site(path, site, entry)

    def _index_of(self, language: str) -> _Index:
        index = _Index()
        for rule in self._rules:
            for pattern in rule.facts if language in rule.languages else ():
                if pattern.kind != self._kind:
                    continue
                entry = Entry(rule, pattern)
                for table, names in (
                    (index.calls, pattern.call),
                    (index.decorators, pattern.decorator),
                    (index.methods, pattern.methods),
                    (index.variables, pattern.variable),
                ):
                    for name in {_last_name(name) for name in names}:
                        if name.endswith("*"):
                            index.beginnings.append((name[:-1], entry))
                        else:
                            table.setdefault(name, []).append(entry)
        return index

    def _counts(self, path: RepoPath, rule: FactRule) -> bool:
        """Whether a file may have facts of a rule."""
        facts = self._code.require_facts(path)
        if facts.language not in rule.languages:
            return False
        return not rule.imports or any(
            item.module == name or item.module.startswith((f"{name}.", f"{name}/", f"{name}\\"))
            for item in facts.imports
            for name in rule.imports
        )

    def _entries(self, index: _Index, site: Site, aliases: dict[str, str]) -> Iterator[Entry]:
        value = site.value
        if site.name and site.kind in (SiteKind.ASSIGN, SiteKind.CALL) and site.name in index.variables:
            yield from index.variables[site.name]
        if value.kind is not ValueKind.CALL:
            return
        names = dict.fromkeys((value.text, aliases.get(value.text, value.text)))
        if site.kind is SiteKind.DECORATOR:
            for name in names:
                yield from index.decorators.get(name, ())
                yield from (one for one in index.methods_called(name) if one.pattern.name == "decorated")
        elif site.kind is SiteKind.CALL and value.text != "[]":
            for name in names:
                yield from index.calls.get(name, ())
                yield from (one for one in index.methods_called(name) if one.pattern.name != "decorated")

    # One site

    def _facts_of_site(self, path: RepoPath, site: Site, entry: Entry) -> Iterator[Fact]:
        pattern = entry.pattern
        if pattern.variable:
            yield from self._facts_of_list(path, site, entry)
            return
        if not self._stands_within(path, site, pattern) or not _has_arguments(site.value, pattern):
            return
        for environment in loop_environments(self._evaluator, path, site):
            call = Located(path, site.value, environment)
            match = self._match(call, entry, site)
            if match is not None:
                name, detail, tier = match
                yield from self._facts_of_call(call, site, entry, (name, detail, tier))

    def _match(self, call: Located, entry: Entry, site: Site) -> tuple[str, str, Tier] | None:
        """The full name of what is called, its detail and how far it is proven."""
        pattern, value = entry.pattern, call.value
        names = pattern.decorator if site.kind is SiteKind.DECORATOR else pattern.call
        if names:
            for name in self._full_names(call, entry.rule.packages):
                if name in names:
                    return name, names[name], Tier.STRONG
        if not pattern.owner:
            return None
        for owner in self._owners.chain(value, is_fluent=pattern.fluent):
            located = Located(call.path, owner, call.environment)
            for name in self._owners.names(located, entry.rule.packages):
                if any(one in pattern.owner for one in _spellings(name, is_fluent=pattern.fluent)):
                    method = aliases_of(pattern, value.text)
                    thing = self._evaluator.evaluate(located)
                    is_declared = thing.is_declared or thing.kind is ThingKind.UNKNOWN
                    tier = Tier.ANCHORED if is_declared else Tier.STRONG
                    return f"{name}.{value.text}", pattern.methods.get(method, ""), tier
        return None

    def _full_names(self, call: Located, packages: Sequence[str]) -> Iterator[str]:
        name = full_name(self._evaluator, call)
        if name:
            yield name
            if "." not in name:
                for item in self._code.require_facts(call.path).imports if packages else ():
                    if item.name == "*" and item.module in packages:
                        yield f"{item.module}.{name}"
        receiver = call.value.receiver
        if receiver is not None:
            for owner in self._owners.names(call._replace(value=receiver), packages):
                yield f"{owner}.{call.value.text}"

    def _facts_of_call(
        self, call: Located, site: Site, entry: Entry, match: tuple[str, str, Tier]
    ) -> Iterator[Fact]:
        name, detail, tier = match
        pattern, value = entry.pattern, call.value
        decorated = self._decorated(call.path, site) if site.kind is SiteKind.DECORATOR else None
        around = self._evaluator.definition_around(call.path, value.start)
        if pattern.detail:
            selected = self._selected(call, pattern.detail, decorated or around)
            detail = selected[0][0] if selected else detail
        detail = " ".join(filter(None, (detail, shown_options(value, pattern.options))))
        targets = self._selected(call, pattern.target, decorated or around) if pattern.target else []
        line = self._evaluator.line_of(call.path, site.start if decorated is not None else value.start)
        for text, definition, located in self._selected(call, pattern.name, decorated or around):
            if located is not None and self._is_skipped(located, pattern):
                continue
            target, behind = targets[0][:2] if targets else ("", None)
            yield Fact(
                pattern.kind,
                text,
                call.path,
                line if located is None or pattern.name != "each" else self._line_of(located, line),
                entry.rule.framework,
                name,
                detail,
                target,
                decorated or around,
                behind or definition,
                tier,
                site.is_conditional and pattern.kind in ("di", "middleware"),
                REVERSED if pattern.order == "reverse" else 0,
            )

    def _line_of(self, located: Located, line: int) -> int:
        start = located.value.start
        return self._evaluator.line_of(located.path, start) if start >= 0 else line

    def _facts_of_list(self, path: RepoPath, site: Site, entry: Entry) -> Iterator[Fact]:
        """The items of a list that a setting holds."""
        source = self._code.source(path)
        if any(word.encode() not in source for word in entry.pattern.modules):
            return
        if self._evaluator.definition_around(path, site.start) is not None:
            return
        items = self._evaluator.items(Located(path, site.value))
        for item in items or ():
            name = self._evaluator.text(item) or shown_value(item.value)
            line = self._evaluator.line_of(item.path, item.value.start) if item.value.start >= 0 else 0
            yield Fact(
                entry.pattern.kind,
                name,
                item.path,
                line,
                entry.rule.framework,
                site.name,
                entry.pattern.detail,
            )

    # Conditions

    def _stands_within(self, path: RepoPath, site: Site, pattern: FactPattern) -> bool:
        """Whether the class around is derived from, or marked with, what the pattern asks for."""
        if not pattern.within:
            return True
        place = self._evaluator.definition_around(path, site.start)
        while place is not None:
            if self._code.definition_kind(place) in _CLASSES and self._is_one_of(place, pattern.within):
                return True
            place = self._evaluator.parent_of(place)
        return False

    def _is_one_of(self, place: Place, names: Iterable[str]) -> bool:
        wanted = set(names)
        if any(base.replace("::", ".") in wanted for base in self._evaluator.bases(place)):
            return True
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        return any(
            site.kind is SiteKind.DECORATOR
            and self._evaluator.decorated_by(place.path, site) == place
            and full_name(self._evaluator, Located(place.path, site.value)) in wanted
            for site in self._evaluator.sites(place.path).within(max(0, first - 1_000), last)
        )

    def _is_skipped(self, located: Located, pattern: FactPattern) -> bool:
        if not pattern.skip:
            return False
        return bool(set(self._owners.names(located)) & set(pattern.skip))

    def _decorated(self, path: RepoPath, site: Site) -> Place | None:
        place = self._evaluator.decorated_by(path, site)
        if place is not None and self._code.definition_kind(place) in _DECORATED:
            return place
        return None

    # Selectors

    def _selected(
        self, call: Located, text: str, around: Place | None
    ) -> list[tuple[str, Place | None, Located | None]]:
        """What a selector means: how it is called, what it is in the repository, and its value."""
        value = call.value
        for part in selector(text):
            if part == "each":
                items = [
                    item for item in value.arguments if not item.keyword and item.kind is not ValueKind.TEXT
                ]
                return [row for item in items for row in self._row(call._replace(value=item))]
            if part.startswith("each "):
                listed = argument(call, part[5:])
                parts = self._evaluator.items(listed) if listed is not None else None
                if parts is not None:
                    return [row for item in parts for row in self._row(item)]
                continue
            if part in ("callee", "chain"):
                first = list(self._owners.chain(value, is_fluent=True))[-2:-1] if part == "chain" else []
                return [(first[0].text.lower() if first else value.text, None, None)]
            if part == "template":
                item = self._template(call)
                return self._row(call._replace(value=item)) if item is not None else []
            if part in ("decorated", "around", "class", "return"):
                name, place = self._of_definition(part, around)
                if name:
                    return [(name, place, None)]
                continue
            if part.startswith("'"):
                return [(part.strip("'"), None, None)]
            item = _argument_value(value, part)
            if item is not None:
                return self._row(call._replace(value=item))
        return []

    def _template(self, call: Located) -> Value | None:
        """The text of a macro that is no value of a field: `info!(user = "x", "text {}", y)`."""
        source = self._code.source(call.path)
        for item in call.value.arguments:
            before = source[: item.start].rstrip() if item.kind is ValueKind.TEXT else b""
            if before.endswith((b",", b"(", b"[", b"{")):
                return item
        return None

    def _row(self, located: Located) -> list[tuple[str, Place | None, Located | None]]:
        value = located.value
        if value.kind is ValueKind.FUNCTION:
            return [("(function)", None, located)]
        text = self._evaluator.text(located) if value.kind is not ValueKind.TEXT else value.text
        if value.kind is ValueKind.CONCAT and text is None:
            text = shown_value(value)
        thing = self._evaluator.evaluate(located) if value.kind is not ValueKind.TEXT else None
        definition = None
        if thing is not None and thing.kind in (ThingKind.DEFINITION, ThingKind.OBJECT) and thing.target:
            place = thing.target[0]
            is_here = isinstance(place, Place) and place.definition >= 0 and self._code.facts(place.path)
            definition = place if is_here else None
        return [(shortened(text) if text is not None else shown_value(value), definition, located)]

    def _of_definition(self, part: str, around: Place | None) -> tuple[str, Place | None]:
        place = around
        if part == "class":
            while place is not None and self._code.definition_kind(place) not in _CLASSES:
                place = self._evaluator.parent_of(place)
        if place is None:
            return ("", None) if part != "around" else ("(module)", None)
        if part == "return":
            return self._code.definition(place).item.annotation, place
        return self._code.qualified(place), place


def aliases_of(pattern: FactPattern, name: str) -> str:
    """The method of a pattern that a name is: itself, or a beginning."""
    if name in pattern.methods:
        return name
    return next((one for one in pattern.methods if one.endswith("*") and name.startswith(one[:-1])), name)


def _argument_value(value: Value, part: str) -> Value | None:
    """`arg0`, `kw.name`, `<0>`, `arg0.key`, `last`, `block`."""
    if part.startswith("<"):
        return value.keyword_argument(part)
    if part.startswith("kw."):
        return value.keyword_argument(part[3:])
    if part == "last":
        return value.arguments[-1] if value.arguments else None
    if part == "block":
        return value.keyword_argument("&block")
    if part == "text":  # the first text, wherever it stands
        return next((one for one in value.arguments if one.kind in (ValueKind.TEXT, ValueKind.CONCAT)), None)
    if part.startswith("arg"):
        number, _, key = part[3:].partition(".")
        item = value.argument(int(number))
        if item is not None and key:
            return next((one for one in item.items if one.keyword == key), None)
        return item
    return None


def _spellings(name: str, *, is_fluent: bool) -> Iterator[str]:
    """An object, and those that a chain of methods made it of: `log()` of `log().bind()`."""
    yield name
    while is_fluent and name.endswith("()") and "." in name:
        name = name[:-2].rpartition(".")[0]
        yield name


def _has_arguments(value: Value, pattern: FactPattern) -> bool:
    """Whether a call has one of the arguments that the pattern needs."""
    return not pattern.needs or any(_argument_value(value, part) is not None for part in pattern.needs)


def _last_name(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("()")
