"""Why a text is no pattern, with how it was parsed and what to send instead."""

import re
from typing import Final

from tree_sitter import Node

from codeplane.core.errors import PatternInvalid
from codeplane.languages.patterns.attempts import Attempt, holds_span, make_attempt
from codeplane.languages.patterns.frames import BARE, frames_of, stem_for
from codeplane.languages.patterns.holes import holes_in
from codeplane.languages.query import errors_in

_PROSE: Final = re.compile(r"[A-Za-z]+(?: [A-Za-z`.,'()]+){3,}[.?!]?")


def parse_failure(language: str, text: str) -> PatternInvalid:
    """The error for a pattern that does not parse."""
    stem = stem_for(text)
    holes = list(holes_in(text))
    attempts = [
        make_attempt(language, text, holes, (0,) * len(holes), frame, stem) for frame in frames_of(language)
    ]
    best = min(attempts, key=lambda attempt: (errors_in(attempt.root), not attempt.is_clean))
    tree = _shown_tree(best)
    return PatternInvalid(
        f"The pattern is not {language} code that can be parsed. It was read as {tree}",
        hints=_failure_hints(text, best),
        parsed=tree,
    )


def several_failure(language: str, text: str, attempt: Attempt) -> PatternInvalid:
    """The error for a pattern that is not exactly one node."""
    tree = _shown_tree(attempt)
    return PatternInvalid(
        f"The pattern is not one piece of {language} syntax. It was read as {tree}",
        hints=[
            *_failure_hints(text, attempt),
            "Search for one statement or expression; `inside` names the code around it.",
        ],
        parsed=tree,
    )


def _failure_hints(text: str, attempt: Attempt) -> list[str]:
    if "```" in text:
        return ["Send the code alone, without the fence around it."]
    if _PROSE.fullmatch(text.strip()):
        return [
            "This looks like a sentence. Send code as it stands in a file: `requests.get($URL, $$$REST)`."
        ]
    if attempt.is_clean and text.rstrip().endswith((":", "{")):
        return ["The body is missing; write `$$$` for any body."]
    return [
        "Send one whole statement or expression. `$X` stands for one node, `$$$X` for any number of items."
    ]


def _shown_tree(attempt: Attempt, most: int = 300) -> str:
    text = str(attempt.root)
    if attempt.frame is not BARE:
        inner: Node | None = attempt.root
        while inner is not None and not inner.is_error:
            deeper = next(
                (node for node in inner.children if holds_span(node, attempt.start, attempt.end)), None
            )
            if deeper is None:
                break
            inner = deeper
        text = str(inner)
    return text if len(text) <= most else text[: most - 1] + "…"
