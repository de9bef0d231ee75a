"""Files that earlier changes of the same kind touched, and files that memories are about."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.recon.candidates import (
    Candidate,
    Lane,
    LaneQuery,
    LaneSources,
    MemoryNote,
    PastChange,
    best_candidates,
    paths_within,
)
from codeplane.search.ranking import change_weight
from codeplane.search.terms import content_words, stem

_MOST_CHANGES: Final = 40
_MOST_FILES: Final = 20  # of a change; one that touches more is about none of them
_LONGEST_SUBJECT: Final = 60
_MEMORY: Final = 0.5
_SAME_FILE: Final = 0.1  # what a change of a candidate counts for where its words say nothing


def find(query: LaneQuery, sources: LaneSources) -> list[Candidate]:
    """Files of the changes whose words are most like the task's, then candidates that memories are about."""
    candidates = list(_by_memory(sources.memories(query.paths), query.paths))
    changes = [one for one in sources.past_changes() if 0 < len(one.paths) <= _MOST_FILES]
    candidates += _by_changes(query, sources, changes)
    return best_candidates(candidates, query.limit)


def _by_changes(query: LaneQuery, sources: LaneSources, changes: Sequence[PastChange]) -> Iterator[Candidate]:
    words = [_stems(change.text) for change in changes]
    frequency = Counter(word for some in words for word in some)
    task_words = _stems(f"{query.title}\n{query.prompt}")
    weights = {word: math.log(1 + len(changes) / frequency[word]) for word in task_words if word in frequency}
    likeness = [
        (sum(weights.get(word, 0.0) for word in some) / (1 + len(some)) ** 0.5, number)
        for number, some in enumerate(words)
    ]
    best = max(likeness, default=(0.0, 0))[0]
    scores: dict[str, float] = {}
    reasons: dict[str, PastChange] = {}
    for score, number in sorted(likeness, key=lambda pair: (-pair[0], pair[1]))[:_MOST_CHANGES]:
        change = changes[number]
        for path in change.paths:
            if score > 0 and sources.snapshot.exists(path):
                share = (score / best) ** 2 / len(change.paths) ** 0.5
                scores[path] = scores.get(path, 0.0) + share * change_weight(sources.snapshot, path)
                reasons.setdefault(path, change)
    for path in set(query.paths) - scores.keys():
        change_of_path = next((change for change in changes if path in change.paths), None)
        if change_of_path is not None:
            scores[path], reasons[path] = _SAME_FILE, change_of_path
    for path, score in scores.items():
        change = reasons[path]
        subject = change.text.partition("\n")[0][:_LONGEST_SUBJECT]
        why = f"changed by {change.name} {shown(subject)}".rstrip()
        yield Candidate(Lane.EPISODIC, RepoPath(path), 0, 0, "", score, why)


def _by_memory(notes: Sequence[MemoryNote], paths: Sequence[RepoPath]) -> Iterator[Candidate]:
    for note in notes:
        for path in paths_within(paths, note.anchors) if note.anchors else ():
            why = f"{note.memory_id}: {shown(note.text[:_LONGEST_SUBJECT])}"
            yield Candidate(Lane.EPISODIC, path, 0, 0, "", _MEMORY, why)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text)[0] if len(word) > 1 and not word.isdigit())
