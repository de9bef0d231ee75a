"""Facts that rules describe: calls and decorators by the full names of what they are called on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.calls import full_name, loop_environments, plain_name
from codeplane.surfaces.fact_rules import FactPattern, FactRule
from codeplane.surfaces.fact_selectors import CLASSES, Selectors, argument_value
from codeplane.surfaces.facts import REVERSED, Fact
from codeplane.surfaces.owners import Owners
from codeplane.surfaces.shown import shown_options, shown_value
from codeplane.surfaces.values import Evaluator, Located, ThingKind


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
        self._selectors = Selectors(evaluator, self._owners)
        self._rules, self._kind = rules, kind
        self._indexes: dict[str, _Index] = {}

    def paths(self) -> list[RepoPath]:
        """The files with a word of a rule in its language, and those that import from them."""
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
        aliases = self._aliases(path, index)
        for site in self._evaluator.sites(path).sites:
            for entry in self._entries(index, site, aliases):
                if id(entry.rule) in rules:
                    yield from self._facts_of_site(path, site, entry)

    def _aliases(self, path: RepoPath, index: _Index) -> dict[str, str]:
        """What a file calls the names of the rules; a default import is called like its module."""
        aliases = {}
        for item in self._code.require_facts(path).imports:
            name = _last_name(item.module if item.name in ("", "*", "default") else item.name)
            if name in index.names and item.alias:
                aliases[item.alias] = name
        return aliases

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
            at = Located(call.path, owner, call.environment)
            for name in self._owners.names(at, entry.rule.packages):
                if any(one in pattern.owner for one in _spellings(name, is_fluent=pattern.fluent)):
                    method = aliases_of(pattern, value.text)
                    thing = self._evaluator.evaluate(at)
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
        bearer = self._selectors.decorated(call.path, site) if site.kind is SiteKind.DECORATOR else None
        around = bearer or self._evaluator.definition_around(call.path, value.start)
        if pattern.detail:
            choice = self._selectors.rows(call, site, pattern, pattern.detail)
            detail = choice[0].name if choice else detail
        detail = " ".join(filter(None, (detail, shown_options(value, pattern.options))))
        targets = self._selectors.rows(call, site, pattern, pattern.target) if pattern.target else []
        for row in self._selectors.rows(call, site, pattern, pattern.name):
            if row.source is not None and self._is_skipped(row.source, pattern):
                continue
            target = row.target or (targets[0].name if targets else "")
            start = row.source.value.start if row.source is not None and "each" in pattern.name else -1
            start = start if start >= 0 and row.source and row.source.path == call.path else value.start
            yield Fact(
                pattern.kind,
                row.name,
                call.path,
                self._evaluator.line_of(call.path, site.start if bearer is not None else start),
                entry.rule.framework,
                name,
                detail,
                target if target != row.name else "",
                around,
                (targets[0].definition if targets else None) or row.definition,
                tier,
                site.is_conditional and pattern.kind in ("di", "middleware"),
                REVERSED if pattern.order == "reverse" else 0,
                start,
                self._pipeline(call, site, bearer) if pattern.kind == "middleware" else "",
            )

    def _pipeline(self, call: Located, site: Site, bearer: Place | None) -> str:
        """The place and the object that middleware is put on."""
        around = self._evaluator.definition_around(call.path, site.start)
        if around is not None and around == bearer:
            around = self._evaluator.parent_of(around)
        *_, last = (Value(ValueKind.OTHER), *self._owners.chain(call.value, is_fluent=True))
        return f"{around.definition if around is not None else -1} {shown_value(last)}"

    def _facts_of_list(self, path: RepoPath, site: Site, entry: Entry) -> Iterator[Fact]:
        """The items of a list that a setting or an attribute of a class holds."""
        around = self._evaluator.definition_around(path, site.start)
        if (around is not None) != bool(entry.pattern.within):
            return
        if not self._stands_within(path, site, entry.pattern):
            return
        for item in self._evaluator.items(Located(path, site.value)) or ():
            for row in self._selectors.row(item, entry.pattern):
                start = item.value.start if item.path == path and item.value.start >= 0 else site.start
                yield Fact(
                    entry.pattern.kind,
                    row.name,
                    path,
                    self._evaluator.line_of(path, start),
                    entry.rule.framework,
                    site.name,
                    definition=row.definition,
                    symbol=around,
                    is_conditional=site.is_conditional,
                    start=start,
                )

    # Conditions

    def _stands_within(self, path: RepoPath, site: Site, pattern: FactPattern) -> bool:
        """Whether the class around is derived from, or marked with, what the pattern asks for."""
        if not pattern.within:
            return True
        place = self._evaluator.definition_around(path, site.start)
        while place is not None:
            if self._code.definition_kind(place) in CLASSES and self._is_one_of(place, pattern.within):
                return True
            place = self._evaluator.parent_of(place)
        return False

    def _is_one_of(self, place: Place, names: Iterable[str]) -> bool:
        table = set(names)
        if any(plain_name(base) in table for base in self._evaluator.bases(place)):
            return True
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        return any(
            site.kind is SiteKind.DECORATOR
            and self._evaluator.decorated_by(place.path, site) == place
            and full_name(self._evaluator, Located(place.path, site.value)) in table
            for site in self._evaluator.sites(place.path).within(max(0, first - 1_000), last)
        )

    def _is_skipped(self, located: Located, pattern: FactPattern) -> bool:
        if not pattern.skip:
            return False
        return bool(set(self._owners.names(located)) & set(pattern.skip))


def aliases_of(pattern: FactPattern, name: str) -> str:
    """The method of a pattern that a name is: itself, or a beginning."""
    if name in pattern.methods:
        return name
    return next((one for one in pattern.methods if one.endswith("*") and name.startswith(one[:-1])), name)


def _spellings(name: str, *, is_fluent: bool) -> Iterator[str]:
    """An object, and those that a chain of methods made it of: `log()` of `log().bind()`."""
    yield name
    while is_fluent and name.endswith("()") and "." in name:
        name = name[:-2].rpartition(".")[0]
        yield name


def _has_arguments(value: Value, pattern: FactPattern) -> bool:
    """Whether a call has one of the arguments that the pattern needs."""
    return not pattern.needs or any(argument_value(value, part) is not None for part in pattern.needs)


def _last_name(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("()")
