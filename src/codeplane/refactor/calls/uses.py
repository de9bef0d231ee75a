"""Where a function is called, and where it is used in a way that no one can follow."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import derived, descendants, is_class, owner_of
from codeplane.graph.places import flags_of
from codeplane.graph.possible_uses import Use, why_open
from codeplane.languages.facts import FLAG_TEST, Role
from codeplane.languages.operations.call_sites import grammar_of
from codeplane.names import Codebase, Def, RefFact
from codeplane.names.meaning import is_external, known
from codeplane.refactor.occurrences.search import Found, find_occurrences
from codeplane.refactor.reflection.decorators import marked_text, marks
from codeplane.refactor.rename_set import RenameSet, rename_set_of
from codeplane.refactor.text import Lines

_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_FUNCTIONS: Final = frozenset(("function", "method", "constructor"))
_SILENT: Final = (Role.IMPORT, Role.EXPORT, Role.TYPE)
# Classes that are asked about, and not made: `isinstance(x, C)`, `except C`.
_ASKED: Final = re.compile(r"\b(?:isinstance|issubclass|except|raise|instanceof)\b")
_MACRO: Final = "#"
_BRACKETS: Final = ("bracket_access",)


Receiver = Literal["none", "value", "class"]
"""What stands before the name of the function in a call."""


class CallUse(NamedTuple):
    """A place where the function is called for certain."""

    path: RepoPath
    line: int
    column: int
    name: str
    scope: int
    receiver: Receiver = "none"


class OpenUse(NamedTuple):
    """A place that may pass arguments to the function, and why it can't be followed."""

    path: RepoPath
    line: int
    reason: str


class ValueUse(NamedTuple):
    """A place where the function is a value: whoever gets it may call it."""

    path: RepoPath
    line: int
    column: int
    name: str


@dataclass(frozen=True)
class FunctionUses:
    """The definitions that have the same parameters, and everything that calls one of them or may."""

    places: tuple[Place, ...]
    calls: tuple[CallUse, ...]
    values: tuple[ValueUse, ...]
    open: tuple[OpenUse, ...]


def why_not_followed(code: Codebase, place: Place) -> str | None:
    """Why the calls of a definition can't be followed at all; None where they can."""
    definition = code.definition(place)
    name, spec = definition.name, definition.spec
    if definition.kind not in _FUNCTIONS:
        return f"{name} is no function; name the function, as `Class.method`."
    if flags_of(code, place) & FLAG_TEST or _is_fixture(code, definition):
        return f"{name} gets its arguments from the runner of tests, by the names of its parameters."
    if spec.entry_points.function == name:
        return f"{name} is the program's entry point."
    is_reserved = spec.reflection.reserved_names and re.fullmatch(spec.reflection.reserved_names, name)
    if is_reserved and not is_initializer(definition):
        return f"The language itself calls {name}."
    return None


def _is_fixture(code: Codebase, definition: Def) -> bool:
    fixtures = definition.spec.testing.fixtures
    return fixtures is not None and bool(re.search(fixtures.mark, marked_text(code, definition.place)))


def is_initializer(definition: Def) -> bool:
    """Whether a definition runs when an instance of its class is made."""
    is_member = definition.item.parent >= 0 or bool(definition.item.owner)
    return definition.kind == "constructor" or (is_member and definition.name in definition.spec.initializers)


def find_uses(code: Codebase, place: Place) -> FunctionUses:
    """Everything that calls a function, or one that has to have the same parameters, or may."""
    return _Search(code, place).run()


class _Search:
    def __init__(self, code: Codebase, place: Place) -> None:
        self._code, self._definition = code, code.definition(place)
        self._is_initializer = is_initializer(self._definition)
        self._calls: dict[tuple[str, int, int], CallUse] = {}
        self._values: dict[tuple[str, int, int], ValueUse] = {}
        self._open: dict[tuple[str, int, str], OpenUse] = {}

    def run(self) -> FunctionUses:
        names = self._names
        for problem in names.doubts if not self._is_initializer else ():
            path = problem.path or self._definition.path
            self._add_open(path, problem.line or self._definition.name_line, problem.text)
        for place in sorted(names.places):
            self._of_decorators(place)
        occurrences = find_occurrences(self._code, names, names.name)
        self._of_refs(occurrences, names)
        self._of_computed_names(names.name)
        if self._is_initializer:
            for owner in self._owners:
                self._of_class(owner)
        return FunctionUses(
            tuple(sorted(names.places)),
            tuple(value for _, value in sorted(self._calls.items())),
            tuple(value for _, value in sorted(self._values.items())),
            tuple(value for _, value in sorted(self._open.items())),
        )

    @cached_property
    def _names(self) -> RenameSet:
        place, item = self._definition.place, self._definition.item
        if not self._is_initializer:
            return rename_set_of(self._code, place)
        places = frozenset((place, *self._code.grouped(place)))
        return RenameSet(item.name, item.kind, places, is_member=True, doubts=())

    def _of_decorators(self, place: Place) -> None:
        for mark in marks(self._code, place):
            line = self._code.definition(place).name_line
            self._add_open(place.path, line, f"`{mark}` may call it itself, or hand on other arguments")

    def _of_refs(self, occurrences: Found, names: RenameSet) -> None:
        refs: dict[tuple[str, int, int], RefFact] = {}
        for place in sorted(names.places):
            for ref in self._code.structural_references.to(place):
                at = (ref.path, ref.line, ref.column)
                refs.setdefault(at, ref)
                if ref.tier in _CERTAIN and names.places.intersection(ref.target):
                    refs[at] = ref
                    self._of_certain(ref)
        for site in occurrences.sites:
            at = (site.path, site.line, site.column)
            if at in refs:
                self._of_certain(refs[at])
            elif site.what == "attribute":
                self._add_open(site.path, site.line, "it is looked up by its name")
        for ref in occurrences.open:
            self._add_open(ref.path, ref.line, self._why_open(ref))

    def _of_certain(self, ref: RefFact) -> None:
        at = (ref.path, ref.line, ref.column)
        if ref.role in _SILENT:
            self._of_export(ref)
            return
        if ref.role is Role.WRITE:
            self._add_open(ref.path, ref.line, "it is replaced by something else")
        elif ref.receiver == _MACRO:
            self._add_open(ref.path, ref.line, "it stands in a macro")
        elif ref.role is Role.CALL:
            self._add_call(ref)
        else:
            self._values[at] = ValueUse(ref.path, ref.line, ref.column, ref.name)

    def _of_computed_names(self, name: str) -> None:
        """Strings with the name where members are looked up by variables: `['f', 'g'].map(n => m[n]())`.

        A title of a test that is called like the function is no call, and is listed all the same.
        """
        literal = re.compile(rb"([\"'`])%b\1" % re.escape(name.encode("utf-8", "surrogateescape")))
        for path in sorted(self._code.dynamics.asking(_BRACKETS).keys() & {*self._code.paths_with(name)}):
            lines = self._lines(RepoPath(path))
            for match in literal.finditer(lines.data):
                line = lines.position(match.start())[0]
                self._add_open(RepoPath(path), line, "members are looked up by computed names in this file")

    def _of_export(self, ref: RefFact) -> None:
        """`module.exports = f` makes the module the function: `require` gives it under any name."""
        grammar = grammar_of(self._definition.language)
        if grammar is None or not grammar.module_value or ref.role is not Role.EXPORT:
            return
        lines = self._lines(ref.path)
        if re.search(
            rb"(?:%b)\Z" % grammar.module_value.encode(), lines.data[: lines.offset(ref.line, ref.column)]
        ):
            self._add_open(
                ref.path, ref.line, "it is the module itself, which others call by names of their own"
            )

    def _add_call(self, ref: RefFact) -> None:
        receiver = self._receiver_of(ref)
        if receiver is None:
            self._add_open(ref.path, ref.line, "what it is called on may be a class or an instance")
            return
        self._calls[ref.path, ref.line, ref.column] = CallUse(
            ref.path, ref.line, ref.column, ref.name, ref.scope, receiver
        )

    def _receiver_of(self, ref: RefFact) -> Receiver | None:
        if not ref.receiver:
            return "none"
        target = known(self._code.written(ref.path, ref.scope, ref.receiver))
        if target and not is_external(target):
            return "class" if is_class(self._code, target[0]) else "value"
        grammar = grammar_of(self._definition.language)
        is_unclear = grammar is not None and re.fullmatch(grammar.class_values, ref.receiver, re.DOTALL)
        return None if is_unclear and not self._takes_class else "value"

    @cached_property
    def _takes_class(self) -> bool:
        """Whether a method is given its class, however it is called."""
        grammar = grammar_of(self._definition.language)
        pattern = grammar.class_methods if grammar is not None else ""
        return bool(pattern) and bool(re.search(pattern, marked_text(self._code, self._definition.place)))

    def _why_open(self, ref: RefFact) -> str:
        if ref.receiver == _MACRO:
            return "it stands in a macro"
        return why_open(
            self._code, Use(ref.path, ref.line, ref.receiver, ref.target[0] if ref.target else None)
        )

    @cached_property
    def _owners(self) -> list[Place]:
        """The classes whose instances the function makes: its own, and those that inherit it."""
        owner = owner_of(self._code, self._definition.place)
        if owner is None:
            return []
        heirs = [one.place for one, _ in descendants(self._code, owner) if one.place is not None]
        classes = self._code.classes
        own = [
            heir
            for heir in heirs
            if self._names.places.intersection(classes.member((heir,), self._definition.name))
            or (self._definition.kind == "constructor" and not self._has_constructor(heir))
        ]
        return [owner, *own]

    def _has_constructor(self, heir: Place) -> bool:
        definitions = self._code.require_facts(heir.path).definitions
        return any(one.parent == heir.definition and one.kind == "constructor" for one in definitions)

    def _of_class(self, owner: Place) -> None:
        names = rename_set_of(self._code, owner)
        for ref in self._code.structural_references.to(owner):
            if ref.tier not in _CERTAIN or owner not in ref.target or ref.role in _SILENT:
                continue
            at = (ref.path, ref.line, ref.column)
            if ref.role is Role.CALL:
                self._calls[at] = CallUse(ref.path, ref.line, ref.column, ref.name, ref.scope)
            elif not _ASKED.search(self._lines(ref.path).text(ref.line)):
                self._values[at] = ValueUse(ref.path, ref.line, ref.column, ref.name)
        for ref in find_occurrences(self._code, names, names.name).open:
            if ref.role not in _SILENT:
                self._add_open(ref.path, ref.line, self._why_open(ref))
        self._of_own_class(owner)
        self._of_base_calls(owner)

    def _of_base_calls(self, owner: Place) -> None:
        """Calls by which constructors of derived classes run that of their base: `super(…)`."""
        grammar = grammar_of(self._definition.language)
        if grammar is None or not grammar.base_constructor or self._definition.kind != "constructor":
            return
        pattern = re.compile(rf"\b{grammar.base_constructor}\s*\(".encode())
        for heir in (one.place for one in derived(self._code, owner)):
            if heir is None or not self._has_constructor(heir):
                continue
            span, lines = self._code.definition(heir).span, self._lines(heir.path)
            for match in pattern.finditer(lines.data):
                line, column = lines.position(match.start())
                if span.start_line <= line <= span.end_line:
                    at = (heir.path, line, column)
                    self._calls[at] = CallUse(*at, grammar.base_constructor, 0)

    def _of_own_class(self, owner: Place) -> None:
        """Instances that methods of a class make of whichever class they are called on."""
        grammar = grammar_of(self._definition.language)
        if grammar is None or not grammar.own_class:
            return
        span, lines = self._code.definition(owner).span, self._lines(owner.path)
        for match in re.finditer(grammar.own_class.encode(), lines.data):
            line = lines.position(match.start())[0]
            if span.start_line <= line <= span.end_line:
                self._add_open(owner.path, line, "it may make an instance of a derived class")

    def _lines(self, path: RepoPath) -> Lines:
        return Lines(self._code.source(path))

    def _add_open(self, path: RepoPath, line: int, reason: str) -> None:
        self._open[path, line, reason] = OpenUse(path, line, reason)


def describe_open(code: Codebase, uses: Iterable[OpenUse]) -> Iterator[str]:
    """Open places, a line each: where, what stands there, and why it is open."""
    for use in uses:
        text = Lines(code.source(use.path)).text(use.line).strip()
        yield f"{use.path}:{use.line}: {text[:100]} ({use.reason})"
