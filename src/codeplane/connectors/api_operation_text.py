"""One operation of an API description as text: parameters, request, responses, schemas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.connectors.api_document import (
    ApiDocument,
    is_true,
    mapping_at,
    scalar_text,
    sequence_at,
    text_at,
)
from codeplane.connectors.api_schema_text import SchemaPrinter, first_sentence, schema_section
from codeplane.connectors.foreign_text import clean_line, clean_text

_MOST_SCHEMAS: Final = 40
_MOST_PARAMETERS: Final = 60
_MOST_RESPONSES: Final = 30
_MOST_MEDIA_TYPES: Final = 3
_MOST_CONTENT: Final = 40
_LONGEST_NAME: Final = 80
_LONGEST_DESCRIPTION: Final = 1_200


@dataclass(frozen=True)
class OperationNode:
    """An operation with the path item that it stands in."""

    method: str
    path: str
    node: dict[str, Any]
    item: dict[str, Any]


def operation_lines(document: ApiDocument, operation: OperationNode) -> list[str]:
    """The lines about one operation, most of them about its schemas."""
    printer = SchemaPrinter(document)
    node = operation.node
    parameters = merged_parameters(document, operation)
    lines = _heading_lines(operation)
    lines += _parameter_lines(
        printer, [p for p in parameters if text_at(p, "in") not in ("body", "formData")]
    )
    if document.family == "swagger":
        lines += _swagger_request(printer, document, node, parameters)
    else:
        lines += _openapi_request(printer, document.follow_reference(node.get("requestBody")))
    lines += _response_lines(printer, document, node)
    lines += _security_lines(document, node)
    lines += schema_section(printer, document, _MOST_SCHEMAS)
    return lines


def merged_parameters(document: ApiDocument, operation: OperationNode) -> list[dict[str, Any]]:
    """The parameters of an operation; its own ones win over those of its path."""
    parameters: dict[tuple[str, str], dict[str, Any]] = {}
    for owner in (operation.item, operation.node):
        for reference in sequence_at(owner, "parameters"):
            parameter = document.follow_reference(reference)
            if isinstance(parameter, dict):
                parameters[text_at(parameter, "in"), text_at(parameter, "name")] = parameter
    return list(parameters.values())[:_MOST_PARAMETERS]


def _heading_lines(operation: OperationNode) -> list[str]:
    node = operation.node
    name = clean_line(text_at(node, "operationId"), _LONGEST_NAME)
    flags = " (deprecated)" if is_true(node.get("deprecated")) else ""
    lines = [f"{operation.method} {clean_line(operation.path, 300)}  {name}{flags}".rstrip()]
    summary = clean_line(text_at(node, "summary"), 300)
    description = clean_text(text_at(node, "description"), _LONGEST_DESCRIPTION)
    texts = [summary] if summary else []
    texts += description.split("\n") if description and description != summary else []
    return lines + [f"| {line}".rstrip() for line in texts]


def _parameter_lines(printer: SchemaPrinter, parameters: Sequence[dict[str, Any]]) -> Iterator[str]:
    if parameters:
        yield "parameters"
    for parameter in parameters:
        # Swagger 2 writes the type into the parameter; OpenAPI 3 has a schema, or one for a media type.
        media = next(iter(mapping_at(parameter, "content").values()), None)
        schema = parameter.get("schema", media.get("schema") if isinstance(media, dict) else parameter)
        place = clean_line(text_at(parameter, "in"), 20)
        yield f"  {place} " + printer.member_line(
            text_at(parameter, "name"),
            schema,
            is_required=is_true(parameter.get("required")),
            note=text_at(parameter, "description"),
        )


def _swagger_request(
    printer: SchemaPrinter, document: ApiDocument, node: dict[str, Any], parameters: Sequence[dict[str, Any]]
) -> Iterator[str]:
    consumes = sequence_at(node, "consumes") or sequence_at(document.root, "consumes")
    media = _media_names([scalar_text(name) for name in consumes])
    bodies = [parameter for parameter in parameters if text_at(parameter, "in") == "body"]
    forms = [parameter for parameter in parameters if text_at(parameter, "in") == "formData"]
    for body in bodies[:1]:
        required = ", required" if is_true(body.get("required")) else ""
        schema = body.get("schema")
        yield f"request {media}: {printer.type_text(schema)}{required}"
        yield from printer.property_lines(schema, "  ")
    if forms:
        yield f"request {media or 'form'}"
    for form in forms:
        is_required = is_true(form.get("required"))
        yield "  " + printer.member_line(text_at(form, "name"), form, is_required=is_required)


def _openapi_request(printer: SchemaPrinter, body: Any) -> Iterator[str]:
    required = ", required" if is_true(body.get("required") if isinstance(body, dict) else None) else ""
    yield from _content_lines(printer, mapping_at(body, "content"), "request ", required, "")


def _content_lines(
    printer: SchemaPrinter, content: dict[str, Any], prefix: str, suffix: str, indent: str
) -> Iterator[str]:
    """Media types with their schemas; those with an equal schema share a line."""
    groups: list[tuple[list[str], Any]] = []
    for name, media in list(content.items())[:_MOST_CONTENT]:
        schema = media.get("schema") if isinstance(media, dict) else None
        same = next((names for names, other in groups if other == schema), None)
        if same is not None:
            same.append(name)
        else:
            groups.append(([name], schema))
    for names, schema in groups[:_MOST_MEDIA_TYPES]:
        yield f"{indent}{prefix}{_media_names(names)}: {printer.type_text(schema)}{suffix}"
        yield from printer.property_lines(schema, f"{indent}  ")
    if len(groups) > _MOST_MEDIA_TYPES:
        more = [name for names, _ in groups[_MOST_MEDIA_TYPES:] for name in names]
        yield f"{indent}{prefix}also {_media_names(more)}"


def _media_names(names: Sequence[str]) -> str:
    shown = [clean_line(name, _LONGEST_NAME) for name in names[:4]]
    return ", ".join([*shown, *(["…"] if len(names) > 4 else [])])


def _response_lines(printer: SchemaPrinter, document: ApiDocument, node: dict[str, Any]) -> Iterator[str]:
    responses = mapping_at(node, "responses")
    if responses:
        yield "responses"
    for status, reference in list(responses.items())[:_MOST_RESPONSES]:
        response = document.follow_reference(reference)
        note = first_sentence(text_at(response, "description"))
        yield f"  {clean_line(str(status), 20)} {note}".rstrip()
        schema = response.get("schema") if isinstance(response, dict) else None
        if schema is not None:
            produces = sequence_at(node, "produces") or sequence_at(document.root, "produces")
            media = _media_names([scalar_text(name) for name in produces])
            yield f"    {media}: {printer.type_text(schema)}" if media else f"    {printer.type_text(schema)}"
            yield from printer.property_lines(schema, "      ")
        yield from _content_lines(printer, mapping_at(response, "content"), "", "", "    ")
        headers = list(mapping_at(response, "headers"))
        if headers:
            yield f"    headers {_media_names(headers)}"
    if len(responses) > _MOST_RESPONSES:
        yield f"  … ({len(responses) - _MOST_RESPONSES} responses more)"


def _security_lines(document: ApiDocument, node: dict[str, Any]) -> Iterator[str]:
    owner = node if "security" in node else document.root
    choices = []
    for choice in sequence_at(owner, "security"):
        if isinstance(choice, dict):
            names = [_scheme_text(name, sequence_at(choice, name)) for name in choice]
            choices.append(" and ".join(names) or "none")
    if choices:
        yield f"security {' or '.join(choices[:10])}"


def _scheme_text(name: str, scopes: Sequence[Any]) -> str:
    scope_names = [clean_line(scalar_text(scope), _LONGEST_NAME) for scope in scopes[:10]]
    return clean_line(name, _LONGEST_NAME) + (f"({', '.join(scope_names)})" if scope_names else "")
