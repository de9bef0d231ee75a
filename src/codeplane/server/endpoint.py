"""One MCP endpoint for each profile: the protocol on one side, the pipeline on the other."""

import re
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import mcp_types as wire
from mcp.server.lowlevel import Server

from codeplane import __version__
from codeplane.core.ids import SessionId, new_session_id
from codeplane.server.consent import Consent
from codeplane.server.pipeline import Pipeline, Progress, Request
from codeplane.server.profiles import Profile
from codeplane.server.transport.link import SESSION_META_KEY, SINGLE_META_KEY, STRUCTURED_META_KEY
from codeplane.tools import Effect, Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.context import ServerRequestContext

SESSION_HEADER = "x-codeplane-session"
WORKSPACE_HEADER = "x-codeplane-workspace"
STRUCTURED_HEADER = "x-codeplane-structured"

_SESSION_ID = re.compile(r"[A-Za-z0-9_.-]{1,80}")

# Only what differs from the protocol's defaults: every conversation pays for the list of tools.
_READS = wire.ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CHANGES = {
    Effect.SESSION: wire.ToolAnnotations(destructive_hint=False, open_world_hint=False),
    Effect.WRITE: wire.ToolAnnotations(open_world_hint=False),
}


async def _unmarked(_request_id: object) -> None:
    return None


@dataclass(frozen=True)
class Origin:
    """Where the calls of a connection come from; the server keeps it as the connection's state."""

    transport: str
    # On a relay each connection is one client; over HTTP the request says who it is from.
    session_id: SessionId | None = None
    mark_begun: Callable[[Any], Awaitable[None]] = field(default=_unmarked)
    workspace: str | None = None  # that all calls of the connection are about


def endpoint(profile: Profile, pipeline: Pipeline) -> "Server[Origin]":
    """The MCP server of one profile."""

    @cache
    def listing() -> tuple[wire.ListToolsResult, int]:
        """What is told of the tools, with its size; made when the first client of the profile asks."""
        result = wire.ListToolsResult(
            tools=[listed_tool(tool, profile.schema_of(tool)) for tool in profile.tools.values()]
        )
        return result, len(result.model_dump_json(exclude_none=True))

    schemas: dict[str, dict[str, Any]] = {}
    structured_clients = pipeline.structured_clients
    consent = Consent(pipeline.repo)

    def schema(name: str) -> dict[str, Any] | None:
        """Asked for with each call, and made once."""
        if name in profile.tools and name not in schemas:
            schemas[name] = profile.schema_of(profile.tools[name])
        return schemas.get(name)

    async def list_tools(
        _ctx: "ServerRequestContext[Origin, Any]", _params: wire.PaginatedRequestParams | None
    ) -> wire.ListToolsResult:
        result, size = listing()
        pipeline.listed(size, profile.tools)
        return result

    async def call_tool(
        ctx: "ServerRequestContext[Origin, Any]", params: wire.CallToolRequestParams
    ) -> wire.CallToolResult | wire.InputRequiredResult:
        is_structured = _wants_structure(ctx, structured_clients)
        request = replace(_make_request(ctx, params), is_structured=is_structured)
        await consent.take(params, request.session_key)
        answer = await pipeline.call(request, profile.tools)
        consent_request = await consent.seek(ctx, answer, request.session_key) if answer.is_error else False
        if isinstance(consent_request, wire.InputRequiredResult):
            return consent_request
        if consent_request:
            answer = await pipeline.call(request, profile.tools)
        return wire.CallToolResult(
            content=[wire.TextContent(type="text", text=answer.text)],
            structured_content=dict(answer.body) if is_structured else None,
            is_error=answer.is_error,
        )

    return Server(
        "codeplane",
        version=__version__,
        title="CodePlane",
        instructions=profile.instructions,
        lifespan=_http_origin,
        get_tool_input_schema=schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


@asynccontextmanager
async def _http_origin(_server: "Server[Origin]") -> "AsyncIterator[Origin]":
    yield Origin("http")


def listed_tool(tool: Tool, schema: dict[str, Any]) -> wire.Tool:
    return wire.Tool(
        name=tool.name,
        description=tool.doc.description,
        input_schema=schema,
        annotations=_READS if tool.effect is Effect.READ else _CHANGES[tool.effect],
    )


def _make_request(ctx: "ServerRequestContext[Origin, Any]", params: wire.CallToolRequestParams) -> Request:
    key, session_id = _session(ctx)
    origin = ctx.lifespan_context
    return Request(
        tool=params.name,
        arguments=params.arguments,
        session_key=key,
        session_id=session_id,
        progress=_make_progress(ctx),
        movable=origin.session_id is not None,
        begun=lambda: origin.mark_begun(ctx.request_id),
        is_single=(ctx.meta or {}).get(SINGLE_META_KEY) is True,
        workspace=origin.workspace or _header_workspace(ctx),
    )


def _session(ctx: "ServerRequestContext[Origin, Any]") -> tuple[str, SessionId | None]:
    """The session's key and, where the client chose it, its id.

    From `_meta`, else from a header, else the connection, else one for each client program.
    """
    session_id = (ctx.meta or {}).get(SESSION_META_KEY)
    if session_id is None and ctx.request is not None:
        headers = ctx.request.headers
        session_id = headers.get(SESSION_HEADER)
        if session_id is None and (transport_session := headers.get("mcp-session-id")):
            return f"mcp:{transport_session}", None
    if isinstance(session_id, str) and _SESSION_ID.fullmatch(session_id):
        return f"asked:{session_id}", SessionId(session_id)
    if ctx.lifespan_context.session_id is not None:
        return f"relay:{ctx.lifespan_context.session_id}", ctx.lifespan_context.session_id
    client = ctx.session.client_params
    program = f"{client.client_info.name}/{client.client_info.version}" if client else "unnamed"
    return f"client:{program}", None


def _header_workspace(ctx: "ServerRequestContext[Origin, Any]") -> str | None:
    """The workspace that a client over HTTP is configured for."""
    return ctx.request.headers.get(WORKSPACE_HEADER) if ctx.request is not None else None


def _wants_structure(ctx: "ServerRequestContext[Origin, Any]", clients: frozenset[str]) -> bool:
    """Whether the caller asked for the envelope: by `_meta`, by a header, or as a client of the settings.

    Some clients hand a model the envelope in place of the text, so nobody gets it unasked.
    """
    if (ctx.meta or {}).get(STRUCTURED_META_KEY) is True:
        return True
    if ctx.request is not None and ctx.request.headers.get(STRUCTURED_HEADER) in ("1", "true"):
        return True
    client = ctx.session.client_params
    return client is not None and client.client_info.name.lower() in clients


def _make_progress(ctx: "ServerRequestContext[Origin, Any]") -> Progress | None:
    if not ctx.meta or ctx.meta.get("progress_token") is None:
        return None
    return ctx.session.report_progress


def relay_origin(mark_begun: Callable[[Any], Awaitable[None]], workspace: str | None = None) -> Origin:
    return Origin("relay", new_session_id(), mark_begun, workspace)
