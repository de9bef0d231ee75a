"""Routes, the mounts that lead to them, and how their paths are joined."""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

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


@dataclass
class Collected:
    """What was read of one framework so far."""

    routes: list[Route] = field(default_factory=list)
    mounts: list[Mount] = field(default_factory=list)
    dynamic: dict[RepoPath, int] = field(default_factory=dict)
    # Prefixes that objects are given after they were made; None where one isn't known.
    prefixes: dict[tuple[RepoPath, int], str | None] = field(default_factory=dict)

    # Objects below which routes are served at a path that isn't known.
    pathless: set[tuple[RepoPath, int]] = field(default_factory=set)
    # The site that is being read, where one may be read several times.
    site: tuple[RepoPath, int] | None = None
    _dynamic_sites: set[tuple[RepoPath, int]] = field(default_factory=set)

    def count_dynamic(self, path: RepoPath) -> None:
        """Counts a route or mount of a file once, however often its site is met."""
        if self.site is not None:
            if self.site in self._dynamic_sites:
                return
            self._dynamic_sites.add(self.site)
        self.dynamic[path] = self.dynamic.get(path, 0) + 1


def joined_route(prefix: str, text: str) -> str:
    """A path behind its prefixes, as frameworks join them: each brings its own slash."""
    route = f"{prefix}{text}"
    while "//" in route:
        route = route.replace("//", "/")
    return route if route.startswith("/") else f"/{route}"


def joined_parts(*parts: str) -> str:
    """Parts of a path with one slash between them, whether they bring one or not."""
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))


_NAMED_GROUP: Final = re.compile(r"\(\?P<(\w+)>")


def spelled_pattern(pattern: str) -> str:
    """A regular expression as a path: groups by their names, anchors and escapes away."""
    text, path, at = pattern.replace("\\A", "^").replace("\\Z", "$"), "", 0
    while at < len(text):
        if text[at] == "(":
            end = _group_end(text, at)
            group = _NAMED_GROUP.match(text, at)
            if group:
                path += f"<{group[1]}>"
            elif not text.startswith("(?", at):
                path += "<var>"
            elif text.startswith("(?:", at):
                path += spelled_pattern(text[at + 3 : end - 1])
            at = end
        elif text[at] == "\\" and at + 1 < len(text):
            path, at = path + text[at + 1], at + 2
        else:
            path += "" if text[at] in "^$?" else text[at]
            at += 1
    return path


def _group_end(text: str, start: int) -> int:
    """The end of a group with its parentheses; those in character classes and escapes don't count."""
    depth, at, in_class = 0, start, False
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)
