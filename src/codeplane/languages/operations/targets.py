"""From what a transform names to the nodes it means, in one file."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from codeplane.languages.operations.addresses import Addressed, find_definitions
from codeplane.languages.operations.operation import Match
from codeplane.languages.operations.source import Source
from codeplane.languages.patterns import compile_pattern, find_pattern
from codeplane.languages.spec import part_of


class Target(NamedTuple):
    """What a transform names: the file as a whole, or a text of a kind."""

    kind: Literal["file", "symbol", "selector", "pattern"] = "file"
    text: str = ""
    inside: str = ""  # the pattern of the code around a pattern


def resolve_target(source: Source, target: Target) -> Sequence[Match]:
    """The matches of a target, in the order of the file."""
    if target.kind == "symbol":
        return [definition_match(one) for one in find_definitions(source, target.text)]
    if target.kind == "selector":
        selectors = part_of(source.language, "selectors")
        matches: Sequence[Match] = selectors.select(source, target.text) if selectors else ()
        return matches
    if target.kind == "pattern":
        return find_pattern(source, compile_pattern(source.language, target.text, inside=target.inside))
    return [Match(source.root)]


def definition_match(one: Addressed) -> Match:
    """A definition as the match of an operation."""
    return Match(one.node, {"definition": [one.node], **({"name": [one.name]} if one.name else {})})
