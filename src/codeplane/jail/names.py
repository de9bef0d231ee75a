"""Names that are closed whatever the file system makes of them: `.git`, `.codeplane` and their disguises."""

import re
import unicodedata

# What a file system may drop when it compares names: format characters and variation selectors.
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
# Short names (`GIT~1`) and what follows a name that is still the same directory on NTFS (`.git::$DATA`).
_CLOSED = re.compile(r"(?:\.git|\.codeplane|git~[0-9]+|codepl~[0-9]+)[ .]*(?:[\\:].*)?", re.DOTALL)


def is_closed(segment: str) -> bool:
    """Tells whether a segment is, or on some file system would be, `.git` or `.codeplane`."""
    if segment.isascii():
        return bool(_CLOSED.fullmatch(segment.lower()))
    return any(_CLOSED.fullmatch(form) for form in (_visible(segment), _folded(segment)))


def shown(path: str) -> str:
    """A path as it may be printed: what is not UTF-8 in it is replaced."""
    return path.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _visible(segment: str) -> str:
    kept = (c for c in segment if unicodedata.category(c) != "Cf")
    return _IGNORABLE.sub("", "".join(kept)).casefold()


def _folded(segment: str) -> str:
    return unicodedata.normalize("NFKC", _visible(segment)).casefold()
