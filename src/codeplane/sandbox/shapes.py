"""The shape that a snippet declares for its answer, in a small part of JSON Schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from codeplane.core.errors import InvalidArgument
from codeplane.core.suggest import nearest
from codeplane.sandbox.values import Path, ValueRefused, render_path, type_name, with_article

TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_KEYWORDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "type": (str, list),
    "properties": dict,
    "required": list,
    "additionalProperties": bool,
    "items": (dict, str),
    "enum": list,
    "minItems": int,
    "maxItems": int,
    "minLength": int,
    "maxLength": int,
    "minimum": (int, float),
    "maximum": (int, float),
    "anyText": bool,
    "description": str,
}
_DEEPEST: Final = 16


@dataclass(frozen=True)
class Shape:
    """What a value has to look like; an empty one takes every JSON value."""

    types: tuple[str, ...] = ()
    properties: Mapping[str, "Shape"] | None = None
    required_names: tuple[str, ...] = ()
    is_open: bool = True
    items: "Shape | None" = None
    choices: tuple[Any, ...] | None = None
    items_range: tuple[int, int | None] = (0, None)
    length_range: tuple[int, int | None] = (0, None)
    bounds: tuple[float | None, float | None] = (None, None)
    takes_any_text: bool = False

    @property
    def takes_null(self) -> bool:
        return "null" in self.types or (self.choices is not None and None in self.choices)


def parse_shape(document: object, path: Path = ()) -> Shape:
    """Reads a declared shape: the name of a type, or an object of keywords; else `InvalidArgument`."""
    if len(path) > _DEEPEST:
        raise _refuse_shape(path[:3], f"is nested deeper than {_DEEPEST} levels")
    if isinstance(document, str):
        document = {"type": document}
    if not isinstance(document, Mapping):
        raise _refuse_shape(
            path, f"is {with_article(type_name(document))}; a shape is a type's name or an object"
        )
    _check_keywords(document, path)
    properties = {
        name: parse_shape(shape, (*path, "properties", name))
        for name, shape in document.get("properties", {}).items()
    }
    return Shape(
        types=_parse_types(document, path),
        properties=properties or None,
        required_names=_parse_required(document, properties, path),
        is_open=document.get("additionalProperties", True),
        items=parse_shape(document["items"], (*path, "items")) if "items" in document else None,
        choices=tuple(document["enum"]) if "enum" in document else None,
        items_range=(document.get("minItems", 0), document.get("maxItems")),
        length_range=(document.get("minLength", 0), document.get("maxLength")),
        bounds=(document.get("minimum"), document.get("maximum")),
        takes_any_text=document.get("anyText", False),
    )


def _check_keywords(document: Mapping[str, Any], path: Path) -> None:
    for keyword, value in document.items():
        value_type = _KEYWORDS.get(keyword)
        if value_type is None:
            close = nearest(str(keyword), _KEYWORDS, most=1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(_KEYWORDS)}"
            raise _refuse_shape(path, f"has the unknown keyword {keyword}{hint}")
        is_number_wrong = isinstance(value, bool) and value_type is not bool
        if not isinstance(value, value_type) or is_number_wrong:
            raise _refuse_shape(
                (*path, keyword), f"is {with_article(type_name(value))}, which {keyword} cannot be"
            )


def _parse_types(document: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    types = document.get("type", [])
    names = (types,) if isinstance(types, str) else tuple(types)
    for name in names:
        if name not in TYPES:
            raise _refuse_shape((*path, "type"), f"is {name!r}; the types are {', '.join(TYPES)}")
    if names:
        return names
    if "properties" in document:
        return ("object",)
    return ("array",) if "items" in document else ()


def _parse_required(
    document: Mapping[str, Any], properties: Mapping[str, Shape], path: Path
) -> tuple[str, ...]:
    """Properties are required unless `required` says which: a snippet declares what it answers."""
    names = document.get("required")
    if names is None:
        return tuple(properties)
    for name in names:
        if name not in properties:
            raise _refuse_shape((*path, "required"), f"names {name!r}, which properties does not have")
    return tuple(names)


def _refuse_shape(path: Path, reason: str) -> InvalidArgument:
    text = f"The return shape is not valid: {render_path(path)} {reason}."
    hint = '{"type": "object", "properties": {"count": "integer", "names": {"items": "string"}}}'
    return InvalidArgument(text, hints=[f"A valid shape: {hint}"], parameters=["returnShape"])


def check_shape(value: object, shape: Shape, path: Path = ()) -> None:
    """Compares a plain JSON value with a shape; `ValueRefused` names the first place that differs."""
    if shape.types and not any(_is_of_type(value, name) for name in shape.types):
        raise ValueRefused(path, f"is {with_article(type_name(value))}, not {_render_types(shape)}")
    if shape.choices is not None and not any(_is_same(value, choice) for choice in shape.choices):
        raise ValueRefused(path, f"is none of {list(shape.choices)!r}"[:200])
    if isinstance(value, Mapping):
        _check_object(value, shape, path)
    elif isinstance(value, list):
        _check_count(len(value), "items", shape.items_range, path)
        for number, item in enumerate(value):
            if shape.items is not None:
                check_shape(item, shape.items, (*path, number))
    elif isinstance(value, str):
        _check_count(len(value.strip()), "characters", shape.length_range, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_bounds(value, shape, path)


def _check_object(value: Mapping[str, Any], shape: Shape, path: Path) -> None:
    if missing := [name for name in shape.required_names if name not in value]:
        raise ValueRefused(path, f"has no {', '.join(missing)}")
    properties = shape.properties or {}
    for name, item in value.items():
        if name in properties:
            check_shape(item, properties[name], (*path, name))
        elif not shape.is_open:
            raise ValueRefused((*path, name), "is not declared")


def _check_count(count: int, unit: str, limits: tuple[int, int | None], path: Path) -> None:
    least, most = limits
    if count < least:
        raise ValueRefused(path, f"has {count} {unit}; at least {least} are declared")
    if most is not None and count > most:
        raise ValueRefused(path, f"has {count} {unit}; at most {most} are declared")


def _check_bounds(value: float, shape: Shape, path: Path) -> None:
    least, most = shape.bounds
    if least is not None and value < least:
        raise ValueRefused(path, f"is {value}; the least is {least}")
    if most is not None and value > most:
        raise ValueRefused(path, f"is {value}; the most is {most}")


def _is_of_type(value: object, name: str) -> bool:
    actual = type_name(value)
    return actual == name or (name == "number" and actual == "integer")


def _is_same(value: object, choice: object) -> bool:
    # True equals 1 in Python and not in JSON.
    return value == choice and isinstance(value, bool) == isinstance(choice, bool)


def _render_types(shape: Shape) -> str:
    return " or ".join(with_article(name) for name in shape.types)
