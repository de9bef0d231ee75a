"""Symbols of SCIP: a scheme, a package and the descriptors that lead to the thing in it."""

import re
from typing import NamedTuple

# A space inside of a part is written twice.
_SYMBOL = re.compile(r"(?:[^ ]|  )++ (?:[^ ]|  )*+ ((?:[^ ]|  )*+) (?:[^ ]|  )*+ (.+)", re.DOTALL)
_LOCAL = "local "
# One name in descriptors; the disambiguator of a method, in round brackets before a dot, is none.
_NAME = re.compile(r"`((?:[^`]|``)*+)(?:`|\Z)|([\w$+-]++)(?!\)\.)")
_SIMPLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-$"
_SUFFIXES = frozenset("/#.:!])")


class Symbol(NamedTuple):
    """The parts of a symbol that tell one thing from another; versions do not."""

    package: str
    descriptors: str

    @property
    def text(self) -> str:
        return f"{self.package} {self.descriptors}"


def is_local(symbol: str) -> bool:
    """Whether a symbol is known in its document alone."""
    return symbol.startswith(_LOCAL)


def split_symbol(symbol: str) -> Symbol | None:
    """The parts of a symbol; None for what is none. A package without a name is `.`."""
    match = _SYMBOL.fullmatch(symbol)
    return Symbol(match[1] or ".", match[2]) if match else None


def names_in(symbol: str) -> list[str]:
    """The names in the descriptors of a symbol, the outermost first; none for what is no symbol."""
    parts = split_symbol(symbol)
    if parts is None:
        return []
    return [plain or escaped.replace("``", "`") for escaped, plain in _NAME.findall(parts.descriptors)]


def last_name(symbol: str) -> str:
    """The name of a symbol; "" for a local one and for what is no symbol."""
    if symbol[-1:] not in _SUFFIXES or is_local(symbol):
        return ""
    body = symbol[: symbol.rfind("(")] if symbol.endswith(").") else symbol[:-1]
    if not body.endswith("`"):
        return body[len(body.rstrip(_SIMPLE)) :]
    start = body.rfind("`", 0, -1)
    while start > 0 and body[start - 1] == "`":
        start = body.rfind("`", 0, start - 1)
    return body[start + 1 : -1].replace("``", "`")
