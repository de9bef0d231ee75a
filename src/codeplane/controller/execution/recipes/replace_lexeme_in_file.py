"""Replaces a word everywhere in the symbols of a change node."""

import re
from typing import Any, Final

from pydantic import Field, field_validator

from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
from codeplane.controller.execution.bounds import allowed_lines
from codeplane.controller.execution.nodes import TextChange
from codeplane.controller.execution.patches import Content
from codeplane.controller.execution.recipes.recipe import RecipeOutcome, RecipeParams
from codeplane.controller.execution.steps import Steps
from codeplane.core.errors import EditNotPlaced, RecipeInvalid
from codeplane.core.text import lines_of

_WORD: Final = re.compile(r"[\w$.-]{1,200}")


class Params(RecipeParams):
    """A word and what takes its place."""

    lexeme: str = Field(min_length=1, max_length=200)
    replacement: str = Field(min_length=1, max_length=200)

    @field_validator("lexeme", "replacement")
    @classmethod
    def _is_word(cls, value: str) -> str:
        if _WORD.fullmatch(value) is None:
            raise ValueError("one word of letters, digits, `_`, `$`, `.` and `-`")
        return value


def run(steps: Steps, _accepted: AcceptedPlan, one: AcceptedNode, params: Any) -> RecipeOutcome:
    """Every whole occurrence of the word, line by line, as one patch of the node."""
    if one.node.kind != "change" or one.node.operation != "modify":
        raise RecipeInvalid(f"Node {one.node_id} does not modify a file.")
    tree = steps.turn.call.repo.tree
    before = tree.read(tree.jail.enter(one.node.target_file))
    lines = allowed_lines(one.node.target_file, before, one.node.target_symbols)
    edit = _edit_of(before, lines, params.lexeme, params.replacement)
    if edit is None:
        names = ", ".join(one.node.target_symbols)
        raise EditNotPlaced(f"{names} of {one.node.target_file} does not have the word {params.lexeme}.")
    result = steps.apply_change(one.node_id, one.node.target_file, Content((edit,)))
    validations = [bool(report["passed"]) for report in result.result["validations"]]
    if not validations:
        return RecipeOutcome(result, "not_run")
    return RecipeOutcome(result, "passed" if all(validations) else "failed")


def _edit_of(before: bytes, allowed: set[int], lexeme: str, replacement: str) -> TextChange | None:
    """One edit from the first line with the word to the last, in the lines that the node may change."""
    word = re.compile(rf"(?<![\w$]){re.escape(lexeme)}(?![\w$])")
    lines = lines_of(before)
    numbers = [number for number, line in enumerate(lines) if number + 1 in allowed and word.search(line)]
    if not numbers:
        return None
    old = lines[numbers[0] : numbers[-1] + 1]
    first, last = numbers[0], numbers[-1]
    new = [
        word.sub(lambda _: replacement, line) if number in numbers else line
        for number, line in enumerate(old, first)
    ]
    # Lines around it make the text unique where the file repeats itself.
    while "\n".join(lines).count("\n".join(old)) > 1 and (first > 0 or last + 1 < len(lines)):
        if first > 0:
            first -= 1
            old, new = [lines[first], *old], [lines[first], *new]
        if last + 1 < len(lines):
            last += 1
            old, new = [*old, lines[last]], [*new, lines[last]]
    return TextChange("\n".join(old), "\n".join(new))
