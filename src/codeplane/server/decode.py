"""Arguments from outside become a tool's input: forgiving about spelling, strict about meaning."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument
from codeplane.core.suggest import is_misspelled, nearest, nearest_quoted, snake
from codeplane.tools._registry import Input, Synonyms, Tool
from codeplane.tools._schema import lean_schema

# Names that agents use for one another. A name is taken for another only when the tool has exactly
# one parameter of the group and it was not given already.
_GROUPS: tuple[frozenset[str], ...] = (
    frozenset("path file file_path filepath filename file_name target_file relative_path".split()),
    frozenset("paths files file_paths filenames".split()),
    frozenset("query q pattern text search search_term search_query term".split()),
    frozenset("symbol symbol_name identifier qualified_name".split()),
    frozenset("limit max_results max_count count top_k page_size".split()),
    frozenset("start_line line_start from_line first_line".split()),
    frozenset("end_line line_end to_line last_line".split()),
    frozenset("content contents new_content".split()),
    frozenset("message commit_message msg".split()),
    frozenset("action operation op command".split()),
    frozenset("cursor page_token next_cursor".split()),
    frozenset("new_name to new rename_to".split()),
)


# One parameter for the lines that other tools take as two.
_RANGES = frozenset("line_range lines range line_numbers".split())
_RANGE = re.compile(r"\s*L?(\d+)\s*[-,:]\s*L?(\d+)\s*")
_MOST_SAID = 5
# A call beyond this is not repeated for the sake of one slip in it.
_LONGEST_OFFER = 1000
_MODEL = re.compile(r"a valid dictionary( or instance of \w+)?")


def decode(tool: Tool, arguments: object) -> Input:
    """Returns the tool's input, or raises an error that says what to send instead.

    The corrected call is in it where there is one that keeps all that was sent; otherwise the parameters are.
    """
    mapping = _as_mapping(tool, arguments)
    parameters, extras = _rename(tool.input, mapping)
    if extras and tool.input.rest_field is not None:
        parameters, extras = _in_rest(tool.input.rest_field, parameters, extras)
    if extras:
        parameters, extras = _as_two(tool.input, parameters, extras)
    if extras:
        parameters, extras = _in_its_list(tool.input, parameters, extras)
    if extras:
        raise _unknown_parameters(tool, parameters, extras)
    values = {key: _shape(tool.input, key, value) for key, value in parameters.items()}
    values = _inside(tool, tool.input, values)
    try:
        return tool.input.model_validate(values)
    except ValidationError as error:
        raise _invalid(tool, values, error) from error


def _in_rest(
    rest_field: str, parameters: dict[str, Any], extras: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is sent beside a tool's own parameters goes into the one that takes the rest."""
    rest = parameters.get(rest_field) or {}
    rest = _json_or(rest, rest) if isinstance(rest, str) else rest
    if not isinstance(rest, dict):
        return parameters, extras
    return {**parameters, rest_field: {**extras, **rest}}, {}


def _as_two(
    model: type[Input], parameters: dict[str, Any], extras: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`line_range: [10, 30]` or `"10-30"` is the two parameters for lines that a tool has."""
    key = next((key for key in extras if snake(key) in _RANGES), None)
    ends = ("start_line", "end_line")
    if key is None or any(end not in model.model_fields or end in parameters for end in ends):
        return parameters, extras
    value = extras[key]
    match = _RANGE.fullmatch(value) if isinstance(value, str) else None
    pair = [int(match[1]), int(match[2])] if match else value
    if not isinstance(pair, list) or len(pair) != 2:
        return parameters, extras
    rest = {name: one for name, one in extras.items() if name != key}
    return {**parameters, **dict(zip(ends, pair, strict=True))}, rest


def _in_its_list(
    model: type[Input], parameters: dict[str, Any], extras: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of one item, sent without the list that the tool takes, are put into it."""
    for key, inner in _collect_lists(model).items():
        if key not in parameters and not _rename(inner, extras)[1]:
            return {**parameters, key: [extras]}, {}
    return parameters, extras


def _inside(tool: Tool, model: type[Input], values: dict[str, Any], where: str = "") -> dict[str, Any]:
    """Values with the objects in them spelled as their models spell them."""
    arguments = dict(values)
    for key, inner in _objects(model).items():
        value, at = values.get(key), f"{where}{key}"
        if isinstance(value, list):
            arguments[key] = [_item(tool, f"{at}.{number}", inner, item) for number, item in enumerate(value)]
        elif isinstance(value, Mapping):
            arguments[key] = _item(tool, at, inner, value)
    return arguments


def _item(tool: Tool, where: str, model: type[Input], item: Any) -> Any:
    item = _json_or(item, item) if isinstance(item, str) else item
    if not isinstance(item, Mapping):
        return item
    parameters, extras = _rename(model, item)
    if extras:
        names = ", ".join(model.model_fields)
        text = ", ".join(repr(key[:100]) for key in list(extras)[:_MOST_SAID])
        raise InvalidArgument(f"{tool.name}: {where} has no parameter {text}; it takes {names}.")
    values = {key: _shape(model, key, value) for key, value in parameters.items()}
    return _inside(tool, model, values, f"{where}.")


@cache
def _objects(model: type[Input]) -> dict[str, type[Input]]:
    """The parameters that take an object or a list of them, optional or not, and what the objects are."""
    models_by_field = {}
    for name, field in model.model_fields.items():
        kinds = [field.annotation, *get_args(field.annotation)]
        kinds += [inner for kind in kinds for inner in get_args(kind)]
        models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Input)]
        if len(set(models)) == 1:
            models_by_field[name] = models[0]
    return models_by_field


@cache
def _collect_lists(model: type[Input]) -> dict[str, type[Input]]:
    """The parameters that take lists of objects, and what these objects are."""
    models = {}
    for name, field in model.model_fields.items():
        [inner] = get_args(field.annotation) if get_origin(field.annotation) is list else [None]
        if isinstance(inner, type) and issubclass(inner, Input):
            models[name] = inner
    return models


def _as_mapping(tool: Tool, arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        arguments = _json_or(arguments, arguments)
    if arguments is None:
        return {}
    if isinstance(arguments, Mapping):
        return arguments
    raise InvalidArgument(
        f"{tool.name} takes a JSON object of named arguments.", hints=[_render_signature(tool)]
    )


def _rename(model: type[Input], mapping: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    fields = model.model_fields
    parameters = {key: value for key, value in mapping.items() if key in fields}
    extras = {}
    for key, value in mapping.items():
        if key in fields:
            continue
        field = _field_for(model, snake(key), parameters)
        if field is None:
            extras[key] = value
        else:
            parameters[field] = value
    return parameters, extras


def _field_for(model: type[Input], key: str, names_in_use: Iterable[str]) -> str | None:
    candidates = _accepted(model).get(key, frozenset()) - set(names_in_use)
    return next(iter(candidates)) if len(candidates) == 1 else None


@cache
def _accepted(model: type[Input]) -> dict[str, frozenset[str]]:
    """Every spelling that is accepted, with the parameters that it may stand for.

    What the model itself says of a spelling goes before what is usual.
    """
    said: dict[str, set[str]] = {}
    usual: dict[str, set[str]] = {}
    for name, field in model.model_fields.items():
        markers = (marker for marker in field.metadata if isinstance(marker, Synonyms))
        for spelling in {name, *(spelling for marker in markers for spelling in marker.names)}:
            said.setdefault(spelling, set()).add(name)
        for spelling in {one for group in _GROUPS if name in group for one in group}:
            usual.setdefault(spelling, set()).add(name)
    return {spelling: frozenset(names) for spelling, names in {**usual, **said}.items()}


def _shape(model: type[Input], key: str, value: Any) -> Any:
    """A list or object sent as JSON text is read; one item where a list belongs becomes a list."""
    container = _containers(model)[key]
    if container is None or value is None:
        return value
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        value = _json_or(value, value)
    return [value] if container is list and not isinstance(value, list) else value


@cache
def _containers(model: type[Input]) -> dict[str, type | None]:
    return {name: _container(field.annotation) for name, field in model.model_fields.items()}


def _container(annotation: Any) -> type | None:
    """`list` or `dict` where a parameter takes one, optional or not."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    if get_origin(annotation) in (Union, UnionType):
        return _container(kinds[0]) if len(kinds) == 1 else None
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return dict
    origin = get_origin(annotation)
    return origin if origin in (list, dict) else None


def _unknown_parameters(tool: Tool, parameters: dict[str, Any], extras: dict[str, Any]) -> InvalidArgument:
    correction: dict[str, Any] | None = dict(parameters)
    said = []
    misplaced = _in_some_list(tool.input, parameters, extras)
    if misplaced == extras.keys():
        misplaced = set()
    correction = None if misplaced else correction
    for key in [key for key in extras if key not in misplaced][:_MOST_SAID]:
        near = _nearest_field(tool, key[:100], parameters) or _nearest_in_lists(
            tool.input, key[:100], misplaced
        )
        said.append(f"{key[:100]!r}" + (f" (did you mean {near!r}?)" if near else ""))
        is_slip = near is not None and _is_slip(tool.input, key, near, extras[key])
        if correction is None or near is None or near in correction or not is_slip:
            correction = None
        else:
            correction[near] = extras[key]
    if len(extras) > _MOST_SAID:
        correction = None
    return InvalidArgument(
        f"{tool.name} has no parameter {', '.join(said)}.",
        hints=_offered(tool, correction) or [_render_signature(tool)],
        parameters=list(tool.input.model_fields),
    )


def _in_some_list(model: type[Input], parameters: dict[str, Any], extras: dict[str, Any]) -> set[str]:
    """Names that the items of a list take: they are not what is wrong with a call."""
    return {
        key
        for name, inner in _collect_lists(model).items()
        if name not in parameters
        for key in extras
        if _field_for(inner, snake(key), ()) is not None
    }


def _nearest_in_lists(model: type[Input], key: str, misplaced: set[str]) -> str | None:
    if not misplaced:
        return None
    names = [name for inner in _collect_lists(model).values() for name in inner.model_fields]
    return next(iter(nearest(key, names, most=1)), None)


def _is_slip(model: type[Input], key: str, near: str, value: Any) -> bool:
    """Whether a name can only be a slip of the pen for another, by its spelling and by its value."""
    spellings = [one for one, names in _accepted(model).items() if near in names]
    if not any(is_misspelled(key, one) for one in spellings):
        return False
    kind: TypeAdapter[Any] = TypeAdapter(model.model_fields[near].annotation or Any)
    try:
        kind.validate_json(json.dumps(_shape(model, near, value)), strict=True)
    except (ValidationError, ValueError, TypeError, RecursionError):
        return False
    return True


def _nearest_field(tool: Tool, key: str, names_in_use: Iterable[str]) -> str | None:
    spellings = _accepted(tool.input)
    for spelling in nearest(key, spellings):
        if field := _field_for(tool.input, spelling, names_in_use):
            return field
    return None


def _invalid(tool: Tool, values: dict[str, Any], error: ValidationError) -> InvalidArgument:
    problems = error.errors(include_url=False, include_context=False)
    correction = dict(values)
    said = []
    for problem in problems[:_MOST_SAID]:
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "missing":
            said.append(f"{where} is missing")
            continue
        near = nearest_quoted(problem["msg"], problem["input"])
        said.append(f"{where}: {_plain(problem['msg'])}" + (f" (did you mean {near!r}?)" if near else ""))
        if near and where in correction:
            correction[where] = near
    # A wrong value is explained by itself; what is missing, or of another type, by the whole.
    is_of_shape = any(one["type"] == "missing" or one["type"].endswith("_type") for one in problems)
    shape = [_render_signature(tool)] if is_of_shape else []
    return InvalidArgument(
        f"{tool.name}: {'; '.join(said)}.",
        hints=(_offered(tool, correction) if correction != values else []) or shape,
    )


def _plain(message: str) -> str:
    """What pydantic says, without how it checks and what the models are called."""
    return _MODEL.sub("an object", message.replace(" after validation", ""))


def _offered(tool: Tool, arguments: dict[str, Any] | None) -> list[str]:
    """The call, if it is one that the tool takes as it is."""
    if arguments is None:
        return []
    try:
        text = json.dumps(arguments, ensure_ascii=False)
        if len(text) > _LONGEST_OFFER or decode_json(text) != arguments:
            return []
        decode(tool, arguments)
    except (InvalidArgument, ValueError, TypeError, RecursionError):
        return []
    return [f"{tool.name} {text}"]


def _render_signature(tool: Tool) -> str:
    """What a tool takes, in one line: `name: type`, with a question mark where it may be left out."""
    return f"{tool.name} takes {_render_object(lean_schema(tool.input, whole=True))}"


def _render_object(schema: Mapping[str, Any]) -> str:
    required_names = schema.get("required", ())
    parts = [
        f"{name}{'' if name in required_names else '?'}: {_kind(field)}"
        for name, field in schema.get("properties", {}).items()
    ]
    return f"{{{', '.join(parts)}}}"


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of a parameter, as people write it."""
    if choices := schema.get("enum"):
        return "|".join(map(str, choices))
    if kinds := schema.get("anyOf"):
        return "|".join(_kind(one) for one in kinds)
    if schema.get("type") == "array":
        return f"[{_kind(schema.get('items', {}))}]"
    if schema.get("properties"):
        return _render_object(schema)
    return str(schema.get("type", "any"))


def _json_or(text: str, otherwise: Any) -> Any:
    try:
        return decode_json(text)
    except ValueError:
        return otherwise
