"""What the grammar does not read, written for it in as many bytes as something that it reads.

Commands for the client and data to copy are left out. The body of a function may be of any language, and is
a plain text. A table that is a part of another one is made of a query.
"""

import re

# The data ends with a line of `\.`; without one the rest of the file is data.
_CLIENT = re.compile(
    rb"^COPY\b(?>[^;\n]*?\bFROM\s+stdin\b)[^;\n]*+;[^\n]*(?:\n(?!\\\.)[^\n]*)*+(?:\n\\\.[^\n]*)?|^\\[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
_BODY = re.compile(rb"\b(?:AS|DO)\s++(\$(?:[A-Za-z_]\w*+)?\$)", re.IGNORECASE)
_PART = re.compile(
    rb"(\bTABLE\s++(?:IF\s++NOT\s++EXISTS\s++)?[\w.\"]++\s++)(PARTITION\s++OF\b[^;]*+)", re.IGNORECASE
)
_AFTER_COLUMNS = re.compile(
    rb"(?<=\))\s*+(?:INHERITS|PARTITION\s++BY\s++(?:LIST|RANGE|HASH))\s*+\([^()]*+\)", re.IGNORECASE
)
_TEXT = re.compile(rb"[^\n]")


def readable_source(data: bytes) -> bytes:
    """The source in the words of the grammar, of equal length."""
    data = _CLIENT.sub(_blank_out, data)
    if b"$" in data:
        data = _without_bodies(data)
    data = _PART.sub(lambda match: match[1] + b"AS SELECT" + _TEXT.sub(b" ", match[2][9:-1]) + b"1", data)
    return _AFTER_COLUMNS.sub(_blank_out, data)


def _blank_out(match: re.Match[bytes]) -> bytes:
    return _TEXT.sub(b" ", match[0])


def _without_bodies(data: bytes) -> bytes:
    pieces, at = [], 0
    while match := _BODY.search(data, at):
        end = data.find(match[1], match.end())
        if end < 0:
            break
        end += len(match[1])
        body = _TEXT.sub(b" ", data[match.start(1) + 1 : end - 1])
        pieces += [data[at : match.start(1)], b"'", body, b"'"]
        at = end
    return b"".join((*pieces, data[at:]))
