"""What a prompt says besides its words: constraints, tickets, addresses, names in code spans."""

import re
from collections.abc import Sequence
from typing import Final

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*(?:[-*#>]|\d+\.)\s)")
_BINDING: Final = re.compile(
    r"\b(?:must|mustn't|should not|shouldn't|has to|have to|may not|needs? to stay|is not allowed|"
    r"without (?:\w+ly )?(?:chang|break|add|touch|remov|renam|us)\w*)\b",
    re.IGNORECASE,
)
_IMPERATIVE: Final = re.compile(
    r"[-*#>\s\d.]*(?:please\s+)?(?:do not|don't|never|keep|leave|only|ensure|make sure|avoid|always)\b",
    re.IGNORECASE,
)
_TICKET: Final = re.compile(r"(?<![\w-])[A-Z][A-Z0-9_]{1,20}-\d{1,8}(?![\w-])")
_NOT_TICKETS: Final = re.compile(r"(?:UTF|ISO|RFC|SHA|PEP|CVE|GHSA|IEEE|ASCII|BASE|MD|AES|HTTP|TLS)-\d+")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"')\]]+")
_CODE_SPAN: Final = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")
_LONGEST: Final = 160
_MOST: Final = 8


def constraints_of(prompt: str) -> list[str]:
    """The sentences that bind the change, in the user's words."""
    sentences = (" ".join(part.split()) for part in _SENTENCE_END.split(prompt))
    binding = (
        sentence[:_LONGEST]
        for sentence in sentences
        if _BINDING.search(sentence) or _IMPERATIVE.match(sentence)
    )
    return list(dict.fromkeys(binding))[:_MOST]


def ticket_keys(text: str) -> list[str]:
    """Keys of tickets; names of standards look the same and are none."""
    return [key for key in dict.fromkeys(_TICKET.findall(text)) if _NOT_TICKETS.fullmatch(key) is None]


def addresses_in(text: str) -> list[str]:
    """Addresses of the web in a text."""
    return list(dict.fromkeys(address.rstrip(".,;") for address in _ADDRESS.findall(text)))


def code_names(text: str) -> Sequence[str]:
    """Names in code spans: the user says that these are code."""
    return list(dict.fromkeys(_CODE_SPAN.findall(text)))
