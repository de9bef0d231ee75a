from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.session.call import StepResult
from codeplane.tools._registry import Effect, Input, synonyms, tool

# The steps have limits of their own; test runs are the longest.
_LONGEST_SEC = 90_000.0
MOST_CALLS = 20


class BatchCall(Input):
    tool: Annotated[str, synonyms("name", "tool_name")] = Field(max_length=100, description="Tool.")
    args: Annotated[dict[str, Any], synonyms("arguments", "input", "params", "parameters")] = Field(
        default={}, description="Its arguments."
    )


class BatchInput(Input):
    calls: Annotated[list[BatchCall], synonyms("steps", "tools", "requests")] = Field(
        min_length=1, max_length=MOST_CALLS, description="In order, up to 20."
    )


class BatchAnswer(Output):
    tool: str = Field(description="Tool.")
    body: dict[str, Any] = Field(description="`result` or `error` of the call, with its warnings.")
    text: str = Field(description="The answer as text.")


class BatchOutput(Output):
    answers: list[BatchAnswer] = Field(description="One answer for each call made.")
    not_run: list[str] | None = Field(default=None, description="Tools after the call that failed.")

    def render(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for answer in self.answers:
            yield f"== {answer.tool}"
            yield answer.text
        if self.not_run:
            yield f"stopped here; not run: {', '.join(self.not_run)}"


@tool(Effect.WRITE, "introspection", standard=True, timeout_sec=_LONGEST_SEC, reads_state=True)
def batch(call: Call, args: BatchInput) -> BatchOutput:
    """Runs several calls in order, up to the first failed change, failing test or open decision.

    Use when:
    - the next calls need none of each other's answers (several reads; edit, edit, test, commit): never one
      by one
    Examples:
    - Rename, test, commit: {"calls": [{"tool": "refactor_rename", "args": {"symbol": "app.load", "new_name":
      "read"}}, {"tool": "run_test_targets", "args": {"affected_by": "changes"}}, {"tool":
      "git_stage_and_commit", "args": {"message": "Rename load"}}]}
    """
    answers: list[BatchAnswer] = []
    reads_only = False  # since a read failed, which concerns no other read
    for number, one in enumerate(args.calls, 1):
        call.check()
        step = call.run_step(one.tool, one.args, reads_only)
        if step is None:
            return BatchOutput(answers=answers, not_run=_names(args.calls[number - 1 :]))
        if step.error is not None and not answers and (len(args.calls) == 1 or not step.is_read):
            raise step.error
        answers.append(_answer(step))
        if not step.is_done and not step.is_read:
            return BatchOutput(answers=answers, not_run=_names(args.calls[number:]) or None)
        reads_only |= not step.is_done
    return BatchOutput(answers=answers)


def _names(calls: Sequence[BatchCall]) -> list[str]:
    return [one.tool for one in calls]


def _answer(step: StepResult) -> BatchAnswer:
    return BatchAnswer(tool=step.tool, body=step.body, text=step.text)
