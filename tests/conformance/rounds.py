"""Tools that return to the client for input between rounds, as protocol version 2026-07-28 does."""

from __future__ import annotations

from typing import Any

from mcp import types

from tests.conformance.catalogue import Answer, Catalogue, Context, answer, text, tool

TOOLS: Catalogue = {}


def ask_user(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    form: dict[str, Any] = {
        "type": "object",
        "properties": {field: {"type": kind}},
        "required": [field],
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=form))


def ask_model(question: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(question))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


def submitted(params: types.InputResponseRequestParams, key: str, field: str) -> object:
    """The value the user submitted for `field` under `key`, or None."""
    reply = (params.input_responses or {}).get(key)
    if isinstance(reply, types.ElicitResult) and reply.action == "accept":
        return (reply.content or {}).get(field)
    return None


def wanted(requests: types.InputRequests, state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


@tool(TOOLS, "Asks the user for a name, then greets.")
async def test_input_required_result_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    name = submitted(params, "user_name", "name")
    if name is None:
        return wanted({"user_name": ask_user("What is your name?", "name")})
    return answer(text(f"Hello, {name}!"))


@tool(TOOLS, "Asks the client's model for a capital.")
async def test_input_required_result_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    reply = (params.input_responses or {}).get("capital_question")
    if not isinstance(reply, types.CreateMessageResult):
        return wanted({"capital_question": ask_model("What is the capital of France?", 100)})
    said = reply.content.text if isinstance(reply.content, types.TextContent) else ""
    return answer(text(said))


@tool(TOOLS, "Asks the client for its roots.")
async def test_input_required_result_list_roots(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    reply = (params.input_responses or {}).get("client_roots")
    if not isinstance(reply, types.ListRootsResult):
        return wanted({"client_roots": types.ListRootsRequest(params=types.RequestParams())})
    return answer(text(f"Roots: {', '.join(str(root.uri) for root in reply.roots)}"))


async def _confirm(params: types.CallToolRequestParams) -> Answer:
    confirmed = submitted(params, "confirm", "ok")
    if confirmed is None or params.request_state != "confirming":
        question = ask_user("Please confirm", "ok", kind="boolean")
        return wanted({"confirm": question}, state="confirming")
    return answer(text(f"state-ok, confirmed: {confirmed}"))


@tool(TOOLS, "Carries state from one round to the next.")
async def test_input_required_result_request_state(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    return await _confirm(params)


@tool(TOOLS, "Carries state that a client must not change.")
async def test_input_required_result_tampered_state(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    return await _confirm(params)


@tool(TOOLS, "Asks the user, the model and for roots at once.")
async def test_input_required_result_multiple_inputs(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    requests: types.InputRequests = {
        "user_name": ask_user("What is your name?", "name"),
        "greeting": ask_model("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(params=types.RequestParams()),
    }
    replies = params.input_responses or {}
    if requests.keys() - replies.keys() or params.request_state != "asked":
        return wanted(requests, state="asked")
    return answer(text(f"Received {', '.join(sorted(requests))}."))


@tool(TOOLS, "Asks the user twice, one question after the other.")
async def test_input_required_result_multi_round(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    state = params.request_state or ""
    color = submitted(params, "step2", "color")
    if state.startswith("named ") and color is not None:
        return answer(text(f"{state.removeprefix('named ')} likes {color}."))
    name = submitted(params, "step1", "name")
    if state == "started" and name is not None:
        question = ask_user("Step 2: What is your favorite color?", "color")
        return wanted({"step2": question}, state=f"named {name}")
    return wanted({"step1": ask_user("Step 1: What is your name?", "name")}, state="started")


@tool(TOOLS, "Asks only for what the client says it can answer.")
async def test_input_required_result_capabilities(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    offered = ctx.session.client_capabilities or types.ClientCapabilities()
    requests: types.InputRequests = {}
    if offered.elicitation is not None:
        requests["user_name"] = ask_user("What is your name?", "name")
    if offered.sampling is not None:
        requests["greeting"] = ask_model("Generate a greeting", 50)
    if requests.keys() - (params.input_responses or {}).keys():
        return wanted(requests)
    return answer(text("Nothing is left to ask."))


@tool(TOOLS, "Asks the user within its own response.")
async def test_streaming_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return await test_input_required_result_elicitation(ctx, params)
