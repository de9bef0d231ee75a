"""Properties of code patterns, on real nodes of all languages."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tree_sitter import Node

from codeplane.core.errors import PatternInvalid
from codeplane.languages.operations import Source
from codeplane.languages.patterns import Pattern, compile_pattern, find_pattern, has_grammar
from codeplane.languages.patterns.holes import holes_in
from codeplane.languages.spec import specs
from tests.languages.test_language_cases import CASES, sources

LANGUAGES = [name for name in specs() if has_grammar(name)]
_LONGEST = 2_000


def named_nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        size = node.end_byte - node.start_byte
        if node.is_named and node.parent is not None and not node.has_error and 0 < size < _LONGEST:
            yield node


def read_files(language: str) -> list[Source]:
    texts = [
        text for file in sorted((CASES / language).glob("*.txt")) for _, text in sources(file.read_text())
    ]
    return [Source(language, text.encode()) for text in texts]


def compile_or_none(language: str, text: str) -> Pattern | None:
    if list(holes_in(text)) or not text.strip() or (language == "svelte" and "$" in text):
        return None  # `$store` is read as `store` there
    try:
        return compile_pattern(language, text)
    except PatternInvalid:
        return None  # a piece that is no syntax of its own: `else`, a string without its quotes


def has_match(source: Source, pattern: Pattern, node: Node) -> bool:
    span = node.start_byte, node.end_byte
    return any(
        (match.node.start_byte, match.node.end_byte) == span for match in find_pattern(source, pattern)
    )


def is_read_alike(pattern: Pattern, node: Node) -> bool:
    """Whether a text is read as what it was: `a.b` after `import` is no attribute of `a`."""
    return pattern.root.kind_name == node.type


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_of_a_node_is_a_pattern_that_matches_it(language: str) -> None:
    count = 0
    for source in read_files(language):
        for node in list(named_nodes(source.root))[::7]:
            text = source.text(node)
            pattern = compile_or_none(language, text)
            if pattern is not None and is_read_alike(pattern, node) and text == text.strip():
                assert has_match(source, pattern, node), (text, pattern.show_tree())
                count += 1
    assert count


PYTHON = read_files("python")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data())
def test_a_hole_in_the_place_of_an_expression_still_matches(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(PYTHON))
    calls = [node for node in named_nodes(source.root) if node.type in ("call", "assignment", "if_statement")]
    if not calls:
        return
    node = data.draw(st.sampled_from(calls))
    inner = [
        child
        for child in named_nodes(node)
        if child.type in ("identifier", "call", "string", "integer") and child.parent is not None
        and child.parent.type in ("argument_list", "keyword_argument", "binary_operator")
        and child.id != node.id
    ]  # fmt: skip
    if not inner:
        return
    child = data.draw(st.sampled_from(inner))
    before = source.slice(node.start_byte, child.start_byte)
    text = f"{before}$HOLE{source.slice(child.end_byte, node.end_byte)}"
    try:
        pattern = compile_pattern("python", text)
    except PatternInvalid:
        return
    if not is_read_alike(pattern, node) or "HOLE" not in pattern.holes:
        return
    spans = {
        (match.node.start_byte, match.node.end_byte): [source.text(one) for one in match.captures["HOLE"]]
        for match in find_pattern(source, pattern)
    }
    assert spans[node.start_byte, node.end_byte] == [source.text(child)]


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60), st.sampled_from(LANGUAGES))
def test_no_text_makes_the_compiler_fail_in_another_way(text: str, language: str) -> None:
    try:
        pattern = compile_pattern(language, text)
    except PatternInvalid as error:
        assert error.message
    else:
        find_pattern(Source(language, b"x = 1\n"), pattern)
