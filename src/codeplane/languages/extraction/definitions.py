"""Drafts become definitions: kinds and flags by the language's conventions, signatures, spans."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from itertools import accumulate, count, repeat
from operator import add, sub

from codeplane.languages.extraction.binds import BindDraft
from codeplane.languages.extraction.outline import Draft, Outline
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
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import without_comments

_SIGNED = frozenset(
    "function method constructor class interface struct enum trait property namespace module macro impl "
    "object mixin type message service rpc".split()
)
_TYPED = frozenset(("variable", "field", "property", "constant", "module"))
_SIGNATURE = 4000  # bytes of a header that are kept
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

    def of(self, positions: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The line and the column of each, without a line of Python."""
        positions = list(positions)
        lines = list(map(bisect_right, repeat(self.starts), positions))
        before = map(self.starts.__getitem__, map((-1).__add__, lines))
        return zip(lines, map(sub, positions, before), strict=True)

    def spans(self, starts: Iterable[int], ends: Iterable[int]) -> Iterator[Span]:
        """The span from each start to its end."""
        # The class's own constructor costs twice as much.
        return map(tuple.__new__, repeat(Span), map(add, self.of(starts), self.of(ends)))

    def at(self, position: int) -> tuple[int, int]:
        line = bisect_right(self.starts, position)
        return line, position - self.starts[line - 1]


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def refine(outline: Outline, spec: LanguageSpec, data: bytes) -> None:
    """What decorators and the place of a definition say about its kind and flags."""
    for draft in outline.drafts:
        if spec.name_marks is not None:
            draft.name = _text_span(data, *draft.name, spec.name_marks.encode())
        if draft.mixins:
            draft.bases = [*reversed(draft.mixins), *draft.bases]
        if draft.name[0] == draft.name[1]:
            # What extends a type without a name of its own goes by the name of the type.
            draft.name = draft.owner
        elif (
            spec.scopes.blank_name and data[draft.name[0] : draft.name[1]] == spec.scopes.blank_name.encode()
        ):
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


def _text_span(data: bytes, start: int, end: int, marks: bytes) -> tuple[int, int]:
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
    types = [
        (text(annotations[at]) if at in annotations and draft.kind in _TYPED else "") or draft.annotation
        for at, draft in enumerate(outline.drafts)
        if draft.name[0] >= 0
    ]
    return _Finish(outline, numbers, reading).definitions(types)


class _Finish:
    def __init__(
        self, outline: Outline, numbers: list[int], reading: tuple[LanguageSpec, bytes, Lines]
    ) -> None:
        self.outline, self.numbers = outline, numbers
        self.spec, self.data, self.lines = reading
        self.drafts = [draft for draft in outline.drafts if draft.name[0] >= 0]
        self.parents = list(map(self._parent_of, self.drafts))
        self.inside: dict[int, list[tuple[int, int]]] = {}  # number → where those inside begin and end
        for parent, draft in zip(self.parents, self.drafts, strict=True):
            if parent >= 0:
                self.inside.setdefault(parent, []).append((draft.span_start, draft.end))
        self._private = _compiled(self.spec.private).fullmatch if self.spec.private else None
        self._tests = {kind: _compiled(pattern).fullmatch for kind, pattern in self.spec.tests.items()}

    def definitions(self, said: list[str]) -> list[Definition]:
        """All of them, given the declared types."""
        drafts, lines = self.drafts, self.lines
        spans = lines.spans([draft.span_start for draft in drafts], [draft.end for draft in drafts])
        names = lines.of([draft.name[0] for draft in drafts])
        return [
            self._make_definition(*what) for what in zip(count(), drafts, spans, names, said, strict=False)
        ]

    def _make_definition(
        self, at: int, draft: Draft, span: Span, place: tuple[int, int], said: str
    ) -> Definition:
        name = self.data[draft.name[0] : draft.name[1]]
        kind = self._kind_of(draft, name) if draft.kind == "variable" else draft.kind
        owner = self._type_head(draft.owner) if draft.owner[0] >= 0 else ""
        # The class's own constructor costs twice as much.
        return tuple.__new__(
            Definition,
            (
                f"{owner}.{text(name)}" if owner and draft.kind == "resource" else text(name),
                kind,
                self.parents[at],
                draft.scope,
                draft.body,
                span,
                *place,
                self._signature_of(draft) if kind in _SIGNED else "",
                self._bases_of(draft) if draft.bases else (),
                said,
                self._flags_of(draft, kind, name),
                owner,
                self._text_hash(draft, at),
            ),
        )

    def _flags_of(self, draft: Draft, kind: str, name: bytes) -> int:
        flags = draft.flags | FLAG_MORE if draft.more else draft.flags
        if self._private and self._private(name):
            flags |= FLAG_PRIVATE
        if kind in self._tests and self._tests[kind](name):
            flags |= FLAG_TEST
        return flags | self._base_flags(draft) if draft.bases else flags

    def _text_hash(self, draft: Draft, at: int) -> int:
        """A hash of the text of a definition, without its name and the definitions inside."""
        begin, last, data = draft.span_start, draft.end, self.data
        parts = [draft.name] if draft.owner != draft.name else []
        if at in self.inside:
            parts = sorted(parts + self.inside[at])
        own: list[bytes] = []
        for start, end in parts:
            if begin <= start < last:
                own.append(data[begin:start])
                begin = end
        own.append(data[begin:last])
        return int.from_bytes(blake2b(b"\0".join(own), digest_size=7).digest(), "little")

    def _base_flags(self, draft: Draft) -> int:
        base = self.spec.test_base
        tests = base and any(_compiled(base).fullmatch(self.data[span[0] : span[1]]) for span in draft.bases)
        return FLAG_TEST if tests else 0

    def _kind_of(self, draft: Draft, name: bytes) -> str:
        if self.outline.kinds[draft.scope] is _CLASS:
            return self.spec.class_kinds.get("variable", "variable")
        constant = self.spec.constant
        return "constant" if constant and _compiled(constant).fullmatch(name) else "variable"

    def _parent_of(self, draft: Draft) -> int:
        at = draft.parent
        while at >= 0 and self.numbers[at] < 0:
            at = self.outline.drafts[at].parent
        return self.numbers[at] if at >= 0 else -1

    def _signature_of(self, draft: Draft) -> str:
        end = draft.body_start if draft.body_start >= 0 else draft.end
        header = self.data[draft.start : min(end, draft.start + _SIGNATURE)]
        if b"\n" in header:
            header = without_comments(self.spec.writing, _REMARK.sub(b"", header))
        return text(b" ".join(header.split()).rstrip(b"{:=; "))

    def _bases_of(self, draft: Draft) -> tuple[str, ...]:
        return tuple(filter(None, map(self._type_head, draft.bases)))

    def _type_head(self, span: tuple[int, int]) -> str:
        """A type as written, without its arguments."""
        if span[0] == span[1]:
            return OTHER_TYPE
        head = _HEAD.match(b"".join(self.data[span[0] : span[1]].split()))
        return text(head.group()) if head else ""
