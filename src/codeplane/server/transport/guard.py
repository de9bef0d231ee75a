"""The guard in front of every route: Host, Origin, token, size and time of the request."""

import hmac
import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codeplane.core.errors import RequestRefused

REPO_HEADER: Final = "X-CodePlane-Repo"


@dataclass(frozen=True)
class GuardRules:
    """What the guard lets through."""

    port: int
    token: str
    repo_root: str
    max_body_bytes: int
    body_timeout_sec: float

    @property
    def hosts(self) -> frozenset[bytes]:
        return frozenset(f"{host}:{self.port}".encode() for host in ("127.0.0.1", "localhost"))

    @property
    def origins(self) -> frozenset[bytes]:
        return frozenset(b"http://" + host for host in self.hosts)


class _Disconnected(Exception):
    """The client left before its request was whole."""


class Guard:
    """Pure ASGI, around the whole application, so that no route can stand outside it."""

    def __init__(self, app: ASGIApp, rules: GuardRules) -> None:
        self._app = app
        self._rules = rules
        self._hosts = rules.hosts
        self._origins = rules.origins
        self._credential = b"bearer " + rules.token.encode()
        self._repo = quote(rules.repo_root, safe="/:@+,=~ ").encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # No route speaks WebSocket; the handshake is closed unanswered.
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._find_refusal(scope["headers"])
        if refusal is not None:
            await self._refuse(send, *refusal)
            return
        try:
            with anyio.fail_after(self._rules.body_timeout_sec):
                body = await self._body(receive)
        except TimeoutError:
            await self._refuse(send, 408, "The request body did not arrive in time.")
            return
        except _Disconnected:
            return
        if body is None:
            await self._refuse(send, 413, f"The request is over {self._rules.max_body_bytes} bytes.")
            return
        await self._app(scope, _replay(body, receive), self._signed(send))

    def _find_refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This server accepts 127.0.0.1 and localhost only."
        origins = [value for name, value in headers if name == b"origin"]
        if any(origin.lower() not in self._origins for origin in origins):
            return 403, "Requests from other origins are refused."
        values = [value for name, value in headers if name == b"authorization"]
        if len(values) != 1 or not self._is_token(values[0]):
            return 401, "Send the token in .codeplane/token as a bearer token."
        lengths = [value for name, value in headers if name == b"content-length"]
        if any(not v.isdigit() or int(v[:20]) > self._rules.max_body_bytes for v in lengths):
            return 413, f"The request is over {self._rules.max_body_bytes} bytes."
        return None

    def _is_token(self, value: bytes) -> bool:
        scheme, _, token = value.partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._credential)

    async def _body(self, receive: Receive) -> bytes | None:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise _Disconnected
            body += message.get("body", b"")
            if len(body) > self._rules.max_body_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)

    def _signed(self, send: Send) -> Send:
        async def signed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (REPO_HEADER.lower().encode(), self._repo)]
                message = {**message, "headers": headers}
            await send(message)

        return signed

    async def _refuse(self, send: Send, status: int, reason: str) -> None:
        error = RequestRefused(reason, status=status)
        body = json.dumps({"error": error.to_wire()}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        # A page of another site must not learn where the repository is.
        out = send if status in (403, 421) else self._signed(send)
        await out({"type": "http.response.start", "status": status, "headers": headers})
        await out({"type": "http.response.body", "body": body})


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay
