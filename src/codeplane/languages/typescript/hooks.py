"""What the grammar does not read: variance of type parameters, signatures that a line break alone parts."""

import re
from typing import Final

from codeplane.languages.javascript.hooks import exports

__all__ = ["exports", "readable"]

_VARIANCE: Final = re.compile(rb"(?<=[<,])(\s*+)((?:(?:in|out)[ \t]++)++)(?=[A-Za-z_$])")
_SIGNATURE: Final = re.compile(rb"\n[ \t]++(?=<\s*+(?:const\s++)?[A-Za-z_$][\w$]*+\s*+(?:[,>=]|extends\b))")
_ENDS: Final = re.compile(rb"[\w$>)\]}\"'`]")
_FAR: Final = 20  # comments between two signatures


def readable(data: bytes) -> bytes:
    """The same bytes without `in` and `out` before type parameters, and `;` before a line with a signature.

    `<A>(a: A): B` on a line of its own is one where what is before it is complete: `{` and `=` are not.
    """
    if b"<" not in data:
        return data
    made = bytearray(_VARIANCE.sub(lambda match: match[1] + b" " * len(match[2]), data))
    for match in _SIGNATURE.finditer(data):
        if _is_complete(data, match.start()):
            made[match.end() - 1] = ord(";")
    return bytes(made)


def _is_complete(data: bytes, end: int) -> bool:
    """Whether what ends before a place may be a whole type, comments left out."""
    for _ in range(_FAR):
        line = data.rfind(b"\n", 0, end) + 1
        text = data[line:end].rstrip()
        if text.endswith(b"*/"):
            end = max(data.rfind(b"/*", 0, line + len(text)), 0)
        elif (at := text.find(b"//")) >= 0 and text[at - 1 : at] != b":":
            end = line + at
        elif text:
            return bool(_ENDS.fullmatch(text[-1:])) and not text.endswith(b"=>")
        elif line:
            end = line - 1
        else:
            return False
    return False
