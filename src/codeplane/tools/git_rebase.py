import json
import re
from enum import StrEnum
from typing import Annotated, Any

import pygit2
from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.text import delta_lines
from codeplane.answers.output import Output
from codeplane.core.errors import InvalidArgument
from codeplane.git.history.commit_info import info_of
from codeplane.git.merge.rebase import abort_rebase, continue_rebase, plan_rebase, skip_commit, start_rebase
from codeplane.git.merge.rebase_todo import VERBS, Step, Verb
from codeplane.git.merge.replay import RebaseOutcome
from codeplane.git.merge.resume import Resolution
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.pathspec import Selection
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.operation.git import change, tree_reader
from codeplane.tools._registry import Effect, Input, synonyms, tool

MOST_STEPS = 500
_SHORT = 10
_OID = re.compile("[0-9a-f]{40}")


class RebaseAction(StrEnum):
    PLAN = "plan"
    START = "start"
    CONTINUE = "continue"
    SKIP = "skip"
    ABORT = "abort"


def _or_a_line(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string"}, whole]


class RebaseStep(Input):
    model_config = ConfigDict(json_schema_extra=_or_a_line)

    action: Annotated[Verb, synonyms("verb", "command")] = Field(
        default=Verb.PICK, description="What to do with the commit."
    )
    commit: Annotated[str, synonyms("commit_sha", "sha", "oid", "ref")] = Field(
        max_length=250, description="Commit."
    )
    message: str | None = Field(default=None, max_length=20_000, description="For reword, squash and fixup.")

    @model_validator(mode="before")
    @classmethod
    def _of_a_line(cls, value: Any) -> Any:
        """A line of a plan, as `git rebase --interactive` has it: `fixup 1a2b3c4d the subject`."""
        if not isinstance(value, str):
            return value
        verb, commit, *_ = [*value.split(maxsplit=2), "", ""]
        return {"action": VERBS.get(verb, verb), "commit": commit} if commit else value


def _lines(value: Any) -> Any:
    """A whole plan may be one text."""
    if not isinstance(value, list):
        return value
    split = (one.splitlines() if isinstance(one, str) else [one] for one in value)
    steps = [step for some in split for step in some]
    return [step for step in steps if not isinstance(step, str) or (step.strip() and step.strip()[0] != "#")]


class GitRebaseInput(Input):
    action: RebaseAction = Field(default=RebaseAction.START, description="What to do.")
    upstream: Annotated[str | None, synonyms("target", "ref", "branch", "base")] = Field(
        default=None,
        max_length=250,
        description="The commits it lacks are rebased. Default: what the branch tracks.",
    )
    onto: str | None = Field(default=None, max_length=250, description="Put them here, not on upstream.")
    steps: Annotated[list[RebaseStep] | None, BeforeValidator(_lines), synonyms("plan", "todo")] = Field(
        default=None,
        max_length=MOST_STEPS,
        description="The plan's lines, edited (`fixup 1a2b3c4d`) or as objects; every commit once.",
    )
    autosquash: bool = Field(default=False, description="Apply `fixup!` and `squash!` commits.")
    message: str | None = Field(
        default=None, max_length=20_000, description="With continue: message of the commit."
    )
    resolved: Annotated[list[str], synonyms("paths", "files")] = Field(
        default=[], description="With continue: files to take as they are, or as deleted."
    )


class PlanOutput(Output):
    upstream: str = Field(description="Commit.")
    onto: str = Field(description="Commit they are replayed onto.")
    steps: list[str] = Field(description="`action commit subject`, oldest first.")
    known: list[str] | None = Field(default=None, description="Skipped: already upstream.")

    def render(self) -> str:
        """The plan as `git rebase --interactive` shows it; its lines can be sent as `steps`."""
        lines = [_shorten_line(step) for step in self.steps] or ["nothing to rebase"]
        lines += [f"# upstream has it: {_shorten_line(one)}" for one in self.known or ()]
        call = json.dumps({"upstream": self.upstream[:_SHORT], "onto": self.onto[:_SHORT]})
        return "\n".join([*lines, *([f"next: git_rebase {call}"] if self.steps else [])])


def _shorten_line(line: str) -> str:
    return _OID.sub(lambda found: found[0][:_SHORT], line, count=1)


class GitRebaseOutput(GitDelta):
    state: str = Field(description="done, conflict, edit_pause or aborted.")
    completed_steps: int | None = Field(default=None, description="Steps completed.")
    total_steps: int | None = Field(default=None, description="Number of steps.")
    current_commit: str | None = Field(default=None, description="Where it waits.")

    def render(self) -> str:
        headline, *rest = delta_lines(self)
        steps = f" ({self.completed_steps or 0} of {self.total_steps} steps)" if self.total_steps else ""
        return "\n".join([headline + (steps if self.state != "done" else ""), *rest])


@tool(Effect.WRITE, "git")
def git_rebase(call: Call, args: GitRebaseInput) -> PlanOutput | GitRebaseOutput:
    """Rebases the commits of the branch, as they are or edited: plan, start, continue, skip, abort.

    Stops on conflicts, shown with both sides, and after `edit`. Fix the files, then continue: a file without
    conflict markers counts as resolved. Stage changes for an edit first (git_stage).

    Use when:
    - you want your commits on top of others, reordered, squashed, reworded or dropped
    Not for:
    - joining branches that others use (git_merge)
    Examples:
    - See the plan: {"action": "plan", "upstream": "main"}
    - As planned: {"upstream": "main"}
    - Squash two: {"upstream": "HEAD~2", "steps": ["pick HEAD~1", "fixup HEAD"]}
    - After conflicts: {"action": "continue"}
    """
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    if args.action is RebaseAction.PLAN:
        return _plan(call, args)

    def act() -> RebaseOutcome:
        match args.action:
            case RebaseAction.CONTINUE:
                selection = Selection.of(call.repo.tree.jail, args.resolved)
                return continue_rebase(
                    repository, programs, Resolution(tree_reader(call), selection.paths, args.message)
                )
            case RebaseAction.SKIP:
                return skip_commit(repository, programs)
            case RebaseAction.ABORT:
                return abort_rebase(repository, programs)
            case _:
                return _start(call, args)

    result = change(call, "git_rebase", act)
    outcome = result.outcome
    return GitRebaseOutput(
        **delta_fields(result),
        state=outcome.state,
        completed_steps=outcome.completed or None,
        total_steps=outcome.total or None,
        current_commit=outcome.current,
    )


def _start(call: Call, args: GitRebaseInput) -> RebaseOutcome:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    if args.steps is not None and args.autosquash:
        raise InvalidArgument("Send steps or autosquash, not both.")
    with repository.opened() as handle:
        plan = plan_rebase(handle, args.upstream, args.onto, autosquash=args.autosquash)
        steps = [
            Step(one.action, find_commit(handle, one.commit).oid, one.message) for one in args.steps or ()
        ]
        return start_rebase(repository, programs, handle, plan, steps)


def _plan(call: Call, args: GitRebaseInput) -> PlanOutput:
    with call.repo.checkout.repository.opened() as handle:
        plan = plan_rebase(handle, args.upstream, args.onto, autosquash=args.autosquash)
        oids = [oid for oid in plan.range.commits if oid in plan.range.equivalents]
        return PlanOutput(
            upstream=plan.upstream,
            onto=plan.onto,
            steps=[f"{step.verb} {_line(handle, step.commit)}" for step in plan.steps],
            known=[_line(handle, oid) for oid in oids] or None,
        )


def _line(handle: pygit2.Repository, oid: str) -> str:
    return f"{oid} {shown(info_of(handle[oid].peel(pygit2.Commit)).subject)}"
