"""Endpoints by what a person types: a method and a path, in the framework's spelling or another, or a URL."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from codeplane.surfaces.routes import Endpoint

VERBS: Final = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY", "ALL", "WS"))
_ANY: Final = frozenset(("ANY", "ALL", "*"))
_PARAMETER: Final = re.compile(
    r"<[^<>]*>"  # <int:pk>
    r"|\{\*?[^{}]*\}"  # {id}, {path:path}
    r"|(?<=/):[A-Za-z_]\w*(?:\([^()]*\))?[?*+]?"  # :id; but not the verb of `/v1/jobs:cancel`
    r"|\[\[?\.{0,3}\w+\]?\]"  # [slug], [...rest]
    r"|(?<=/)\*\w*"  # *rest
)
_SLASHES: Final = re.compile(r"/{2,}")
_DEEP: Final = re.compile(r"path|\.\.\.|\*")
_REQUEST: Final = re.compile(r"(?:([A-Za-z]+)\s+)?(/\S*|\S+)")


def read_request(text: str, methods: Iterable[str]) -> tuple[str, str] | None:
    """The method, or nothing, and the path that a text says; None where it says no request."""
    match = _REQUEST.fullmatch(text.strip())
    if match is None:
        return None
    method, path = (match[1] or "").upper(), match[2]
    if method and (method in VERBS or method in methods):
        return method, path
    return ("", path) if not method and path.startswith("/") else None


def matching(endpoints: Sequence[Endpoint], method: str, path: str) -> list[Endpoint]:
    """The endpoints that a request means, by the closest way of spelling it that any has."""
    served = [one for one in endpoints if not method or one.method == method or one.method in _ANY]
    served.sort(key=lambda one: one.method in _ANY)
    plain = plain_route(path)
    exact = [one for one in served if method and one.route == path]
    rows = exact or [one for one in served if plain_route(one.route) == plain]
    if rows:
        return _exact_methods(rows) if method else rows
    rows = [one for one in served if _pattern(one.route).fullmatch(_SLASHES.sub("/", f"/{path.strip('/')}"))]
    fewest = min((len(_PARAMETER.findall(one.route)) for one in rows), default=0)
    return _exact_methods([one for one in rows if len(_PARAMETER.findall(one.route)) == fewest])


def nearest_requests(endpoints: Sequence[Endpoint], method: str, path: str, most: int) -> list[str]:
    """The endpoints that look most like a request: the same path with other methods first."""
    rows = [f"{one.method} {one.route}" for one in matching(endpoints, "", path)] if method else []
    routes = {plain_route(one.route): one for one in endpoints}
    for text in get_close_matches(plain_route(path), routes, n=most, cutoff=0.5):
        rows += [f"{one.method} {one.route}" for one in endpoints if plain_route(one.route) == text]
    return list(dict.fromkeys(rows))[:most]


def _exact_methods(rows: list[Endpoint]) -> list[Endpoint]:
    """Those of the method itself, where there are some; else those of any method."""
    own = [one for one in rows if one.method not in _ANY]
    return own or rows


def plain_route(path: str) -> str:
    """A path with its parameters as `{}`, without a slash at the end."""
    return _SLASHES.sub("/", f"/{_PARAMETER.sub('{}', path).strip('/')}")


def _pattern(route: str) -> re.Pattern[str]:
    """What URLs a route serves, as far as its parameters tell."""
    text, at = "", 0
    trimmed = _SLASHES.sub("/", f"/{route.strip('/')}")
    for match in _PARAMETER.finditer(trimmed):
        text += re.escape(trimmed[at : match.start()])
        text += ".+" if _DEEP.search(match[0]) else "[^/]+"
        at = match.end()
    return re.compile(text + re.escape(trimmed[at:]))
