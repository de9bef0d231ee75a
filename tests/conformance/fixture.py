"""The conformance profile: what the official suites expect a server to offer, on any server.

Only tests install it. What the profile does not name falls through to the server's own handlers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ServerEvent,
    SubscriptionBus,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from tests.conformance import asking, content, prompts, resources, rounds
from tests.conformance.catalogue import Answer, Catalogue, Context, answer, text, tool
from tests.conformance.events import EventLog

Handler = Callable[[Context, Any], Awaitable[Any]]

TOOL_NAMES = frozenset(content.TOOLS | asking.TOOLS | rounds.TOOLS)

RETRY_MILLISECONDS = 100


def install(server: Server[Any], bus: SubscriptionBus | None = None) -> None:
    """Extends `server` with the profile.

    Give `bus` when the server already serves `subscriptions/listen` from it.
    """
    if bus is None:
        bus = InMemorySubscriptionBus()
        server.add_request_handler(
            "subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(bus)
        )
    _install_tools(server, content.TOOLS | asking.TOOLS | rounds.TOOLS | _triggers(bus))
    _install_prompts(server)
    _install_resources(server)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, asking.set_level)
    boundary = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name)
    server.middleware.append(boundary)


def make_resumable(sessions: StreamableHTTPSessionManager) -> None:
    """Lets clients of `sessions` resume a stream; call before the first session opens."""
    sessions.event_store = EventLog()
    sessions.retry_interval = RETRY_MILLISECONDS


def _triggers(bus: SubscriptionBus) -> Catalogue:
    catalogue: Catalogue = {}

    async def announce(event: ServerEvent) -> Answer:
        await bus.publish(event)
        return answer(text(f"Published {type(event).__name__}."))

    @tool(catalogue, "Announces that the list of tools changed.")
    async def test_trigger_tool_change(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return await announce(ToolsListChanged())

    @tool(catalogue, "Announces that the list of prompts changed.")
    async def test_trigger_prompt_change(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return await announce(PromptsListChanged())

    return catalogue


def _install_tools(server: Server[Any], catalogue: Catalogue) -> None:
    base_call = _handler(server, "tools/call")
    base_schema = server.get_tool_input_schema
    definitions = [entry.definition for entry in catalogue.values()]

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Any:
        if params.name in catalogue:
            return await catalogue[params.name].run(ctx, params)
        return await base_call(ctx, params)

    def input_schema(name: str) -> Mapping[str, Any] | None:
        if name in catalogue:
            return catalogue[name].definition.input_schema
        return None if base_schema is None else base_schema(name)

    _prepend(server, "tools/list", "tools", definitions, types.ListToolsResult(tools=[]))
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    if base_schema is not None:
        server.get_tool_input_schema = input_schema


def _install_prompts(server: Server[Any]) -> None:
    base_get = _handler(server, "prompts/get")

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        if params.name in prompts.RENDERERS:
            return prompts.RENDERERS[params.name](params)
        return await base_get(ctx, params)

    empty = types.ListPromptsResult(prompts=[])
    _prepend(server, "prompts/list", "prompts", prompts.LISTED, empty)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, prompts.complete)


def _install_resources(server: Server[Any]) -> None:
    base_read = _handler(server, "resources/read")

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        found = resources.contents(params.uri)
        if found is not None:
            return types.ReadResourceResult(contents=[found])
        return await base_read(ctx, params)

    async def acknowledge(ctx: Context, params: BaseModel) -> types.EmptyResult:
        return types.EmptyResult()

    empty = types.ListResourcesResult(resources=[])
    _prepend(server, "resources/list", "resources", resources.LISTED, empty)
    no_templates = types.ListResourceTemplatesResult(resource_templates=[])
    _prepend(
        server,
        "resources/templates/list",
        "resource_templates",
        resources.TEMPLATES,
        no_templates,
    )
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, acknowledge)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, acknowledge)


def _prepend(
    server: Server[Any],
    method: str,
    field: str,
    items: Sequence[BaseModel],
    empty: types.PaginatedResult,
) -> None:
    """Puts `items` before the first page that the server's own listing returns."""
    entry = server.get_request_handler(method)

    async def listing(ctx: Context, params: types.PaginatedRequestParams) -> types.PaginatedResult:
        page = empty if entry is None else await entry.handler(ctx, params)
        assert isinstance(page, types.PaginatedResult)
        if params.cursor is not None:
            return page
        return page.model_copy(update={field: [*items, *getattr(page, field)]})

    server.add_request_handler(method, types.PaginatedRequestParams, listing)


def _handler(server: Server[Any], method: str) -> Handler:
    entry = server.get_request_handler(method)
    return _refuse if entry is None else entry.handler


async def _refuse(ctx: Context, params: BaseModel) -> Any:
    named = params.model_dump(mode="json", include={"name", "uri"})
    raise MCPError(types.INVALID_PARAMS, "Not found", named)
