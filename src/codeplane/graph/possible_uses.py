"""Uses that may mean a definition, by what stands before the name, and why they are not certain."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import owner_is_silent
from codeplane.graph.places import short
from codeplane.names import Codebase

CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_KEYWORD: Final = "="  # the receiver of a name that a call gives an argument by


class Use(NamedTuple):
    """A place that may mean a definition; `via` is the member of a base that it names."""

    path: RepoPath
    line: int
    receiver: str
    via: Place | None = None


class Possible(NamedTuple):
    """Uses that are open for one reason, by file."""

    receiver: str
    why: str
    files: dict[RepoPath, list[int]]

    @property
    def total(self) -> int:
        return sum(map(len, self.files.values()))


def grouped(snapshot: Codebase, uses: Iterable[Use]) -> list[Possible]:
    """The uses by receiver and reason, most frequent first; files in order of first appearance."""
    groups: dict[tuple[str, str], Possible] = {}
    for use in uses:
        key = (use.receiver, why_open(snapshot, use))
        group = groups.setdefault(key, Possible(*key, {}))
        group.files.setdefault(use.path, []).append(use.line)
    return sorted(groups.values(), key=lambda group: (-group.total, group.receiver))


def why_open(snapshot: Codebase, use: Use) -> str:
    """Why a use is not certain."""
    if use.via is not None:
        relation = "may implement" if owner_is_silent(snapshot, use.via) else "overrides"
        return f"refers to {short(snapshot, use.via)}, which this {relation}"
    if use.receiver == _KEYWORD:
        return "it is a keyword argument, or inside a macro"
    if not use.receiver:
        return "the name is not bound to a definition there"
    if use.receiver.endswith(")"):
        return "the call's return type is unknown"
    return "the receiver's type is unknown"
