"""Text that people outside wrote, made safe to show: bounded, without secrets, and marked as data."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from codeplane.core.redaction import redact_secrets

QUOTE: Final = "| "
# Everything that some program may take for the end of a line.
_LINE_END: Final = re.compile(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_ESCAPE_SEQUENCE: Final = re.compile(r"\x1b\[[0-9;:?]{0,64}[A-Za-z]?")
_BLANK_LINES: Final = re.compile(r"\n{3,}")


def clean_text(text: str, longest: int, secrets: Iterable[str] = ()) -> str:
    """Lines of visible characters: invisible ones and secrets are taken out, and what is too long is cut."""
    # Nothing is looked at that would be cut anyway; what is taken out makes the text a little shorter.
    left_out = max(0, len(text) - longest)
    text = _ESCAPE_SEQUENCE.sub("", _LINE_END.sub("\n", text[:longest]))
    text = "".join(character for character in text if _is_visible(character))
    text = _BLANK_LINES.sub("\n\n", redact_secrets(text, secrets)).strip("\n").rstrip()
    return f"{text}\n… ({left_out} characters more)" if left_out else text


def clean_line(text: str, longest: int, secrets: Iterable[str] = ()) -> str:
    """One line of foreign text; line ends become spaces."""
    line = " ".join(clean_text(text[: 2 * longest], 2 * longest, secrets).split())
    return line if len(line) <= longest else f"{line[:longest].rstrip()}…"


def quote_lines(text: str) -> list[str]:
    """Foreign text as lines that can't be taken for anything but a quotation."""
    return [f"{QUOTE}{line}".rstrip() for line in text.split("\n")]


def _is_visible(character: str) -> bool:
    # Format characters turn text around or hide it: bidirectional overrides, joiners, tags.
    return character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
