"""Code patterns match what their cases say, in all languages with a grammar."""

from pathlib import Path

import pytest

from codeplane.languages.operations import Source
from codeplane.languages.patterns import compile_pattern, find_pattern, has_grammar
from codeplane.languages.spec import specs
from tests.pattern_cases import FOLDER, pattern_cases

FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_pattern_matches_what_its_case_says(file: Path, request: pytest.FixtureRequest) -> None:
    cases = list(pattern_cases(file))
    answers = [case.answer() for case in cases]
    if request.config.getoption("--update"):
        file.write_text("\n".join(case.render() for case in answers))
    for case, answer in zip(cases, answers, strict=True):
        assert answer.render() == case.render(), case.name


def test_every_language_with_a_grammar_has_cases() -> None:
    assert {file.stem for file in FILES} == {name for name in specs() if has_grammar(name)}


def test_words_of_a_pattern_are_in_every_match() -> None:
    pattern = compile_pattern("python", "requests.get($URL, 'text', timeout=$T)")
    assert pattern.words == ("requests", "get", "timeout")


def test_a_hole_in_quotes_is_text() -> None:
    source = Source("python", b"f('$X')\nf('other')\n")
    assert [source.text(match.node) for match in find_pattern(source, "f('$X')")] == ["f('$X')"]


def test_names_of_a_language_that_begin_with_a_dollar_are_no_holes() -> None:
    source = Source("php", b"<?php f($x); f($y);")
    assert [source.text(match.node) for match in find_pattern(source, "f($x)")] == ["f($x)"]


def test_captures_are_nodes_in_the_order_of_the_file() -> None:
    source = Source("python", b"f(1, 2, g(3))\n")
    [match] = find_pattern(source, "f($$$ITEMS)")
    assert [source.text(node) for node in match.captures["ITEMS"]] == ["1", "2", "g(3)"]
    assert dict(match.captures).keys() == {"ITEMS"}


def test_several_lists_of_any_length_are_tried_until_all_agree() -> None:
    source = Source("python", b"f(a, b, c, b)\nf(a, b, c)\n")
    [match] = find_pattern(source, "f($$$A, $X, $$$B, $X)")
    texts = {name: [source.text(node) for node in match.captures[name]] for name in "AXB"}
    assert texts == {"A": ["a"], "X": ["b"], "B": ["c"]}
