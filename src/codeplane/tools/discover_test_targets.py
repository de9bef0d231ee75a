import zlib
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.tests import told_impact
from codeplane.core.errors import CursorGone
from codeplane.core.globs import Globs
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.session.test_selection import Chosen, choose
from codeplane.testrun.target import Target
from codeplane.tools._parameters import AffectedBy
from codeplane.tools._registry import Effect, Input, synonyms, tool

_PAGE = 100


class DiscoverTestTargetsInput(Input):
    paths: Annotated[list[str] | None, synonyms("path", "globs")] = Field(
        default=None, max_length=100, description="Only targets of these globs: `tests/api/`, `*_test.go`."
    )
    affected_by: AffectedBy | None = Field(
        default=None, description="`changes` (what differs from HEAD) or paths: only the tests they affect."
    )
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous answer.")


class _Rest(NamedTuple):
    """What was asked for, a mark of the targets that it gave, and where the next page begins."""

    args: DiscoverTestTargetsInput
    mark: int
    start: int


class DiscoverTestTargetsOutput(Output):
    projects: list[str] | None = Field(default=None, description="`runner root (what shows it)`.")
    targets: list[str] = Field(description="`runner id`, with `seconds` and kind where they are known.")
    total: int = Field(description="Number of targets.")
    impact: str | None = Field(default=None, description="`complete`, or `partial` with the reasons.")
    next_cursor: str | None = Field(default=None, description="Continues the list.")

    def render(self) -> str:
        lines = list(self.projects or ())
        lines.append(f"{self.total} target{'s' if self.total != 1 else ''}")
        if self.impact is not None:
            lines[-1] += f" affected, {self.impact}"
        # Of one runner alone, nobody has to be told at each of its targets.
        runners = {one.partition(" ")[0] for one in self.targets}
        place = None
        for one in self.targets:
            runner, _, name = one.partition(" ")
            directory, _, last = name.rpartition("/")
            if directory != place:
                place = directory
                lines.append(f"{directory or '.'}/")
            lines.append(f"  {last}" if len(runners) == 1 else f"  {last} ({runner})")
        if self.next_cursor:
            lines.append(f'next: discover_test_targets {{"cursor": "{self.next_cursor}"}}')
        return "\n".join(lines)


@tool(Effect.READ, "testing")
def discover_test_targets(call: Call, args: DiscoverTestTargetsInput) -> DiscoverTestTargetsOutput:
    """Lists what can be run as tests: files, packages or classes, each with its runner.

    Use when:
    - you want to know how a repository is tested
    Not for:
    - running tests (run_test_targets)
    Examples:
    - Everything: {}
    - What a change affects: {"affected_by": "changes"}
    """
    return call.ask(lambda snapshot: _discover(call, snapshot, args))


def _discover(call: Call, snapshot: Snapshot, args: DiscoverTestTargetsInput) -> DiscoverTestTargetsOutput:
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    args = args if rest is None else rest.args
    choice = choose(call, snapshot, args.affected_by)
    for note in choice.notes:
        call.warn(note)
    targets: Sequence[Target] = choice.targets
    if args.paths:
        globs = Globs(args.paths)
        targets = [one for one in targets if globs.holds(one.path)]
    mark = zlib.crc32(repr([(one.runner, one.id) for one in targets]).encode())
    if rest is not None and rest.mark != mark:
        raise CursorGone(
            "The targets have changed since this cursor was issued.",
            hints=["Repeat the call without a cursor."],
        )
    start = 0 if rest is None else rest.start
    end = start + _PAGE
    is_more = len(targets) > end
    return DiscoverTestTargetsOutput(
        projects=_render_projects(choice) if not start else None,
        targets=[_render_target(one) for one in targets[start:end]],
        total=len(targets),
        impact=told_impact(choice.impact),
        next_cursor=call.session.cursors.keep(_Rest(args, mark, end)) if is_more else None,
    )


def _render_projects(choice: Chosen) -> list[str]:
    return [f"{one.runner} {one.root or '.'} ({one.evidence})" for one in choice.discovery.projects]


def _render_target(target: Target) -> str:
    cost = f" {target.cost:.1f}s" if target.cost != 1.0 else ""
    return f"{target.runner} {target.id}{cost}{'' if target.kind == 'unit' else f' {target.kind}'}"
