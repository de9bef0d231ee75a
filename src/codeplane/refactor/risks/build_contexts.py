"""The definitions are in several build contexts, or in one that could not be read."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.refactor.occurrences.build_contexts import defined_in
from codeplane.refactor.plan import DIVERGENCE, Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, risk


@risk(kinds=(DIVERGENCE, "insufficient_context"), subject="rename", order=200)
def find(question: Question) -> Iterator[Problem]:
    """Definitions that keep one name in contexts that are not one."""
    yield from _divergence(question.snapshot, question.names)


def _divergence(snapshot: Snapshot, rename_set: RenameSet) -> Iterator[Problem]:
    """Definitions that are one thing and in contexts that are not, and contexts that could not be read."""
    paths = defined_in(rename_set)
    units = sorted({snapshot.unit_of(path) for path in paths})
    if len(units) > 1:
        text = f"What keeps the name together is in several build contexts: {', '.join(units)}."
        yield Problem(DIVERGENCE, text, RepoPath(paths[0]))
    for path in paths:
        facts = snapshot.facts(path)
        group = facts.spec.family if facts is not None else ""
        for one in snapshot.units.probed.contexts:
            is_around = not one.root_path or path.startswith(f"{one.root_path}/")
            if one.family == group and is_around and one.probe_status == "failed":
                text = f"The build context {one.unit} could not be read: {one.reason}."
                yield Problem("insufficient_context", text, RepoPath(path))
                return
