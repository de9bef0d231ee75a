"""Snippets that do their work: inputs, answers, shapes, and failures that name their line."""

import subprocess
import sys
from typing import Any

import pytest

from codeplane.core.errors import InvalidArgument, SandboxFailed, SandboxShapeMismatch
from codeplane.sandbox import run_snippet


def test_a_snippet_answers_with_the_value_of_its_last_line() -> None:
    code = "names = sorted(row['name'] for row in rows)\nprint(len(names))\n{'names': names, 'pair': (1, 2)}"
    outcome = run_snippet(code, {"rows": [{"name": "b"}, {"name": "a"}]})
    assert outcome.value == {"names": ["a", "b"], "pair": [1, 2]}
    assert (outcome.output, outcome.is_output_cut) == ("2\n", False)


def test_a_failure_names_the_line_of_the_snippet() -> None:
    with pytest.raises(SandboxFailed, match="in line 2: ZeroDivisionError") as error:
        run_snippet("def half(n):\n    return n / 0\nprint('start')\nhalf(1)", {})
    assert error.value.details == {"line": 2, "error": "ZeroDivisionError", "output": "start\n"}


def test_what_cannot_be_parsed_names_its_line() -> None:
    with pytest.raises(SandboxFailed, match="in line 2") as error:
        run_snippet("x = 1\ndef f(:\n", {})
    assert error.value.details["error"] == "SyntaxError"


def test_only_declared_inputs_are_there() -> None:
    with pytest.raises(SandboxFailed, match="name 'rows' is not defined") as error:
        run_snippet("len(rows)", {"lines": []})
    assert "inputs" in error.value.hints[0]


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"not a name": 1}, "no name of a variable"),
        ({"class": 1}, "no name of a variable"),
        ({"__name__": 1}, "no name of a variable"),
        ({"rows": {1: 2}}, r"\$.rows has a key that is an integer"),
        ({"rows": {"a": object()}}, r"\$.rows.a is an object"),
        ({"rows": float("inf")}, "JSON cannot say"),
        ({"rows": ["\ud800"]}, "half of a surrogate pair"),
        ({"rows": ["x" * 1_000_000] * 5}, "too large"),
        ({"rows": [0] * 300_000}, "too large"),
    ],
)
def test_inputs_that_are_no_json_or_too_large_are_refused(inputs: Any, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        run_snippet("1", inputs)


def test_inputs_that_nest_too_deeply_are_refused() -> None:
    rows: list[Any] = []
    for _ in range(100_000):
        rows = [rows]
    with pytest.raises(InvalidArgument, match="nested deeper"):
        run_snippet("1", {"rows": rows})


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"timeout_sec": 0}, "timeoutSec"),
        ({"timeout_sec": 31}, "timeoutSec"),
        ({"memory_mb": 0}, "memoryMb"),
        ({"memory_mb": 4096}, "memoryMb"),
    ],
)
def test_limits_have_limits(limits: Any, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        run_snippet("1", {}, **limits)


SHAPE = {
    "type": "object",
    "properties": {
        "path": "string",
        "lines": {"items": {"type": "integer", "minimum": 1}, "minItems": 1},
        "kind": {"enum": ["call", "read", None]},
        "note": {"type": ["string", "null"]},
    },
    "required": ["path", "lines", "kind"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "code",
    [
        "{'path': 'a.py', 'lines': [1, 2], 'kind': 'call'}",
        "{'path': 'a.py', 'lines': [1], 'kind': None, 'note': None}",
        "{'path': 'a', 'lines': (3,), 'kind': 'read', 'note': 'todo: see n/a'}",
    ],
)
def test_an_answer_of_the_declared_shape_is_taken(code: str) -> None:
    assert run_snippet(code, {}, return_shape=SHAPE).value["lines"]


@pytest.mark.parametrize(
    ("code", "at", "reason"),
    [
        ("[]", "$", "is an array, not an object"),
        ("{'path': 'a.py', 'lines': [1]}", "$", "has no kind"),
        ("{'path': 3, 'lines': [1], 'kind': None}", "$.path", "is an integer, not a string"),
        ("{'path': 'a', 'lines': [1, True], 'kind': None}", "$.lines[1]", "is a boolean, not an integer"),
        ("{'path': 'a', 'lines': [1, 0], 'kind': None}", "$.lines[1]", "the least is 1"),
        ("{'path': 'a', 'lines': [], 'kind': None}", "$.lines", "at least 1"),
        ("{'path': 'a', 'lines': [1], 'kind': 'write'}", "$.kind", "is none of"),
        ("{'path': 'a', 'lines': [1], 'kind': None, 'extra': 1}", "$.extra", "is not declared"),
        ("{'path': 'TODO', 'lines': [1], 'kind': None}", "$.path", "placeholder"),
    ],
)
def test_an_answer_of_another_shape_is_refused_with_its_place(code: str, at: str, reason: str) -> None:
    with pytest.raises(SandboxShapeMismatch) as error:
        run_snippet(code, {}, return_shape=SHAPE)
    assert error.value.details["at"] == at
    assert reason in error.value.message


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("text", "the types are"),
        (3, "a shape is a type's name or an object"),
        ({"type": "object", "propertys": {}}, "did you mean properties"),
        ({"properties": {"a": "string"}, "required": ["b"]}, "which properties does not have"),
        ({"minItems": True}, "minItems cannot be"),
        ({"items": {"type": "list"}}, r"\$.items.type"),
    ],
)
def test_a_shape_that_is_not_valid_is_refused_before_anything_runs(shape: Any, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        run_snippet("while True:\n    pass", {}, return_shape=shape, timeout_sec=30)


@pytest.mark.parametrize(
    "code",
    [
        "x = 1",
        "None",
        "''",
        "'  '",
        "'TODO'",
        "'<placeholder>'",
        "'...'",
        "['TBD']",
        "{'a': '', 'b': None}",
        "'Not implemented.'",
        "lambda: 1",
    ],
)
def test_an_answer_that_says_nothing_is_refused(code: str) -> None:
    with pytest.raises(SandboxShapeMismatch):
        run_snippet(code, {})


@pytest.mark.parametrize(
    "code",
    [
        "[]",
        "{}",
        "0",
        "False",
        "'ok'",
        "'n/a'",
        "'x'",
        "'TODO: name the parser'",
        "{'matches': []}",
        "[[]]",
        "['', 'a']",
    ],
)
def test_a_short_or_empty_answer_is_an_answer(code: str) -> None:
    run_snippet(code, {})


def test_a_shape_may_take_words_that_look_like_placeholders() -> None:
    tags = {"items": {"type": "string", "anyText": True}}
    assert run_snippet("['TODO', 'FIXME']", {}, return_shape=tags).value == ["TODO", "FIXME"]
    assert run_snippet("'tbd'", {}, return_shape={"enum": ["tbd", "done"]}).value == "tbd"
    assert run_snippet("None", {}, return_shape={"type": ["string", "null"]}).value is None


def test_the_interpreter_is_loaded_by_the_first_snippet_alone() -> None:
    code = "import sys, codeplane.sandbox; print('pydantic_monty' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
