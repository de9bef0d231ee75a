"""What Go says about types."""

import re
from collections.abc import Mapping
from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules

_CUT: Final = 900  # signatures that are longer may end anywhere
_HEAD: Final = re.compile(r"func\s*(?=\(|\w)")
_NAME: Final = re.compile(r"\s*[\w.]+")
_NAMED: Final = re.compile(r"(?!(?:chan|func|struct|interface|map)\b)\w+\s+(.+)\Z", re.DOTALL)
_CLASS: Final = re.compile(r"\*?([A-Za-z_]\w*(?:\.\w+)?)(?:\[.*\])?\Z", re.DOTALL)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class GoTypes(TypeRules):
    """The types of Go."""

    static_types = True
    structural_kinds = frozenset(("interface",))
    nearest_base = True
    embedded_fields = True
    reads_annotations = True

    @staticmethod
    def declared_type(written: str, imported: Mapping[str, str]) -> str:
        """The type as written: only plain names are asked about."""
        del imported
        return written

    @staticmethod
    def returned_type(signature: str, imported: Mapping[str, str]) -> str:
        """The type of the first result of a function, also behind a pointer; "" for what has no name."""
        del imported
        match = _CLASS.match(first_result(signature)) if len(signature) < _CUT else None
        return match[1] if match else ""


def first_result(signature: str) -> str:
    """The type of the first result by the header of a function: `func (a A) F(b B) (c *C, err error)`."""
    head = _HEAD.match(signature)
    if head is None:
        return ""
    at = head.end()
    at = _behind(signature, at) if signature[at] == "(" else at  # the receiver
    name = _NAME.match(signature, at)
    at = name.end() if name else at
    at = _behind(signature, at) if signature[at : at + 1] == "[" else at  # type parameters
    at = _behind(signature, at) if signature[at : at + 1] == "(" else len(signature)
    rest = signature[at:].strip().removesuffix("{").rstrip()
    if not rest.startswith("("):
        return rest
    results = [one.strip() for one in _parts(rest[1 : _behind(rest, 0) - 1])]
    named_results = [match for one in results if (match := _NAMED.match(one))]
    return named_results[0][1] if named_results else results[0]


def _behind(text: str, at: int) -> int:
    """Where the bracket that opens at a place is closed."""
    closing: list[str] = []
    for here in range(at, len(text)):
        if text[here] in _CLOSING:
            closing.append(_CLOSING[text[here]])
        elif closing and text[here] == closing[-1]:
            closing.pop()
            if not closing:
                return here + 1
    return len(text)


def _parts(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, begin, at = [], 0, 0
    while at < len(text):
        if text[at] == ",":
            parts.append(text[begin:at])
            begin = at + 1
        at = _behind(text, at) if text[at] in _CLOSING else at + 1
    return [*parts, text[begin:]]


RULES: Final = GoTypes()
