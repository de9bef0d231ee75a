"""The one class that an annotation comes down to."""

import re
from collections.abc import Mapping

from codeplane.languages.facts import OTHER_TYPE

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_PLAIN = re.compile(rf"{_NAME}\Z")
_SUBSCRIPT = re.compile(rf"({_NAME})\[(.*)\]\Z", re.DOTALL)
_QUOTED = re.compile(r"\"([^\"\\]+)\"\Z|'([^'\\]+)'\Z")
_MODULES = ("typing", "typing_extensions")
# What is around a type and changes nothing about the members of a value.
_WRAPPERS = frozenset(
    f"{module}.{name}" for module in _MODULES for name in ("Optional", "ClassVar", "Final", "Annotated")
)
KEEPING = frozenset(
    "staticmethod classmethod abc.abstractmethod functools.cache functools.lru_cache typing.final "
    "typing.override typing_extensions.final typing_extensions.override warnings.deprecated "
    "typing_extensions.deprecated".split()
)
_LONGEST = 200
_RETURNED = re.compile(r"\)\s*->\s*([^()]+)\Z")
_CUT = 900  # signatures that are longer may end anywhere


def declared_type(written: str, imported: Mapping[str, str]) -> str:
    """The class of a value that is not None; `imported`: local name → what it is by its full name. A type may
    be written in a comment behind a value. "" where a bare `Final` leaves the type to the value."""
    rest = written.rpartition("type:")[2] if len(written) <= _LONGEST else ""
    while True:  # each round leaves something of the text behind
        types = [part for part in _split_outside_brackets(rest, "|") if part != "None"]
        rest = types[0] if len(types) == 1 else ""
        if _PLAIN.match(rest):
            return "" if _full_name(rest, imported) in _WRAPPERS else rest
        if literal := _QUOTED.match(rest):
            rest = literal[1] or literal[2]
        elif not (subscript := _SUBSCRIPT.match(rest)):
            return OTHER_TYPE
        elif _full_name(subscript[1], imported) not in _WRAPPERS:
            return subscript[1]
        else:
            rest = _split_outside_brackets(subscript[2], ",")[0]


def returned_type(signature: str, imported: Mapping[str, str]) -> str:
    """The class of what a function returns, None aside."""
    match = _RETURNED.search(signature) if len(signature) < _CUT else None
    return declared_type(match[1], imported) if match else ""


def awaited_type(signature: str, imported: Mapping[str, str]) -> str:
    """The class of what an asynchronous function gives in the end."""
    return returned_type(signature, imported) if signature.startswith("async ") else ""


def _full_name(name: str, imported: Mapping[str, str]) -> str:
    first, dot, rest = name.partition(".")
    return imported.get(first, first) + dot + rest


def _split_outside_brackets(text: str, separator: str) -> list[str]:
    """The parts between the separators that stand in no brackets and no quotes."""
    parts, depth, quote, begin = [], 0, "", 0
    for at, char in enumerate(text):
        if quote or char in "\"'":
            quote = "" if char == quote else quote or char
        elif char in "[]()":
            depth += 1 if char in "[(" else -1
        elif char == separator and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()]
