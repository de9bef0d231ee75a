"""What a page becomes for the grammar of scripts is as long as the page, whatever is in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.languages import extract
from codeplane.languages.query import readable

PIECES = st.sampled_from(
    [
        b"<script setup>", b"</script>", b"<template>", b"</template>", b'<li v-for="a in b">', b"</li>",
        b"<A/>", b"{{ a }}", b"{", b"}", b"{#each a as b, i (b)}", b"{/each}", b"{:then x}", b"<", b">", b"=",
        b"{@const y = 1}", b"'", b'"', b"`", b"\n", b"let a = 1;", b"<input #x='{ c }'>", b"\xff", b"<!--",
        b"-->", b"{{", b"$a", b"{#await p then v}", b"{#snippet f(a)}", b' v-slot="',
    ]
)  # fmt: skip


@pytest.mark.parametrize("language", ["vue", "svelte"])
@given(parts=st.lists(PIECES, max_size=30))
def test_a_page_keeps_its_length_and_can_be_read(language: str, parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert len(readable(language, data)) == len(data)
    extract(language, data)
