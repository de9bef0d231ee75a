"""What the grammars do not read is written for them in as many bytes; the facts are those of the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.languages import extract
from codeplane.languages.extraction.grammar import grammar


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
        ("typescript", b"interface A<in out B, out C> {\n  <D>(d: D): B // x\n  <E extends D>(e: E): C\n}\n"),
        ("tsx", b"interface A<in B> { b: B }\n"),
        ("sql", b"\\c a\ncopy b from stdin;\n1\n\\.\nselect 1;\ncopy c from stdin;\n2\n"),
    ],
)
def test_what_is_written_for_the_grammar_keeps_its_place(language: str, data: bytes) -> None:
    hooks = grammar(language).hooks
    assert hooks is not None
    read = hooks.readable_source(data)
    assert read != data
    assert len(read) == len(data)


def test_signatures_without_semicolons_and_variance_are_read() -> None:
    data = b"""export interface Cache<in out Key, out A = never> extends Base {}
export const make: {
  /** One. */
  <A>(f: (i: number) => A): (n: number) => Array<A> // and
  /** Two. */
  <
    A,
    const B extends A
  >(n: number): Array<B>
} = dual(
  // generic
  <F extends Function>(f: F) => f
)
const later =
  <A>(a: A) => a
export const last = 1
"""
    facts = extract("typescript", data)
    outer = [item.name for item in facts.definitions if item.parent < 0]
    assert (facts.state, sorted(outer)) == ("ok", ["Cache", "last", "later", "make"])
    assert facts.definitions[0].signature == "interface Cache<in out Key, out A = never> extends Base"


@given(st.text(alphabet="<>ABinout ,;\n/*{}()=:'\"`", max_size=200))
def test_typescript_written_for_the_grammar_has_as_many_bytes_and_lines(text: str) -> None:
    hooks = grammar("typescript").hooks
    assert hooks is not None
    data = text.encode()
    read = hooks.readable_source(data)
    assert len(read) == len(data)
    assert [at for at, byte in enumerate(read) if byte == 10] == [
        at for at, byte in enumerate(data) if byte == 10
    ]
