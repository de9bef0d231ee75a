"""The grammar does not read the plus of an exponent."""

import re

_PLUS = re.compile(rb"(\d[eE])\+(?=\d)")


def readable_source(data: bytes) -> bytes:
    """The source with a zero for the plus of each exponent."""
    return _PLUS.sub(rb"\g<1>0", data)
