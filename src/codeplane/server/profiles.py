"""Which tools an endpoint offers. The list of an endpoint never varies from one connection to another."""

from collections.abc import Mapping
from dataclasses import dataclass

from codeplane.server.transport.link import PROFILE_NAMES
from codeplane.tools import Effect, Tool


@dataclass(frozen=True)
class Profile:
    """A named set of tools and the path that it is served at."""

    name: str
    path: str
    tools: Mapping[str, Tool]


def profiles(tools: Mapping[str, Tool]) -> dict[str, Profile]:
    """The profiles that have a tool; an empty one is not offered."""
    standard, full, read = PROFILE_NAMES
    result = (
        Profile(standard, "/mcp", {n: t for n, t in tools.items() if t.standard}),
        Profile(full, "/mcp/full", dict(tools)),
        Profile(read, "/mcp/read", {n: t for n, t in tools.items() if t.effect is Effect.READ}),
    )
    return {profile.name: profile for profile in result if profile.tools}
