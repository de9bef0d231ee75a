"""One tool call outside a conversation."""

from codeplane.server.answer import Answer
from codeplane.server.logs import close_logs, set_up_own_log
from codeplane.server.pipeline import Pipeline, Progress, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.claim import claim
from codeplane.storage import StateDir
from codeplane.tools import offered_tools


async def call_here(
    checkout: Checkout, tool: str, arguments: object, progress: Progress | None = None
) -> Answer:
    """Runs the call in this process, as the only server of the repository while it lasts."""
    lock = claim(checkout)
    try:
        set_up_own_log(checkout.settings.logging, StateDir.at(checkout.root).log_file)
        repo = RepoSession.open(checkout)
        try:
            return await Pipeline(repo, offered_tools(checkout.settings)).call(
                Request(tool, arguments, "cpl call", is_single=True, progress=progress)
            )
        finally:
            repo.close()
    finally:
        close_logs()
        lock.release()
