"""What a name can turn out to mean."""

from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier

Target = tuple[Place, ...]
"""The places that one thing is: one for a definition or a file, several for a package or a reopened class."""

UNRESOLVED: Final[Target] = ()
AMBIGUOUS: Final[Target] = (Place(RepoPath(""), -2),)
"""Something is there, and what it is cannot be said: looking further would be a guess."""

STRUCTURE: Final = "structure"
"""The evidence of meanings that follow from the structure of the code."""

_EXTERNAL: Final = -3
_SURE: Final = (Tier.PROVEN, Tier.STRONG)


def known(target: Target) -> Target:
    """The target where it is one that can be relied on."""
    return UNRESOLVED if target == AMBIGUOUS else target


def external(text: str) -> Target:
    """Something outside the repository; equal texts are the same thing."""
    return (Place(RepoPath(text), _EXTERNAL),)


def is_external(target: Target) -> bool:
    return target[0].definition == _EXTERNAL


class Meaning(NamedTuple):
    """The definition or module that an occurrence means; nothing for a local variable or an open question."""

    tier: Tier
    target: Target
    evidence: str = STRUCTURE  # what says so: the source of meanings that has answered

    @property
    def is_sure(self) -> bool:
        """Whether no other source has to be asked."""
        return self.tier in _SURE


class Value(NamedTuple):
    """What an expression before a member stands for: the target itself, or an instance of it."""

    target: Target
    is_instance: bool = False
    # Whether the instance may be one of a class derived from the target.
    is_declared: bool = False
    # Whether it may be known as an instance of a base alone.
    is_bound: bool = False


NO_VALUE: Final = Value(UNRESOLVED)
