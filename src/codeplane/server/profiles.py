"""Which tools an endpoint offers. The list of an endpoint never varies from one connection to another."""

from collections.abc import Mapping
from dataclasses import dataclass

from codeplane.core.errors import InvalidArgument
from codeplane.core.suggest import nearest
from codeplane.tools import Effect, Tool

STANDARD = "standard"


@dataclass(frozen=True)
class Profile:
    """A named set of tools and the path that it is served at."""

    name: str
    path: str
    tools: Mapping[str, Tool]


def profiles(tools: Mapping[str, Tool]) -> dict[str, Profile]:
    """The profiles that have a tool; an empty one is not offered."""
    made = (
        Profile(STANDARD, "/mcp", {n: t for n, t in tools.items() if t.standard}),
        Profile("full", "/mcp/full", dict(tools)),
        Profile("read", "/mcp/read", {n: t for n, t in tools.items() if t.effect is Effect.READ}),
    )
    return {profile.name: profile for profile in made if profile.tools}


def choose(name: str, offered: Mapping[str, Profile]) -> Profile:
    profile = offered.get(name)
    if profile is None:
        near = nearest(name, offered, most=1)
        raise InvalidArgument(
            f"There is no profile {name!r}" + (f"; did you mean {near[0]!r}?" if near else "."),
            profiles=sorted(offered),
        )
    return profile
