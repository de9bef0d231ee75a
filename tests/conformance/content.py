"""Tools that answer without asking the client anything."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import types
from mcp.shared.exceptions import MCPError

from tests.conformance.catalogue import (
    SILENT_WAV,
    Answer,
    Catalogue,
    Context,
    answer,
    constant,
    embedded,
    image,
    text,
    tool,
)

TOOLS: Catalogue = {}

STEP_SECONDS = 0.02

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

HEADER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}


constant(
    TOOLS,
    "test_simple_text",
    "Answers with one line of text.",
    answer(text("This is a simple text response for testing.")),
)
constant(TOOLS, "test_image_content", "Answers with an image.", answer(image()))
constant(
    TOOLS,
    "test_audio_content",
    "Answers with a sound.",
    answer(types.AudioContent(data=SILENT_WAV, mime_type="audio/wav")),
)
constant(
    TOOLS,
    "test_embedded_resource",
    "Answers with an embedded resource.",
    answer(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
)
constant(
    TOOLS,
    "test_multiple_content_types",
    "Answers with text, an image and a resource.",
    answer(
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
)
constant(
    TOOLS,
    "test_error_handling",
    "Always fails.",
    answer(text("This tool intentionally returns an error for testing"), is_error=True),
)


@tool(TOOLS, "Reports progress in three steps.")
async def test_tool_with_progress(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await anyio.sleep(STEP_SECONDS)
    return answer(text("Reported progress three times."))


@tool(TOOLS, "Carries JSON Schema 2020-12 keywords in its input schema.", SCHEMA_2020_12)
async def json_schema_2020_12_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return answer(text(f"Received {sorted(params.arguments or {})}."))


@tool(TOOLS, "Mirrors one argument into a request header.", HEADER_SCHEMA)
async def test_custom_header(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return answer(text(f"Region: {(params.arguments or {}).get('region')}"))


@tool(TOOLS, "Closes its event stream before answering.")
async def test_reconnection(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    if ctx.close_sse_stream is None:
        return answer(text("This stream cannot be resumed."), is_error=True)
    await ctx.close_sse_stream()
    await anyio.sleep(STEP_SECONDS)
    return answer(text("Answered after the stream was closed."))


@tool(TOOLS, "Needs a client that offers sampling.")
async def test_missing_capability(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    required = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not ctx.session.check_client_capability(required):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=required)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client does not offer sampling",
            data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return answer(text("The client offers sampling."))
