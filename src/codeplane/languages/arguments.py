"""Names that a call or a literal gives values to: whose they are, and which are key and value at once."""

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node, Query, QueryCursor

from codeplane.languages._grammar import grammar
from codeplane.languages._limits import MAX_DEPTH, is_too_broken, is_too_deep

_LARGEST: Final = 2 << 20
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
    patterns = grammar(language).spec.keywords
    found = []
    for _, captures in _matches(language, data, "\n".join(patterns)) if patterns else ():
        holder = captures["holder"][0] if "holder" in captures else None
        span = (holder.start_byte, holder.end_byte) if holder is not None else None
        found += [Argument(node.start_byte, span, kind) for kind in _KINDS for node in captures.get(kind, ())]
    return found


def shorthands(language: str, data: bytes) -> list[Shorthand]:
    """The names of a file that are keys and values at once."""
    patterns = grammar(language).spec.shorthands
    found: dict[int, Shorthand] = {}
    for number, captures in _matches(language, data, "\n".join(patterns)) if patterns else ():
        [name] = captures["name"]
        before = captures.get("modifier", ())
        first = min((node.start_byte for node in before), default=-1)
        modifiers = (first, name.start_byte) if first >= 0 else None
        kept = found.get(name.start_byte)
        if kept is None or (modifiers and (kept.modifiers is None or modifiers < kept.modifiers)):
            [whole] = captures.get("whole", (name,))
            template = list(patterns.values())[number]
            found[name.start_byte] = Shorthand(name.start_byte, whole.end_byte, template, modifiers)
    return sorted(found.values())


def texts(language: str, data: bytes) -> list[tuple[int, int, str]]:
    """Where the comments and strings of a file are, of a language that takes a parser to tell."""
    patterns = grammar(language).spec.texts
    found = []
    for _, captures in _matches(language, data, patterns) if patterns else ():
        for kind, nodes in captures.items():
            found += [(node.start_byte, node.end_byte, kind) for node in nodes]
    return sorted(found)


@cache
def _query(language: str, text: str) -> Query:
    return Query(grammar(language).language, text)


def _matches(language: str, data: bytes, text: str) -> Iterator[tuple[int, dict[str, list[Node]]]]:
    if len(data) > _LARGEST:
        return
    root = grammar(language).parser.parse(data).root_node
    if is_too_deep(root, len(data)) or is_too_broken(root):
        return
    cursor = QueryCursor(_query(language, text))
    cursor.set_max_start_depth(MAX_DEPTH)
    yield from cursor.matches(root)
