"""The peer: the same trivial tool on bare `mcp`, over the same transports. Run as a program."""

import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("peer", log_level="ERROR")


class Said(BaseModel):
    text: str
    limit: int
    kinds: list[str]


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def toy_echo(text: str, limit: int = 3, kinds: list[str] | None = None) -> Said:
    """Says back what it was told."""
    return Said(text=text, limit=limit, kinds=kinds or [])


def serve_http() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        app = server.streamable_http_app()
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    serve_http() if sys.argv[1:] == ["http"] else server.run("stdio")
