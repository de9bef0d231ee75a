"""What is for the client and not for the server: commands that begin with a backslash, and data to copy."""

import re

# The data ends with a line of `\.`; without one the rest of the file is data.
_CLIENT = re.compile(
    rb"^COPY\b(?>[^;\n]*?\bFROM\s+stdin\b)[^;\n]*+;[^\n]*(?:\n(?!\\\.)[^\n]*)*+(?:\n\\\.[^\n]*)?|^\\[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)


def readable(data: bytes) -> bytes:
    """The same bytes without what only the client reads."""
    return _CLIENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), data)
