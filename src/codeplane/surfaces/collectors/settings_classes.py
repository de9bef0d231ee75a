"""Fields of settings classes (pydantic-settings) and of Spring's configuration properties."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.calls import argument, full_name
from codeplane.surfaces.collectors.config_use import ConfigSurface, ConfigUse
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_BASES: Final = frozenset(
    {
        "pydantic_settings.BaseSettings",
        "pydantic_settings.main.BaseSettings",
        "pydantic.BaseSettings",
        "pydantic.v1.BaseSettings",
        "pydantic.env_settings.BaseSettings",
    }
)
_CONFIG_CALLS: Final = frozenset({"SettingsConfigDict", "ConfigDict", "dict"})
_ELLIPSIS: Final = re.compile(rb"=\s*(?:Field\(\s*)?\.\.\.")
_DEEPEST: Final = 12
_DEEPEST_MODEL: Final = 4
_MODELS: Final = frozenset({"pydantic.BaseModel", "pydantic.main.BaseModel", "pydantic.v1.BaseModel"})
_MODEL: Final = re.compile(r"(?:typing\.)?Optional\[([\w.]+)\]|([\w.]+)(?:\|None)?")
_PROPERTIES: Final = "org.springframework.boot.context.properties.ConfigurationProperties"


def settings_fields(evaluator: Evaluator, surface: ConfigSurface) -> Iterator[ConfigUse]:
    """The keys that fields of settings classes are filled from."""
    for path in sorted(evaluator.code.paths_with_any(["BaseSettings"])):
        yield from _classes_of_file(evaluator, surface, path, set())
    for path in sorted(evaluator.code.paths_with_any(["ConfigurationProperties"])):
        yield from _property_classes(evaluator, path)


def _classes_of_file(
    evaluator: Evaluator, surface: ConfigSurface, path: RepoPath, done: set[Place]
) -> Iterator[ConfigUse]:
    facts = evaluator.code.facts(path)
    if facts is None or facts.language != "python":
        return
    for number, item in enumerate(facts.definitions):
        if item.kind != "class":
            continue
        place = Place(path, number)
        if _BASES & set(evaluator.bases(place)):
            yield from _with_subclasses(evaluator, surface, place, done)


def _with_subclasses(
    evaluator: Evaluator, surface: ConfigSurface, place: Place, done: set[Place]
) -> Iterator[ConfigUse]:
    if place in done:
        return
    done.add(place)
    yield from _fields_of_class(evaluator, surface, place)
    for child in evaluator.code.extending(evaluator.code.definition(place).name):
        if _BASES & set(evaluator.bases(child)):
            yield from _with_subclasses(evaluator, surface, child, done)


def _fields_of_class(evaluator: Evaluator, surface: ConfigSurface, place: Place) -> Iterator[ConfigUse]:
    chain = list(dict.fromkeys(_ancestry(evaluator, place)))
    prefix = _first_setting(evaluator, chain, "env_prefix")
    delimiter = _first_setting(evaluator, chain, "env_nested_delimiter")
    names: set[str] = set()
    for owner in chain:
        facts = evaluator.code.require_facts(owner.path)
        for number, item in enumerate(facts.definitions):
            is_field = item.parent == owner.definition and item.kind in ("field", "variable", "constant")
            if not is_field or item.name in names or not _is_annotated(evaluator, Place(owner.path, number)):
                continue
            names.add(item.name)
            if prefix is None:
                surface.count_dynamic(owner.path)
                continue
            for use in _field_uses(evaluator, Place(owner.path, number), owner, place, prefix):
                yield use
                if delimiter:
                    yield from _nested_uses(evaluator, Place(owner.path, number), use, delimiter)


def _first_setting(evaluator: Evaluator, chain: list[Place], name: str) -> str | None:
    """What the nearest class of a chain says of its configuration; None where that can't be read."""
    return next((text for text in (_own_setting(evaluator, one, name) for one in chain) if text != ""), "")


def _nested_uses(
    evaluator: Evaluator, field: Place, outer: ConfigUse, delimiter: str, depth: int = 0
) -> Iterator[ConfigUse]:
    """`DB__HOST`: the fields of the model that a field is declared as."""
    model = _model_of(evaluator, field)
    if model is None or depth > _DEEPEST_MODEL:
        return
    names: set[str] = set()
    for owner in dict.fromkeys(_ancestry(evaluator, model)):
        for number, item in enumerate(evaluator.code.require_facts(owner.path).definitions):
            inner = Place(owner.path, number)
            is_field = item.parent == owner.definition and item.kind in ("field", "variable", "constant")
            if not is_field or item.name in names or not _is_annotated(evaluator, inner):
                continue
            names.add(item.name)
            assert outer.symbol is not None, "BUG: the field of a class has one"
            for use in _field_uses(evaluator, inner, owner, outer.symbol, ""):
                nested = replace(use, key=f"{outer.key}{delimiter.upper()}{use.key}", is_required=False)
                yield nested
                yield from _nested_uses(evaluator, inner, nested, delimiter, depth + 1)


def _model_of(evaluator: Evaluator, field: Place) -> Place | None:
    """The one model of the repository that a field is declared as."""
    item = evaluator.code.definition(field).item
    match = _MODEL.fullmatch(item.annotation.replace(" ", ""))
    if match is None:
        return None
    name = match[1] or match[2]
    target = evaluator.code.written(field.path, item.scope, name)
    if not target or target[0].definition < 0 or evaluator.code.definition_kind(target[0]) != "class":
        return None
    return target[0] if (_MODELS | _BASES) & set(evaluator.bases(target[0])) else None


def _field_uses(
    evaluator: Evaluator, field: Place, owner: Place, place: Place, prefix: str
) -> Iterator[ConfigUse]:
    definition = evaluator.code.definition(field)
    first, last = evaluator.byte_span(field.path, definition.span)
    sites = evaluator.sites(field.path)
    inside = [site for site in sites.within(first, last) if site.value.kind is ValueKind.CALL]
    call = next((site.value for site in inside if site.value.text == "Field"), None)
    aliases = _aliases(evaluator, field.path, call) if call is not None else []
    if aliases is None:
        return
    keys = aliases or [f"{prefix}{definition.name}"]
    default = _field_default(evaluator, field.path, definition.name, owner, call)
    source = evaluator.code.source(field.path)[first:last]
    is_required = default is None and (b"=" not in source or _ELLIPSIS.search(source) is not None)
    for key in keys:
        yield ConfigUse(
            key.upper(),
            field.path,
            definition.name_line,
            "pydantic-settings",
            False,
            default,
            place,
            is_required,
        )


def _aliases(evaluator: Evaluator, path: RepoPath, call: Value) -> list[str] | None:
    """The names that a field gives itself instead of the prefixed one; None where they aren't known."""
    choice = argument(Located(path, call), "kw.validation_alias | kw.alias | kw.env")
    if choice is None:
        return []
    value = choice.value
    if value.kind is ValueKind.CONSTANT:
        return []
    if value.kind is ValueKind.CALL and value.text == "AliasChoices":
        items = [Located(path, item.argument(0) or item) for item in value.arguments]
    elif value.kind is ValueKind.LIST:
        items = [Located(path, item) for item in value.items]
    else:
        items = [choice]
    texts = [evaluator.text(item) for item in items]
    return None if None in texts or not texts else [text for text in texts if text]


def _field_default(
    evaluator: Evaluator, path: RepoPath, name: str, owner: Place, call: Value | None
) -> str | None:
    choice = argument(Located(path, call), "arg0 | kw.default") if call is not None else None
    if choice is None:
        site = next(
            (
                site
                for site in evaluator.sites(path).by_name.get(name, ())
                if evaluator.definition_around(path, site.start) == owner and site.kind is SiteKind.ASSIGN
            ),
            None,
        )
        choice = Located(path, site.value) if site is not None else None
    if choice is None:
        return None
    if choice.value.kind is ValueKind.CONSTANT:
        return choice.value.text if choice.value.text != "None" else None
    return evaluator.text(choice)


def _is_annotated(evaluator: Evaluator, field: Place) -> bool:
    """Whether a line of a class is a field of a model: `name: type`, neither private nor a ClassVar."""
    definition = evaluator.code.definition(field)
    if definition.name.startswith("_") or definition.name == "model_config":
        return False
    lines = evaluator.code.source(field.path).splitlines()
    line = lines[definition.name_line - 1].decode("utf-8", "replace")
    match = re.match(rf"\s*{re.escape(definition.name)}\s*:(.*)", line)
    return match is not None and "ClassVar" not in match[1]


def _ancestry(evaluator: Evaluator, place: Place, depth: int = 0) -> Iterator[Place]:
    """A class and its base classes in the repository, nearest first."""
    yield place
    site = _class_site(evaluator, place)
    if site is None or depth > _DEEPEST:
        return
    for base in site.value.items:
        thing = evaluator.evaluate(Located(place.path, base)) if not base.keyword else None
        if thing is not None and thing.kind is ThingKind.DEFINITION and thing.target[0] != place:
            yield from _ancestry(evaluator, thing.target[0], depth + 1)


def _class_site(evaluator: Evaluator, place: Place) -> Site | None:
    definition = evaluator.code.definition(place)
    first, last = evaluator.byte_span(place.path, definition.span)
    return next(
        (
            site
            for site in evaluator.sites(place.path).within(first, last)
            if site.kind is SiteKind.CLASS and site.name == definition.name
        ),
        None,
    )


def _own_setting(evaluator: Evaluator, place: Place, name: str) -> str | None:
    """What a class says of its configuration: nothing where it doesn't, None where it can't be read."""
    path = place.path
    first, last = evaluator.byte_span(path, evaluator.code.definition(place).span)
    sites = evaluator.sites(path)
    site = _class_site(evaluator, place)
    literal = next((item for item in site.value.items if item.keyword == name), None) if site else None
    for site in sites.within(first, last):
        if site.name == "model_config" and evaluator.definition_around(path, site.start) == place:
            value = site.value
            if value.kind is ValueKind.CALL and value.text not in _CONFIG_CALLS:
                return None
            items = value.arguments if value.kind is ValueKind.CALL else value.items
            literal = next((item for item in items if item.keyword == name), None)
            if literal is None and any(not item.keyword for item in items):
                return None  # `SettingsConfigDict(**shared)` may bring one
        elif site.name == name and site.kind is SiteKind.ASSIGN:
            around = evaluator.definition_around(path, site.start)
            is_config = around is not None and evaluator.code.definition(around).name == "Config"
            if is_config or (name == "env_prefix" and around == place and _uses_prefix(evaluator, place)):
                literal = site.value
    return evaluator.text(Located(path, literal)) if literal is not None else ""


def _uses_prefix(evaluator: Evaluator, place: Place) -> bool:
    """Whether a base class takes the prefix from an attribute of its subclasses: `cls.env_prefix`."""
    for one in _ancestry(evaluator, place):
        first, last = evaluator.byte_span(one.path, evaluator.code.definition(one).span)
        if b"cls.env_prefix" in evaluator.code.source(one.path)[first:last]:
            return True
    return False


def _property_classes(evaluator: Evaluator, path: RepoPath) -> Iterator[ConfigUse]:
    """The fields of classes with `@ConfigurationProperties`, as keys in kebab case."""
    facts = evaluator.code.facts(path)
    if facts is None or facts.language not in ("java", "kotlin"):
        return
    for site in evaluator.sites(path).sites:
        call = Located(path, site.value)
        is_marker = site.kind is SiteKind.DECORATOR and site.value.text == "ConfigurationProperties"
        if not is_marker or full_name(evaluator, call) != _PROPERTIES:
            continue
        choice = argument(call, "arg0 | kw.prefix | kw.value")
        prefix = evaluator.text(choice) if choice is not None else None
        place = evaluator.definition_around(path, site.start)
        if prefix is None or place is None:
            continue
        for item in facts.definitions:
            if item.parent == place.definition and item.kind in ("field", "property"):
                key = f"{prefix}.{_kebab_case(item.name)}"
                yield ConfigUse(
                    key, path, item.name_line, "Spring @ConfigurationProperties", False, None, place
                )


def _kebab_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", name).lower()
