from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import InvalidArgument
from codeplane.server.decode import decode
from codeplane.tools import Tool, all_tools


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
        ({"text": "x", "wibble": 1}, "has no parameter 'wibble'.", 'toy_echo {"text": "x"}'),
        ({"limit": 2}, "text is missing", 'toy_echo {"limit": 2, "text": "<text>"}'),
        ({"text": "x", "limit": 99}, "limit: Input should be less than or equal to 10", None),
        ([1], "takes an object of named arguments", 'toy_echo {"text": "hello"}'),
        ("no json", "takes an object of named arguments", 'toy_echo {"text": "hello"}'),
    ],
)
def test_a_wrong_call_is_shown_corrected(echo: Tool, given: Any, message: str, hint: str | None) -> None:
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
        decode(all_tools()["decision_commit"], {"plan_id": "ref_1", "proof": {}})
    assert caught.value.hints[0].endswith('"proof": {"symbol_identity": "<proof.symbol_identity>"}}')
