"""Names that are closed whatever the file system makes of them: `.git`, `.codeplane` and their disguises."""

import re
import secrets
import unicodedata
from functools import lru_cache
from typing import Final

# A repository has many files of one name.
_MOST_SEGMENTS: Final = 1 << 14
# What a file system may drop when it compares names: format characters and variation selectors.
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
# Short names (`GIT~1`) and what follows a name that is still the same directory on NTFS (`.git::$DATA`).
TEMPORARY_PREFIX = ".codeplane-"

_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{16}}")
_CLOSED = re.compile(
    rf"(?:\.git|\.codeplane|git~[0-9]+|codepl~[0-9]+)[ .]*(?:[\\:].*)?|{_TEMPORARY.pattern}", re.DOTALL
)


def temporary_name() -> str:
    """A new name for a file of CodePlane's own that lies in the tree for a moment."""
    return f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"


def is_temporary(segment: str) -> bool:
    return _TEMPORARY.fullmatch(segment) is not None


@lru_cache(_MOST_SEGMENTS)
def is_closed(segment: str) -> bool:
    """Tells whether a segment is, or would be on some file system, `.git`, `.codeplane` or a temporary."""
    if segment.isascii():
        return bool(_CLOSED.fullmatch(segment.lower()))
    return any(_CLOSED.fullmatch(form) for form in (_visible_text(segment), _fold_case(segment)))


def shown(path: str) -> str:
    """A path as it may be printed: what is not UTF-8 in it is replaced."""
    return path.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _visible_text(segment: str) -> str:
    chars = (c for c in segment if unicodedata.category(c) != "Cf")
    return _IGNORABLE.sub("", "".join(chars)).casefold()


def _fold_case(segment: str) -> str:
    return unicodedata.normalize("NFKC", _visible_text(segment)).casefold()
