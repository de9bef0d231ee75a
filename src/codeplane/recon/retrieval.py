"""All lanes for one task: files in one order, and the rules that hold for them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.recon.candidates import Candidate, Lane, LaneQuery, LaneSources
from codeplane.recon.fusion import RankedFile, fuse
from codeplane.recon.lanes import artifact, episodic, lexical, policy, symbol
from codeplane.search.terms import Terms

_WORD: Final = re.compile(r"\w+")
_RULED: Final = 20  # files that rules are looked up for


@dataclass(frozen=True)
class Retrieval:
    """What the lanes found."""

    files: tuple[RankedFile, ...]
    policies: tuple[Candidate, ...]
    by_lane: Mapping[Lane, tuple[Candidate, ...]]
    terms: Terms = field(compare=False)  # the words of the task as the index knows them

    def top_paths(self, most: int) -> tuple[RepoPath, ...]:
        """The paths of the best files."""
        return tuple(file.path for file in self.files[:most])

    def weigh(self, line: str) -> float:
        """How much of the task a line of text says."""
        return self.terms.weight(self.terms.of(_WORD.findall(line)))


def retrieve(query: LaneQuery, sources: LaneSources, lanes: Collection[Lane] = tuple(Lane)) -> Retrieval:
    """Runs lanes; those about candidate files come last, with what the others found."""
    by_lane: dict[Lane, tuple[Candidate, ...]] = {}
    for lane, find in (
        (Lane.LEXICAL, lexical.find),
        (Lane.SYMBOL, symbol.find),
        (Lane.ARTIFACT, artifact.find),
    ):
        if lane in lanes:
            by_lane[lane] = tuple(find(query, sources))
            sources.check()
    if Lane.EPISODIC in lanes:
        by_lane[Lane.EPISODIC] = tuple(episodic.find(_about(query, fuse(by_lane)), sources))
    files = fuse(by_lane)
    if Lane.POLICY in lanes:
        by_lane[Lane.POLICY] = tuple(policy.find(_about(query, files), sources))
    terms = lexical.task_terms(query, sources)
    return Retrieval(tuple(files), by_lane.get(Lane.POLICY, ()), by_lane, terms)


def _about(query: LaneQuery, files: list[RankedFile]) -> LaneQuery:
    paths = dict.fromkeys([*query.paths, *(file.path for file in files[:_RULED])])
    return replace(query, paths=tuple(paths))
