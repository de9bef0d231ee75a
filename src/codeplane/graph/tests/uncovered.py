"""Source that no test imports, and that none is known to have run."""

from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import links_of
from codeplane.graph.tests.by_coverage import Learnt
from codeplane.graph.tests.by_import import module_of
from codeplane.index import Purpose
from codeplane.names import Snapshot


def uncovered(snapshot: Snapshot, learnt: Learnt | None = None) -> list[RepoPath]:
    """The modules with definitions that tests, and what is for tests, import neither themselves nor through a
    package around them, in order of path."""
    links, purpose = links_of(snapshot), snapshot.purpose
    tests = {path for path in links.imports if purpose(path) is Purpose.TEST} | snapshot.tests()
    targets = {target for test in tests for target in links.imports.get(test, ())}
    for test in tests:
        targets |= links.around.get(test, frozenset())
    for package in list(targets):
        inside = f"{module_of(snapshot, RepoPath(package))}."
        targets |= {
            one
            for one in links.imports.get(package, ())
            if module_of(snapshot, RepoPath(one)).startswith(inside)
        }
    if learnt is not None:
        targets |= {learnt.shapes[at].path for one in learnt.tests.values() for at in one.blocks}
    return [
        path
        for path in snapshot.layout.ordered
        if path not in targets
        and path not in tests
        and purpose(path) is Purpose.SOURCE
        and module_of(snapshot, path)
        and (facts := snapshot.facts(path)) is not None
        and len(facts.definitions)
    ]
