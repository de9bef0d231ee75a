"""Refactoring over plain HTTP: plans with their candidates, and decisions about them. Tools do the work."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument
from codeplane.core.proof import Tier
from codeplane.jail import shown
from codeplane.refactor import Group, Plan, Site, Verdict
from codeplane.refactor.witness import Capsule, witness
from codeplane.server.endpoint import SESSION_HEADER
from codeplane.server.pipeline import Answer, Pipeline
from codeplane.server.pipeline import Request as ToolRequest
from codeplane.session import RepoSession
from codeplane.session.plans import Pending
from codeplane.tools import Tool

RENAME: Final = "/refactor/rename"
COMMIT: Final = "/decisions/commit"
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
_CONFIDENCE: Final = {Tier.PROVEN: 1.0, Tier.STRONG: 0.95, Tier.ANCHORED: 0.5, Tier.UNKNOWN: 0.3}


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
        if "refactor_id" not in result:
            return JSONResponse({"status": result["outcome"], "symbol": result["symbol"], **result})
        return JSONResponse(_planned(self._repo.plans.get(result["refactor_id"])))

    async def _commit(self, request: Request) -> Response:
        answer = await self._call("decision_commit", request)
        if isinstance(answer, Response):
            return answer
        return JSONResponse({"status": "ok", **answer.body["result"]})

    async def _call(self, tool: str, request: Request) -> Answer | Response:
        """The answer of a tool; what it refuses becomes a response."""
        try:
            arguments = decode_json(await request.body())
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            error = InvalidArgument("The body has to be a JSON object.")
            return JSONResponse({"error": error.to_wire()}, status_code=400)
        key = f"rest:{request.headers.get(SESSION_HEADER, '')[:80]}"
        answer = await self._pipeline.call(ToolRequest(tool, arguments, key))
        return _refused(answer) if answer.is_error else answer


def _refused(answer: Answer) -> Response:
    error = answer.body["error"]
    status, reason = _OUTCOMES.get(error["name"], ("error", ""))
    told = {"status": status, "reason": error.get("details", {}).get("reason", reason)}
    body = {**(told if reason else {}), **answer.body}
    return JSONResponse(body, status_code=_STATUS.get(error["name"], 400))


def _planned(pending: Pending) -> dict[str, Any]:
    """A plan, with a candidate for what is certain and one for each group of open places."""
    plan = pending.plan
    body: dict[str, Any] = {
        "status": plan.verdict,
        "plan_id": pending.id,
        "symbol": shown(plan.symbol),
        "expires_at": datetime.fromtimestamp(pending.expires_ms / 1000, UTC).isoformat(),
    }
    if plan.problems:
        body["problems"] = [one.text for one in plan.problems]
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED):
        return body
    found = witness(plan)
    body |= {
        "candidates": [_certain(plan), *map(_candidate, plan.groups)],
        "witness": {
            "bounds": {"files_scanned": list(found.files_scanned), "truncated": found.truncated},
            "facts": list(found.facts),
            "invariants_failed": list(found.invariants_failed),
            "disambiguation_checklist": [
                {"question": one.question, "fact_needed": one.kind, "how_to_verify": one.verify}
                for one in found.capsules
            ],
        },
        "decision_capsules": list(map(_capsule, found.capsules)),
        "commit_endpoint": COMMIT,
    }
    return body


def _certain(plan: Plan) -> dict[str, Any]:
    """What every choice takes along."""
    return {
        "id": "proven",
        "description": f"{shown(plan.symbol)} where it is certain",
        "provenance": "semantic",
        **_edits(plan.sites),
    }


def _candidate(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "description": shown(group.about),
        "provenance": "syntactic",
        "risk": group.risk,
        "reasons": list(group.reasons),
        **_edits(group.sites),
    }


def _edits(sites: tuple[Site, ...]) -> dict[str, Any]:
    edits = [
        {"file": shown(one.path), "line": one.line, "column": one.column, "old": one.old, "new": one.new}
        for one in sites
    ]
    confidence = min((_CONFIDENCE[site.tier] for site in sites), default=1.0)
    return {"confidence": confidence, "apply_plan": {"edits": edits}}


def _capsule(one: Capsule) -> dict[str, Any]:
    return {
        "capsule": one.kind,
        "question": one.question,
        "groups": list(one.groups),
        "verify": one.verify,
        "stop_rule": one.stop_rule,
    }
