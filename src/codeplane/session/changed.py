"""Which lines differ from a commit, and which definitions they are in."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.graph.impact import Definitions
from codeplane.index import Snapshot
from codeplane.session.call import Call
from codeplane.truth.comparison import Comparison, changes

Lines = Sequence[tuple[int, int]]
"""First lines, and those behind the last; the same where lines are gone behind that one."""

_HEADER: Final = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_MOST_FILES: Final = 50
_MOST_LINES: Final = 2_000


def changed_lines(
    call: Call, base: str, is_wanted: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[RepoPath, Lines | None]]:
    """The lines of each file that git knows and that differ from a commit; None for all of a new one."""
    tree, repository = call.repo.tree, call.repo.checkout.repository
    with repository.opened() as handle:
        patch = Comparison(tree, handle, context=0).patch
        for one in changes(tree, handle, base, None, staged=False):
            call.check()
            if one.new is not None and not one.is_submodule and is_wanted(one.path):
                yield RepoPath(one.path), None if one.old is None else _ranges(patch(one).hunks)


def _ranges(hunks: Sequence[str]) -> Lines:
    headers = [match for hunk in hunks if (match := _HEADER.match(hunk))]
    counted = [(int(one[1]), int(one[2]) if one[2] is not None else 1) for one in headers]
    return [(first, first + count) for first, count in counted]


def changed_since_head(call: Call, snapshot: Snapshot, paths: Collection[RepoPath]) -> Definitions:
    """The definitions of some files with lines that differ from HEAD: the innermost of each line."""
    if not paths or call.repo.checkout.repository.head().commit is None:
        return {}
    wanted = frozenset(paths)
    found: dict[RepoPath, set[int]] = {}
    for path, lines in islice(changed_lines(call, "HEAD", wanted.__contains__), _MOST_FILES):
        if lines is not None and (numbers := _around(snapshot, path, lines)):
            found[path] = numbers
    return found


def _around(snapshot: Snapshot, path: RepoPath, lines: Lines) -> set[int]:
    facts = snapshot.linker.sources.facts(path)
    spans = (
        [(one.span.start_line, one.span.end_line, at) for at, one in enumerate(facts.definitions)]
        if facts is not None
        else []
    )
    every = (line for first, end in lines for line in range(first, max(end, first + 1)))
    inner = (
        max((span for span in spans if span[0] <= line <= span[1]), default=None)
        for line in islice(every, _MOST_LINES)
    )
    return {span[2] for span in inner if span is not None}
