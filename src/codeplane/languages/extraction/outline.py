"""One sorted sweep over the captured nodes that enclose others: scopes and definitions."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from codeplane.languages.extraction.vocabulary import MODIFIERS
from codeplane.languages.facts import FLAG_TEST, ScopeKind

MAX_DEPTH = 200
WHOLE = -1  # `skipped` of a position that sees its scope as usual
TOO_DEEP = -2  # `skipped` of a position below MAX_DEPTH scopes: nothing is resolved there
_END = 1 << 62

# Of nodes with the same extent: a body holds the extent, which holds the definition, which opens the scope; a
# lambda that is looked up outside is outside as a whole.
_BODY, _EXTENT, _DECLARATION, _DEFINITION, _OUTER, _SCOPE, _LEAF = range(7)
_SCOPE_KINDS = {
    "scope.function": ScopeKind.FUNCTION,
    "scope.arrow": ScopeKind.FUNCTION,
    "scope.class": ScopeKind.CLASS,
    "scope.block": ScopeKind.BLOCK,
    "scope.comprehension": ScopeKind.COMPREHENSION,
    "scope.namespace": ScopeKind.NAMESPACE,
    "scope.unknown": ScopeKind.BLOCK,
}
_RANKS = {"body": _BODY, "extent": _EXTENT, "declaration": _DECLARATION, "scope.outer": _OUTER}
_LEAVES = (
    *("name", "extended", "base", "base.mixin", "base.other", "decorator", "test"),
    *(f"modifier.{name}" for name in MODIFIERS),
)
_TYPES = frozenset(("struct", "enum", "class", "interface"))

_Event = tuple[int, int, int, int, str]


class Draft:
    """A definition while its parts are being collected. Positions are bytes."""

    __slots__ = (
        "annotation", "bases", "body", "body_start", "decorators", "doubtful", "end", "flags", "forward",
        "kind", "mixins", "more", "name", "opens_group", "owner", "parameter", "parent", "scope",
        "span_start", "start",
    )  # fmt: skip

    def __init__(self, kind: str, start: int, end: int, scope: int, parent: int) -> None:
        self.kind, _, more = kind.partition(".")
        self.more = more == "more"  # adds to the definition of the same name before it
        self.doubtful = False  # may not be the definition that counts
        self.forward = more == "forward"  # only declares what is defined elsewhere
        self.opens_group = self.forward  # the next definition of the same name adds to this one
        self.parameter = False  # a parameter that is a field of the class too
        self.start = self.span_start = start
        self.end = end
        self.scope = scope
        self.parent = parent
        self.body = -1
        self.body_start = -1
        self.name = (-1, -1)
        self.owner = (-1, -1)
        self.bases: list[tuple[int, int]] = []
        self.mixins: list[tuple[int, int]] = []
        self.decorators: list[tuple[int, int]] = []
        self.flags = 0
        self.annotation = ""

    def named(self, start: int, end: int) -> "Draft":
        """Another definition of the same node under another name: `const a, b = 1, 2`."""
        other = Draft(self.kind, self.start, self.end, self.scope, self.parent)
        other.flags, other.span_start, other.name = self.flags, self.span_start, (start, end)
        return other


@dataclass
class Outline:
    """The scopes of a file, its drafts, and which scope each byte is in."""

    parents: list[int] = field(default_factory=lambda: [-1])
    kinds: list[ScopeKind] = field(default_factory=lambda: [ScopeKind.FILE])
    spans: list[tuple[int, int]] = field(default_factory=list)
    arrows: set[int] = field(default_factory=set)
    bounds: list[int] = field(default_factory=lambda: [0])
    places: list[tuple[int, int]] = field(default_factory=lambda: [(0, WHOLE)])  # scope, skipped scope
    drafts: list[Draft] = field(default_factory=list)
    modifiers: dict[tuple[int, int], int] = field(default_factory=dict)  # declaration → flags
    shared: list[tuple[int, int]] = field(default_factory=list)  # where members belong to no instance

    def place(self, position: int) -> tuple[int, int]:
        return self.places[bisect_right(self.bounds, position) - 1]

    def mark(self, position: int, place: tuple[int, int]) -> None:
        self.bounds.append(position)
        self.places.append(place)


def text_end(data: bytes, position: int) -> int:
    """Where the text before a position ends, white space left out."""
    while position and data[position - 1] in b" \t\r\n":
        position -= 1
    return position


def read_outline(captures: Mapping[str, list[Node]], size: int) -> Outline:
    """Sweeps over all enclosing nodes from left to right, outer ones first."""
    return _Sweep(size).run(_sweep_events(captures))


def _sweep_events(captures: Mapping[str, list[Node]]) -> list[_Event]:
    events: list[_Event] = []
    has_modifier = any(capture.startswith("modifier.") for capture in captures)
    for capture, nodes in captures.items():
        if capture in _LEAVES:
            rank = _LEAF
        elif capture.startswith("definition."):
            rank = _DEFINITION
        elif capture in _SCOPE_KINDS:
            rank = _SCOPE
        else:
            rank = _RANKS.get(capture, -1)
        if rank >= 0 and (has_modifier or rank != _DECLARATION):
            events += [(node.start_byte, -node.end_byte, rank, node.end_byte, capture) for node in nodes]
    events.sort()
    return events


class _Sweep:
    """The stacks of the sweep. Each entry of a stack ends no later than the entry below it."""

    def __init__(self, size: int) -> None:
        self.outline = Outline(spans=[(0, size)])
        self.scopes: list[tuple[int, int, int]] = [(_END, 0, WHOLE)]  # end, scope, skipped
        # End, draft (-2: an extent; -3 - start: a declaration).
        self.holders: list[tuple[int, int]] = [(_END, -1)]
        self.extents: list[tuple[int, list[tuple[int, int]]]] = []  # start, decorators; not yet adopted

    def run(self, events: list[_Event]) -> Outline:
        scopes, holders = self.scopes, self.holders
        for start, _, rank, end, capture in events:
            while scopes[-1][0] <= start:
                scope_end = scopes.pop()[0]
                self.outline.mark(scope_end, scopes[-1][1:])
            while holders[-1][0] <= start:
                if holders.pop()[1] == -2 and self.extents:
                    self.extents.pop()
            if rank == _LEAF:
                self._take_leaf(start, end, capture)
            elif rank == _SCOPE:
                self._open_scope(start, end, capture)
            elif rank == _DEFINITION:
                self._open_definition(start, end, capture)
            elif rank == _BODY:
                self._open_body(start)
            elif rank == _OUTER:
                self._open_outer(start, end)
            elif rank == _DECLARATION:
                holders.append((end, -3 - start))
            else:
                holders.append((end, -2))
                self.extents.append((start, []))
        while len(scopes) > 1:
            scope_end = scopes.pop()[0]
            self.outline.mark(scope_end, scopes[-1][1:])
        return self.outline

    def _innermost_draft(self) -> int:
        """The innermost draft, or -1."""
        for _, draft in reversed(self.holders):
            if draft >= -1:
                return draft
        return -1

    def _open_definition(self, start: int, end: int, capture: str) -> None:
        outline = self.outline
        draft = Draft(capture.partition(".")[2], start, end, self.scopes[-1][1], self._innermost_draft())
        self._extend_draft(draft)
        self.holders.append((end, len(outline.drafts)))
        outline.drafts.append(draft)

    def _extend_draft(self, draft: Draft) -> None:
        """The extents around the definition that no other definition is in."""
        at = len(self.holders)
        while self.holders[at - 1][1] < -1:
            at -= 1
        around = self.holders[at:]
        self.holders[at:] = [holder for holder in around if holder[1] != -2]
        for _ in range(len(around) - len(self.holders[at:])):
            draft.span_start, decorators = self.extents.pop()
            draft.decorators = decorators + draft.decorators

    def _open_scope(self, start: int, end: int, capture: str) -> None:
        outline = self.outline
        _, parent, type_scope = self.scopes[-1]
        if len(self.scopes) > MAX_DEPTH or capture == "scope.unknown":
            self.scopes.append((end, parent, TOO_DEEP))
            outline.mark(start, (parent, TOO_DEEP))
            return
        if outline.spans[-1] == (start, end) and outline.kinds[-1] == ScopeKind.BLOCK:
            # A block that is captured as another scope too is that one alone.
            outline.kinds[-1] = _SCOPE_KINDS[capture]
            return
        scope = len(outline.parents)
        outline.parents.append(parent)
        outline.kinds.append(_SCOPE_KINDS[capture])
        outline.spans.append((start, end))
        if capture == "scope.arrow":
            outline.arrows.add(scope)
        place = (scope, TOO_DEEP if type_scope == TOO_DEEP else WHOLE)
        self.scopes.append((end, *place))
        outline.mark(start, place)
        at = self._innermost_draft()
        if at >= 0:
            draft = outline.drafts[at]
            if draft.body < 0 and (start == draft.start or end == draft.end or start == draft.body_start):
                draft.body = scope

    def _open_outer(self, start: int, end: int) -> None:
        _, scope, type_scope = self.scopes[-1]
        if scope and type_scope != TOO_DEEP:
            place = (self.outline.parents[scope], scope)
            self.scopes.append((end, *place))
            self.outline.mark(start, place)

    def _open_body(self, start: int) -> None:
        at = self._innermost_draft()
        if at >= 0 and self.outline.drafts[at].body_start < 0:
            self.outline.drafts[at].body_start = start

    def _take_leaf(self, start: int, end: int, capture: str) -> None:
        if capture == "decorator" and self.holders[-1][1] == -2 and self.extents:
            self.extents[-1][1].append((start, end))
            return
        end_of, holder = self.holders[-1]
        if holder <= -3 and capture.startswith("modifier."):
            modifiers, until = self.outline.modifiers, (-3 - holder, end_of)
            modifiers[until] = modifiers.get(until, 0) | MODIFIERS[capture.partition(".")[2]]
            return
        at = self._innermost_draft()
        if at < 0:
            return
        draft = self.outline.drafts[at]
        if capture == "name":
            if draft.name[0] < 0:
                draft.name = (start, end)
                self._adopt_drafts(draft)
            else:
                self.outline.drafts.append(draft.named(start, end))
        elif capture == "extended":
            draft.owner = (start, end)
        elif capture == "base":
            draft.bases.append((start, end))
        elif capture == "base.other":
            draft.bases.append((start, start))  # no name, which keeps its place among the others
        elif capture == "base.mixin":
            draft.mixins.append((start, end))
        elif capture == "decorator":
            draft.decorators.append((start, end))
        else:
            draft.flags |= FLAG_TEST if capture == "test" else MODIFIERS[capture.partition(".")[2]]

    def _adopt_drafts(self, draft: Draft) -> None:
        """A type named in a declaration before what is declared is not a part of that: `struct a {…} b;`."""
        drafts = self.outline.drafts
        for _ in range(MAX_DEPTH if draft.kind in _TYPES else 0):
            holder = drafts[draft.parent]
            if draft.parent < 0 or holder.name[0] >= 0 or holder.owner[0] >= 0:
                return
            draft.parent = holder.parent
