from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.core.errors import PatternInvalid
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.generic._regrouping import (
    has_new_errors,
    is_regrouped,
    lacks_something,
    regrouped_pieces,
)
from codeplane.languages.operations.generic._template import Filling, check_holes, fill_template, used_spans
from codeplane.languages.patterns import Pattern, all_readings, compile_pattern, find_pattern
from codeplane.languages.patterns.pattern import parts_of

_TEMPLATE: Final = Argument(
    "with",
    "text",
    "The code that takes the place of the match, with its holes: `bar($$$R, $A)`.",
    is_required=True,
)


def _is_template_there(source: Source, _: str, arguments: Arguments) -> bool:
    """Whether the file has what the template makes, where what it replaces is not there."""
    readings = all_readings(source.language, arguments.text("with"))
    return any(find_pattern(source, template) for template in readings)


@operation(version=1, target="node", arguments=(_TEMPLATE,), is_done=_is_template_there)
def replace_match(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Replaces the matched code by a template over what its holes stand for.

    Captured code is moved to its new indentation, strings in it excepted; `$$$` without items takes a
    separator beside it along; parentheses come where the code would be read otherwise. A comment that no
    used hole contains is a refusal. A match that already is what the template makes stays as it is, so
    `f($$$A)` with `f($$$A, x)` adds `x` once.
    """
    text = arguments.text("with")
    check_holes(text, match.captures)
    if _is_instance(source, match, text):
        return Outcome()
    _refuse_lost_comments(source, match, text)
    start, end = match.node.start_byte, match.node.end_byte
    filling = _settled_filling(source, match, text)
    if filling.text == source.slice(start, end):
        return Outcome()
    return Outcome([source.replace(start, end, filling.text)])


def _settled_filling(source: Source, match: Match, template: str) -> Filling:
    """The text in the place of a match; with parentheses where the parser needs them to read it as meant."""
    start, end = match.node.start_byte, match.node.end_byte
    filling = fill_template(source, match, template, frozenset())
    after = _file_with(source, match, filling)
    if regrouped := regrouped_pieces(after, start, filling):
        filling = fill_template(source, match, template, regrouped)
        after = _file_with(source, match, filling)
    length = len(filling.text.encode("utf-8", "surrogateescape"))
    if has_new_errors(source, after) or is_regrouped(after, start, start + length):
        outer_filling = Filling(
            f"({filling.text})",
            [piece._replace(start=piece.start + 1, end=piece.end + 1) for piece in filling.pieces],
        )
        outer = _file_with(source, match, outer_filling)
        if not has_new_errors(source, outer):
            filling, after, length = outer_filling, outer, length + 2
    if has_new_errors(source, after) or lacks_something(after, start, start + length):
        raise OperationRefused(
            f"The template makes code that does not parse: {filling.text[:80]!r} in the place of "
            f"{source.slice(start, min(end, start + 80))!r}.",
            match.node,
        )
    if regrouped_pieces(after, start, filling) or is_regrouped(after, start, start + length):
        raise OperationRefused(
            "What a hole stands for would be read as a part of something else; "
            "write parentheses in the template.",
            match.node,
        )
    return filling


def _file_with(source: Source, match: Match, filling: Filling) -> Source:
    edit = source.replace(match.node.start_byte, match.node.end_byte, filling.text)
    return Source(source.language, source.apply([edit]), source.path)


def _refuse_lost_comments(source: Source, match: Match, template: str) -> None:
    """Refuses where a comment stands in the match, but in nothing that the template takes over."""
    spans = used_spans(match, template)
    for comment in _comments_in(match.node, spans):
        raise OperationRefused(
            f"The comment at line {source.line_of(comment.start_byte)} would be lost: "
            "no hole of the template contains it.",
            comment,
        )


def _comments_in(node: Node, spans: list[tuple[int, int]]) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if any(start <= inner.start_byte and inner.end_byte <= end for start, end in spans):
            continue
        if "comment" in inner.type and inner.is_named:
            yield inner
        else:
            waiting += reversed(inner.children)


def _is_instance(source: Source, match: Match, template: str) -> bool:
    """Whether a match already is what the template makes, and the template adds words to what it replaces.

    `f($B, $A)` adds nothing to `f($A, $B)`: arguments are swapped each time.
    """
    pattern = _template_pattern(source, template)
    if pattern is None:
        return False
    captures = [node for nodes in match.captures.values() for node in nodes]
    own_words = {source.text(node) for node in _leaves_outside(match.node, captures)}
    words = {
        part.text.decode("utf-8", "replace")
        for part in parts_of(pattern.root)
        if part.hole is None and not part.children and (part.is_named or part.text.isalpha())
    }
    if words <= own_words:
        return False
    return any(_is_made_of(one, match.node) for one in find_pattern(source, pattern))


def _is_made_of(instance: Match, node: Node) -> bool:
    """Whether a node is a part of what a template makes, and not of what stands in its holes."""
    inner = [hole for nodes in instance.captures.values() for hole in nodes]
    return _holds(instance.node, node) and not any(_holds(hole, node) for hole in inner)


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _leaves_outside(node: Node, captures: list[Node]) -> Iterator[Node]:
    spans = {(one.start_byte, one.end_byte) for one in captures}
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if (inner.start_byte, inner.end_byte) in spans:
            continue
        if not inner.child_count or "string" in inner.type:
            yield inner
        else:
            waiting += inner.children


def _template_pattern(source: Source, template: str) -> Pattern | None:
    try:
        return compile_pattern(source.language, template)
    except PatternInvalid:
        return None
