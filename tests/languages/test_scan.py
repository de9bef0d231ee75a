"""Readers without a grammar read whatever there is, and say where it is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.languages import extract

PIECES = st.sampled_from(
    [
        b"message A ", b"{", b"}", b";", b"string a = 1;", b"enum B {", b"rpc C(", b")", b"returns (A)",
        b"map<", b">", b"option (x) = {", b"import 'a", b"'", b'"', b"//", b"/*", b"*/", b"\n", b"model A {",
        b"a B[] @x(", b"[", b"]", b"optional group G = 1 {", b"package a.b;", b"\xff", b".",
        b'import public "x";',
    ]
)  # fmt: skip


@pytest.mark.parametrize("language", ["proto", "prisma"])
@given(parts=st.lists(PIECES, max_size=30))
def test_anything_can_be_read(language: str, parts: list[bytes]) -> None:
    facts = extract(language, b"".join(parts))
    assert facts.state in ("ok", "partial", "failed")


@pytest.mark.parametrize("language", ["proto", "prisma"])
def test_a_block_that_does_not_end_is_an_error(language: str) -> None:
    data = {"proto": b"message B {}\nmessage A {", "prisma": b"model B {\n}\nmodel A {"}[language]
    facts = extract(language, data)
    line = {"proto": 2, "prisma": 3}[language]
    assert (facts.state, facts.reason) == ("partial", f"syntax error in line {line}")
    assert [one.name for one in facts.definitions] == ["B"]
