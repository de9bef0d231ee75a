"""The one class or interface that a type annotation comes down to."""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import zip_longest

from codeplane.languages.facts import OTHER_TYPE

_PLAIN = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_PRIMITIVES = frozenset("any bigint boolean never number object string symbol this unknown void".split())
_NOTHING = frozenset(("", "null", "undefined"))
_QUOTES = "\"'`"
_LONGEST = 300
_RETURNED = re.compile(r"\)\s*:\s*([^()]+)\Z")
_PROMISED = re.compile(r"\)\s*:\s*Promise<([^()]+)>\Z")
_DECLARED = re.compile(
    r"[\w$]+\s*:.*[^=<>!]=[^=>].*=>\s*\Z|[\w$]+\s*:.*=\s*(?:async\s+)?function\b", re.DOTALL
)
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_CUT = 900  # signatures that are longer may end anywhere
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_MAPPED = re.compile(r"\[\s*[\w$]+\s+in\b")
_MOST_PARTS = 4  # of an alias, that queries look into


def declared_type(written: str, imported: Mapping[str, str]) -> str:
    """The type of a value that is neither null nor undefined."""
    if _PLAIN.fullmatch(written) and written not in _PRIMITIVES:
        return written
    return _declared_class(written) if len(written) <= _LONGEST else OTHER_TYPE


def returned_type(signature: str, imported: Mapping[str, str]) -> str:
    """The type of what a function returns, null and undefined aside."""
    type_text = _behind_parameters(_RETURNED, signature)
    return type_text if type_text in ("", "this") else declared_type(type_text, imported)


def awaited_type(signature: str, imported: Mapping[str, str]) -> str:
    """The type of what a promise that a function returns gives in the end."""
    type_text = _behind_parameters(_PROMISED, signature)
    return declared_type(type_text, imported) if type_text else ""


def _behind_parameters(pattern: re.Pattern[str], signature: str) -> str:
    """What is said behind the parameters of a function. A constant that is declared as something is that,
    whatever the function says that it is given."""
    if len(signature) >= _CUT or _DECLARED.match(signature):
        return ""
    match = pattern.search(signature.removesuffix("=>").rstrip())
    if match is None:
        return ""
    # In brackets that are still open it is said of a member of what is returned.
    before = signature[: match.start() + 1]
    is_open = any(before.count(left) != before.count(right) for left, right in _BRACKETS)
    return "" if is_open else match[1].strip()


@lru_cache(maxsize=2_000)
def other_parts(signature: str) -> tuple[str, ...]:
    """The types that the alias of a type puts together with the members that it writes out; OTHER_TYPE for
    what has no name, and where those members are not its own or not all."""
    _, *sides = _split_outside_brackets(_STRING.sub("''", signature), "=")
    either = [part for part in _split_outside_brackets("=".join(sides), "|") if part not in _NOTHING]
    both = (
        _split_outside_brackets(either[0], "&") if len(either) == 1 and not _MAPPED.search(signature) else []
    )
    if not 0 < len(both) <= _MOST_PARTS:
        return (OTHER_TYPE,)
    return tuple(_declared_class(part) for part in both if part and not part.startswith("{"))


@lru_cache(maxsize=2_000)
def _declared_class(written: str) -> str:
    parts = _union_parts(written)
    types = [part for part in parts if part not in _NOTHING] if parts else []
    name = _PLAIN.match(types[0]) if len(types) == 1 else None
    if name is None or name[0] in _PRIMITIVES or types[0][name.end() :].strip() not in ("", "<>"):
        return OTHER_TYPE
    return name[0]


def _union_parts(text: str) -> list[str]:
    """The members of a union, without what stands in brackets; none where quotes make that unsure."""
    return [] if any(quote in text for quote in _QUOTES) else _split_outside_brackets(text, "|")


def _split_outside_brackets(text: str, separator: str) -> list[str]:
    """What stands between the separators, without what stands in brackets."""
    parts, depth, before = [""], 0, ""
    for char, after in zip_longest(text, text[1:], fillvalue=""):
        is_arrow = char == ">" and before == "="
        depth -= char in ")]}>" and not is_arrow
        if not depth and char == separator and char + after != "=>":
            parts.append("")
        elif not depth:
            parts[-1] += char
        depth += char in "([{<"
        before = char
    return [part.strip() for part in parts]
