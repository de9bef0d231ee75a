import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import InvalidArgument
from codeplane.server.decode import decode
from codeplane.tools import Tool, all_tools
from codeplane.tools._schema import lean_schema
from tests.tools.inputs import allowed, refused

TAKES = "toy_echo takes {text: string, path?: string, limit?: integer, kinds?: [string], extra?: object}"


@pytest.fixture
def echo(toys: dict[str, Tool]) -> Tool:
    return toys["toy_echo"]


@pytest.mark.parametrize("name", ["path", "file", "file_path", "filePath", "file-path", "filename"])
def test_usual_synonyms_mean_the_parameter(echo: Tool, name: str) -> None:
    assert decode(echo, {"text": "x", name: "a.py"}).model_dump()["path"] == "a.py"


def test_a_synonym_declared_on_a_field_is_taken(toys: dict[str, Tool]) -> None:
    assert decode(toys["describe"], {"tool": "search"}).model_dump()["name"] == "search"


def test_a_synonym_never_overrides_what_was_given(echo: Tool) -> None:
    with pytest.raises(InvalidArgument, match="has no parameter 'file'"):
        decode(echo, {"text": "x", "path": "a.py", "file": "b.py"})


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"kinds": "one"}, "kinds", ["one"]),
        ({"kinds": '["a", "b"]'}, "kinds", ["a", "b"]),
        ({"limit": "7"}, "limit", 7),
        ({"extra": '{"a": 1}'}, "extra", {"a": 1}),
    ],
)
def test_values_in_the_wrong_wrapping_are_read(
    echo: Tool, given: dict[str, Any], field: str, value: object
) -> None:
    assert decode(echo, {"text": "x", **given}).model_dump()[field] == value


def test_arguments_may_come_as_json_text(echo: Tool) -> None:
    assert decode(echo, '{"text": "x"}').model_dump()["text"] == "x"


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"txet": "x"}, "has no parameter 'txet' (did you mean 'text'?)", 'toy_echo {"text": "x"}'),
        ({"text": "x", "wibble": 1}, "has no parameter 'wibble'.", TAKES),
        ({"limit": 2}, "text is missing", TAKES),
        ({"text": "x", "limit": 99}, "limit: Input should be less than or equal to 10", None),
        ([1], "takes a JSON object of named arguments", TAKES),
        ("no json", "takes a JSON object of named arguments", TAKES),
    ],
)
def test_a_wrong_call_is_corrected_or_told_what_the_tool_takes(
    echo: Tool, given: Any, message: str, hint: str | None
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode(echo, given)
    assert message in caught.value.message
    assert caught.value.hints == ((hint,) if hint else ())


def test_a_wrong_choice_names_the_nearest(toys: dict[str, Tool]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode(toys["describe"], {"action": "tools"})
    assert caught.value.hints == ('describe {"action": "tool"}',)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(arguments=_JSON)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_whatever_is_sent_is_read_or_explained(echo: Tool, arguments: object) -> None:
    try:
        decode(echo, arguments)
    except InvalidArgument as error:
        assert "toy_echo" in error.message


def test_objects_inside_are_read_as_forgivingly() -> None:
    given = {"refactor_id": "ref_1", "proof": {"symbol": "a.b", "anchors": {"path": "a.py", "line": 3}}}
    read = decode(all_tools()["decision_commit"], given).model_dump()
    assert read["proof"]["symbol_identity"] == "a.b" and read["proof"]["anchors"][0]["file"] == "a.py"


def test_what_is_missing_inside_is_shown_where_it_belongs() -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode(all_tools()["decision_commit"], {"plan": "ref_1", "proof": {"anchors": [{}]}})
    assert "anchors?: [{file: string, line: integer" in caught.value.hints[0]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("git_inspect", {"action": "blame", "path": "a.py", "line_range": [10, 30]}),
        ("git_inspect", {"action": "blame", "path": "a.py", "lines": "10-30"}),
        ("git_history", {"path": "a.py", "lineRange": [10, 30]}),
    ],
)
def test_a_range_of_lines_is_taken_apart(tool: str, given: dict[str, Any]) -> None:
    read = decode(all_tools()[tool], given).model_dump()
    assert (read["path"], read["start_line"], read["end_line"]) == ("a.py", 10, 30)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("run_test_targets", {"paths": ["tests/test_a.py"]}),
        ("search", {"query": "x", "scope": "src"}),
        ("search", {"query": "x", "include_tests": True}),
        ("git_inspect", {"start": 1}),
        ("git_history", {"path": "a.py", "line_range": 10}),
        ("git_log", {"pahts": ["src"], "unknown": 1}),
    ],
)
def test_no_call_is_offered_that_would_lose_or_bend_what_was_sent(tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode(all_tools()[tool], given)
    assert [hint.startswith(f"{tool} takes {{") for hint in caught.value.hints] == [True]


@pytest.mark.parametrize("name", list(all_tools()))
@given(data=st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_call_that_is_offered_is_valid_and_has_all_that_was_sent(
    name: str, data: st.DataObject
) -> None:
    tool = all_tools()[name]
    schema = lean_schema(tool.input, whole=True)
    arguments = data.draw(refused(schema) | _misspelled(schema))
    try:
        decode(tool, arguments)
    except InvalidArgument as error:
        for hint in error.hints:
            called, _, sent = hint.partition(" ")
            if called == name and sent.startswith("{"):
                offered = json.loads(sent)
                decode(tool, offered)
                lost = Counter(_leaves(arguments)) - Counter(_leaves(offered))
                # A choice that was misspelled is the one thing that may be another.
                assert sum(lost.values()) <= error.message.count(" (did you mean"), (arguments, hint)
                assert not lost or "Input should be" in error.message, (arguments, hint)


def _misspelled(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Arguments that the schema allows, with a slip in the name of one of them."""
    fields = list(schema["properties"])
    if not fields:
        return st.just({})
    slip = st.tuples(st.sampled_from(fields), st.integers(0, 8), st.sampled_from("xe_"))

    def slipped(made: tuple[dict[str, Any], tuple[str, int, str]]) -> dict[str, Any]:
        value, (field, at, letter) = made
        return {(key[:at] + letter + key[at:] if key == field else key): one for key, one in value.items()}

    return st.tuples(allowed(schema), slip).map(slipped)


def _leaves(value: Any) -> list[str]:
    """What has been sent, piece by piece, without the names."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in _leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in _leaves(one)]
    return [json.dumps(value)]
