from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.proof import Absence
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.surfaces.endpoints import Endpoint, endpoints_of
from codeplane.surfaces.exclusion import is_of_tests
from codeplane.surfaces.scope import own_files
from codeplane.surfaces.tracing.route_match import nearest_requests, plain_route
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 100
_MOST_DYNAMIC = 10
_MOST_NEAREST = 3


class SurfacesListEndpointsInput(Input):
    path_filter: Annotated[str | None, synonyms("route", "path", "query", "filter")] = Field(
        default=None,
        max_length=500,
        description="Only routes that contain this; parameters may have any name: `/users/{}`.",
    )
    http_method: Annotated[str | None, synonyms("method", "verb")] = Field(
        default=None, max_length=20, description="Only this method."
    )
    include_tests: bool = Field(
        default=False, description="Also routes in tests and fixtures.", json_schema_extra=UNLISTED
    )
    limit: int = Field(default=20, description="Most endpoints, up to 100.")


class EndpointRow(Output):
    method: str = Field(description="HTTP method; WS for a web socket.")
    route: str = Field(description="Whole path, as the framework spells it.")
    handler: str | None = Field(default=None, description="What handles it.")
    path: str = Field(description="File of the route.")
    line: int = Field(description="Line of the route.")
    framework: str = Field(description="Framework.")
    tier: str = Field(description="How far it is proven.")
    mounted: str | None = Field(default=None, description="`conditional` or `never seen`, if not always.")
    via: list[str] | None = Field(default=None, description="Mounts that lead to it, outermost first.")

    def render(self) -> str:
        handler = f"{self.handler} " if self.handler else ""
        via = f" via {', '.join(self.via)}" if self.via else ""
        mounted = f" [mounted: {self.mounted}]" if self.mounted else ""
        return f"{self.method} {self.route}  {handler}({self.path}:{self.line}){via}{mounted}"


class SurfacesListEndpointsOutput(Output):
    endpoints: list[EndpointRow] = Field(description="Endpoints by route.")
    total: int = Field(description="Endpoints that match.")
    truncated: bool | None = Field(default=None, description="Whether there are more than listed.")
    dynamic: dict[str, int] | None = Field(
        default=None, description="Routes by file whose path is only known at run time."
    )
    nearest: list[str] | None = Field(
        default=None, description="What looks most like a filter without a match."
    )
    absence: Absence | None = Field(default=None, description="Why there are none.")

    def render(self) -> str:
        lines = [row.render() for row in self.endpoints]
        if self.truncated:
            lines.append(f"{self.total - len(self.endpoints)} more of {self.total}")
        if not lines:
            others = f" matches; the nearest: {', '.join(self.nearest)}" if self.nearest else "s."
            lines.append(f"No endpoint{others}")
        if self.dynamic:
            files = ", ".join(f"{path} ({count})" for path, count in self.dynamic.items())
            lines.append(f"not composed, the path is only known at run time: {files}")
        return "\n".join(lines)


@tool(Effect.READ, "surfaces")
def surfaces_list_endpoints(call: Call, args: SurfacesListEndpointsInput) -> SurfacesListEndpointsOutput:
    """Lists the HTTP endpoints that this repository serves, composed over routers and mounts.

    Use when:
    - you look for what handles a URL, or which URLs there are
    Not for:
    - what happens behind an endpoint (graph_trace_feature)
    Examples:
    - All that have to do with users: {"path_filter": "users"}
    """
    return call.ask(lambda snapshot: _answer(call, args, snapshot))


def _answer(call: Call, args: SurfacesListEndpointsInput, snapshot: Snapshot) -> SurfacesListEndpointsOutput:
    surface = endpoints_of(snapshot)
    limit = clamped(call, "limit", args.limit, MOST)
    is_own = own_files(snapshot, include_tests=args.include_tests)
    wanted = (args.http_method or "").upper()
    listed = [one for one in surface.endpoints if args.include_tests or not is_of_tests(snapshot, one)]
    matching = [
        one
        for one in listed
        if _contains(one.route.lower(), (args.path_filter or "").lower())
        and (not wanted or one.method in (wanted, "ANY", "ALL"))
    ]
    nearest = []
    if args.path_filter and not matching:
        nearest = nearest_requests(listed, wanted, args.path_filter, _MOST_NEAREST)
    dynamic = {path: count for path, count in surface.dynamic.items() if is_own(path)}
    return SurfacesListEndpointsOutput(
        endpoints=[_row(snapshot, one) for one in matching[:limit]],
        total=len(matching),
        truncated=len(matching) > limit or None,
        dynamic=dict(sorted(dynamic.items())[:_MOST_DYNAMIC]) or None,
        nearest=nearest or None,
        absence=None if matching else Absence.PROVEN_NONE,
    )


def _contains(route: str, part: str) -> bool:
    """Whether a route contains a text, however either of them calls its parameters."""
    plain = plain_route(part)
    return part in route or ("{}" in plain and plain in plain_route(route))


def _row(snapshot: Snapshot, one: Endpoint) -> EndpointRow:
    return EndpointRow(
        method=one.method,
        route=one.route,
        handler=snapshot.qualified(one.handler) if one.handler is not None else None,
        path=one.path,
        line=one.line,
        framework=one.framework,
        tier=one.tier.name,
        mounted=None if one.mounted == "always" else one.mounted,
        via=[f"{step.path}:{step.line}" for step in one.chain] or None,
    )
