"""A pattern as the matcher sees it: a tree of parts, each a literal node or a hole."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from codeplane.languages.query import grammar_of

SEPARATORS: Final = frozenset((",", ";", "\n", ""))
# Nodes without brackets of their own that hold several items: a hole stands for an item, not for all of them.
SEQUENCES: Final = frozenset(
    """
    module program source source_file translation_unit compilation_unit document stream chunk haskell
    declarations block statements statement_list body_statement block_body body then do argument_list
    arguments call_suffix expression_list pattern_list fragment stylesheet section config_file selectors
    block_mapping block_sequence function_body
    """.split()
)
# Their tokens mean whatever the macro says: a comma at the end counts.
_VERBATIM: Final = frozenset(("token_tree", "macro_invocation", "preproc_arg"))


class Kinds(NamedTuple):
    """Kinds of nodes of a grammar, by number."""

    comments: frozenset[int]
    separators: frozenset[int]
    strings: frozenset[int]
    names: frozenset[int]  # a name is of another kind in a class, in a type: its text counts


@cache
def kinds_of(language: str) -> Kinds:
    """The kinds of a language's grammar that the matcher treats in a way of their own."""
    grammar = grammar_of(language)
    names = [(number, grammar.node_kind_for_id(number) or "") for number in range(grammar.node_kind_count)]
    named = [(number, name) for number, name in names if grammar.node_kind_is_named(number)]
    tokens = [(number, name) for number, name in names if not grammar.node_kind_is_named(number)]
    return Kinds(
        frozenset(number for number, name in named if "comment" in name or name == "line_continuation"),
        frozenset(number for number, name in tokens if name in SEPARATORS),
        frozenset(number for number, name in named if is_string_kind(name)),
        frozenset(number for number, name in named if name.endswith("identifier")),
    )


def is_string_kind(name: str) -> bool:
    """Whether nodes of a kind are literals of text with their quotes."""
    return "string" in name and not any(
        part in name for part in ("content", "fragment", "start", "end", "concat", "type", "scalar", "escape")
    )


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One node of a pattern."""

    kind: int
    kind_name: str
    is_named: bool
    text: bytes  # of a leaf, and of a string, which has no children here
    children: tuple["Part", ...] = ()
    ellipsis: int = -1  # the child that stands for any number of items; -2 where several do
    field_name: str = ""
    hole: str | None = None  # its name; empty for one without
    is_many: bool = False
    has_separator_before: bool = False  # of any number of items: the separator goes where there are none
    has_separator_after: bool = False
    value: tuple[str, bytes] | None = None  # what a string means

    @property
    def label(self) -> str:
        """The part as it is shown to people."""
        if self.hole is None:
            return self.text.decode("utf-8", "replace") or self.kind_name
        return ("$$$" if self.is_many else "$") + (self.hole or ("" if self.is_many else "_"))


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern of one language."""

    language: str
    text: str
    root: Part
    is_exact: bool  # strings are compared as they are written
    holes: Mapping[str, bool]  # name → whether it stands for any number of items
    words: tuple[str, ...]  # identifiers and keywords that every match contains
    inside: "Pattern | None" = None
    kinds: Kinds = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", kinds_of(self.language))

    @property
    def has_choices(self) -> bool:
        """Whether there is more than one way to give items to holes."""
        return any(part.ellipsis == -2 for part in parts_of(self.root))

    def show_tree(self, most: int = 400) -> str:
        """How the pattern was parsed."""
        text = _render_part(self.root)
        return text if len(text) <= most else text[: most - 1] + "…"


def parts_of(root: Part) -> Iterator[Part]:
    """All parts of a pattern, outer ones first."""
    waiting = [root]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(part.children)


def is_verbatim(kind_name: str) -> bool:
    """Whether separators at the end of a node count."""
    return kind_name in _VERBATIM


def _render_part(part: Part) -> str:
    prefix = f"{part.field_name}: " if part.field_name else ""
    if part.hole is not None:
        return prefix + part.label
    inner = [_render_part(child) for child in part.children if child.is_named or child.hole is not None]
    if not inner and part.text:
        return f"{prefix}({part.kind_name} {part.text.decode('utf-8', 'replace')!r})"
    return f"{prefix}({' '.join([part.kind_name, *inner])})"
