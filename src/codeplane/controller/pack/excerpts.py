"""Spans of files that a pack shows: chosen from ranked files, read in one snapshot."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from codeplane.controller.pack.sections import Anchor, PolicyEntry
from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.core.text import lines_of, numbered
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.candidates import Candidate, Lane
from codeplane.recon.fusion import RankedFile

MOST_FILES: Final = 10
_MOST_POLICIES: Final = 8
_SPANS_OF_THE_FIRST: Final = 2
_FIRST: Final = 4  # files that may have a second span
_EXCERPT_LINES: Final = 24
_POLICY_LINES: Final = 12
_FEW_LINES: Final = 6
_LONGEST_WHY: Final = 160
_STANDS_OUT: Final = 0.3  # of the best score; a file below is listed without its text
_LIKELY: Final = 0.1  # of the best score; a file below is not listed
_MOST_EXCERPTS: Final = 6

Weigh = Callable[[str], float]
"""How much a line says about the task."""


def choose_files(snapshot: Snapshot, files: Sequence[RankedFile]) -> list[RankedFile]:
    """The files to show: source first; others where the task names them or nothing else was found."""
    best = max((file.score for file in files), default=0.0)
    likely = [file for file in files if file.score >= _LIKELY * best]
    source = [file for file in likely if snapshot.purpose(file.path) is Purpose.SOURCE]
    mentions = [file for file in files if Lane.ARTIFACT in file.lanes and file not in source]
    selection = [*source, *mentions] or likely
    order = {file.path: rank for rank, file in enumerate(files)}
    return sorted(selection[:MOST_FILES], key=lambda file: order[file.path])


def anchors_of(snapshot: Snapshot, files: Sequence[RankedFile], weigh: Weigh) -> Iterator[Anchor]:
    """The spans of ranked files; those of files that stand out come with their text."""
    best = max((file.score for file in files), default=0.0)
    excerpts = 0
    for rank, file in enumerate(files):
        is_shown = file.score >= _STANDS_OUT * best and excerpts < _MOST_EXCERPTS
        for candidate in _spans_of(file, _SPANS_OF_THE_FIRST if rank < _FIRST else 1):
            anchor = anchor_at(snapshot, candidate, file, weigh)
            if anchor is not None:
                excerpts += is_shown
                yield anchor if is_shown else anchor.model_copy(update={"text": ""})


def _spans_of(file: RankedFile, most: int) -> list[Candidate]:
    """The best candidates that don't overlap: definitions, else lines, else the whole file."""
    definitions = [one for one in file.candidates if one.symbol and one.first_line]
    spans: list[Candidate] = []
    for candidate in definitions or file.candidates:
        if len(spans) < most and not _overlaps(candidate, spans):
            spans.append(candidate)
    return [one for one in spans if one.first_line] or spans[:1]


def anchor_at(snapshot: Snapshot, candidate: Candidate, file: RankedFile, weigh: Weigh) -> Anchor | None:
    """A candidate with the lines that say most about the task; None for what is no text."""
    excerpt = _read_lines(snapshot, candidate, _EXCERPT_LINES, weigh)
    fact = snapshot.file(candidate.path)
    if excerpt is None or fact is None:
        return None
    first, last, text = excerpt
    others = [why for lane, why in file.reasons.items() if lane is not candidate.lane]
    return Anchor(
        path=shown(candidate.path),
        first_line=first,
        last_line=last,
        symbol=shown(candidate.symbol),
        lanes=[lane.value for lane in file.lanes],
        why="; ".join([candidate.why, *others[:1]])[:_LONGEST_WHY],
        digest=fact.digest,
        text=text,
    )


def policies_of(snapshot: Snapshot, candidates: Sequence[Candidate]) -> Iterator[PolicyEntry]:
    """Rules with their lines; one that is in no file of the repository is what its reason says."""
    for candidate in candidates[:_MOST_POLICIES]:
        excerpt = (
            _read_lines(snapshot, candidate, _POLICY_LINES, lambda _: 0.0) if candidate.first_line else None
        )
        first, last, text = excerpt or (candidate.first_line, candidate.last_line, "")
        file = snapshot.file(candidate.path)
        yield PolicyEntry(
            source=shown(candidate.path),
            first_line=first,
            last_line=last,
            why=candidate.why[:_LONGEST_WHY],
            digest=file.digest if file is not None else "",
            text=text,
        )


def _overlaps(candidate: Candidate, spans: Sequence[Candidate]) -> bool:
    return any(
        candidate.first_line <= one.last_line and one.first_line <= candidate.last_line for one in spans
    )


def _read_lines(
    snapshot: Snapshot, candidate: Candidate, most: int, weigh: Weigh
) -> tuple[int, int, str] | None:
    """Lines of a span that is there, behind their numbers; of a long one, those that weigh most."""
    try:
        data = snapshot.source(RepoPath(candidate.path))
    except (NotFound, PathRefused):
        return None
    lines = lines_of(data)
    first = max(1, candidate.first_line)
    if b"\0" in data or first > len(lines):
        return None
    last = min(candidate.last_line or len(lines), len(lines))
    start = first + _best_window(lines[first - 1 : last], most, weigh)
    end = min(last, start + most - 1)
    # A few lines more are better than a function without its head or its end.
    start = first if start - first <= _FEW_LINES else start
    end = last if last - end <= _FEW_LINES else end
    return start, end, numbered(lines[start - 1 : end], start)


def _best_window(lines: Sequence[str], size: int, weigh: Weigh) -> int:
    """Where the window of so many lines begins that weighs most; the first of equals."""
    weights = [weigh(line) for line in lines]
    last_start = max(0, len(lines) - size)
    return max(range(last_start + 1), key=lambda start: (sum(weights[start : start + size]), -start))
