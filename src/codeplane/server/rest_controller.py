"""Controlled runs over plain HTTP: turns, runs, denials, pending memories, and the stream of events."""

from collections.abc import Iterable
from typing import Any, Final

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from codeplane.controller.observability import EventStore
from codeplane.controller.run_memory import memory_store
from codeplane.controller.runs import run_store
from codeplane.memory import MemoryState
from codeplane.server.event_stream import EventStream
from codeplane.server.pipeline import Pipeline
from codeplane.server.pipeline import Request as ToolRequest
from codeplane.server.profiles import CONTROLLER
from codeplane.server.rest import call_tool, session_key
from codeplane.session import RepoSession
from codeplane.tools import Tool

_MOST: Final = 1_000


class ControllerRest:
    """The routes of controlled runs, for a pipeline that offers their tool."""

    def __init__(self, repo: RepoSession, pipeline: Pipeline) -> None:
        self._repo, self._pipeline = repo, pipeline
        self._stream = EventStream()
        repo.tasks.listeners.append(self._stream.publish)

    def routes(self, tools: Iterable[Tool]) -> list[BaseRoute]:
        if not any(tool.name == CONTROLLER for tool in tools):
            return []
        return [
            Route("/turn", self._turn, methods=["POST"]),
            Route("/runs", self._runs),
            Route("/worktrees", self._worktrees),
            Route("/errors", self._errors),
            Route("/policies/pending", self._pending_policies),
            Route("/stream/events", self._events),
        ]

    async def _turn(self, request: Request) -> Response:
        answer = await call_tool(self._pipeline, CONTROLLER, request)
        if isinstance(answer, Response):
            return answer
        if answer.is_error:
            return JSONResponse(dict(answer.body), status_code=400)
        return JSONResponse({**answer.body["result"], "text": answer.text})

    async def _runs(self, request: Request) -> Response:
        limit = _limit_of(request)
        runs = await to_thread.run_sync(run_store(self._repo).recent, limit)
        return JSONResponse({"runs": [run.to_row() for run in runs]})

    async def _worktrees(self, request: Request) -> Response:
        listing = ToolRequest("git_worktree", {"action": "list"}, session_key(request))
        answer = await self._pipeline.call(listing)
        status = 400 if answer.is_error else 200
        return JSONResponse(answer.body.get("result", dict(answer.body)), status_code=status)

    async def _errors(self, request: Request) -> Response:
        store, limit = EventStore(self._repo, request.query_params.get("workId")), _limit_of(request)

        def collect() -> dict[str, Any]:
            return {
                "errors": [dict(event) for event in store.list_errors(limit)],
                "rejectionHeatmap": store.rejection_heatmap(),
                "rejectionTrend": store.rejection_trend(),
                "topRejectionSignatures": [vars(one) for one in store.top_rejection_signatures()],
                "retrievalHotspots": store.retrieval_hotspots(),
            }

        return JSONResponse(await to_thread.run_sync(collect))

    async def _pending_policies(self, _request: Request) -> Response:
        """Memories that wait for a person."""
        states = [MemoryState.PENDING, MemoryState.PROVISIONAL]
        records = await to_thread.run_sync(memory_store(self._repo).list_all, states)
        return JSONResponse({"pending": [record.to_dict() for record in records]})

    async def _events(self, request: Request) -> Response:
        last = request.headers.get("last-event-id") or request.query_params.get("after") or ""
        frames = self._stream.frames(int(last) if last.isdigit() else None)
        headers = {"cache-control": "no-store"}
        return StreamingResponse(frames, media_type="text/event-stream", headers=headers)


def _limit_of(request: Request) -> int:
    text = request.query_params.get("limit", "100")
    return min(int(text), _MOST) if text.isdigit() and int(text) else 100
