"""The life of a call, written once: decode, session, run with a deadline, envelope, telemetry."""

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread

from codeplane.core.errors import AlreadyServing, CodePlaneError
from codeplane.core.ids import RequestId, SessionId, new_request_id
from codeplane.core.proof import Absence
from codeplane.server.address import Address, take_address
from codeplane.server.answer import Answer, Reply
from codeplane.server.decode import decode
from codeplane.server.forwarding import forward
from codeplane.server.logs import correlation
from codeplane.server.paging import paged
from codeplane.server.profiles import CONTROLLER
from codeplane.server.requested_state import run_in_state
from codeplane.server.steps import step_runner
from codeplane.server.telemetry import Telemetry
from codeplane.server.tool_lookup import find_tool
from codeplane.session import Call, RepoSession, Stop
from codeplane.session.requested_state import CURRENT, RequestedState
from codeplane.session.workspaces.kind import Place
from codeplane.tools import Effect, Input, Output, Tool

Progress = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]


_log = logging.getLogger(__name__)

# How long a server that stops waits for a write that has been asked to end.
_LAST_WRITE_SEC = 60
_PROGRESS_SEC = 1
_LOAD_AFTER_SEC = 2.0
_REFACTORING = "refactoring"
_SURFACES = "surfaces"


async def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Request:
    """A call as it arrives from any front: MCP, relay or command line."""

    tool: str
    arguments: object
    session_key: str
    session_id: SessionId | None = None
    progress: Progress | None = None
    # Whether the client itself moves on to the next server: then a call that has not started is left
    # unanswered by a server that stops.
    movable: bool = False
    # Awaited once, right before a call that writes starts: from then on it must not be repeated.
    begun: Callable[[], Awaitable[None]] = _nothing
    # Whether the caller makes this one call and leaves: its task ends with it, and its cursors are kept.
    is_single: bool = False
    # The workspace that the session is bound to; its calls go nowhere else.
    workspace: str | None = None
    # What the call reads, taken out of its arguments.
    reading: RequestedState = CURRENT
    # Whether the client gets the envelope, and not the text alone.
    is_structured: bool = True


class Pipeline:
    """Carries every call of one repository."""

    def __init__(
        self, repo: RepoSession, tools: Mapping[str, Tool], may_serve: Callable[[], bool] = lambda: True
    ) -> None:
        self.repo = repo
        self._may_serve = may_serve
        self._tools = tools
        # Places for calls; threads themselves are not counted, since an abandoned one still has its place.
        self._workers: anyio.CapacityLimiter | None = None
        self._threads: anyio.CapacityLimiter | None = None
        self._running: dict[RequestId, tuple[Call, anyio.CancelScope]] = {}
        self._stopping = False
        self._loading: threading.Timer | None = None
        self.telemetry = Telemetry(repo)
        names = repo.checkout.settings.server.structured_clients
        self.structured_clients: frozenset[str] = frozenset(name.lower() for name in names)

    async def call(self, request: Request, tools: Mapping[str, Tool] | None = None) -> Answer:
        """Runs one call to its answer; only the client's own cancellation is raised."""
        choice = self._tools if tools is None else tools
        async with AsyncExitStack() as stack:
            try:
                tool = find_tool(request.tool, choice, self._tools)
                address, arguments = take_address(tool, request.arguments, request.workspace)
                place = await self._enter(address, stack)
            except AlreadyServing as error:
                return await self._forward(error, request, tool)
            except Exception as error:  # noqa: BLE001 - explained like those of the call itself
                return await self._call_at(Place(self.repo), request, choice, error)
            request = replace(request, arguments=arguments, reading=address.reading)
            return await self._call_at(place, request, choice)

    async def _forward(self, refusal: AlreadyServing, request: Request, tool: Tool) -> Answer:
        """The answer of the process that serves the workspace."""
        failure: Exception = refusal
        try:
            answer = await forward(refusal, request, tool.effect)
            if answer is not None:
                return answer
        except CodePlaneError as error:
            failure = error
        return await self._call_at(Place(self.repo), request, self._tools, failure)

    async def _enter(self, address: Address, stack: AsyncExitStack) -> Place:
        """What the call reads and writes; it stays open as long as the stack."""
        if address.workspace is None:
            return Place(self.repo)
        # Loaded by the first call into a workspace.
        from codeplane.session.workspaces.registry import workspaces_of

        opening = workspaces_of(self.repo).enter(address.workspace)
        place = await anyio.to_thread.run_sync(opening.__enter__)
        stack.push_async_callback(anyio.to_thread.run_sync, opening.__exit__, None, None, None)
        return place

    async def _call_at(
        self,
        place: Place,
        request: Request,
        choice: Mapping[str, Tool],
        refusal: Exception | None = None,
    ) -> Answer:
        sessions = place.repo.sessions
        session = sessions.enter(request.session_key, request.session_id)
        call = Call(
            place.repo,
            session,
            new_request_id(),
            workspace=place.workspace,
            reading=request.reading,
            is_structured=request.is_structured,
            is_current=place.is_current,
        )
        correlation.set({"request_id": call.request_id, "task_id": call.task.task_id})
        reply = Reply(call, request.tool, self.telemetry)
        try:
            if refusal is not None:
                raise refusal
            tool = find_tool(request.tool, choice, self._tools)
            # A controlled run has one tool, which runs the others where its plan allows it.
            within = self._tools if tool.name == CONTROLLER else choice
            call.run_step = step_runner(
                call, within, self._tools, self.telemetry, is_single=request.is_single
            )
            answer = reply.result(await self._run(tool, request, call))
        except Exception as error:  # noqa: BLE001 - explained to the client, and in the log
            answer = reply.error(error)
        except anyio.get_cancelled_exc_class():
            reply.cancelled()
            raise
        if request.is_single:
            reason = None if answer.failure is None else answer.failure.name()
            await anyio.to_thread.run_sync(sessions.finish, request.session_key, reason)
        return answer

    def listed(self, size: int, tools: Mapping[str, Tool]) -> None:
        """Notes that a client has been sent the list of tools.

        Who asks for more than the standard ones is going to call them: soon after, their code is loaded and
        what they wait for is made. That of the others comes with their first call, since an idle server
        should be small.
        """
        self.repo.token_savings.listed(size)
        more = [tool for tool in tools.values() if not tool.standard]
        if more and self._loading is None:
            self._loading = threading.Timer(_LOAD_AFTER_SEC, self._load_tools, (more,))
            self._loading.daemon = True
            self._loading.start()

    def _load_tools(self, tools: Sequence[Tool]) -> None:
        for tool in tools:
            tool.code()
        if any(tool.category == _REFACTORING for tool in tools):
            # Loaded with the tools, and not with the server.
            from codeplane.session.refactoring import get_ready

            get_ready(self.repo, lambda: self._stopping)
        if any(tool.category == _SURFACES for tool in tools) and not self._stopping:
            from codeplane.session.surfaces_ahead import prepare_surfaces

            prepare_surfaces(self.repo)

    async def stop(self, grace_sec: float) -> None:
        """Starts no more calls, lets the running ones finish for that long, then aborts them.

        A write is asked to end as well, and waited for: its outcome has to reach the client.
        """
        self._stopping = True
        if self._loading is not None:
            self._loading.cancel()
        with anyio.move_on_after(grace_sec):
            while self._running:
                await anyio.sleep(0.02)
        for call, scope in list(self._running.values()):
            call.stop(Stop.STOPPING)
            scope.cancel()
        with anyio.move_on_after(_LAST_WRITE_SEC):
            while self._running:
                await anyio.sleep(0.02)

    async def _run(self, tool: Tool, request: Request, call: Call) -> Output:
        if self._stopping or not self._may_serve():
            if request.movable:
                await anyio.sleep_forever()
            raise Stop.STOPPING.error()
        args = decode(tool, request.arguments)
        call.is_read = tool.effect is Effect.READ
        tool = paged(tool) if request.is_single else tool
        if request.progress is not None:
            call.report = _from_worker(request.progress)
        timeout = tool.timeout_sec or self.repo.checkout.settings.server.call_timeout_sec
        with anyio.CancelScope(deadline=anyio.current_time() + timeout) as scope:
            self._running[call.request_id] = (call, scope)
            self.telemetry.running.inc()
            self.repo.activity.begin()
            try:
                if tool.is_repeatable(args):
                    return await self._read(tool, args, call)
                await request.begun()
                return await self._write(tool, args, call)
            finally:
                self.repo.activity.end()
                self.telemetry.running.dec()
                del self._running[call.request_id]
        # The scope swallowed a cancellation: the deadline's, or that of a server that stops.
        raise (call.stopped or Stop.DEADLINE).error()

    async def _read(self, tool: Tool, args: Input, call: Call) -> Output:
        """A read that must end is left behind; its thread ends at its next `check`."""
        try:
            return await self._in_thread(tool, args, call, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            call.stop(self._why_cancelled(call))
            raise

    async def _write(self, tool: Tool, args: Input, call: Call) -> Output:
        """A write is asked to end and then waited for: how it ended has to be known."""
        outcome: list[Output | Exception] = []

        async def pass_on_cancellation() -> None:
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                if not outcome:
                    call.stop(self._why_cancelled(call))
                raise

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(pass_on_cancellation)
                with anyio.CancelScope(shield=True):
                    outcome.append(await self._outcome(tool, args, call))
                group.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            if not outcome:
                raise
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        return outcome[0]

    async def _in_thread(
        self, tool: Tool, args: Input, call: Call, *, abandon_on_cancel: bool = False
    ) -> Output:
        """Runs the tool on a worker thread, which counts as busy until it really ends."""
        loop = asyncio.get_running_loop()
        workers, slot = self._capacity_limiter(), object()
        assert self._threads is not None
        await workers.acquire_on_behalf_of(slot)
        is_started = False

        def run() -> Output:
            nonlocal is_started
            is_started = True
            try:
                output = run_in_state(tool, call, args)
                if vars(output).get("absence") == Absence.NOT_INDEXED and call.reading.commit is None:
                    call.warn(call.repo.tree.why_hidden())
                return output
            finally:
                with suppress(RuntimeError):  # the loop is gone: nobody waits for the slot
                    loop.call_soon_threadsafe(workers.release_on_behalf_of, slot)

        try:
            return await anyio.to_thread.run_sync(
                run, abandon_on_cancel=abandon_on_cancel, limiter=self._threads
            )
        finally:
            if not is_started:
                workers.release_on_behalf_of(slot)

    async def _outcome(self, tool: Tool, args: Input, call: Call) -> Output | Exception:
        try:
            return await self._in_thread(tool, args, call)
        except Exception as error:  # noqa: BLE001 - raised by the caller, outside its task group
            return error

    def _why_cancelled(self, call: Call) -> Stop:
        deadline = self._running[call.request_id][1].deadline
        return Stop.DEADLINE if anyio.current_time() >= deadline else Stop.CANCELLED

    def _capacity_limiter(self) -> anyio.CapacityLimiter:
        if self._workers is None:
            self._threads = anyio.CapacityLimiter(math.inf)
            self._workers = anyio.CapacityLimiter(self.repo.checkout.settings.server.workers)
        return self._workers


def _from_worker(progress: Progress) -> Callable[[float, float | None, str | None], None]:
    """Progress comes from a worker thread, which waits until it is sent, so that none overtakes another.

    A client that does not take it in time gets no more of it: the work must not wait for the client.
    """
    is_heard = True

    async def send(done: float, total: float | None, message: str | None) -> None:
        nonlocal is_heard
        is_heard = False
        with anyio.move_on_after(_PROGRESS_SEC):
            await progress(done, total, message)
            is_heard = True

    def report(done: float, total: float | None, message: str | None) -> None:
        if is_heard:
            anyio.from_thread.run(send, done, total, message)

    return report
