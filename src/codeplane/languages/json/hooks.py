"""The grammar does not read the plus of an exponent."""

import re

_PLUS = re.compile(rb"(\d[eE])\+(?=\d)")


def readable_source(data: bytes) -> bytes:
    """The same bytes with a zero for each such plus."""
    return _PLUS.sub(rb"\g<1>0", data)
