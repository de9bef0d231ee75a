"""JSON Schemas for agents: inlined, without titles and nulls, as small as the meaning allows."""

from typing import Any, Final

from pydantic import BaseModel

# `Field(json_schema_extra=UNLISTED)`: a parameter that few calls need. It is accepted, and `describe` and the
# reference document it; the list of tools, which every conversation pays for, leaves it out.
UNLISTED: Final[dict[str, Any]] = {"unlisted": True}

# Bounds concern nobody who sends sensible values, and a parameter that does not exist is answered with the
# one that was meant.
_DROPPED: Final = {
    "title",
    "$defs",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "additionalProperties",
}
_BOUNDS_OF_VALUES: Final = {"minItems", "pattern", "minimum", "maximum", "exclusiveMinimum"}
# Parameters that mean the same in every tool and say so by their names.
_SELF_EXPLAINING: Final = {"cursor", "limit", "symbol", "tool", "args", "dry_run"}


def lean_schema(model: type[BaseModel], *, whole: bool = False) -> dict[str, Any]:
    """The schema of `model` with references inlined and optional fields stated plainly.

    Without `whole`, what a list of tools can do without is left out.
    """
    schema = model.model_json_schema()
    lean: dict[str, Any] = _Lean(schema.get("$defs", {}), whole).node(schema)
    lean.pop("description", None)
    lean.setdefault("properties", {})
    return lean


class _Lean:
    def __init__(self, defs: dict[str, Any], whole: bool) -> None:
        self._defs, self._whole = defs, whole
        self._dropped = _DROPPED - {"additionalProperties"} - _BOUNDS_OF_VALUES if whole else _DROPPED

    def node(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.node(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = self._defs[node["$ref"].rsplit("/", 1)[-1]]
            return self.node({**target, **{k: v for k, v in node.items() if k != "$ref"}})
        remaining = {
            key: self._collect_properties(value) if key == "properties" else self.node(value)
            for key, value in node.items()
            if key not in self._dropped and not (key == "default" and _is_empty(value))
        }
        remaining.pop("unlisted", None)
        if not self._whole and "enum" in remaining.get("items", {}):
            remaining["items"].pop("description", None)
        return _without_null(remaining)

    def _collect_properties(self, fields: dict[str, Any]) -> dict[str, Any]:
        # Names of parameters are data: one called `title` stays.
        if self._whole:
            return {name: self.node(field) for name, field in fields.items()}
        entries = {
            name: self.node(field) for name, field in fields.items() if not field.get("unlisted", False)
        }
        for name in _SELF_EXPLAINING & entries.keys():
            entries[name].pop("description", None)
        return entries


def _is_empty(default: Any) -> bool:
    return default is None or default is False or default in ("", [])


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    choices = node.get("anyOf")
    if choices is None or {"type": "null"} not in choices:
        return node
    rest = [choice for choice in choices if choice != {"type": "null"}]
    others = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest[0], **others} if len(rest) == 1 else {"anyOf": rest, **others}
