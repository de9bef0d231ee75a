"""How the deltas of a plan stand: counts, phases, tasks, and why one is not green."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from codeplane.answers.output import Output

_MARKS: Final = {"green": "+", "red": "x", "stale": "!", "pending": "?"}
_MOST_TASKS: Final = 60
_MOST_DETAILS: Final = 8
_MOST_TEXT: Final = 300


class DeltaTask(Output):
    """One task or step with a delta."""

    id: str = Field(description="Its id.")
    title: str = Field(description="Its title.")
    status: str = Field(description="pending, green, red or stale.")
    confidence: str | None = Field(default=None, description="structural, validated or tested.")
    cause: str | None = Field(default=None, description="Why it is stale.")
    problems: list[str] | None = Field(default=None, description="Why it is red, with candidates.")
    notes: list[str] | None = Field(default=None, description="What to know about the change.")
    files: dict[str, str] | None = Field(default=None, description="Lines added and removed, by file.")
    is_already: bool | None = Field(default=None, description="Whether nothing has to be changed.")

    def lines(self) -> Iterator[str]:
        """The task in a line, and below it what is wrong with it."""
        level = f" {self.confidence}" if self.confidence else ""
        files = (
            f"  {', '.join(f'{path} {count}' for path, count in self.files.items())}" if self.files else ""
        )
        already = "  already done" if self.is_already else ""
        yield f"  {_MARKS.get(self.status, '?')} {self.id} {self.title}: {self.status}{level}{files}{already}"
        yield from (f"      {line}" for line in ([self.cause] if self.cause else []))
        for problem in self.problems or ():
            yield from (f"      {line}" for line in problem.splitlines())
        yield from (f"      note: {note}" for note in self.notes or ())


class DeltaPhase(Output):
    """One phase with its tasks."""

    id: str = Field(description="Its id.")
    title: str = Field(description="Its title.")
    tasks: list[DeltaTask] = Field(description="Its tasks, in the order of execution.")
    more: int | None = Field(default=None, description="Tasks beyond those.")
    validators: list[str] | None = Field(default=None, description="Validators that ran.")

    def lines(self) -> Iterator[str]:
        """The phase with its tasks."""
        yield f"{self.id} {self.title}"
        for task in self.tasks:
            yield from task.lines()
        if self.more:
            yield f"  … {self.more} more tasks"
        yield from (f"  {line}" for line in self.validators or ())


def shorten_tasks(tasks: Sequence[DeltaTask]) -> tuple[list[DeltaTask], int]:
    """The tasks that are not green, and green ones as far as there is room; how many are left out.

    A problem that several tasks have, such as a validator that failed for all of them, is told once.
    """
    bad = [task for task in tasks if task.status != "green"][:_MOST_TASKS]
    good = [task for task in tasks if task.status == "green"][: _MOST_TASKS - len(bad)]
    chosen = {task.id for task in (*bad, *good)}
    texts: set[str] = set()
    shorter = [_without_repeats(task, texts) for task in tasks if task.id in chosen]
    return shorter, len(tasks) - len(shorter)


def _without_repeats(task: DeltaTask, texts: set[str]) -> DeltaTask:
    problems = []
    for text in task.problems or ():
        head, _, details = text.partition("\n")
        problems.append(f"{head} (as above)" if details and text in texts else text)
        texts.add(text)
    return task.model_copy(update={"problems": problems or None})


def counts_text(statuses: Iterable[tuple[str, str | None]]) -> str:
    """`14 of 14 green (12 tested, 2 validated)`, and what the others are."""
    pairs = list(statuses)
    if not pairs:
        return "nothing is left to do"
    by_status = Counter(status for status, _ in pairs)
    levels = Counter(level for status, level in pairs if status == "green" and level)
    confidence = (
        f" ({', '.join(f'{count} {level}' for level, count in levels.most_common())})" if levels else ""
    )
    others = "".join(f", {count} {status}" for status, count in by_status.items() if status != "green")
    return f"{by_status['green']} of {len(pairs)} green{confidence}{others}"


def problem_text(problem: Mapping[str, Any]) -> str:
    """A problem with the first of its details, a line each."""
    path, details = problem.get("path"), [str(one) for one in problem.get("details", ())]
    head = f"{path}: {problem['text']}" if path else str(problem["text"])
    more = [f"  … {len(details) - _MOST_DETAILS} more"] if len(details) > _MOST_DETAILS else []
    return "\n".join([head, *(f"  {one[:_MOST_TEXT]}" for one in details[:_MOST_DETAILS]), *more])
