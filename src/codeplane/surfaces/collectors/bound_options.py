"""Classes that configuration is bound to: options of .NET, tagged structs of Go, objects of Flask."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.calls import full_name
from codeplane.surfaces.collectors.config_use import ConfigUse
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_TAG: Final = re.compile(r'`[^`\n]*?\b(env|envconfig):"([^",]+)[^"]*"[^`\n]*`')
_TAG_DEFAULT: Final = re.compile(r'\b(?:envDefault|default):"([^"]*)"')
_BINDERS: Final = ("Configure", "Bind", "BindConfiguration", "Get", "ConfigureOptions")
_SECTION: Final = ("GetSection", "GetRequiredSection")
_DEEPEST: Final = 4
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_]+")


def bound_keys(evaluator: Evaluator) -> Iterator[ConfigUse]:
    """The keys that the fields of such classes are filled from."""
    code = evaluator.code
    for path in sorted(code.paths_with_any(["GetSection", "GetRequiredSection", "BindConfiguration"])):
        yield from _options(evaluator, path)
    for path in sorted(code.paths_with_any(["env", "envconfig"])):
        facts = code.facts(path)
        if facts is not None and facts.language == "go":
            yield from _tags(evaluator, path)
    for path in sorted(code.paths_with_any(["from_object"])):
        yield from _config_objects(evaluator, path)


def _options(evaluator: Evaluator, path: RepoPath) -> Iterator[ConfigUse]:
    """`Configure<T>(config.GetSection("A"))`: the properties of T are keys below A."""
    facts = evaluator.code.facts(path)
    if facts is None:
        return
    for site in evaluator.sites(path).sites:
        value = site.value
        if site.kind is not SiteKind.CALL or value.text not in _BINDERS:
            continue
        section = _section_of(evaluator, path, value)
        type_value = _bound_type(value)
        if section is None or type_value is None:
            continue
        thing = evaluator.evaluate(Located(path, type_value))
        if thing.kind is ThingKind.DEFINITION:
            yield from _properties(evaluator, thing.target[0], section, 0)


def _bound_type(value: Value) -> Value | None:
    """The type argument of a binder, or of a call further up its chain: `AddOptions<T>().Bind(…)`."""
    current: Value | None = value
    while current is not None and current.kind is ValueKind.CALL:
        item = current.keyword_argument("<0>")
        if item is not None:
            return item
        current = current.receiver
    return None


def _section_of(evaluator: Evaluator, path: RepoPath, value: Value) -> str | None:
    """The section that a binder reads, outermost first."""
    first = value.argument(0)
    if value.text == "BindConfiguration":
        return evaluator.text(Located(path, first)) if first is not None else None
    current = value.receiver if value.text == "Get" else first
    names: list[str] = []
    while current is not None and current.kind is ValueKind.CALL and current.text in _SECTION:
        argument = current.argument(0)
        text = evaluator.text(Located(path, argument)) if argument is not None else None
        if text is None:
            return None
        names.insert(0, text)
        current = current.receiver
    return ":".join(names) if names else None


def _properties(evaluator: Evaluator, place: Place, section: str, depth: int) -> Iterator[ConfigUse]:
    if depth > _DEEPEST:
        return
    facts = evaluator.code.require_facts(place.path)
    for item in facts.definitions:
        if item.parent != place.definition or item.kind not in ("property", "field"):
            continue
        key = f"{section}:{item.name}"
        inner = _class_of(evaluator, place.path, item.annotation)
        if inner is not None and inner != place:
            yield from _properties(evaluator, inner, key, depth + 1)
        else:
            yield ConfigUse(key, place.path, item.name_line, "Options", False, None, place)


def _class_of(evaluator: Evaluator, path: RepoPath, name: str) -> Place | None:
    """The class of the repository that a declared type is."""
    code = evaluator.code
    target = code.written(path, 0, name) if name else ()
    places = target if target and target[0].definition >= 0 else tuple(code.definitions(name) if name else ())
    classes = [
        one for one in places if code.facts(one.path) and code.definition_kind(one) in ("class", "struct")
    ]
    return classes[0] if len(classes) == 1 else None


def _tags(evaluator: Evaluator, path: RepoPath) -> Iterator[ConfigUse]:
    """`Port int `env:"PORT" envDefault:"80"``."""
    text = evaluator.code.source(path).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = _TAG.search(line)
        if match is not None and match[2] not in ("-", ""):
            default = _TAG_DEFAULT.search(line)
            yield ConfigUse(match[2], path, number, f"{match[1]} tag", False, default[1] if default else None)


def _config_objects(evaluator: Evaluator, path: RepoPath) -> Iterator[ConfigUse]:
    """`app.config.from_object(Config)`: the constants of the class and of its bases here."""
    for site in evaluator.sites(path).sites:
        value = site.value
        if site.kind is not SiteKind.CALL or value.text != "from_object" or value.argument(0) is None:
            continue
        name = full_name(evaluator, Located(path, value))
        argument = value.argument(0)
        if not name.endswith(".config.from_object") or argument is None:
            continue
        thing = evaluator.evaluate(Located(path, argument))
        if thing.kind is ThingKind.DEFINITION:
            yield from _constants(evaluator, thing.target[0])


def _constants(evaluator: Evaluator, place: Place, depth: int = 0) -> Iterator[ConfigUse]:
    facts = evaluator.code.require_facts(place.path)
    for item in facts.definitions:
        if item.parent == place.definition and _CONSTANT.fullmatch(item.name):
            yield ConfigUse(item.name, place.path, item.name_line, "Flask config", True, None, place)
    for base in facts.definitions[place.definition].bases if depth < _DEEPEST else ():
        owner = _class_of(evaluator, place.path, base)
        if owner is not None:
            yield from _constants(evaluator, owner, depth + 1)
