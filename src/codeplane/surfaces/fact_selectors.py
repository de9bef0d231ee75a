"""What selectors of fact rules mean at a call: arguments, what is decorated, what is around."""

import re
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.calls import argument
from codeplane.surfaces.fact_rules import FactPattern
from codeplane.surfaces.owners import Owners
from codeplane.surfaces.rule import selector
from codeplane.surfaces.shown import shortened, shown_value
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_MAKER: Final = re.compile(rb"[^;{]{0,80}?[=-]>\s*new\s+([\w.\\]+)")
_DECORATED: Final = ("function", "method", "class", "constructor", "struct", "interface")
CLASSES: Final = ("class", "struct", "object", "interface", "trait")


class Row(NamedTuple):
    """What a selector means: how it is called, what it is in the repository, its value, what is behind it."""

    name: str
    definition: Place | None = None
    source: Located | None = None
    target: str = ""


class Selectors:
    """Works out selectors in one state of the code."""

    def __init__(self, evaluator: Evaluator, owners: Owners) -> None:
        self._evaluator, self._code, self._owners = evaluator, evaluator.code, owners

    def rows(self, call: Located, site: Site, pattern: FactPattern, text: str) -> list[Row]:
        """What a selector means at a call: the first part that is there."""
        for part in selector(text):
            rows = self._rows_of_part(call, site, pattern, part)
            if rows:
                return rows
        return []

    def _rows_of_part(self, call: Located, site: Site, pattern: FactPattern, part: str) -> list[Row]:
        value = call.value
        if part.startswith("each"):
            return self._each(call, pattern, part.removeprefix("each").strip())
        if part.startswith("'"):
            return [Row(part.strip("'"))]
        match part:
            case "callee":
                return [Row(value.text)]
            case "chain":
                links = list(self._owners.chain(value, is_fluent=True))[-2:-1]
                return [Row(link.text.lower()) for link in links]
            case "assigned":
                return [Row(site.name)] if site.name else []
            case "made":
                return self._made(call)
            case "decorated" | "around" | "class" | "return":
                place = self.decorated(call.path, site) if site.kind is SiteKind.DECORATOR else None
                place = place or self._evaluator.definition_around(call.path, value.start)
                return self._of_definition(part, place)
        item = self._template(call) if part == "template" else argument_value(value, part)
        return self.row(call._replace(value=item), pattern) if item is not None else []

    def _each(self, call: Located, pattern: FactPattern, part: str) -> list[Row]:
        """Each argument that is no text, or each item of a list that is an argument."""
        if part:
            sequence = argument(call, part)
            items = self._evaluator.items(sequence) or [] if sequence is not None else []
        else:
            values = [one for one in call.value.arguments if one.keyword[:1] in ("", "&")]
            items = [call._replace(value=one) for one in values if one.kind is not ValueKind.TEXT]
        return [row for item in items for row in self.row(item, pattern)]

    def _made(self, call: Located) -> list[Row]:
        """`services => new Thing()`: what a function in place makes."""
        source = self._code.source(call.path)
        for item in call.value.arguments:
            if item.kind is ValueKind.FUNCTION:
                match = _MAKER.match(source, item.start)
                return [Row(match[1].decode("utf-8", "replace"))] if match else [Row("(function)")]
        return []

    def _template(self, call: Located) -> Value | None:
        """The text of a macro that is no value of a field: `info!(user = "x", "text {}", y)`."""
        source = self._code.source(call.path)
        for item in call.value.arguments:
            before = source[max(0, item.start - 100) : item.start].rstrip()
            if item.kind is ValueKind.TEXT and before.endswith((b",", b"(", b"[", b"{")):
                return item
        return None

    def row(self, located: Located, pattern: FactPattern) -> list[Row]:
        """How a value is called, and what it is in the repository."""
        value = located.value
        if value.kind is ValueKind.FUNCTION:
            return [Row("(function)", None, located)]
        if value.kind is ValueKind.MAPPING and pattern.item:
            return self._mapping_row(located, pattern)
        inner = located
        if value.kind is ValueKind.NAME and ".class" in value.text:
            inner = located._replace(value=value._replace(text=value.text.partition(".class")[0]))
        elif value.kind is ValueKind.CALL and value.text in pattern.wrappers and value.argument(0):
            inner = located._replace(value=value.argument(0) or value)
        text = self._evaluator.text(inner)
        thing = self._evaluator.evaluate(inner) if text is None else None
        definition = None
        if thing is not None and thing.kind in (ThingKind.DEFINITION, ThingKind.OBJECT) and thing.target:
            place = thing.target[0]
            definition = place if place.definition >= 0 and self._code.facts(place.path) else None
        return [Row(shortened(text) if text is not None else shown_value(inner.value), definition, inner)]

    def _mapping_row(self, located: Located, pattern: FactPattern) -> list[Row]:
        """`{provide: A, useClass: B}`."""
        parts = {item.keyword: item for item in located.value.items}
        name = parts.get(pattern.item)
        if name is None:
            return []
        [row] = self.row(located._replace(value=name), pattern) or [Row("")]
        behind = next((parts[key] for key in pattern.item_target if key in parts), None)
        if behind is None or not row.name:
            return [row] if row.name else []
        [target] = self.row(located._replace(value=behind), pattern) or [Row("")]
        return [Row(row.name, target.definition or row.definition, located, target.name)]

    def _of_definition(self, part: str, around: Place | None) -> list[Row]:
        place = around
        if part == "class":
            while place is not None and self._code.definition_kind(place) not in CLASSES:
                place = self._evaluator.parent_of(place)
        if place is None:
            return [Row("(module)")] if part == "around" else []
        if part == "return":
            item = self._code.definition(place).item
            name = returned_type(item.signature, item.name)
            return [Row(name)] if name else []
        return [Row(self._code.qualified(place), place)]

    def decorated(self, path: RepoPath, site: Site) -> Place | None:
        """The definition that a decorator belongs to, where that is one."""
        place = self._evaluator.decorated_by(path, site)
        if place is not None and self._code.definition_kind(place) in _DECORATED:
            return place
        return None


def returned_type(signature: str, name: str) -> str:
    """The declared result of a function, where its header has it before or behind the name."""
    before = re.search(rf"([\w.$]+(?:<[^()]*>)?(?:\[\])?)\s+{re.escape(name)}\s*\(", signature)
    behind = re.search(r"\)\s*(?:->|:)\s*([\w.$]+(?:[<\[][^()]*[>\]])?)", signature)
    match = behind or before
    return match[1] if match is not None and match[1] not in ("def", "fun", "func", "function") else ""


def argument_value(value: Value, part: str) -> Value | None:
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
