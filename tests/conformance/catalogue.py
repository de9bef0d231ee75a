"""What a fixture tool is, and the decorator that lists one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult
Run = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]
Catalogue = dict[str, "FixtureTool"]

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}

PIXEL_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
SILENT_WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="


@dataclass(frozen=True)
class FixtureTool:
    definition: types.Tool
    run: Run


def tool(
    catalogue: Catalogue, description: str, schema: dict[str, Any] | None = None
) -> Callable[[Run], Run]:
    """Lists the decorated function in `catalogue` under its own name."""

    def register(run: Run) -> Run:
        name = run.__name__
        definition = types.Tool(name=name, description=description, input_schema=schema or NO_ARGUMENTS)
        catalogue[name] = FixtureTool(definition, run)
        return run

    return register


def constant(catalogue: Catalogue, name: str, description: str, result: types.CallToolResult) -> None:
    """Lists a tool that takes no arguments and always returns `result`."""
    definition = types.Tool(name=name, description=description, input_schema=NO_ARGUMENTS)

    async def run(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return result

    catalogue[name] = FixtureTool(definition, run)


def text(message: str) -> types.TextContent:
    return types.TextContent(text=message)


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL_PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, body: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=body)
    )


def answer(*content: types.ContentBlock, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), is_error=is_error)
