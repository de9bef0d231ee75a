"""The imports at the top of a script, by their lines and what they take from."""

import re
from typing import Final

from codeplane.languages.ordering import Entry

_IMPORT: Final = re.compile(
    rb"^import\b(?!\s*\()(?P<names>[^;'\"]*?)(?P<mark>['\"])(?P<module>[^'\"\n]+)(?P=mark)"
    rb"[^\n;]*;?[ \t]*\r?$",
    re.MULTILINE,
)


def entries(data: bytes) -> list[Entry]:
    """The statements that take names, each with its lines for itself; what is imported for its effects keeps
    its place, so it ends a section."""
    results = []
    for one in _IMPORT.finditer(data):
        if one["names"].strip().endswith(b"from"):
            first = data.count(b"\n", 0, one.start())
            end = first + one[0].count(b"\n") + 1
            results.append(Entry(first, end, one["module"].decode("utf-8", "surrogateescape")))
    return results
