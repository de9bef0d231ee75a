"""Asking the user, through the client, for trust that a call needs; recorded as `cpl trust` records it.

Up to 2025-11-25 the server asks in the middle of the call. Since 2026-07-28 the call is answered with the
question, and the client repeats it with the user's answer.
"""

import secrets
import time
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import mcp_types as wire
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from codeplane.core.errors import NotTrusted
from codeplane.server.answer import Answer
from codeplane.session import RepoSession
from codeplane.session.trust import give_trust

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

_ASKS_BY_RESULT: Final = "2026-07-28"
_KEY: Final = "trust"
_OPEN_SEC: Final = 600
_MOST_OPEN: Final = 100
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {_KEY: {"type": "boolean", "title": "Trust this repository"}},
    "required": [_KEY],
}


class Consent:
    """The questions of one server. One that a session has declined is not asked again in it."""

    def __init__(self, repo: RepoSession) -> None:
        self._repo = repo
        self._open: dict[str, float] = {}  # questions that a client has been sent, by their state
        self._declined: set[str] = set()

    async def take(self, params: wire.CallToolRequestParams, session_key: str) -> None:
        """Takes the answer that a repeated call brings along, if it answers a question of this server."""
        since = self._open.pop(params.request_state or "", None)
        answer = (params.input_responses or {}).get(_KEY)
        if since is not None and time.monotonic() - since < _OPEN_SEC:
            await self._heed(answer, session_key)

    async def seek(
        self, ctx: "ServerRequestContext[Any, Any]", answer: Answer, session_key: str
    ) -> wire.InputRequiredResult | bool:
        """Asks where a call wants trust: returns the question to send, or whether trust was given."""
        error = answer.body.get("error", {})
        if error.get("name") != NotTrusted.name() or session_key in self._declined or not _can_ask(ctx):
            return False
        message = (
            f"{error['message']} Trust {self._repo.checkout.root}? CodePlane then obeys its settings and "
            "runs its tests, linters and hooks on this machine. `cpl trust --revoke` takes it back."
        )
        question = wire.ElicitRequestFormParams(message=message, requested_schema=_SCHEMA)
        if is_version_at_least(ctx.session.protocol_version, _ASKS_BY_RESULT):
            requests: wire.InputRequests = {_KEY: wire.ElicitRequest(params=question)}
            return wire.InputRequiredResult(input_requests=requests, request_state=self._opened())
        try:
            result = await ctx.session.elicit_form(message, _SCHEMA, ctx.request_id)
        except MCPError:
            return False
        return await self._heed(result, session_key)

    async def _heed(self, answer: object, session_key: str) -> bool:
        if not isinstance(answer, wire.ElicitResult):
            return False
        if answer.action != "accept" or (answer.content or {}).get(_KEY) is not True:
            self._declined.add(session_key)
            return False
        checkout = self._repo.checkout
        await anyio.to_thread.run_sync(give_trust, checkout.root, checkout.places)
        return True

    def _opened(self) -> str:
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        state = secrets.token_urlsafe(16)
        self._open[state] = time.monotonic()
        return state


def _can_ask(ctx: "ServerRequestContext[Any, Any]") -> bool:
    """Whether the client shows forms. A bare `elicitation: {}` is the older way to say so."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
