"""Refactoring over plain HTTP: plans with their candidates, and decisions about them. Tools do the work."""

from collections.abc import Iterable
from typing import Any, Final

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from codeplane.answers.candidates import COMMIT, Told
from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument
from codeplane.refactor import Verdict
from codeplane.server.answer import Answer
from codeplane.server.endpoint import SESSION_HEADER
from codeplane.server.pipeline import Pipeline
from codeplane.server.pipeline import Request as ToolRequest
from codeplane.session import RepoSession
from codeplane.tools import Tool

RENAME: Final = "/refactor/rename"
_STATUS: Final = {
    "NOT_FOUND": 404,
    "AMBIGUOUS_SYMBOL": 409,
    "DECISION_REFUSED": 409,
    "PLAN_STALE": 409,
    "PLAN_GONE": 410,
    "CONTENT_CHANGED": 409,
    "SERVER_STOPPING": 503,
    "INTERNAL_ERROR": 500,
}
_OUTCOMES: Final = {
    "PLAN_STALE": ("blocked", "files_not_clean"),
    "PLAN_GONE": ("refused", "plan_gone"),
    "DECISION_REFUSED": ("refused", "decision_refused"),
}


class Rest:
    """The routes of refactoring, for a pipeline that offers its tools."""

    def __init__(self, repo: RepoSession, pipeline: Pipeline) -> None:
        self._repo, self._pipeline = repo, pipeline

    def routes(self, tools: Iterable[Tool]) -> list[BaseRoute]:
        """None where refactoring is switched off."""
        if not any(tool.name == "refactor_rename" for tool in tools):
            return []
        return [
            Route(RENAME, self._rename, methods=["POST"]),
            Route(COMMIT, self._commit, methods=["POST"]),
        ]

    async def _rename(self, request: Request) -> Response:
        answer = await self._call("refactor_rename", request)
        if isinstance(answer, Response):
            return answer
        result = answer.body["result"]
        if "applied" in result or "plan" not in result:
            return JSONResponse({"status": result["outcome"], **_done(result)})
        return JSONResponse(await to_thread.run_sync(self._told, result["plan"]))

    def _told(self, plan_id: str) -> dict[str, Any]:
        pending = self._repo.plans.get(plan_id)
        decision = (
            self._repo.decisions.find(pending.plan)
            if pending.plan.verdict is Verdict.NEEDS_DECISION
            else None
        )
        with self._repo.index.snapshot() as snapshot:
            return Told(pending, snapshot, decision).body()

    async def _commit(self, request: Request) -> Response:
        answer = await self._call("decision_commit", request)
        if isinstance(answer, Response):
            return answer
        return JSONResponse({"status": "ok", **_done(answer.body["result"])})

    async def _call(self, tool: str, request: Request) -> Answer | Response:
        """The answer of a tool; what it refuses becomes a response."""
        answer = await call_tool(self._pipeline, tool, request)
        if isinstance(answer, Response):
            return answer
        return _refuse_response(answer) if answer.is_error else answer


async def call_tool(pipeline: Pipeline, tool: str, request: Request) -> Answer | Response:
    """The answer of a tool to the arguments of a request's body; a body that is no object is refused."""
    try:
        arguments = decode_json(await request.body())
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        error = InvalidArgument("The body must be a JSON object.")
        return JSONResponse({"error": error.to_wire()}, status_code=400)
    if not arguments.keys().isdisjoint(("workspace", "workspace_id")):
        # What is asked for afterwards (plans, runs) is looked for in the checkout that the server is of.
        error = InvalidArgument("These routes work in the checkout of the server, not in a workspace.")
        return JSONResponse({"error": error.to_wire()}, status_code=400)
    return await pipeline.call(ToolRequest(tool, arguments, session_key(request)))


def session_key(request: Request) -> str:
    """The session that a request belongs to: the one that it names, or that of all that name none."""
    return f"rest:{request.headers.get(SESSION_HEADER, '')[:80]}"


def _done(result: dict[str, Any]) -> dict[str, Any]:
    """What was done, in the shape of a decision that was committed."""
    result_body = result.get("applied")
    if result_body is None:
        return result
    body = {key: result[key] for key in ("symbol", "summary", "undecided", "left") if key in result}
    return {**body, **{key: value for key, value in result_body.items() if key != "summary"}}


def _refuse_response(answer: Answer) -> Response:
    error = answer.body["error"]
    details = error.get("details", {})
    status, reason = _OUTCOMES.get(error["name"], ("error", ""))
    details_body: dict[str, Any] = {"status": status, "reason": details.get("reason", reason)}
    if status == "blocked":
        files = [one["path"] for one in details.get("files", ())]
        details_body |= {
            "non_clean_files": files,
            "suggested_refresh_scope": {"files": files},
            "can_force_syntactic": False,
            "next": {"path": RENAME, "hint": "Request the rename again."},
        }
    body = {**(details_body if reason else {}), **answer.body}
    return JSONResponse(body, status_code=_STATUS.get(error["name"], 400))
