"""Failures of tests as answers tell them: by cause, each with one example, page by page."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field, ValidationError

from codeplane.answers.output import Output
from codeplane.core.errors import CursorGone
from codeplane.ledger import failure_fingerprint
from codeplane.session import Call
from codeplane.testrun.pages import Pages
from codeplane.testrun.results import Case
from codeplane.testrun.text import shortened

_PAGE = 6_000
_ROOM = 4_500  # for the examples of a page
_LEAST_STACK, _LONGEST_STACK = 400, 1_500
_LONGEST_OUTPUT = 600
_MOST_OUTPUT_LINES = 6
_LONGEST_ERROR = 300
_SHORT_COMMIT = 7
_OUTSIDE = "... outside of the repository ..."  # frames that a reporter has left out
_VARIES = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)


class Failure(Output):
    test: str = Field(description="Id, to send in `tests`.")
    at: str | None = Field(default=None, description="`path:line` that raised, in the repository.")
    error: str = Field(description="Exception type and message.")
    before: str | None = Field(default=None, description="Commit at which it already failed.")
    same_as: str | None = Field(default=None, description="Test that fails with the same cause.")
    alike: int | None = Field(default=None, description="Further tests with this cause.")
    stack: str | None = Field(
        default=None, description="Frames in the repository, and the rest of the message."
    )
    output: str | None = Field(default=None, description="What the test printed.")
    fingerprint: str = Field(description="Equal for the same failure in another run.")

    def lines(self) -> list[str]:
        """The failure with its example, as pytest's summary begins it."""
        more = f", and {self.alike} more" if self.alike else ""
        mark = _commit_mark(self.before) if self.before else ""
        where = f" ({self.at})" if self.at else ""
        text = [f"FAILED {self.test} - {self.error}{where}{more}{mark}"]
        text += [f"    {line}" for line in (self.stack or "").splitlines()]
        return text + [f"    | {line}" for line in (self.output or "").splitlines()]


class Rest(Output):
    """Failures that a page had no room for."""

    failures: tuple[Failure, ...]
    begun: int = 0  # how many were before them

    @classmethod
    def resumed(cls, call: Call, cursor: str) -> "Rest":
        """What a cursor of an earlier answer goes on with."""
        text = Pages(call.repo.state_db).find(cursor)
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise CursorGone(f"There is no cursor {cursor[:40]!r}.") from error

    def kept(self, call: Call) -> str:
        """A cursor for it."""
        return Pages(call.repo.state_db).keep(self.model_dump_json(exclude_none=True))


def failures_by_cause(cases: Sequence[Case], earlier_failures: Mapping[str, str]) -> list[Failure]:
    """One example of each cause, then the others; causes that were there before come last."""
    causes = sorted(_find_causes(cases), key=lambda one: all(case.id in earlier_failures for case in one))
    room = max(_LEAST_STACK, min(_LONGEST_STACK, _ROOM // max(1, len(causes))))
    failures = [_example(cause, earlier_failures, room) for cause in causes]
    return failures + [_other(case, cause[0], earlier_failures) for cause in causes for case in cause[1:]]


def page_of(rest: Rest) -> tuple[list[Failure], Rest | None]:
    """The failures that fit a page, one at least, and what is left."""
    size = 0
    for count, one in enumerate(rest.failures):
        size += sum(len(line) + 1 for line in one.lines()) if one.same_as is None else len(one.test)
        if count and size > _PAGE:
            left = Rest(failures=rest.failures[count:], begun=rest.begun + count)
            return list(rest.failures[:count]), left
    return list(rest.failures), None


def failure_lines(failures: Iterable[Failure]) -> list[str]:
    """The text of a page: examples, then those with the same cause, each file once."""
    lines: list[str] = []
    cause = file = ""
    marks: dict[str, str | None] = {}  # of the examples: those with the same cause are said once
    for one in failures:
        if one.same_as is None:
            lines += one.lines()
            marks[one.test] = one.before
            continue
        if one.same_as != cause:
            cause, file = one.same_as, ""
            lines.append(f"Same cause as {cause}:")
        path, _, name = one.test.partition("::")
        if name and path != file:
            file = path
            lines.append(f"  {path}")
        mark = "" if one.before == marks.get(one.same_as) else _commit_mark(one.before)
        lines.append(f"    {name}{mark}" if name else f"  {one.test}{mark}")
    return lines


def _commit_mark(commit: str | None) -> str:
    return f" [failed before, at {commit}]" if commit else " [new]"


def _find_causes(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """Failures with the same exception that was raised at the same line, or says the same."""
    groups: dict[int, list[Case]] = {}
    owner: dict[tuple[object, ...], int] = {}
    for number, case in enumerate(cases):
        keys = _find_keys(case)
        group = next((owner[key] for key in keys if key in owner), number)
        groups.setdefault(group, []).append(case)
        for key in keys:
            owner.setdefault(key, group)
    yield from groups.values()


def _find_keys(case: Case) -> list[tuple[object, ...]]:
    is_asserted = case.kind in ("", "AssertionError")
    if is_asserted and case.message and case.line and case.path != case.id.partition("::")[0]:
        # Many tests assert by one helper: its line says nothing of what is wrong.
        return [(case.kind, case.path, case.line, case.message)]
    keys: list[tuple[object, ...]] = [(case.kind, case.path, case.line)] if case.line else []
    if case.message and not is_asserted:
        keys.append((case.kind, _VARIES.sub("N", case.message)))
    elif case.message:
        # What an assertion says is often the same by chance.
        keys.append((case.kind, case.path, case.message))
    return keys


def _example(cause: Sequence[Case], earlier_failures: Mapping[str, str], room: int) -> Failure:
    case = cause[0]
    error = _error(case)
    # What `error` says is not said again.
    lines = [line for line in case.stack.splitlines() if line.strip() not in (error, _OUTSIDE)]
    stack = shortened("\n".join(lines), room)
    # Without a stack, what was printed is all that is known of the failure.
    full_output = _last_lines(case.output) if stack else case.output
    output = shortened(full_output, _LONGEST_OUTPUT if stack else _LONGEST_STACK)
    return Failure(
        test=case.id,
        at=_at(case),
        error=error,
        before=_before(case, earlier_failures),
        alike=len(cause) - 1 or None,
        stack=stack or None,
        output=(output or None) if case.output != case.stack else None,
        fingerprint=_compute_fingerprint(case),
    )


def _last_lines(output: str) -> str:
    """The end of what was printed: a stack tells more than the rest."""
    lines = output.splitlines()
    cut = len(lines) - _MOST_OUTPUT_LINES
    return "\n".join([f"… {cut} lines", *lines[cut:]]) if cut > 0 else output


def _other(case: Case, example: Case, earlier_failures: Mapping[str, str]) -> Failure:
    return Failure(
        test=case.id,
        at=_at(case),
        error=shortened(_error(case), _LONGEST_ERROR),
        before=_before(case, earlier_failures),
        same_as=example.id,
        fingerprint=_compute_fingerprint(case),
    )


def _error(case: Case) -> str:
    return ": ".join(filter(None, (case.kind, case.message))) or "failed"


def _at(case: Case) -> str | None:
    return f"{case.path}:{case.line}" if case.line else case.path or None


def _before(case: Case, earlier_failures: Mapping[str, str]) -> str | None:
    return earlier_failures[case.id][:_SHORT_COMMIT] if case.id in earlier_failures else None


def _compute_fingerprint(case: Case) -> str:
    return failure_fingerprint([case.id], case.kind, case.stack or case.message, None)
