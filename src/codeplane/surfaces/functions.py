"""The functions of a file, definitions or not: which bytes are whose, and their parameters as written."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import ScopeKind, Span
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names import FileFacts
from codeplane.surfaces.file_sites import FileSites, segments_of
from codeplane.surfaces.values import Environment, Located, Origin

FILE: Final = -1
"""The number of what is outside of every function."""
_LONGEST: Final = 3_000  # characters of a list of parameters
_KINDS: Final = frozenset({ScopeKind.FUNCTION, ScopeKind.ARROW})
_ADDING: Final = frozenset({"push", "unshift"})
_MODIFIERS: Final = re.compile(
    r"(?:@[\w.]+(?:\([^()]*\))?\s*|(?:public|private|protected|readonly|override)\s+)*"
)
_NAME: Final = re.compile(r"[\w$]+")
_SINGLE: Final = re.compile(r"(?:async\s+)?([\w$]+)\s*=>")
_MEMBER: Final = re.compile(r"(?:^|,)\s*([\w$]+)\s*(?::\s*([\w$]+))?[^,]*")
_TEXT: Final = re.compile(r"""=\s*(["'`])([^"'`$]*)\1\s*$""")


class Parameter(NamedTuple):
    """One parameter: a name, or the members or items that it is taken apart into."""

    name: str = ""
    members: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()
    default: str | None = None
    is_field: bool = False  # `constructor(private app: App)`

    def bind(self, value: Located) -> Iterator[tuple[str, Located]]:
        """The names that a value is known by."""
        if self.name:
            yield self.name, value
        path, inner, environment = value
        for member, local in self.members:
            part = Value(ValueKind.MEMBER, member, inner.start, (inner,))
            yield local, Located(path, part, environment)
        if self.items and inner.kind is ValueKind.LIST:
            for local, item in zip(self.items, inner.items, strict=False):
                yield local, Located(path, item, environment)


class FunctionRef(NamedTuple):
    """A function, and what the names around it stand for."""

    path: RepoPath
    scope: int
    environment: Environment
    place: Place | None = None


class FileFunctions:
    """The functions of one file by the bytes that they cover."""

    def __init__(self, facts: FileFacts, lines: list[int], source: bytes, sites: FileSites) -> None:
        self._facts, self._lines, self._source, self._sites = facts, lines, source, sites

    @cached_property
    def spans(self) -> dict[int, tuple[int, int]]:
        """The bytes of each scope that is a function; the value of a field is a scope, but no function."""
        fields = {item.body for item in self._facts.definitions if item.kind == "field"}
        return {
            number: self._bytes_of(scope.span)
            for number, scope in enumerate(self._facts.scopes)
            if scope.kind in _KINDS and number not in fields
        }

    def _bytes_of(self, span: Span) -> tuple[int, int]:
        last = min(span.end_line, len(self._lines))
        return self._lines[span.start_line - 1] + span.start_column, self._lines[last - 1] + span.end_column

    @cached_property
    def _segments(self) -> tuple[list[int], list[int]]:
        return segments_of([(first, last, number) for number, (first, last) in self.spans.items()])

    @cached_property
    def by_start(self) -> dict[int, int]:
        return {first: number for number, (first, _) in self.spans.items()}

    @cached_property
    def classes(self) -> dict[int, int]:
        """The definition of each class by the byte that its scope begins with."""
        scopes = self._facts.scopes
        return {
            self._bytes_of(scopes[item.body].span)[0]: number
            for number, item in enumerate(self._facts.definitions)
            if item.kind == "class" and item.body >= 0
        }

    @cached_property
    def pushes(self) -> dict[str, list[Site]]:
        """The calls that add to a list, by its name."""
        table: dict[str, list[Site]] = {}
        for site in self._sites.sites:
            owner = site.value.receiver if site.kind is SiteKind.CALL and site.value.text in _ADDING else None
            if owner is not None and owner.kind is ValueKind.NAME:
                table.setdefault(owner.text, []).append(site)
        return table

    @cached_property
    def definitions(self) -> dict[int, int]:
        """The definition that each function is."""
        items = list(enumerate(self._facts.definitions))
        fields = {item.body: number for number, item in items if item.kind == "field"}
        table = {
            scope: fields[self._facts.scopes[scope].parent]
            for scope in self.spans
            if self._facts.scopes[scope].parent in fields
        }
        for number, _ in items:
            scope = self.scope_of(number)
            if scope != FILE:
                table[scope] = number
        return table

    def scope_of(self, number: int) -> int:
        """The scope of a function by its definition; its body may be a block inside."""
        item = self._facts.definitions[number]
        is_function = item.kind in ("function", "method", "constructor", "property")
        return self.around(item.body) if is_function and item.body >= 0 else FILE

    @cached_property
    def sites_of(self) -> Mapping[int, list[Site]]:
        """The sites that stand in each function itself; those outside of all are `FILE`'s."""
        table: dict[int, list[Site]] = {}
        for site in self._sites.sites:
            table.setdefault(self.at(site.start), []).append(site)
        return table

    def at(self, start: int) -> int:
        """The innermost function that a byte is in."""
        starts, numbers = self._segments
        return numbers[bisect_right(starts, start) - 1] if starts and start >= starts[0] else FILE

    @cached_property
    def _class_segments(self) -> tuple[list[int], list[int]]:
        scopes = enumerate(self._facts.scopes)
        spans = [(*self._bytes_of(one.span), number) for number, one in scopes if one.kind is ScopeKind.CLASS]
        return segments_of(spans)

    def class_at(self, start: int) -> int:
        """The scope of the innermost class that a byte is in."""
        starts, numbers = self._class_segments
        return numbers[bisect_right(starts, start) - 1] if starts and start >= starts[0] else FILE

    def stands_in(self, start: int, around: int | None) -> bool:
        """Whether a byte stands in the body of a definition itself; None is the top of the file."""
        if around is None:
            return self.at(start) == FILE and self.class_at(start) == FILE
        body, scope = self._facts.definitions[around].body, self.scope_of(around)
        if scope != FILE:
            return self.at(start) == scope
        if body < 0:
            return False
        return self.class_at(start) == body and self.at(start) == self.outside(body)

    def around(self, scope: int) -> int:
        """The function that a scope is or is in."""
        while scope > 0 and scope not in self.spans:
            scope = self._facts.scopes[scope].parent
        return scope if scope in self.spans else FILE

    def outside(self, scope: int) -> int:
        """The function around a function."""
        return self.around(self._facts.scopes[scope].parent)

    def parameters(self, scope: int) -> tuple[Parameter, ...]:
        """The parameters of a function in order."""
        first, last = self.spans[scope]
        text = self._source[first : min(last, first + _LONGEST)].decode("utf-8", "replace")
        return tuple(_parameters_in(text))


def bound(parameters: tuple[Parameter, ...], call: Located) -> dict[str, Located]:
    """The names of parameters with the values that a call gives them."""
    values: dict[str, Located] = {}
    arguments = [item for item in call.value.arguments if not item.keyword]
    for number, parameter in enumerate(parameters):
        if number < len(arguments):
            values.update(parameter.bind(Located(call.path, arguments[number], call.environment)))
        elif parameter.default is not None and parameter.name:
            values[parameter.name] = Located(call.path, Value(ValueKind.TEXT, parameter.default))
    return values


def calls_below(call: Located) -> tuple[Origin, ...]:
    """The calls that lead into what a call calls."""
    calls = call.environment.calls
    return (*calls, Origin(call.path, call.value.start, calls))


def _parameters_in(text: str) -> Iterator[Parameter]:
    single = _SINGLE.match(text)
    if single:
        yield Parameter(single[1])
        return
    start = text.find("(")
    if start < 0:
        return
    for part in _split(text[start + 1 :]):
        yield _parameter(part)


def _parameter(text: str) -> Parameter:
    bare = text.strip()
    head = _MODIFIERS.match(bare)
    body = bare[head.end() :] if head else bare
    before = head[0] if head else ""
    is_field = any(word in before for word in ("public", "private", "protected", "readonly"))
    default = _TEXT.search(body)
    if body.startswith("{"):
        inner = body[1 : body.find("}")] if "}" in body else ""
        members = tuple((name, local or name) for name, local in _MEMBER.findall(inner.replace("...", "")))
        return Parameter(members=members)
    if body.startswith("["):
        inner = body[1 : body.find("]")] if "]" in body else ""
        return Parameter(items=tuple(part.strip() for part in inner.split(",")))
    name = _NAME.match(body.removeprefix("..."))
    return Parameter(name[0] if name else "", default=default[2] if default else None, is_field=is_field)


def _split(text: str) -> Iterator[str]:
    """The parts of a list of parameters, up to the parenthesis that closes it."""
    depth, start, quote, at = 0, 0, "", 0
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{<":
            depth += 1
        elif char in "]})" or (char == ">" and text[at - 1] != "="):
            if depth == 0:
                break
            depth -= 1
        elif char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
        at += 1
    if text[start:at].strip():
        yield text[start:at]
