"""Reaching the server of a repository, or becoming it."""

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from codeplane import __version__
from codeplane.config import Places
from codeplane.core.errors import AlreadyServing, NotServing
from codeplane.server.transport.link import Link, join
from codeplane.session.checkout import Checkout
from codeplane.session.claim import claim
from codeplane.storage import StateDir

if TYPE_CHECKING:
    from codeplane.server.answer import Answer
    from codeplane.server.pipeline import Progress
    from codeplane.server.runtime import Runtime

_GIVE_UP_SEC: Final = 30


def warn(text: str) -> None:
    sys.stderr.write(f"cpl: {text}\n")


@dataclass
class Host:
    """Joins the running server, or starts one in this process when nobody serves."""

    checkout: Checkout
    places: Places
    profile: str
    command: str
    assignments: tuple[str, ...] = ()
    workspace: str | None = None  # that the client works in; by default the checkout itself
    _runtime: "Runtime | None" = None
    _task: "asyncio.Task[None] | None" = None

    async def connect(self) -> Link:
        """A link to whoever serves; several processes may race to be the one."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _GIVE_UP_SEC
        while True:
            try:
                return self._join_link(await join_any(self.checkout, self.profile, self.workspace))
            except NotServing:
                if loop.time() >= end:
                    raise
            await self._become_server()

    def _join_link(self, link: Link) -> Link:
        if self._runtime is None:
            if self.assignments:
                warn(f"joined a running server: --set {' '.join(self.assignments)} has no effect.")
            if link.version != __version__:
                warn(f"joined a server of version {link.version}; this is {__version__}.")
        return link

    async def stop(self) -> None:
        """Ends the server of this process, if it is one."""
        if self._runtime is not None and self._task is not None:
            self._runtime.stop.set()
            await self._task

    async def _become_server(self) -> None:
        # The server's modules are loaded only by a process that serves: joining stays quick.
        from codeplane.server.runtime import Runtime

        if self._task is not None:
            await asyncio.wait({self._task})  # a server of this process that has lost its directory
        try:
            lock = claim(self.checkout)
        except AlreadyServing:
            await asyncio.sleep(0.05)
            return
        ready = asyncio.Event()
        self._runtime = Runtime(self.checkout, self.places, lock, self.command)
        self._task = asyncio.ensure_future(self._runtime.run(lambda _serving: ready.set()))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._task.done():
            await self._task


async def join_any(checkout: Checkout, profile: str, workspace: str | None = None) -> Link:
    """Joins the server of a checkout, or that of its primary, which serves linked worktrees as well."""
    try:
        return await join(StateDir.at(checkout.root), profile, workspace)
    except NotServing:
        if checkout.index_home == checkout.root:
            raise
        return await join(StateDir.at(checkout.index_home), profile, workspace or str(checkout.root))


async def call_once(
    checkout: Checkout,
    tool: str,
    arguments: object,
    assignments: tuple[str, ...] = (),
    progress: "Progress | None" = None,
) -> "Answer":
    """One call from the shell: through the running server, or in this process while holding the lock."""
    from codeplane.server.oneshot import call_here
    from codeplane.server.remote_call import call_there

    loop = asyncio.get_running_loop()
    end = loop.time() + _GIVE_UP_SEC
    while True:
        try:
            link = await join_any(checkout, "full")
        except NotServing:
            try:
                return await call_here(checkout, tool, arguments, progress)
            except AlreadyServing:
                if loop.time() >= end:
                    raise
                await asyncio.sleep(0.05)
                continue
        if assignments:
            warn("a server runs: --set has no effect on it.")
        try:
            return await call_there(link, tool, arguments, progress)
        finally:
            link.close()
