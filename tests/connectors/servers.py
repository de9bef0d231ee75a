"""Real hosts on loopback: one that answers as a test says, and one that speaks raw bytes."""

import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from codeplane.config.settings import ConnectorSettings, JiraSettings
from codeplane.connectors.timing import Clock

TOKEN = "pat-Zm9vYmFyYmF6cXV4"
Handler = Callable[[Request], Response | Awaitable[Response]]


@dataclass
class Host:
    """A starlette application on a port of its own, with what it was asked."""

    port: int = 0
    pages: dict[str, Handler | list[Handler]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    @property
    def netloc(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.netloc}"

    def answer(
        self,
        path: str,
        content: str | bytes,
        status: int = 200,
        kind: str = "application/json",
        **headers: str,
    ) -> None:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = lambda _: Response(content, status, headers=fields, media_type=kind)

    def forget(self) -> None:
        self.pages.clear()
        self.requests.clear()

    @property
    def authorizations(self) -> list[str | None]:
        return [request.headers.get("authorization") for request in self.requests]

    async def serve(self, request: Request) -> Response:
        self.requests.append(request)
        page = self.pages.get(request.url.path)
        if isinstance(page, list):
            page = page.pop(0) if len(page) > 1 else page[0]
        if page is None:
            return PlainTextResponse("nothing here", 404)
        answer = page(request)
        return answer if isinstance(answer, Response) else await answer


@contextmanager
def serving_host() -> Iterator[Host]:
    host = Host()
    app = Starlette(routes=[Route("/{path:path}", host.serve)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host.port = listener.getsockname()[1]
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        yield host
        server.should_exit = True
        thread.join(10)


@contextmanager
def serving_bytes(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """A host that speaks to each connection as a function does, after it has read the request."""

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(65_536)
                    speak(connection)
                except OSError:
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)


class MovedTime:
    """Time that passes when somebody sleeps, on top of the real one."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.ahead += seconds
        self.pauses.append(seconds)

    @property
    def clock(self) -> Clock:
        return Clock(
            monotonic=lambda: time.monotonic() + self.ahead,
            wall=lambda: 1_800_000_000 + self.ahead,
            sleep=self.sleep,
            chance=lambda: 1.0,
        )


def allow(*hosts: str, jira: JiraSettings | None = None, **settings: object) -> ConnectorSettings:
    values: dict[str, object] = {"hosts": hosts, "timeout_sec": 20.0, **settings}
    return ConnectorSettings.model_validate({**values, "jira": jira or JiraSettings()})
