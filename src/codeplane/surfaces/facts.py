"""Registrations, middleware, exceptions, log messages and retries of a state of the code."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier

FactKind = Literal["di", "middleware", "exception", "log", "retry"]
KINDS: Final[tuple[FactKind, ...]] = get_args(FactKind)
REVERSED: Final = -1  # the position of what is wrapped around all before it, until its place is known


@dataclass(frozen=True)
class Fact:
    """One fact and the place that says it."""

    kind: FactKind
    name: str  # the service, middleware, class, template or what is tried again
    path: RepoPath
    line: int
    framework: str
    pattern: str  # what says it, by its full name
    detail: str = ""  # lifetime, level, limits
    target: str = ""  # what is behind the name
    symbol: Place | None = None  # the definition around
    definition: Place | None = None  # what the name or the target is in the repository
    tier: Tier = Tier.STRONG
    is_conditional: bool = False
    position: int = 0  # of middleware, in the order in which it runs
    start: int = 0  # the byte that it begins with
    pipeline: str = ""  # what middleware is put on: the place and the object


@dataclass
class FactSurface:
    """The facts of one kind, and where there are some that nobody can name."""

    facts: list[Fact] = field(default_factory=list)
    dynamic: dict[RepoPath, int] = field(default_factory=dict)
    is_cut: bool = False

    def count_dynamic(self, path: RepoPath) -> None:
        """Notes a fact whose name is only known at run time."""
        self.dynamic[path] = self.dynamic.get(path, 0) + 1

    def sort(self) -> None:
        """By file and position in it."""
        self.facts = sorted(dict.fromkeys(self.facts), key=_order)


def _order(fact: Fact) -> tuple[str, int, int, str]:
    return fact.path, fact.line, fact.start, fact.name


def facts_by_place(facts: Iterable[Fact]) -> dict[Place, list[Fact]]:
    """Facts by the definition that they are in."""
    table: dict[Place, list[Fact]] = {}
    for fact in facts:
        if fact.symbol is not None:
            table.setdefault(fact.symbol, []).append(fact)
    return table
