"""Parameters of tools that walk over calls."""

from typing import Annotated

from pydantic import Field

from codeplane.answers.pages import clamped
from codeplane.core.proof import Tier
from codeplane.graph.calls import PROVED, Bounds
from codeplane.session import Call
from codeplane.tools._parameters import SymbolName
from codeplane.tools._registry import Input, synonyms
from codeplane.tools._schema import UNLISTED

MOST_DEPTH = 6


MOST_PER_LEVEL = 500


class WalkInput(Input):
    """Where a walk over calls begins and how far it goes."""

    symbol: SymbolName
    depth: Annotated[int, synonyms("max_depth")] = Field(default=1, description="Levels, up to 6.")
    limit_per_level: Annotated[int, synonyms("limit")] = Field(
        default=50, description="Most definitions at each level, up to 500.", json_schema_extra=UNLISTED
    )
    tiers: list[Tier] | None = Field(
        default=None, description="Edges to follow: proven and strong.", json_schema_extra=UNLISTED
    )


def bounds_of(call: Call, args: WalkInput, *, follow_interface: bool = False) -> Bounds:
    """What was asked for, within what there may be."""
    return Bounds(
        clamped(call, "depth", args.depth, MOST_DEPTH),
        clamped(call, "limit_per_level", args.limit_per_level, MOST_PER_LEVEL),
        tuple(args.tiers) if args.tiers else PROVED,
        follow_interface,
    )
