"""Ways to parse a pattern: what is written for its holes, in which frame, until it is one piece of syntax."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.patterns.frames import BARE, FORMS, PatternFrame, form_choices, frames_of, stem_for
from codeplane.languages.patterns.holes import Hole, holes_in
from codeplane.languages.patterns.pattern import SEQUENCES
from codeplane.languages.query import parser_of, readable
from codeplane.languages.spec import specs

_MOST_TRIALS: Final = 4_000
_MOST_ROUNDS: Final = 4


class Attempt(NamedTuple):
    """One way to parse a pattern."""

    text: str
    forms: tuple[int, ...]
    frame: PatternFrame
    root: Node
    data: bytes
    start: int
    end: int
    spans: Mapping[tuple[int, int], Hole]

    @property
    def is_clean(self) -> bool:
        """Whether it parses without an error."""
        return not self.root.has_error

    def own_text(self, node: Node) -> bytes:
        """The text of a node, with what stands for the holes."""
        return self.data[node.start_byte : node.end_byte]


def first_clean(language: str, text: str, inside: str) -> Attempt | None:
    """The first way to parse a pattern without errors, as one node where there is such a way."""
    holes = list(holes_in(text))
    stem = stem_for(text + inside)
    frames = [*_context_frames(inside, stem), *frames_of(language)]
    several: Attempt | None = None
    for attempt in _all_attempts(language, text, holes, frames, stem):
        if not is_whole(attempt):
            continue
        node = node_of_pattern(attempt)
        if node is not None and not _is_unplaced(attempt, node):
            return attempt
        several = several or attempt
    return several


def is_whole(attempt: Attempt) -> bool:
    """Whether a pattern has no error and lacks nothing: `if x:` parses as if it had a body."""
    if not attempt.is_clean:
        return False
    waiting = [attempt.root]
    while waiting:
        node = waiting.pop()
        if node.is_missing or (
            node.is_named and node.start_byte == node.end_byte and _is_within(attempt, node)
        ):
            return False
        waiting += node.children
    return True


def _is_within(attempt: Attempt, node: Node) -> bool:
    return attempt.start <= node.start_byte <= attempt.end and node.parent is not None


def _is_unplaced(attempt: Attempt, root: Node) -> bool:
    """Whether a hole in another form than a name is no node of its own."""
    nodes = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        nodes.add((node.start_byte, node.end_byte))
        waiting += node.children
    return any(span not in nodes for span in attempt.spans if _is_compound(attempt.data[slice(*span)]))


def _is_compound(text: bytes) -> bool:
    return not re.fullmatch(rb"[\w$]+", text)


def _context_frames(inside: str, stem: str) -> Iterator[PatternFrame]:
    """The context of a pattern as its frame: the pattern stands where the last `$$$` does."""
    holes = list(holes_in(inside))
    gap = next((hole for hole in reversed(holes) if hole.is_many and not hole.name), None)
    if gap is None:
        return
    before = _filled(inside[: gap.start], stem)
    after = _filled(inside[gap.end :], stem)
    yield PatternFrame(before, after)
    if before.rstrip().endswith(":"):
        yield PatternFrame(before.rstrip() + "\n    ", after)


def _filled(text: str, stem: str) -> str:
    for hole in reversed(list(holes_in(text))):
        text = f"{text[: hole.start]}{stem}{hole.name}{text[hole.end :]}"
    return text


def _all_attempts(
    language: str, text: str, holes: Sequence[Hole], frames: Sequence[PatternFrame], stem: str
) -> Iterator[Attempt]:
    """Every frame with names for the holes; then, frame by frame, other forms that leave fewer errors."""
    forms = (0,) * len(holes)
    shorter = text[:-1].rstrip() if text.endswith(";") else ""
    first = []
    for frame in frames:
        first.append(make_attempt(language, text, holes, forms, frame, stem))
        yield first[-1]
        if shorter:
            # What follows a type in C is no part of it: `struct s { … };`
            first.append(make_attempt(language, shorter, holes, forms, frame, stem))
            yield first[-1]
    trials = _MOST_TRIALS
    for attempt in first:
        best, trials = attempt, trials - 1
        for _ in range(_MOST_ROUNDS):
            round_best = best
            for number, form in form_choices(len(holes)):
                trial = (*best.forms[:number], form, *best.forms[number + 1 :])
                other = make_attempt(language, attempt.text, holes, trial, attempt.frame, stem)
                trials -= 1
                if other.is_clean:
                    yield other
                if _damage_of(other) < _damage_of(round_best):
                    round_best = other
            if round_best is best or trials < 0:
                break
            best = round_best
        if trials < 0:
            return


def _damage_of(attempt: Attempt) -> int:
    """How many tokens of a pattern are in no place, and how many are missing."""
    count, waiting = 0, [attempt.root] if attempt.root.has_error else []
    while waiting:
        node = waiting.pop()
        count += node.is_missing + (node.descendant_count if node.is_error else 0)
        waiting += [child for child in node.children if child.has_error]
    return count


def make_attempt(
    language: str, text: str, holes: Sequence[Hole], forms: tuple[int, ...], frame: PatternFrame, stem: str
) -> Attempt:
    """Parses a pattern in a frame, with each hole in the form of that number."""
    parts, last = [frame.before.encode()], 0
    spans = {}
    length = len(parts[0])
    start = length
    for number, (hole, form) in enumerate(zip(holes, forms, strict=True)):
        literal = text[last : hole.start].encode()
        filler = FORMS[form].replace("@", f"{stem}{number}").encode()
        spans[length + len(literal), length + len(literal) + len(filler)] = hole
        parts += [literal, filler]
        length += len(literal) + len(filler)
        last = hole.end
    rest = text[last:].encode()
    end = length + len(rest)
    data = b"".join((*parts, rest, frame.after.encode()))
    # The end of a line ends a statement in many languages.
    data += b"" if data.endswith(b"\n") or frame is not BARE else b"\n"
    return Attempt(
        text,
        forms,
        frame,
        parser_of(language).parse(_readable_pattern(language, data)).root_node,
        data,
        start,
        end,
        spans,
    )


def _readable_pattern(language: str, data: bytes) -> bytes:
    """The pattern as the grammar can read it. Where code is one part of a file, the pattern is code alone."""
    return data if specs()[language].inherits else readable(language, data)


def node_of_pattern(attempt: Attempt) -> Node | None:
    """The innermost node that is exactly the pattern; None where it is several, or a piece of one."""
    start, end = attempt.start, attempt.end
    node: Node | None = attempt.root
    while node is not None and not _is_pattern(attempt, node):
        node = next((child for child in node.children if holds_span(child, start, end)), None)
    while node is not None:
        inner = [child for child in node.children if child.is_named]
        if len(inner) != 1 or not _is_pattern(attempt, inner[0]):
            break
        node = inner[0]
    if node is None or not node.is_named or node.parent is None:
        return None  # what is a whole file to the grammar is no piece of one
    is_sequence = node.type in SEQUENCES and node.parent.parent is None
    return None if is_sequence and _count_items(node) > 1 and node.children[0].is_named else node


def _count_items(node: Node) -> int:
    return sum(child.is_named and "comment" not in child.type for child in node.children)


def _is_pattern(attempt: Attempt, node: Node) -> bool:
    """Whether a node is what the pattern says, with white space after it at most."""
    after = attempt.data[attempt.end : node.end_byte]
    return node.start_byte == attempt.start and node.end_byte >= attempt.end and not after.strip()


def holds_span(node: Node, start: int, end: int) -> bool:
    """Whether a node holds all bytes from one to another."""
    return node.start_byte <= start and node.end_byte >= end
