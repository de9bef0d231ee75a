"""Tools that talk to the client while they run, as protocol versions to 2025-11-25 do."""

from __future__ import annotations

from typing import Any, get_args

import anyio
from mcp import types

from tests.conformance.catalogue import Answer, Catalogue, Context, answer, text, tool

TOOLS: Catalogue = {}

STEP_SECONDS = 0.02
SEVERITIES: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)

_thresholds: dict[str, types.LoggingLevel] = {}


def _one_string(name: str, description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
    }


def _choices(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


DEFAULTS_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}

ENUMS_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": _choices(("value1", "First Option"), ("value2", "Second Option")),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": _choices(("value1", "First Choice"), ("value2", "Second Choice"))},
        },
    },
}

CONTACT_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User name"},
        "email": {"type": "string", "description": "Mail address"},
    },
    "required": ["username", "email"],
}


async def _elicit(ctx: Context, message: str, form: dict[str, Any]) -> Answer:
    reply = await ctx.session.elicit_form(message, form, related_request_id=ctx.request_id)
    return answer(text(f"Elicitation completed: action={reply.action}, content={reply.content}"))


def _session_id(ctx: Context) -> str:
    return "" if ctx.request is None else str(ctx.request.headers.get("mcp-session-id", ""))


async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    _thresholds[_session_id(ctx)] = params.level
    return types.EmptyResult()


async def _log_steps(ctx: Context, *messages: str) -> None:
    threshold = _thresholds.get(_session_id(ctx), "debug")
    if SEVERITIES.index("info") < SEVERITIES.index(threshold):
        return
    for message in messages:
        await ctx.session.send_log_message("info", message, related_request_id=ctx.request_id)
        await anyio.sleep(STEP_SECONDS)


@tool(TOOLS, "Sends three log messages.")
async def test_tool_with_logging(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    await _log_steps(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")
    return answer(text("Logged three messages."))


@tool(TOOLS, "Sends one log message to a client that asked for them.")
async def test_logging_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    await _log_steps(ctx, "Tool was called")
    return answer(text("Logged one message."))


@tool(TOOLS, "Asks the client's model.", _one_string("prompt", "What to ask the model"))
async def test_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    question = text((params.arguments or {})["prompt"])
    reply = await ctx.session.create_message(
        [types.SamplingMessage(role="user", content=question)],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    said = reply.content.text if isinstance(reply.content, types.TextContent) else reply.content
    return answer(text(f"LLM response: {said}"))


@tool(TOOLS, "Asks the user for a contact.", _one_string("message", "What to show the user"))
async def test_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return await _elicit(ctx, (params.arguments or {})["message"], CONTACT_FORM)


@tool(TOOLS, "Asks the user with a default for each primitive type.")
async def test_elicitation_sep1034_defaults(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return await _elicit(ctx, "Please review the defaults", DEFAULTS_FORM)


@tool(TOOLS, "Asks the user with each kind of choice.")
async def test_elicitation_sep1330_enums(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return await _elicit(ctx, "Please choose", ENUMS_FORM)
