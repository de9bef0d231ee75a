"""From the text of a pattern to its parts, by the grammar of its language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.errors import PatternInvalid
from codeplane.languages.patterns.frames import (
    BARE,
    FORMS,
    PatternFrame,
    form_choices,
    frames_of,
    has_equal_quotes,
    stem_for,
)
from codeplane.languages.patterns.holes import LONGEST, MOST_HOLES, Hole, holes_in
from codeplane.languages.patterns.literals import string_value
from codeplane.languages.patterns.pattern import (
    SEPARATORS,
    SEQUENCES,
    Part,
    Pattern,
    is_string_kind,
    is_verbatim,
    kinds_of,
    parts_of,
)
from codeplane.languages.query import errors_in, parser_of, readable
from codeplane.languages.spec import specs

_DEEPEST: Final = 150
_MOST_TRIALS: Final = 4_000
_MOST_ROUNDS: Final = 4
_YAML_RULE: Final = re.compile(
    r"^\s*-?\s*(?:id|rule|pattern|kind|any|all|has|language|message):(?:\s|$)", re.MULTILINE
)
_PROSE: Final = re.compile(r"[A-Za-z]+(?: [A-Za-z`.,'()]+){3,}[.?!]?")
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


class _Attempt(NamedTuple):
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
        return not self.root.has_error

    def own_text(self, node: Node) -> bytes:
        return self.data[node.start_byte : node.end_byte]


@lru_cache(256)
def compile_pattern(language: str, text: str, *, inside: str = "", is_exact: bool = False) -> Pattern:
    """A pattern of a language; `PatternInvalid` says how it was read where it is not one piece of syntax."""
    _refuse_text(language, text)
    body = _dedented(text)
    context = compile_pattern(language, inside, is_exact=is_exact) if inside else None
    attempt = _first_clean(language, body, inside)
    if attempt is None:
        raise _parse_failure(language, body)
    node = _node_of_pattern(attempt)
    if node is None:
        raise _several_failure(language, body, attempt)
    root = _Builder(language, attempt, is_exact).build_root(node)
    if root.hole is not None:
        raise PatternInvalid(
            f"The pattern {text.strip()!r} is a hole and nothing else: it would match every node.",
            hints=["Write the code around the hole: `foo($X)`."],
        )
    return _pattern_of(language, text, root, is_exact=is_exact, inside=context)


def _pattern_of(
    language: str, text: str, root: Part, *, is_exact: bool = False, inside: Pattern | None = None
) -> Pattern:
    holes = {part.hole: part.is_many for part in parts_of(root) if part.hole}
    return Pattern(language, text, root, is_exact, holes, tuple(_words_in(root)), inside)


def all_readings(language: str, text: str) -> list[Pattern]:
    """A text as every kind of syntax that it can be: `a = 1` is a statement, and an argument of a call."""
    body = _dedented(text)
    try:
        _refuse_text(language, body)
    except PatternInvalid:
        return []
    readings: dict[int, Pattern] = {}
    holes = list(holes_in(body))
    for frame in frames_of(language):
        attempt = _attempt(language, body, holes, (0,) * len(holes), frame, stem_for(body))
        node = _node_of_pattern(attempt) if _is_whole(attempt) else None
        if node is not None:
            root = _Builder(language, attempt, is_exact=False).build_root(node)
            pattern = _pattern_of(language, text, root)
            readings.setdefault(root.kind if root.hole is None else -1, pattern)
    readings.pop(-1, None)
    return list(readings.values())


def has_grammar(language: str) -> bool:
    """Whether the files of a language are read by a grammar of that language."""
    spec = specs().get(language)
    if spec is None:
        return False
    owner = spec.grammar.removeprefix("tree_sitter_")
    return bool(spec.inherits) or owner == language or owner not in specs()


def _refuse_text(language: str, text: str) -> None:
    if not has_grammar(language):
        raise PatternInvalid(
            f"There is no grammar for {language[:40]!r}.", hints=["`cpl doctor` lists the languages."]
        )
    if not text.strip():
        raise PatternInvalid("The pattern is empty.", hints=["Write code with holes: `foo($X, $$$REST)`."])
    if len(text) > LONGEST or len(list(holes_in(text))) > MOST_HOLES:
        raise PatternInvalid(f"A pattern has at most {LONGEST} characters and {MOST_HOLES} holes.")
    if len(_YAML_RULE.findall(text)) > 1 and language != "yaml":
        raise PatternInvalid(
            "The pattern is a rule in YAML, not code.",
            hints=["Send only the code, with `$X` and `$$$X` as holes."],
        )
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise PatternInvalid("The pattern holds a null character or half a character.")


def _dedented(text: str) -> str:
    lines = text.replace("\r\n", "\n").strip("\n").rstrip().split("\n")
    margins = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join(line[margin:] for line in lines).strip()


def _first_clean(language: str, text: str, inside: str) -> _Attempt | None:
    """The first way to parse a pattern without errors, as one node where there is such a way."""
    holes = list(holes_in(text))
    stem = stem_for(text + inside)
    frames = [*_context_frames(inside, stem), *frames_of(language)]
    several: _Attempt | None = None
    for attempt in _attempts(language, text, holes, frames, stem):
        if not _is_whole(attempt):
            continue
        node = _node_of_pattern(attempt)
        if node is not None and not _is_unplaced(attempt, node):
            return attempt
        several = several or attempt
    return several


def _is_whole(attempt: _Attempt) -> bool:
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


def _is_within(attempt: _Attempt, node: Node) -> bool:
    return attempt.start <= node.start_byte <= attempt.end and node.parent is not None


def _is_unplaced(attempt: _Attempt, root: Node) -> bool:
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


def _attempts(
    language: str, text: str, holes: Sequence[Hole], frames: Sequence[PatternFrame], stem: str
) -> Iterator[_Attempt]:
    """Every frame with names for the holes; then, frame by frame, other forms that leave fewer errors."""
    forms = (0,) * len(holes)
    shorter = text[:-1].rstrip() if text.endswith(";") else ""
    first = []
    for frame in frames:
        first.append(_attempt(language, text, holes, forms, frame, stem))
        yield first[-1]
        if shorter:
            # What follows a type in C is no part of it: `struct s { … };`
            first.append(_attempt(language, shorter, holes, forms, frame, stem))
            yield first[-1]
    trials = _MOST_TRIALS
    for attempt in first:
        best, trials = attempt, trials - 1
        for _ in range(_MOST_ROUNDS):
            round_best = best
            for number, form in form_choices(len(holes)):
                trial = (*best.forms[:number], form, *best.forms[number + 1 :])
                other = _attempt(language, attempt.text, holes, trial, attempt.frame, stem)
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


def _damage_of(attempt: _Attempt) -> int:
    """How many tokens of a pattern are in no place, and how many are missing."""
    count, waiting = 0, [attempt.root] if attempt.root.has_error else []
    while waiting:
        node = waiting.pop()
        count += node.is_missing + (node.descendant_count if node.is_error else 0)
        waiting += [child for child in node.children if child.has_error]
    return count


def _attempt(
    language: str, text: str, holes: Sequence[Hole], forms: tuple[int, ...], frame: PatternFrame, stem: str
) -> _Attempt:
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
    return _Attempt(
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


def _node_of_pattern(attempt: _Attempt) -> Node | None:
    """The innermost node that is exactly the pattern; None where it is several, or a piece of one."""
    start, end = attempt.start, attempt.end
    node: Node | None = attempt.root
    while node is not None and not _is_pattern(attempt, node):
        node = next((child for child in node.children if _holds_span(child, start, end)), None)
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


def _is_pattern(attempt: _Attempt, node: Node) -> bool:
    """Whether a node is what the pattern says, with white space after it at most."""
    after = attempt.data[attempt.end : node.end_byte]
    return node.start_byte == attempt.start and node.end_byte >= attempt.end and not after.strip()


def _holds_span(node: Node, start: int, end: int) -> bool:
    return node.start_byte <= start and node.end_byte >= end


class _Builder:
    """Makes the parts of one pattern."""

    def __init__(self, language: str, attempt: _Attempt, is_exact: bool) -> None:
        self._language = language
        self._attempt = attempt
        self._is_exact = is_exact
        self._kinds = kinds_of(language)
        self._has_equal_quotes = has_equal_quotes(language)

    def build_root(self, node: Node) -> Part:
        return self._build(node, "", 0)

    def _build(self, node: Node, field_name: str, depth: int) -> Part:
        if depth > _DEEPEST:
            raise PatternInvalid(f"The pattern is nested deeper than {_DEEPEST} levels.")
        hole = self._hole_of(node)
        if hole is not None:
            return Part(0, "", True, b"", field_name=field_name, hole=hole.name, is_many=hole.is_many)
        name = node.type
        text = self._attempt.own_text(node)
        if is_string_kind(name) and node.is_named and not self._has_hole_inside(node):
            value = (
                None if self._is_exact else string_value(node, text, has_equal_quotes=self._has_equal_quotes)
            )
            return Part(node.kind_id, name, True, self._restored(node), field_name=field_name, value=value)
        children = [
            self._build(child, node.field_name_for_child(number) or "", depth + 1)
            for number, child in enumerate(node.children)
            if child.kind_id not in self._kinds.comments
        ]
        if not children:
            return Part(node.kind_id, name, node.is_named, self._restored(node), field_name=field_name)
        items = _with_separators(children if is_verbatim(name) else trim_parts(children))
        many = [number for number, child in enumerate(items) if child.is_many]
        ellipsis = -1 if not many else many[0] if len(many) == 1 else -2
        return Part(node.kind_id, name, node.is_named, b"", tuple(items), ellipsis, field_name)

    def _hole_of(self, node: Node) -> Hole | None:
        """The hole that a node is. A node that could hold more items than this one is none."""
        hole = self._attempt.spans.get((node.start_byte, node.end_byte))
        if hole is None or (node.type in SEQUENCES and node.child_count and node.children[0].is_named):
            return None
        return hole if not self._is_text(node) else None

    def _is_text(self, node: Node) -> bool:
        """Whether a node is a piece of a literal: `$X` in quotes is text."""
        return any(part in node.type for part in ("content", "fragment")) and "string" in node.type

    def _has_hole_inside(self, node: Node) -> bool:
        waiting = list(node.children)
        while waiting:
            inner = waiting.pop()
            if self._hole_of(inner) is not None:
                return True
            waiting += inner.children
        return False

    def _restored(self, node: Node) -> bytes:
        """The text of a leaf, with holes in it as they are written."""
        text = self._attempt.own_text(node)
        inner = [
            (start - node.start_byte, end - node.start_byte, hole)
            for (start, end), hole in self._attempt.spans.items()
            if node.start_byte <= start and end <= node.end_byte
        ]
        for start, end, hole in reversed(inner):
            text = text[:start] + hole.label.encode() + text[end:]
        return text


def trim_parts(children: list[Part]) -> list[Part]:
    """Children without a separator at the end, which is there or not without a difference."""
    if len(children) > 1 and _is_separator(children[-1]):
        return children[:-1]
    is_closed = len(children) > 2 and not children[-1].is_named and children[-1].hole is None
    return [*children[:-2], children[-1]] if is_closed and _is_separator(children[-2]) else children


def _is_separator(part: Part) -> bool:
    return not part.is_named and part.hole is None and part.kind_name in SEPARATORS


def _with_separators(children: list[Part]) -> list[Part]:
    """Children with each separator beside `$$$` made a part of it: it goes where there are no items."""
    items: list[Part] = []
    position = 0
    while position < len(children):
        part = children[position]
        position += 1
        if part.is_many:
            is_after = bool(items) and _is_separator(items[-1])
            if is_after:
                items.pop()
            is_before = not is_after and position < len(children) and _is_separator(children[position])
            position += is_before
            part = Part(
                0, "", True, b"", field_name=part.field_name, hole=part.hole, is_many=True,
                has_separator_before=is_after, has_separator_after=is_before,
            )  # fmt: skip
        items.append(part)
    return items


def _words_in(root: Part) -> Iterator[str]:
    """Identifiers and keywords that a match has as they are. Strings may be written with escapes."""
    words = (
        part.text.decode()
        for part in parts_of(root)
        if part.hole is None and part.value is None and not part.children and _WORD.fullmatch(part.text)
    )
    yield from dict.fromkeys(words)


def _parse_failure(language: str, text: str) -> PatternInvalid:
    stem = stem_for(text)
    holes = list(holes_in(text))
    attempts = [
        _attempt(language, text, holes, (0,) * len(holes), frame, stem) for frame in frames_of(language)
    ]
    best = min(attempts, key=lambda attempt: (errors_in(attempt.root), not attempt.is_clean))
    tree = _shown_tree(best)
    return PatternInvalid(
        f"The pattern is not {language} code that can be parsed. It was read as {tree}",
        hints=_failure_hints(text, best),
        parsed=tree,
    )


def _several_failure(language: str, text: str, attempt: _Attempt) -> PatternInvalid:
    tree = _shown_tree(attempt)
    return PatternInvalid(
        f"The pattern is not one piece of {language} syntax. It was read as {tree}",
        hints=[
            *_failure_hints(text, attempt),
            "Search for one statement or expression; `inside` names the code around it.",
        ],
        parsed=tree,
    )


def _failure_hints(text: str, attempt: _Attempt) -> list[str]:
    if "```" in text:
        return ["Send the code alone, without the fence around it."]
    if _PROSE.fullmatch(text.strip()):
        return [
            "This looks like a sentence. Send code as it stands in a file: `requests.get($URL, $$$REST)`."
        ]
    if attempt.is_clean and text.rstrip().endswith((":", "{")):
        return ["The body is missing; write `$$$` for any body."]
    return [
        "Send one whole statement or expression. `$X` stands for one node, `$$$X` for any number of items."
    ]


def _shown_tree(attempt: _Attempt, most: int = 300) -> str:
    text = str(attempt.root)
    if attempt.frame is not BARE:
        inner: Node | None = attempt.root
        while inner is not None and not inner.is_error:
            deeper = next(
                (node for node in inner.children if _holds_span(node, attempt.start, attempt.end)), None
            )
            if deeper is None:
                break
            inner = deeper
        text = str(inner)
    return text if len(text) <= most else text[: most - 1] + "…"
