import json
from collections.abc import Sequence

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.tests import concerned
from codeplane.core.paths import RepoPath
from codeplane.graph.tests.by_import import module_of
from codeplane.graph.tests.impact import affected_tests
from codeplane.graph.tests.uncovered import uncovered
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.session.test_selection import changed_paths, discovered, impact_of
from codeplane.tools._parameters import AffectedBy
from codeplane.tools._registry import Effect, Input, tool

_MOST_TESTS = 50
_MOST_FILES = 20
_MOST_SHOWN = 10


class InspectAffectedTestsInput(Input):
    affected_by: AffectedBy = Field(
        default="changes", description="`changes` (what differs from HEAD) or paths."
    )


class InspectAffectedTestsOutput(Output):
    changed: list[str] = Field(description="Files that were queried.")
    confidence: str = Field(description="`complete`, or `partial` with the reasons.")
    tests: list[str] = Field(
        description="`confidence match path → module`, most certain first; `chain:N`: through N imports."
    )
    more: int | None = Field(default=None, description="Tests beyond those.")
    runners: dict[str, int] | None = Field(default=None, description="Affected targets by runner.")
    untested: list[str] | None = Field(default=None, description="Changed files that no test reaches.")
    uncovered: list[str] | None = Field(
        default=None, description="Modules anywhere in the repository that no test imports or has run."
    )
    more_uncovered: int | None = Field(default=None, description="Modules beyond those.")
    nearest: list[str] = Field(default=[], exclude=True, description="The first tests as text.")

    def render(self) -> str:
        count = len(self.tests) + (self.more or 0)
        files = f"{count} test file{'s' if count != 1 else ''}"
        lines = [f"{files} may be affected, {self.confidence}" if self.changed else "nothing has changed"]
        lines += [f"  {one}" for one in self.nearest]
        if count > len(self.nearest):
            lines.append(f"  {count - len(self.nearest)} more")
        if self.untested:
            lines.append(f"no test reaches: {', '.join(self.untested)}")
        if self.uncovered:
            bare = len(self.uncovered) + (self.more_uncovered or 0)
            lines.append(f"modules that no test imports: {bare}")
        return "\n".join(lines)


@tool(Effect.READ, "testing")
def inspect_affected_tests(call: Call, args: InspectAffectedTestsInput) -> InspectAffectedTestsOutput:
    """Lists the tests a change may affect, with reasons and certainty; runs nothing.

    Examples:
    - Of one file: {"affected_by": ["src/a.py"]}
    """
    return call.ask(lambda snapshot: _inspect(call, snapshot, args.affected_by))


def _inspect(call: Call, snapshot: Snapshot, asked: str | list[str]) -> InspectAffectedTestsOutput:
    changes = changed_paths(call, snapshot, asked)
    impact = impact_of(call, snapshot, changes)
    paths = {one.path for one in impact.tests}
    counts: dict[str, int] = {}
    for target in discovered(call, snapshot).targets:
        if any(map(target.runs, paths)):
            counts[target.runner] = counts.get(target.runner, 0) + 1
    # Of files that are not read yet nobody knows what they import.
    is_read = not snapshot.coverage.unread
    coverage_facts = call.repo.learnt if call.is_on_disk else None
    bare = uncovered(snapshot, coverage_facts) if is_read else []
    if impact.tests:
        few = asked[:_MOST_FILES] if isinstance(asked, list) else asked
        call.next_actions.append(f'run_test_targets {{"affected_by": {json.dumps(few)}}}')
        if len(impact.tests) > _MOST_SHOWN:
            call.next_actions.append(f'discover_test_targets {{"affected_by": {json.dumps(few)}}}')
    return InspectAffectedTestsOutput(
        changed=[shown(path) for path in changes[:_MOST_FILES]],
        confidence=impact.told,
        tests=[
            f"{one.told} → {one.module}" if one.distance else one.told for one in impact.tests[:_MOST_TESTS]
        ],
        more=max(0, len(impact.tests) - _MOST_TESTS) or None,
        runners=counts or None,
        untested=(_untested(snapshot, changes) or None) if is_read else None,
        nearest=[concerned(one) for one in impact.tests[:_MOST_SHOWN]],
        uncovered=[shown(path) for path in bare[:_MOST_FILES]] or None,
        more_uncovered=max(0, len(bare) - _MOST_FILES) or None,
    )


def _untested(snapshot: Snapshot, paths: Sequence[RepoPath]) -> list[str]:
    """Changed source that no test leads to."""
    tests = snapshot.tests()
    source = [
        path
        for path in paths
        if path not in tests
        and snapshot.purpose(path) is Purpose.SOURCE
        and module_of(snapshot, path)
        and (facts := snapshot.facts(path))
        and facts.definitions
    ]
    return [shown(path) for path in source[:_MOST_FILES] if not affected_tests(snapshot, [path]).tests]
