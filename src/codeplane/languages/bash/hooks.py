"""Tests of bats: `@test "name" {` is written for the grammar as a function in as many bytes."""

import re

from codeplane.languages.extraction.outline import Outline
from codeplane.languages.facts import FLAG_TEST

_TEST = re.compile(rb"""^([ \t]*+@test[ \t]++)(["'])([^\n]+)\2([ \t]++)(?=\{)""", re.MULTILINE)


def readable_source(data: bytes) -> bytes:
    """The source with a function for each test, whose name is made of `@` alone."""
    return _TEST.sub(_as_function, data) if b"@test" in data else data


def _as_function(match: re.Match[bytes]) -> bytes:
    return b" " * (len(match[1]) + 1) + b"@" * len(match[3]) + b"()" + b" " * (len(match[4]) - 1)


def reshape_outline(outline: Outline, data: bytes) -> None:
    """A function whose name is quoted is a test, and begins where that is said."""
    for draft in outline.drafts:
        at = draft.name[0]
        if draft.kind != "function" or data[max(at - 1, 0) : at] not in (b'"', b"'"):
            continue
        start = data.rfind(b"@test", data.rfind(b"\n", 0, at) + 1, at)
        if start >= 0:
            draft.flags |= FLAG_TEST
            draft.start = draft.span_start = start
