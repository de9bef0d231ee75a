"""Routes, the mounts that lead to them, and how their paths are joined."""

from dataclasses import dataclass
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.surfaces.values import Thing


class Step(NamedTuple):
    """One mount on the way to a route."""

    path: RepoPath
    line: int
    prefix: str


@dataclass(frozen=True)
class Endpoint:
    """One method and path that the repository serves, and what handles it."""

    method: str
    route: str
    path: RepoPath
    line: int
    framework: str
    tier: Tier
    handler: Place | None = None
    handler_line: int = 0
    chain: tuple[Step, ...] = ()
    mounted: str = "always"  # or `conditional`, or `never seen`


@dataclass(frozen=True)
class Surface:
    """The endpoints of a state, and where there are routes whose path can't be worked out."""

    endpoints: tuple[Endpoint, ...]
    dynamic: dict[RepoPath, int]


class Route(NamedTuple):
    """A route as it is written on an object, without the prefixes that lead there."""

    owner: Thing
    type_name: str
    methods: tuple[str, ...]
    text: str
    path: RepoPath
    line: int
    handler: Place | None
    handler_line: int
    is_conditional: bool


class Mount(NamedTuple):
    """An object below another."""

    parent: Thing
    parent_type: str
    child: Thing
    prefix: str
    overrides: bool
    step: Step
    is_conditional: bool


def joined_route(prefix: str, text: str) -> str:
    """A path behind its prefixes, as frameworks join them: each brings its own slash."""
    route = f"{prefix}{text}"
    while "//" in route:
        route = route.replace("//", "/")
    return route if route.startswith("/") else f"/{route}"


def joined_parts(*parts: str) -> str:
    """Parts of a path with one slash between them, whether they bring one or not."""
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))
