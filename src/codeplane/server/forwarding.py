"""Calls into a workspace that another process serves are sent to that one."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from codeplane.core.errors import AlreadyServing, NotServing
from codeplane.core.ids import SessionId
from codeplane.server.address import without_workspace
from codeplane.server.remote_call import call_there
from codeplane.server.transport.link import join
from codeplane.storage import StateDir
from codeplane.tools import Effect

if TYPE_CHECKING:
    from codeplane.server.answer import Answer
    from codeplane.server.pipeline import Request

_TRIES: Final = 20
_PAUSE_SEC: Final = 0.1


async def forward(refusal: AlreadyServing, request: "Request", effect: Effect) -> "Answer | None":
    """The answer of the server that has the workspace; None where it does not answer either."""
    root = refusal.details.get("root")
    if not isinstance(root, str):
        return None
    for _ in range(_TRIES):
        try:
            link = await join(StateDir.at(Path(root)), "full")
        except NotServing:
            await asyncio.sleep(_PAUSE_SEC)  # it may have just begun
            continue
        try:
            if effect is not Effect.READ:
                await request.begun()
            session = None if request.is_single else SessionId(request.session_id or _name(request))
            arguments = without_workspace(request.arguments)
            return await call_there(link, request.tool, arguments, request.progress, session)
        finally:
            link.close()
    return None


def _name(request: "Request") -> str:
    """The client's session as the other server knows it."""
    return "".join(char if char.isalnum() or char in "_.-" else "-" for char in request.session_key)[:80]
