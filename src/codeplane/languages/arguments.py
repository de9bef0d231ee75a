"""Names that a call or a literal gives values to: whose they are, and which are key and value at once."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.query import matches
from codeplane.languages.spec import specs

_QUOTED: Final = re.compile(r'"([^"]*)"')
_COMPARED: Final = re.compile(r'#(?:any-of|eq)\? @(\w+)((?:\s+"[^"]*")+)')
_CALLED: Final = ("asking", "_asks")  # captures of functions that ask
_KINDS: Final = ("loose", "macro", "splat", "keyword", "member")


class Argument(NamedTuple):
    """A keyword in a call or literal, or a splat that may hold any."""

    start: int  # byte
    # The bytes of what is called or made; none where that is the class around.
    holder: tuple[int, int] | None
    # `keyword`: it names something of the holder. `member`: what instances of the holder have. `splat`: may
    # name anything. `macro`: a macro makes something of it. `loose`: it is given to something without a name.
    kind: str = "keyword"


class Shorthand(NamedTuple):
    """A name that is a key and its value at once."""

    start: int  # byte
    end: int  # of all that stands for both
    template: str  # how the two are written apart
    modifiers: tuple[int, int] | None  # what stands before the name and belongs to the value


def arguments(language: str, data: bytes) -> list[Argument]:
    """The keywords and splats of a file, as far as the language says what they belong to."""
    patterns = specs()[language].renaming.keyword_patterns
    results = []
    for _, captures in matches(language, "\n".join(patterns), data) if patterns else ():
        holder = captures["holder"][0] if "holder" in captures else None
        span = (holder.start_byte, holder.end_byte) if holder is not None else None
        results += [
            Argument(node.start_byte, span, kind) for kind in _KINDS for node in captures.get(kind, ())
        ]
    return results


def keys(language: str, data: bytes) -> list[tuple[int, str]]:
    """First byte and name of the keys that mappings are given, which a splat may make keywords of a call."""
    patterns = specs()[language].renaming.key_patterns
    nodes = (
        [captures.get("key", ()) for _, captures in matches(language, "\n".join(patterns), data)]
        if patterns
        else []
    )
    return sorted((node.start_byte, _name_of(node)) for some in nodes for node in some)


def _name_of(key: Node) -> str:
    return (key.text or b"").decode("utf-8", "replace").lstrip(":")


def shorthands(language: str, data: bytes) -> list[Shorthand]:
    """The names of a file that are keys and values at once."""
    patterns = specs()[language].renaming.shorthand_patterns
    by_start: dict[int, Shorthand] = {}
    for number, captures in matches(language, "\n".join(patterns), data) if patterns else ():
        [name] = captures["name"]
        before = captures.get("modifier", ())
        first = min((node.start_byte for node in before), default=-1)
        modifiers = (first, name.start_byte) if first >= 0 else None
        before_it = by_start.get(name.start_byte)
        if before_it is None or (
            modifiers and (before_it.modifiers is None or modifiers < before_it.modifiers)
        ):
            [whole] = captures.get("whole", (name,))
            template = list(patterns.values())[number]
            by_start[name.start_byte] = Shorthand(name.start_byte, whole.end_byte, template, modifiers)
    return sorted(by_start.values())


def texts(language: str, data: bytes) -> list[tuple[int, int, str]]:
    """Where the comments and strings of a file are, of a language that takes a parser to tell."""
    patterns = specs()[language].texts
    spans = []
    for _, captures in matches(language, patterns, data) if patterns else ():
        for kind, nodes in captures.items():
            spans += [(node.start_byte, node.end_byte, kind) for node in nodes]
    return sorted(spans)


def wholes(language: str, data: bytes) -> list[tuple[int, int, int]]:
    """First and last byte of what is asked for all its fields, in order, and the first of the function that
    asks for them; -1 where none is named."""
    pattern, asks = specs()[language].reflection.bulk_field_access, _whole_text(language)
    spans = set()
    if asks is not None and not asks.search(data):
        return []
    for _, captures in matches(language, pattern, data) if pattern else ():
        asking = captures["asking"][0].start_byte if "asking" in captures else -1
        spans |= {(node.start_byte, node.end_byte, asking) for node in captures["holder"]}
    return sorted(spans)


@cache
def whole_words(language: str) -> tuple[str, ...]:
    """Words of which each file has one that asks something for all its fields; none where none has to be."""
    comparisons = [
        _COMPARED.findall(part)
        for part in _query_alternatives(specs()[language].reflection.bulk_field_access)
    ]
    words = [word for some in comparisons for _, values in some for word in _QUOTED.findall(values)]
    return tuple(dict.fromkeys(words)) if all(comparisons) else ()


@cache
def _whole_text(language: str) -> re.Pattern[bytes] | None:
    """What a text has where something is asked for all its fields; None where that has no words."""
    if not whole_words(language):
        return None
    comparisons = _COMPARED.findall(specs()[language].reflection.bulk_field_access)
    alternatives = [
        rf"\b{re.escape(word)}\b" + (r"\s*[(<]" if capture in _CALLED else "")
        for capture, values in comparisons
        for word in _QUOTED.findall(values)
    ]
    return re.compile("|".join(alternatives).encode())


def _query_alternatives(pattern: str) -> Iterator[str]:
    """The patterns of a query that stand beside each other."""
    depth = start = 0
    for at, char in enumerate(_QUOTED.sub(lambda one: "_" * len(one[0]), pattern)):
        depth += (char == "(") - (char == ")")
        if char == ")" and not depth:
            yield pattern[start : at + 1]
            start = at + 1


def quoted(language: str, data: bytes) -> list[tuple[int, int]]:
    """First and last byte of the code of a file whose own text the program gets, in order."""
    spec = specs()[language]
    is_there = spec.reflection.self_documenting and re.search(
        spec.reflection.self_documenting_text.encode(), data
    )
    quotes = matches(language, spec.reflection.self_documenting, data) if is_there else ()
    return sorted((node.start_byte, node.end_byte) for _, captures in quotes for node in captures["quoted"])
