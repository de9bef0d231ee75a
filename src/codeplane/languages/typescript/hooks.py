"""What the grammar does not read: variance of type parameters, signatures that a line break alone parts; what
is asked for its type; classes that are values alone."""

import re
from typing import Final

from codeplane.languages.extraction.outline import Outline
from codeplane.languages.javascript.hooks import read_exports

__all__ = ["narrowed_receivers", "read_exports", "readable_source", "reshape_outline"]

_PATH: Final = rb"(?<![\w$#.])[\w$#]++(?:[?!]?\.[\w$#]++)*+"
_OF_CLASS: Final = re.compile(rb"\binstanceof\b\s*+(%b)?" % _PATH)
_VALUE: Final = re.compile(rb"(%b)[\s)]*\Z" % _PATH)
_LONGEST: Final = 200  # bytes of a value that are looked at
_TYPES: Final = ("interface", "type")
_MARKS: Final = str.maketrans("", "", "?!")
_VARIANCE: Final = re.compile(rb"(?<=[<,])(\s*+)((?:(?:in|out)[ \t]++)++)(?=[A-Za-z_$])")
_SIGNATURE: Final = re.compile(rb"\n[ \t]++(?=<\s*+(?:const\s++)?[A-Za-z_$][\w$]*+\s*+(?:[,>=]|extends\b))")
_ENDS: Final = re.compile(rb"[\w$>)\]}\"'`]")
_FAR: Final = 20  # comments between two signatures


def readable_source(data: bytes) -> bytes:
    """The source without `in` and `out` before type parameters, and with `;` before a line with a signature.

    `<A>(a: A): B` on a line of its own is one where what is before it is complete: `{` and `=` are not.
    """
    if b"<" not in data:
        return data
    text = bytearray(_VARIANCE.sub(lambda match: match[1] + b" " * len(match[2]), data))
    for match in _SIGNATURE.finditer(data):
        if _is_complete(data, match.start()):
            text[match.end() - 1] = ord(";")
    return bytes(text)


def narrowed_receivers(data: bytes) -> list[str]:
    """`x instanceof A`: each value with the class that it is asked for."""
    values = set()
    for match in _OF_CLASS.finditer(data) if b"instanceof" in data else ():
        start = match.start()
        if value := _VALUE.search(data, max(start - _LONGEST, 0), start):
            text = b" ".join((value[1], match[1] or b"?")).decode("utf-8", "surrogateescape")
            values.add(text.translate(_MARKS))
    return sorted(values)


def reshape_outline(outline: Outline, data: bytes) -> None:
    """A constant that is given a class is no type: beside one of its name it is a variable."""
    types = {(one.scope, data[slice(*one.name)]) for one in outline.drafts if one.kind in _TYPES}
    for draft in outline.drafts if types else ():
        is_constant = draft.kind == "class" and draft.start == draft.name[0]
        if is_constant and (draft.scope, data[slice(*draft.name)]) in types:
            draft.kind = "variable"


def _is_complete(data: bytes, end: int) -> bool:
    """Whether what ends before a place may be a whole type, comments left out."""
    for _ in range(_FAR):
        line = data.rfind(b"\n", 0, end) + 1
        text = data[line:end].rstrip()
        if text.endswith(b"*/"):
            end = max(data.rfind(b"/*", 0, line + len(text)), 0)
        elif (at := text.find(b"//")) >= 0 and text[at - 1 : at] != b":":
            end = line + at
        elif text:
            return bool(_ENDS.fullmatch(text[-1:])) and not text.endswith(b"=>")
        elif line:
            end = line - 1
        else:
            return False
    return False
