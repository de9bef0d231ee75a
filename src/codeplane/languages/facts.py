"""What is read out of one file's bytes: facts that depend on the content alone, never on its path.

Lines are 1-based, columns are 0-based bytes. Indexes point into the lists of the same `Facts`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple, TypeVar

T = TypeVar("T")

ParseState = Literal["ok", "partial", "failed", "skipped"]
"""`ok`: every byte was understood. `partial`: around syntax errors, what could be read was kept. `failed`:
nothing could be read. `skipped`: not tried (too large, binary, no grammar)."""


class Role(IntEnum):
    """What an occurrence of a name does."""

    READ = 0
    WRITE = 1
    CALL = 2
    TYPE = 3
    IMPORT = 4
    DEFINE = 5
    EXPORT = 6


_ROLES = tuple(Role)


class ScopeKind(IntEnum):
    FILE = 0
    CLASS = 1
    FUNCTION = 2
    BLOCK = 3
    COMPREHENSION = 4
    NAMESPACE = 5
    ARROW = 6  # a function that has no `this` of its own


class Reason(IntEnum):
    """Why a name is bound in a scope."""

    DEF_IN_SCOPE = 0
    PARAM = 1
    LOCAL_ASSIGN = 2
    IMPORT_ALIAS = 3


class Span(NamedTuple):
    start_line: int
    start_column: int
    end_line: int
    end_column: int


class Scope(NamedTuple):
    """A lexical scope. Scope 0 is the file's; parents come before children."""

    parent: int  # -1 for the file scope
    kind: ScopeKind
    span: Span


class Definition(NamedTuple):
    """A definition that has a name of its own outside its function: no parameters, no local variables."""

    name: str
    kind: str  # one of KINDS
    parent: int  # the definition that holds this one, or -1
    scope: int  # the scope that it is defined in
    body: int  # the scope that it opens, or -1
    span: Span  # the whole definition, decorators and modifiers included
    name_line: int
    name_column: int
    signature: str  # the header as written, white space folded, without the body; "" where there is none
    bases: tuple[
        str, ...
    ] = ()  # base classes and interfaces, as written: `Base`, `pkg.Base`, `Base[T]` → `Base`
    # The class of the declared type as written, OTHER_TYPE where that is not one; of a module, the file it is
    # said to be in.
    annotation: str = ""
    flags: int = 0  # OR of the FLAG_ values
    owner: str = ""  # the type that it belongs to as written, where it stands outside of it: `impl`, `T::f`
    # The same for the same text but for its name; the text of definitions inside is theirs.
    text: int = 0


OTHER_TYPE = "?"

FLAG_PRIVATE = 1
FLAG_STATIC = 2
FLAG_ABSTRACT = 4
FLAG_ASYNC = 8
FLAG_OVERRIDE = 16
FLAG_MORE = 64  # adds to the definition of the same name before it: an overload, a setter
FLAG_ASIDE = 128  # a field that is only made where code gives values to what bases have
FLAG_TEST = 32  # a test case or suite, by the language's own conventions

KINDS = frozenset(
    "function method constructor class interface struct enum enum_member trait type variable constant field "
    "property namespace module macro impl object mixin heading key table selector resource block message "
    "service rpc query stage view index".split()
)


class Bind(NamedTuple):
    """A name made known in a scope. Every occurrence that lexically means it carries its index."""

    scope: int
    name: str
    reason: Reason
    target: int  # DEF_IN_SCOPE: a definition; IMPORT_ALIAS: an import; otherwise -1
    certain: bool  # False where the same name is bound to several things, or something dynamic may rebind it
    line: int  # where it is first bound
    column: int
    # The class that it is known to hold: one plain annotation; or what is called for every value of it, with
    # MADE behind, and `await`, `with` or `async with` before it where they stand before the call.
    type_name: str = ""


MADE = "()"


class Import(NamedTuple):
    """One imported name; `import a, b` gives two."""

    scope: int
    kind: str  # the language and the form: python_import, python_from, js_import, go_import, rust_use …
    module: str  # the source as written: `pkg.mod`, `./x`, `<stdio.h>`; relative dots of Python included
    name: str  # the name taken from the module; "" for the module itself; "*" for all
    alias: str  # the local name, of a re-export the exported one; "" when there is none (side effect, star)
    line: int
    column: int
    certain: bool = True
    reexport: bool = False  # the statement itself exports the name again (`export … from`, `pub use`)


def full_names(imports: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The full name behind every local one, of imports as module, name and local name. Where a local name
    stands for several things, it stands for none."""
    names: dict[str, str] = {}
    for module, name, local in imports:
        full = f"{module}.{name}" if name else local if module.startswith(f"{local}.") else module
        names[local] = full if names.setdefault(local, full) == full else ""
    return names


class Export(NamedTuple):
    """A name that the file offers to others."""

    name: str
    local: str  # the name inside the file; "" when it comes straight from another module
    evidence: str  # explicit_export, default_module, all_literal, public_modifier, capital_letter …
    certain: bool = True


class Dynamic(NamedTuple):
    """A place where names are made at run time."""

    pattern: str  # getattr, eval, bracket_access, reflect, dynamic_import …
    line: int
    column: int
    literals: tuple[str, ...]
    computed: bool


CALLED = ("getattr", "setattr", "hasattr", "delattr", "send", "variable_get", "member")
"""The patterns of `Dynamic` that ask for members by name and for nothing else."""
ASKING = (*CALLED, "reflect", "bracket_access")
"""The patterns of `Dynamic` that may ask for members by name; brackets may ask for items as well."""
CALLING = ("const_get", "call", "new", "dlsym")
"""The patterns of `Dynamic` that ask for functions and classes by name, whatever holds them."""


def places(items: Sequence[T], item: T, first: int = 0) -> Iterator[int]:
    """Where an item is in a sequence, from a place on."""
    at, index = first - 1, items.index
    with suppress(ValueError):
        while True:
            at = index(item, at + 1)
            yield at


class Occurrence(NamedTuple):
    """One occurrence of an identifier.

    Without a receiver, `target` is 1 + the index of the bind that it means, or 0. With a receiver (`x` in
    `self.x`), it is 1 + the index of the definition in this file that it is proven to be, or 0.
    """

    line: int
    column: int
    role: Role
    scope: int
    target: int
    receiver: int  # 1 + index into `Facts.receivers`, or 0


@dataclass
class Occurrences:
    """All occurrences of names, in order of position, as columns of one length.

    A column costs a few nanoseconds an occurrence where an object would cost a thousand.
    """

    texts: list[str] = field(default_factory=list)  # the distinct names
    names: Sequence[int] = ()  # index into `texts`
    starts: Sequence[int] = ()  # byte
    roles: Sequence[int] = b""
    scopes: Sequence[int] = ()
    targets: Sequence[int] = ()
    receivers: Sequence[int] = ()
    lines: Sequence[int] = ()  # the byte that each line begins with

    def __len__(self) -> int:
        return len(self.starts)

    def __contains__(self, name: str) -> bool:
        return name in self.texts

    def named(self, name: str) -> Iterator[Occurrence]:
        """The occurrences of one name."""
        return map(self.at, self._positions_of(name))

    def starts_of(self, name: str) -> list[int]:
        """The byte that each occurrence of one name begins with."""
        return [self.starts[at] for at in self._positions_of(name)]

    def targets_of(self, name: str, role: Role) -> list[int]:
        """The targets of the occurrences of one name in one role."""
        return [self.targets[at] for at in self._positions_of(name) if self.roles[at] == role]

    def places_of(self, names: Container[str]) -> list[int]:
        """Where some names stand among all occurrences."""
        numbers = {number for number, text in enumerate(self.texts) if text in names}
        return [at for at, number in enumerate(self.names) if number in numbers] if numbers else []

    def _positions_of(self, name: str) -> Iterator[int]:
        return places(self.names, self.texts.index(name)) if name in self.texts else iter(())

    def number_at(self, line: int, column: int) -> int | None:
        """Which occurrence begins at a position."""
        start = self.lines[line - 1] + column
        at = bisect_left(self.starts, start)
        return at if at < len(self.starts) and self.starts[at] == start else None

    def standing(self, line: int, column: int) -> tuple[str, Occurrence] | None:
        """The occurrence that begins at a position, with its name."""
        at = self.number_at(line, column)
        return (self.texts[self.names[at]], self.at(at)) if at is not None else None

    def before(self, line: int, column: int, count: int) -> list[tuple[str, Occurrence]]:
        """The occurrences right before a position, with their names."""
        end = bisect_left(self.starts, self.lines[line - 1] + column)
        return [(self.texts[self.names[at]], self.at(at)) for at in range(max(end - count, 0), end)]

    def within(self, scopes: Container[int]) -> Iterator[tuple[str, Occurrence]]:
        """The occurrences in some scopes, with their names."""
        numbers = [at for at, scope in enumerate(self.scopes) if scope in scopes]
        return ((self.texts[self.names[at]], self.at(at)) for at in numbers)

    def all(self) -> Iterator[tuple[str, Occurrence]]:
        """Every occurrence with its name."""
        return ((self.texts[name], self.at(at)) for at, name in enumerate(self.names))

    def at(self, at: int) -> Occurrence:
        start = self.starts[at]
        line = bisect_right(self.lines, start)
        return Occurrence(
            line,
            start - self.lines[line - 1],
            _ROLES[self.roles[at]],
            self.scopes[at],
            self.targets[at],
            self.receivers[at],
        )


@dataclass
class Facts:
    """Everything read out of one blob."""

    state: ParseState
    reason: str = ""
    lines: int = 0
    package: str = ""  # the package or namespace that the whole file declares to be in, as written
    scopes: list[Scope] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    binds: list[Bind] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    dynamics: list[Dynamic] = field(default_factory=list)
    # The members that get a value behind something of which the file does not say what class it is, where
    # such a value says what a member holds.
    written: list[str] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)
    # Where the code itself asks whether something is of a class: a receiver, a blank, and the class.
    asked: list[str] = field(default_factory=list)
    occurrences: Occurrences = field(default_factory=Occurrences)

    def named(self, name: str) -> Iterator[Occurrence]:
        """The occurrences of one name."""
        return self.occurrences.named(name)
