"""What shows whether a change works: tests that reach the anchors, linters that read them."""

from collections.abc import Sequence
from typing import Final

from codeplane.controller.pack.sections import ValidationSection
from codeplane.core.paths import RepoPath
from codeplane.graph.tests.impact import Known, affected_tests
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.fusion import RankedFile
from codeplane.recon.retrieval import Retrieval

_MOST_TESTS: Final = 8
_MOST_RANKED: Final = 15
_MOST_FILES: Final = 3  # whose tests are looked for


def validation_section(
    snapshot: Snapshot, answer: Retrieval, files: Sequence[RankedFile]
) -> ValidationSection:
    """The tests of the first anchors, those that reach their definitions first, then those about the task."""
    source = [file for file in files if snapshot.purpose(file.path) is not Purpose.TEST][:_MOST_FILES]
    knowledge = Known({file.path: _definitions_of(snapshot, file) for file in source})
    impact = affected_tests(snapshot, [file.path for file in source], knowledge)
    ranks = {file.path: rank for rank, file in enumerate(answer.files)}
    sure = [one for one in impact.tests if one.confidence == "high"]
    order = sorted(sure or impact.tests, key=lambda one: (ranks.get(one.path, len(ranks)), not one.reaches))
    reaching = [one.path for one in order]
    about = _tests_about(snapshot, answer)
    tests = dict.fromkeys([*reaching, *about] if sure else [*about, *reaching])
    linters = [one.symbol for one in answer.policies if " checks" in one.why]
    return ValidationSection(
        tests=[shown(path) for path in tests][:_MOST_TESTS],
        linters=sorted(dict.fromkeys(linters)),
        confidence="high" if sure else "low" if tests else "none",
    )


def _tests_about(snapshot: Snapshot, answer: Retrieval) -> list[RepoPath]:
    """Test files that the lanes take for part of the task: where imports say nothing, their words do."""
    tests = snapshot.tests()
    return [path for path in answer.top_paths(_MOST_RANKED) if path in tests]


def _definitions_of(snapshot: Snapshot, file: RankedFile) -> list[int]:
    """The numbers of the definitions that the candidates of a file are."""
    lines = {(one.first_line, one.symbol.rpartition(".")[2]) for one in file.candidates if one.symbol}
    facts = snapshot.facts(RepoPath(file.path))
    items = enumerate(facts.definitions) if facts is not None else ()
    return [number for number, item in items if (item.span.start_line, item.name) in lines]
