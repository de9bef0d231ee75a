"""What the grammar does not read, written for it in as many bytes as something that it reads."""

import re

_URL = re.compile(rb"""(\burl\()([^"'()\s;{}][^"'()\n;{}]*)(?=\))""")
_PRELUDE = re.compile(rb"@(?:media|container)\b[^{};]*")
_RANGE = re.compile(rb"\([^()<>=]*+[<>=][^()]*+\)")
_CONDITION = re.compile(rb"(@container\s++(?!not\b)[\w-]++\s)(.*)", re.DOTALL)
_EMPTY = re.compile(rb"((?<![\w-])--[\w-]++:)\s(?=\s*+[;}])")
_TWICE = re.compile(rb"(;\s*+);")


def readable_source(data: bytes) -> bytes:
    """Bare addresses, ranges in conditions, conditions after a name, empty values and semicolons."""
    data = _URL.sub(lambda match: match[1] + b"x" * len(match[2]), data)
    data = _PRELUDE.sub(_folded_prelude, data)
    return _TWICE.sub(rb"\1 ", _EMPTY.sub(rb"\g<1>0", data))


def _folded_prelude(match: re.Match[bytes]) -> bytes:
    # `(a:0)` stands for any condition.
    plain = _RANGE.sub(lambda found: b"(a:" + b"0" * (len(found[0]) - 4) + b")", match[0])
    return _CONDITION.sub(lambda found: found[1] + re.sub(rb"[^\n]", b" ", found[2]), plain)
