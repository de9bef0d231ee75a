"""From the text of a pattern to its parts, by the grammar of its language."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from codeplane.core.errors import PatternInvalid
from codeplane.languages.patterns.attempts import (
    Attempt,
    first_clean,
    is_whole,
    make_attempt,
    node_of_pattern,
)
from codeplane.languages.patterns.frames import (
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
from codeplane.languages.patterns.refusals import parse_failure, several_failure
from codeplane.languages.spec import specs

_DEEPEST: Final = 150
_YAML_RULE: Final = re.compile(
    r"^\s*-?\s*(?:id|rule|pattern|kind|any|all|has|language|message):(?:\s|$)", re.MULTILINE
)
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


@lru_cache(256)
def compile_pattern(language: str, text: str, *, inside: str = "", is_exact: bool = False) -> Pattern:
    """A pattern of a language; `PatternInvalid` says how it was read where it is not one piece of syntax."""
    _refuse_text(language, text)
    body = _dedented(text)
    context = compile_pattern(language, inside, is_exact=is_exact) if inside else None
    attempt = first_clean(language, body, inside)
    if attempt is None:
        raise parse_failure(language, body)
    node = node_of_pattern(attempt)
    if node is None:
        raise several_failure(language, body, attempt)
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
        attempt = make_attempt(language, body, holes, (0,) * len(holes), frame, stem_for(body))
        node = node_of_pattern(attempt) if is_whole(attempt) else None
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


class _Builder:
    """Makes the parts of one pattern."""

    def __init__(self, language: str, attempt: Attempt, is_exact: bool) -> None:
        self._language = language
        self.make_attempt = attempt
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
        text = self.make_attempt.own_text(node)
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
        hole = self.make_attempt.spans.get((node.start_byte, node.end_byte))
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
        text = self.make_attempt.own_text(node)
        inner = [
            (start - node.start_byte, end - node.start_byte, hole)
            for (start, end), hole in self.make_attempt.spans.items()
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
