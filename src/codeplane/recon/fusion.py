"""One order of files from the candidates of several lanes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.recon.candidates import Candidate, Lane

WEIGHTS: Final[Mapping[Lane, float]] = {
    Lane.LEXICAL: 4.0,
    Lane.SYMBOL: 2.0,
    Lane.ARTIFACT: 4.0,
    Lane.EPISODIC: 1.0,
    Lane.POLICY: 0.5,
}
"""What the best candidate of each lane counts for."""

# What the second and the third candidate of a file count for beside its first.
_FURTHER: Final = (1.0, 0.3, 0.15)
_DIGITS: Final = 6


@dataclass(frozen=True)
class RankedFile:
    """A file with the candidates that lead to it, the best first, and what they come to."""

    path: RepoPath
    score: float
    candidates: tuple[Candidate, ...]

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes that found it."""
        return tuple(dict.fromkeys(one.lane for one in self.candidates))

    @property
    def reasons(self) -> dict[Lane, str]:
        """Why each of the lanes found it, by its best candidate."""
        reasons: dict[Lane, str] = {}
        for one in self.candidates:
            reasons.setdefault(one.lane, one.why)
        return reasons


def fuse(
    by_lane: Mapping[Lane, Sequence[Candidate]], weights: Mapping[Lane, float] = WEIGHTS
) -> list[RankedFile]:
    """Files by the sum over lanes, each scaled to its best file: a lane without candidates takes nothing.

    Reciprocal ranks would lose how far a lane's first candidate is ahead of its second.
    """
    totals: dict[RepoPath, float] = {}
    parts: dict[RepoPath, list[tuple[float, Candidate]]] = {}
    for lane in Lane:
        scores = _file_scores(by_lane.get(lane, ()))
        best = max(scores.values(), default=0.0)
        for path, score in scores.items():
            totals[path] = totals.get(path, 0.0) + weights.get(lane, 0.0) * score / best
        top = max((one.score for one in by_lane.get(lane, ())), default=0.0)
        for one in by_lane.get(lane, ()):
            parts.setdefault(one.path, []).append((weights.get(lane, 0.0) * one.score / top, one))
    files = [
        RankedFile(path, round(total, _DIGITS), tuple(_in_order(parts[path])))
        for path, total in totals.items()
    ]
    return sorted(files, key=lambda file: (-file.score, file.path))


def _file_scores(candidates: Iterable[Candidate]) -> dict[RepoPath, float]:
    """What the best candidates of each file come to."""
    scores: dict[RepoPath, list[float]] = {}
    for one in candidates:
        scores.setdefault(one.path, []).append(one.score)
    return {
        path: sum(score * share for score, share in zip(sorted(some, reverse=True), _FURTHER, strict=False))
        for path, some in scores.items()
    }


def _in_order(parts: Sequence[tuple[float, Candidate]]) -> list[Candidate]:
    order = sorted(parts, key=lambda part: (-part[0], part[1].first_line, part[1].lane, part[1].symbol))
    return [candidate for _, candidate in order]
