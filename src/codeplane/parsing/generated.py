"""Whether a content says of itself that a program has made it."""

import re
from typing import Final

_HEAD: Final = 2_000
# At the beginning of a comment: code that prints such a line has it somewhere else.
_COMMENT: Final = rb"""^[ \t]*(?:#|//|/\*|\*|--|;|%|<!--|"{3}|'{3}|\{-|\(\*)"""
_SAID: Final = re.compile(_COMMENT + rb"[^\n]*@generated\b", re.MULTILINE)
_HANDS_OFF: Final = re.compile(
    _COMMENT + rb"[^\n]*\b(?:do not|don'?t|never) (?:edit|modify|change)\b", re.MULTILINE | re.IGNORECASE
)
_MADE: Final = re.compile(rb"generated|generator", re.IGNORECASE)


def is_generated(data: bytes) -> bool:
    """A header with `@generated`, or that it was generated and is not to be edited.

    That something was generated says nothing alone: much of that is a beginning for people to go on from.
    """
    head = data[:_HEAD]
    if b"enerat" not in head and b"ENERAT" not in head:
        return False
    return bool(_SAID.search(head) or (_HANDS_OFF.search(head) and _MADE.search(head)))
