"""Documents from repositories that nobody trusts: what they cost is bounded, and what they hold is read."""

import configparser
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.documents import (
    Malformed,
    decode_json,
    ini_sections,
    json_object,
    parse_ini,
    parse_json,
    parse_toml,
    toml_table,
)
from codeplane.core.xml_text import parse_xml
from codeplane.core.yaml_text import parse_yaml, parse_yaml_texts

BEYOND: list[tuple[Callable[[str], Any], str, str]] = [
    (parse_toml, "a." * 20_000 + "a = 1", "a key has too many parts"),
    (parse_toml, "[" + '"a" . ' * 20_000 + "a]", "a key has too many parts"),
    (parse_toml, "a = " + "[" * 3_000 + "]" * 3_000, "nested too deeply"),
    (parse_toml, "a = " + "{a = " * 3_000 + "1" + "}" * 3_000, "nested too deeply"),
    (parse_toml, "a = " + "1" * 5_000, "a number has too many digits"),
    (parse_toml, "a = 0x" + "f" * 5_000, "a number has too many digits"),
    (parse_toml, f'"{"k" * 1_001}" = 1', "a key is too long"),
    (parse_toml, "a = 1\n" * 50_000, "larger than 262144 characters"),
    (parse_json, "[" * 3_000, "nested too deeply"),
    (parse_json, '{"a":' * 3_000, "nested too deeply"),
    (parse_json, "1" * 5_000, "a number has too many digits"),
    (parse_json, '{"' + "k" * 1_001 + '": 1}', "a key is too long"),
    (parse_json, " " * 1_048_577, "larger than 1048576 bytes"),
    (decode_json, "[" * 100_000, "nested too deeply"),
    (parse_ini, "[a]\n" * 300_000, "larger than 1048576 characters"),
    (parse_ini, "a = 1\n[b]\n", "a setting precedes the first section"),
    (parse_yaml, "[" * 3_000, "nested too deeply"),
    (parse_yaml, "a: " + "1:" * 5_000 + "1", "a number has too many digits"),
    (parse_yaml_texts, "- " * 3_000, "nested too deeply"),
    (parse_yaml_texts, "a: &x [1]\nb: *x", "aliases (*name) are not allowed (line 2, column 4)"),
]


@pytest.mark.parametrize(("parse", "text", "reason"), BEYOND)
def test_a_document_beyond_a_bound_is_refused_at_little_cost(
    parse: Callable[[str], Any], text: str, reason: str
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Malformed) as caught:
            parse(text)
        assert str(caught.value) == reason
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


ENTITY = '<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>'


@pytest.mark.parametrize("data", [ENTITY.encode(), ENTITY.encode("utf-16"), b"<a>", b"<a/>" * 9, b""])
def test_xml_with_definitions_or_an_odd_end_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse_xml(data)


def test_what_looks_like_a_bound_inside_of_a_text_is_read() -> None:
    odd = "[{" * 3_000 + "a." * 100 + "1" * 5_000
    assert parse_toml(f"a = '{odd}' # {odd}") == {"a": odd}
    assert parse_json(json.dumps({"a": odd + '"\\'})) == {"a": odd + '"\\'}


def test_a_json_file_may_have_comments_and_trailing_commas_where_they_are_allowed() -> None:
    text = '{/* one */ "a": "// no", // two\n "b": [1, 2,],}'
    assert json_object(text, comments=True) == {"a": "// no", "b": [1, 2]}
    assert json_object(text) == {}


def test_what_cannot_be_read_holds_nothing_for_those_who_only_look() -> None:
    assert (toml_table("a ="), json_object("[1]"), json_object(None), ini_sections("a")) == ({}, {}, {}, {})


NAMES = st.text("abc.", min_size=1, max_size=4)
VALUES = st.lists(st.text("ab =:[]%", max_size=6), max_size=3)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=3), max_size=3), st.sampled_from("=:"))
def test_an_ini_file_is_read_as_the_standard_library_reads_it(
    tree: dict[str, dict[str, list[str]]], sign: str
) -> None:
    lines = ["# comment"]
    for section, settings in tree.items():
        lines.append(f"[{section}]")
        for key, values in settings.items():
            lines += [f"{key} {sign} {values[0] if values else ''}", *(f"    {one}" for one in values[1:])]
        lines += ["; comment", ""]
    text = "\n".join(lines)
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    assert parse_ini(text) == {name: dict(parser.items(name)) for name in parser.sections()}
