"""What the grammars do not read is written for them in as many bytes; the facts are those of the file."""

import pytest

from codeplane.languages import extract
from codeplane.languages._grammar import grammar


def test_a_dockerfile_needs_no_newline_at_its_end() -> None:
    facts = extract("dockerfile", b"FROM alpine AS base\nRUN ls")
    assert (facts.state, [item.name for item in facts.definitions]) == ("ok", ["base"])
    assert facts.definitions[0].span == (1, 0, 2, 6)


@pytest.mark.parametrize(
    ("language", "data"),
    [
        ("css", b"a{b:url(../c.gif);;--d: ;}@media (width<3px){e{}}@container f (1px\n< width){g{}}"),
        ("json", b'{"a": 1e+5}'),
        ("html", b'\xef\xbb\xbf <?xml version="1.0"\n?><p></p>'),
        ("sql", b"\\c a\ncopy b from stdin;\n1\n\\.\nselect 1;\ncopy c from stdin;\n2\n"),
    ],
)
def test_what_is_written_for_the_grammar_keeps_its_place(language: str, data: bytes) -> None:
    hooks = grammar(language).hooks
    assert hooks is not None
    read = hooks.readable(data)
    assert read != data
    assert len(read) == len(data)
