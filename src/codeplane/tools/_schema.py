"""JSON Schemas for agents: inlined, without titles and nulls, as small as the meaning allows."""

from typing import Any

from pydantic import BaseModel

# How long a text or a list may be concerns nobody who sends a sensible one; the tool says so to the others.
_DROPPED = {"title", "$defs", "minLength", "maxLength", "maxItems"}


def lean_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of `model` with references inlined and optional fields stated plainly."""
    schema = model.model_json_schema()
    lean: dict[str, Any] = _lean(schema, schema.get("$defs", {}))
    lean.pop("description", None)
    lean.setdefault("properties", {})
    return lean


def _lean(node: Any, defs: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_lean(item, defs) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = defs[node["$ref"].rsplit("/", 1)[-1]]
        return _lean({**target, **{k: v for k, v in node.items() if k != "$ref"}}, defs)
    kept = {
        key: _properties(value, defs) if key == "properties" else _lean(value, defs)
        for key, value in node.items()
        if key not in _DROPPED and not (key == "default" and (value is None or value is False))
    }
    return _without_null(kept)


def _properties(fields: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    # Names of parameters are data: one called `title` stays.
    return {name: _lean(field, defs) for name, field in fields.items()}


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    choices = node.get("anyOf")
    if choices is None or {"type": "null"} not in choices:
        return node
    rest = [choice for choice in choices if choice != {"type": "null"}]
    others = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest[0], **others} if len(rest) == 1 else {"anyOf": rest, **others}
