"""Drafts become definitions: kinds and flags by the language's conventions, signatures, spans."""

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import accumulate

from codeplane.languages._binds import BindDraft
from codeplane.languages._outline import Draft, Outline
from codeplane.languages._spec import LanguageSpec, specs
from codeplane.languages._style import without_comments
from codeplane.languages.facts import (
    FLAG_MORE,
    FLAG_PRIVATE,
    FLAG_TEST,
    OTHER_TYPE,
    Definition,
    Reason,
    ScopeKind,
    Span,
)

_SIGNED = frozenset(
    "function method constructor class interface struct enum trait property namespace module macro impl "
    "object mixin type".split()
)
_TYPED = frozenset(("variable", "field", "property", "constant", "module"))
_SIGNATURE = 1000  # bytes of a header that are kept
# A further line of a header that is nothing but a comment. `#[` begins an attribute.
_REMARK = re.compile(rb"\n[ \t]*(?:#(?!\[)|//|--)[^\n]*")
_LINE = re.compile(rb"[^\r\n]*[^\r\n\t ]")
_CLASS = ScopeKind.CLASS  # reading it off the enumeration costs more than the test
_HEAD = re.compile(rb"[\w$.:\\\x80-\xff]+")


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class Lines:
    """Bytes to lines and columns."""

    def __init__(self, data: bytes) -> None:
        lengths = map(len, data.split(b"\n"))
        self.starts = [0, *accumulate(map((1).__add__, lengths))]
        self.starts.pop()
        self.count = len(self.starts) - (not data or data.endswith(b"\n"))

    def at(self, position: int) -> tuple[int, int]:
        line = bisect_right(self.starts, position)
        return line, position - self.starts[line - 1]

    def span(self, start: int, end: int) -> Span:
        starts = self.starts
        first, last = bisect_right(starts, start), bisect_right(starts, end)
        # The class's own constructor costs twice as much.
        return tuple.__new__(Span, (first, start - starts[first - 1], last, end - starts[last - 1]))


@cache
def _pattern(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


@lru_cache(maxsize=10_000)
def _named_flags(language: str, kind: str, name: bytes) -> int:
    """What the name itself says."""
    spec = specs()[language]
    flags = 0
    if spec.private and _pattern(spec.private).fullmatch(name):
        flags |= FLAG_PRIVATE
    if kind in spec.tests and _pattern(spec.tests[kind]).fullmatch(name):
        flags |= FLAG_TEST
    return flags


def refine(outline: Outline, spec: LanguageSpec, data: bytes) -> None:
    """What decorators and the place of a definition say about its kind and flags."""
    for draft in outline.drafts:
        if spec.name_marks is not None:
            draft.name = _told(data, *draft.name, spec.name_marks.encode())
        if draft.mixins:
            draft.bases = [*reversed(draft.mixins), *draft.bases]
        if draft.name[0] == draft.name[1]:
            # What extends a type without a name of its own goes by the name of the type.
            draft.name = draft.owner
        elif spec.blank and data[draft.name[0] : draft.name[1]] == spec.blank.encode():
            draft.name = (-1, -1)
        if draft.kind in spec.file_kinds:
            draft.scope = 0
        if draft.kind == "field" and outline.kinds[draft.scope] == ScopeKind.FUNCTION:
            _to_class(outline, draft)
        in_class = outline.kinds[draft.scope] is _CLASS
        if in_class:
            draft.kind = spec.class_kinds.get(draft.kind, draft.kind)
        for start, end in draft.decorators:
            name = text(data[start:end])
            last = name.rsplit(".", 1)[-1]
            draft.flags |= spec.decorator_flags.get(last, 0)
            draft.kind = spec.decorator_kinds.get(last, draft.kind) if in_class else draft.kind
            draft.more = draft.more or last in spec.decorator_adds
            draft.opens_group = draft.opens_group or last in spec.decorator_opens


def _told(data: bytes, start: int, end: int, marks: bytes) -> tuple[int, int]:
    """Where a name that is text begins and ends."""
    if end - start > 1 and data[start] in marks and data[start] == data[end - 1]:
        start, end = start + 1, end - 1
    line = _LINE.match(data, start, end)
    return line.span() if line else (-1, -1)


def _to_class(outline: Outline, draft: Draft) -> None:
    """A parameter of a constructor that is a field too belongs to the class."""
    around = outline.parents[draft.scope]
    if outline.kinds[around] == ScopeKind.CLASS and draft.parent >= 0:
        draft.scope, draft.parent = around, outline.drafts[draft.parent].parent
        draft.parameter = True


def definitions(
    outline: Outline, numbers: list[int], binds: list[BindDraft], reading: tuple[LanguageSpec, bytes, Lines]
) -> list[Definition]:
    """All named drafts, in order."""
    annotations = {
        bind.target: bind.annotations[0] if len(bind.annotations) == 1 else OTHER_TYPE.encode()
        for bind in binds
        if bind.annotations and bind.reason is Reason.DEF_IN_SCOPE
    }
    finish = _Finish(outline, numbers, reading)
    return [
        finish.definition(draft, text(annotations.get(at, b"")) if draft.kind in _TYPED else "")
        for at, draft in enumerate(outline.drafts)
        if draft.name[0] >= 0
    ]


def _inside(outline: Outline, parent_of: Callable[[Draft], int]) -> dict[int, list[tuple[int, int]]]:
    """The number of each definition → where those inside of it begin and end."""
    found: dict[int, list[tuple[int, int]]] = {}
    for draft in outline.drafts:
        if draft.name[0] >= 0 and (parent := parent_of(draft)) >= 0:
            found.setdefault(parent, []).append((draft.span_start, draft.end))
    return found


class _Finish:
    def __init__(
        self, outline: Outline, numbers: list[int], reading: tuple[LanguageSpec, bytes, Lines]
    ) -> None:
        self.outline, self.numbers = outline, numbers
        self.spec, self.data, self.lines = reading
        self.inside = _inside(outline, self._parent)
        self.count = 0

    def definition(self, draft: Draft, annotation: str) -> Definition:
        name = self.data[draft.name[0] : draft.name[1]]
        kind = self._kind(draft, name)
        owner = self._head(draft.owner) if draft.owner[0] >= 0 else ""
        flags = draft.flags | _named_flags(self.spec.name, kind, name) | (FLAG_MORE if draft.more else 0)
        # The class's own constructor costs twice as much.
        return tuple.__new__(
            Definition,
            (
                f"{owner}.{text(name)}" if owner and self.spec.owner_in_name else text(name),
                kind,
                self._parent(draft),
                draft.scope,
                draft.body,
                self.lines.span(draft.span_start, draft.end),
                *self.lines.at(draft.name[0]),
                self._signature(draft) if kind in _SIGNED else "",
                self._bases(draft) if draft.bases else (),
                annotation or draft.annotation,
                flags | self._base_flags(draft) if draft.bases else flags,
                owner,
                self._text(draft),
            ),
        )

    def _text(self, draft: Draft) -> int:
        """A hash of the text of a definition, without its name and the definitions inside."""
        begin, data = draft.span_start, self.data
        parts = self.inside.get(self.count, [])
        self.count += 1
        if draft.owner != draft.name:
            parts = [*parts, draft.name]
        own = blake2b(digest_size=7)
        for start, end in sorted(parts):
            if begin <= start < draft.end:
                own.update(data[begin:start])
                own.update(b"\0")
                begin = end
        own.update(data[begin : draft.end])
        return int.from_bytes(own.digest(), "little")

    def _base_flags(self, draft: Draft) -> int:
        base = self.spec.test_base
        tests = base and any(_pattern(base).fullmatch(self.data[span[0] : span[1]]) for span in draft.bases)
        return FLAG_TEST if tests else 0

    def _kind(self, draft: Draft, name: bytes) -> str:
        if draft.kind != "variable":
            return draft.kind
        if self.outline.kinds[draft.scope] is _CLASS:
            return self.spec.class_kinds.get("variable", "variable")
        constant = self.spec.constant
        return "constant" if constant and _pattern(constant).fullmatch(name) else "variable"

    def _parent(self, draft: Draft) -> int:
        at = draft.parent
        while at >= 0 and self.numbers[at] < 0:
            at = self.outline.drafts[at].parent
        return self.numbers[at] if at >= 0 else -1

    def _signature(self, draft: Draft) -> str:
        end = draft.body_start if draft.body_start >= 0 else draft.end
        header = self.data[draft.start : min(end, draft.start + _SIGNATURE)]
        if b"\n" in header:
            header = without_comments(self.spec.writing, _REMARK.sub(b"", header))
        return text(b" ".join(header.split()).rstrip(b"{:=; "))

    def _bases(self, draft: Draft) -> tuple[str, ...]:
        return tuple(filter(None, map(self._head, draft.bases)))

    def _head(self, span: tuple[int, int]) -> str:
        """A type as written, without its arguments."""
        head = _HEAD.match(b"".join(self.data[span[0] : span[1]].split()))
        return text(head.group()) if head else ""
