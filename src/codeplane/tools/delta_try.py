import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from codeplane.answers.delta_views import unified_view
from codeplane.answers.deltas import problem_text
from codeplane.answers.operations import OperationsOutput, all_operations_output, operations_output
from codeplane.answers.output import Output
from codeplane.core.errors import InvalidArgument
from codeplane.delta.simulation import ElementOutcome
from codeplane.jail import shown
from codeplane.languages.operations import operations_of
from codeplane.languages.spec import language_of
from codeplane.session import Call
from codeplane.session.delta.preview import try_delta
from codeplane.session.delta.suggestions import suggested_assertions
from codeplane.session.delta.workbench import authoring_of, finders_for
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST_LINES = 200
_MOST_FILES = 5
_MOST_NOTES = 50


class DeltaTryInput(Input):
    path: Annotated[str | None, synonyms("file")] = Field(default=None, max_length=4000, description="File.")
    operations: Annotated[list[dict[str, Any]] | None, synonyms("transforms", "ops")] = Field(
        default=None,
        max_length=500,
        description='In order: {"operation": "add_parameter", "target": "Class.method", "name": "x"}.',
    )
    assertions: list[dict[str, Any]] | None = Field(
        default=None, max_length=500, description="Checks of the result."
    )
    elements: list[dict[str, Any]] | None = Field(
        default=None, max_length=500, description="Several files: [{path, transforms, assertions}]."
    )


class DeltaTryOutput(Output):
    outcome: str = Field(description="green, red or already.")
    problems: list[str] | None = Field(default=None, description="Why it is red, with candidates.")
    notes: list[str] | None = Field(default=None, description="What to know about the change.")
    views: list[str] | None = Field(default=None, description="Matches and diff, by file.")
    suggested_assertions: dict[str, list[dict[str, Any]]] | None = Field(
        default=None, description="Checks that hold only afterwards, by file."
    )

    def is_done(self) -> bool:
        return self.outcome != "red"

    def render(self) -> str:
        lines = [self.outcome, *(self.problems or ()), *(self.views or ())]
        lines += [f"note: {note}" for note in self.notes or ()]
        for path, assertions in (self.suggested_assertions or {}).items():
            lines += [f"assertions for {path}: {json.dumps(assertions, ensure_ascii=False)}"]
        return "\n".join(lines)


@tool(Effect.READ, "deltas")
def delta_try(call: Call, args: DeltaTryInput) -> DeltaTryOutput | OperationsOutput:
    """Tries operations on files in memory: what they match, the diff, and assertions to go with them.

    Nothing is stored or written. Without operations it lists those that the file can have, with arguments.

    Use when:
    - you write a delta and want to see what it does
    Examples:
    - What can be done to a file: {"path": "a.py"}
    - An import: {"path": "a.py", "operations": [{"operation": "add_import", "import": "import re"}]}
    - Code: {"path": "a.py", "operations": [{"operation": "replace_match", "pattern": "f()", "with": "g()"}]}
    """
    if args.elements is None and not args.operations:
        return _list_operations(call, args.path)
    if (args.elements is None) == (args.path is None or args.operations is None):
        raise InvalidArgument("Give `path` and `operations`, or `elements`.")
    own = {"path": args.path, "transforms": args.operations, "assertions": args.assertions or []}
    delta, outcome = try_delta(call, args.elements if args.elements is not None else [own])
    problems = [
        problem_text({"path": shown(one.path), "text": one.text, "details": one.details})
        for one in outcome.problems
    ]
    if problems:
        return DeltaTryOutput(outcome="red", problems=problems[:_MOST_NOTES])
    notes = list(dict.fromkeys(note for element in outcome.elements for note in element.notes))
    changes = [element for element in outcome.elements if element.before != element.after]
    suggestions = suggested_assertions(delta, changes[:_MOST_FILES], finders_for(call))
    return DeltaTryOutput(
        outcome="already" if outcome.is_already else "green",
        notes=notes[:_MOST_NOTES] or None,
        views=list(_views(changes)) or None,
        suggested_assertions=suggestions or None,
    )


def _list_operations(call: Call, path: str | None) -> OperationsOutput:
    """What can be done to a file, or the operations of all languages."""
    if path is None:
        return all_operations_output()
    authoring = authoring_of(call.repo)
    place = authoring.enter(path)
    language = language_of(place, authoring.content(place))
    if language is None or not operations_of(language):
        raise InvalidArgument(f"No grammar pack claims {shown(place)}.", hints=["delta_try {}"])
    return operations_output(language)


def _views(changes: Sequence[ElementOutcome]) -> Iterator[str]:
    """The diffs of the first files; the others are counted."""
    lines = 0
    for number, element in enumerate(changes):
        if lines >= _MOST_LINES:
            yield f"… {len(changes) - number} more files"
            return
        view = unified_view(element, _MOST_LINES - lines)
        lines += view.count("\n") + 1
        yield view
