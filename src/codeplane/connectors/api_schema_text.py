"""Schemas of an API description as short lines: types by name, each printed once."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from codeplane.connectors.api_document import (
    ApiDocument,
    is_true,
    local_pointer,
    mapping_at,
    reference_of,
    scalar_text,
    sequence_at,
    text_at,
)
from codeplane.connectors.foreign_text import clean_line

_DEEPEST: Final = 6
_MOST_SCHEMAS: Final = 20_000
_MOST_PROPERTIES: Final = 80
_MOST_CHOICES: Final = 20
_LONGEST_VALUE: Final = 60
_LONGEST_NOTE: Final = 140
_COMBINATIONS: Final = (("allOf", " & "), ("oneOf", " | "), ("anyOf", " | "))
_BOUNDS: Final = (
    ("minimum", "≥ "),
    ("exclusiveMinimum", "> "),
    ("maximum", "≤ "),
    ("exclusiveMaximum", "< "),
    ("minLength", "length ≥ "),
    ("maxLength", "length ≤ "),
    ("minItems", "items ≥ "),
    ("maxItems", "items ≤ "),
    ("pattern", "pattern "),
    ("default", "default "),
)
_EXCLUSIVE: Final = {"minimum": ("exclusiveMinimum", "> "), "maximum": ("exclusiveMaximum", "< ")}


class SchemaPrinter:
    """Prints schemas, and collects the named ones that they mention."""

    def __init__(self, document: ApiDocument) -> None:
        self._document = document
        self.mentions: dict[str, None] = {}  # pointers in the order in which they came up
        self._schemas_left = _MOST_SCHEMAS

    def type_text(self, schema: Any, depth: int = 0) -> str:
        """A schema in a few words, such as `[Pet]` or `integer(int64), ≥ 1`."""
        reference = reference_of(schema)
        if reference is not None:
            return self._reference_text(reference)
        if not isinstance(schema, dict):
            return "never" if scalar_text(schema).lower() == "false" else "any"
        self._schemas_left -= 1
        if depth > _DEEPEST or self._schemas_left < 0:
            return "…"
        for name, joint in _COMBINATIONS:
            choices = sequence_at(schema, name)
            if choices:
                texts = [self.type_text(choice, depth + 1) for choice in choices[:_MOST_CHOICES]]
                rest = [f"… ({len(choices) - _MOST_CHOICES} more)"] if len(choices) > _MOST_CHOICES else []
                return joint.join([*texts, *rest])
        return self._plain_type(schema, depth)

    def property_lines(self, schema: Any, indent: str, depth: int = 0) -> Iterator[str]:
        """A line for each property of an object, those of nested objects below them."""
        if not isinstance(schema, dict) or reference_of(schema) is not None or depth > _DEEPEST:
            return
        for part in sequence_at(schema, "allOf")[:_MOST_CHOICES]:
            yield from self.property_lines(part, indent, depth + 1)
        properties = mapping_at(schema, "properties")
        required = {scalar_text(name) for name in sequence_at(schema, "required")}
        for name, value in list(properties.items())[:_MOST_PROPERTIES]:
            yield indent + self.member_line(name, value, is_required=name in required)
            yield from self.property_lines(_nested_object(value), f"{indent}  ", depth + 1)
        if len(properties) > _MOST_PROPERTIES:
            yield f"{indent}… ({len(properties) - _MOST_PROPERTIES} properties more)"

    def member_line(self, name: str, schema: Any, *, is_required: bool, note: str = "") -> str:
        """A property or parameter: `name: type, required – what it means`."""
        flags = [self.type_text(schema), *(["required"] if is_required else [])]
        flags += [
            flag for flag in ("readOnly", "writeOnly", "deprecated") if is_true(_value_at(schema, flag))
        ]
        line = f"{clean_line(name, _LONGEST_VALUE)}: {', '.join(flags)}"
        note = first_sentence(note or text_at(schema, "description"))
        return f"{line} – {note}" if note else line

    def _reference_text(self, reference: str) -> str:
        name = clean_line(reference, _LONGEST_VALUE)
        if local_pointer({"$ref": reference}) is None:
            return f"{name} (outside, not followed)"
        if self._document.find_target(reference) is None:
            return f"{name} (missing)"
        self.mentions.setdefault(reference)
        return schema_name(reference)

    def _plain_type(self, schema: dict[str, Any], depth: int) -> str:
        kinds = [scalar_text(kind) for kind in sequence_at(schema, "type")] or [text_at(schema, "type")]
        kind = "|".join(kind for kind in kinds if kind) or ("object" if "properties" in schema else "any")
        if "array" in kinds or "items" in schema:
            kind = f"[{self.type_text(schema.get('items'), depth + 1)}]"
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and extra:
            kind = f"map of {self.type_text(extra, depth + 1)}"
        if form := text_at(schema, "format"):
            kind += f"({clean_line(form, _LONGEST_VALUE)})"
        if is_true(schema.get("nullable")) or is_true(schema.get("x-nullable")):
            kind += "|null"
        return ", ".join([clean_line(kind, 200), *_constraints(schema)])


def schema_name(pointer: str) -> str:
    """The last part of a reference, by which people know a schema."""
    return clean_line(pointer.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~"), _LONGEST_VALUE)


def first_sentence(text: str) -> str:
    """The beginning of a description, in one line."""
    line = clean_line(text, 2 * _LONGEST_NOTE)
    end = line.find(". ")
    return clean_line(line[: end + 1] if 0 < end < _LONGEST_NOTE else line, _LONGEST_NOTE)


def _constraints(schema: dict[str, Any]) -> Iterator[str]:
    choices = sequence_at(schema, "enum")
    if choices:
        texts = [_value_text(choice) for choice in choices[:_MOST_CHOICES]]
        rest = [f"… ({len(choices) - _MOST_CHOICES} more)"] if len(choices) > _MOST_CHOICES else []
        yield f"one of {' '.join([*texts, *rest])}"
    if "const" in schema:
        yield f"always {_value_text(schema['const'])}"
    for name, label in _BOUNDS:
        value = schema.get(name)
        # OpenAPI 3.0 writes a flag beside the bound; later versions write the bound itself.
        is_flag = name.startswith("exclusive") and scalar_text(value).lower() in ("true", "false")
        if value is None or isinstance(value, dict | list) or is_flag:
            continue
        exclusive = _EXCLUSIVE.get(name)
        if exclusive is not None and is_true(schema.get(exclusive[0])):
            label = exclusive[1]
        yield f"{label}{_value_text(value)}"


def _value_text(value: Any) -> str:
    return clean_line(scalar_text(value), _LONGEST_VALUE) if not isinstance(value, dict | list) else "…"


def _value_at(schema: Any, name: str) -> Any:
    return schema.get(name) if isinstance(schema, dict) else None


def _nested_object(schema: Any) -> Any:
    """The object that a property holds, by itself, in a list or in a map; references are printed apart."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict) or reference_of(schema) is not None:
            return None
        if "properties" in schema or "allOf" in schema:
            return schema
        extra = schema.get("additionalProperties")
        schema = schema.get("items", extra if isinstance(extra, dict) else None)
    return None


def schema_section(printer: SchemaPrinter, document: ApiDocument, most: int) -> Sequence[str]:
    """The named schemas that were mentioned, and those that these mention, each once."""
    lines: list[str] = []
    done = 0
    while done < len(printer.mentions) and done < most:
        pointer = list(printer.mentions)[done]
        done += 1
        schema = document.find_target(pointer)
        note = first_sentence(text_at(schema, "description"))
        ending = f" – {note}" if note else ""
        lines.append(f"  {schema_name(pointer)}: {printer.type_text(schema)}{ending}")
        lines += printer.property_lines(schema, "    ")
    if len(printer.mentions) > done:
        names = ", ".join(schema_name(pointer) for pointer in list(printer.mentions)[done : done + 20])
        lines.append(f"  … ({len(printer.mentions) - done} schemas more: {names})")
    return ["schemas", *lines] if lines else []
