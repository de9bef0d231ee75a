"""What a language is: a folder with a `SPEC` and queries. Finds the folders and reads their specs."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from codeplane.languages.style import HeaderStyle, Writing

if TYPE_CHECKING:
    from codeplane.languages.rules.reflection import ReflectionRules
    from codeplane.languages.rules.renaming import RenameRules
    from codeplane.languages.rules.scoping import ScopeRules
    from codeplane.languages.rules.testing import TestRules
    from codeplane.languages.rules.typing_rules import TypeRules

HERE = Path(__file__).parent
_NOT_LANGUAGES = ("extraction", "operations", "patterns", "queries", "rules", "sites")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_FLAGS: Mapping[str, int] = MappingProxyType({})


class EntryPoints(NamedTuple):
    """How the programs of a language begin."""

    function: str = ""  # the function, or static method
    files: tuple[str, ...] = ()  # names of files that make their directory a program
    guard: str = ""  # pattern of the line by which a file says that it can be run


_NO_ENTRY = EntryPoints()


@dataclass(frozen=True)
class LanguageSpec:
    """The data of one language. Everything that a query can say is in the queries, not here."""

    name: str
    family: str  # languages of one family can import each other
    grammar: str  # the module of the grammar wheel
    function: str = "language"  # the function of that module that returns the grammar
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()  # program names: `python`, also found in `python3.12`
    inherits: str = ""  # the language whose queries come before this one's
    own_queries: tuple[str, ...] = ()  # query files that those who inherit from this language do not get
    operations: str = ""  # the language whose operations work on its files too

    # An identifier followed by `(` is a call, whatever the tree says. Exact where calls look like that alone.
    call_by_parenthesis: bool = False
    # Kinds that belong to the file wherever they stand: the macros of C.
    file_kinds: frozenset[str] = frozenset()
    # Functions directly in a class are methods, variables there are fields.
    class_kinds: Mapping[str, str] = field(
        default_factory=lambda: {"function": "method", "variable": "field", "constant": "field"}
    )
    constant: str = ""  # pattern of names of variables that are constants
    private: str = ""  # pattern of names that are private by convention
    initializers: tuple[str, ...] = ()  # methods that run when an instance is made
    constructor: str = r"[A-Z]"  # how the last part of a called name begins when it is a class
    entry_points: EntryPoints = _NO_ENTRY  # how programs begin
    tests: Mapping[str, str] = field(default_factory=dict)  # kind → pattern of names that are tests
    test_base: str = ""  # pattern of base classes that make a class a test suite
    tests_by_place: bool = False  # names alone do not tell: only files that are for tests define some
    # Ending → endings of what such a file is made from or declares, where there is one of the same name.
    made_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()  # directories that builds put copies of the source into
    # The last part of a decorator's or annotation's name → what it says about the definition.
    decorator_kinds: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    decorator_flags: Mapping[str, int] = field(default_factory=lambda: _NO_FLAGS)
    decorator_adds: frozenset[str] = frozenset()  # the definition adds to the one before it
    decorator_opens: frozenset[str] = frozenset()  # the next definition adds to this one
    # Called name → (pattern, number of the argument that names something, or -1 for a subscript on the call).
    dynamic_calls: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    # How names are exported without a statement: `bound` = every public name bound in the file scope;
    # `capital` = every definition there that begins with a capital letter.
    default_exports: Literal["", "bound", "capital"] = ""
    # What a file shows to those who import it. `bound`: every name of its file scope, imported ones too.
    # `exported`: what it exports. `defined`: what it defines. `included`: that, and what star imports bring.
    surface: Literal["bound", "exported", "defined", "included"] = "defined"
    # Names are text, not tokens: a pair of one of these marks around a name is left out, and so are all lines
    # but the first.
    name_marks: str | None = None
    # Data can be as large as it likes: the deepest node that a pattern begins at, and the definitions kept.
    query_depth: int = 20_000
    most_definitions: int = 0
    # How headers are written; None where they cannot be taken apart.
    header: HeaderStyle | None = None
    # What is a comment and what a literal; None where that takes a parser to tell.
    writing: Writing | None = None
    # Where `writing` is None: patterns of each `@comment`, and of what is inside each `@string`.
    texts: str = ""
    standard: str = ""  # pattern of how the modules of the language's own library begin, as imported
    gaps: str = ""  # what the support table says about things left out

    @property
    def is_indented(self) -> bool:
        """Whether blocks are told by the columns of their lines."""
        return self.writing is not None and self.writing.layout == "indent"

    @cached_property
    def scopes(self) -> "ScopeRules":
        """Where a name is seen: scopes, name spaces, receivers, packages."""
        rules: ScopeRules = _rules(self.name, "scoping")
        return rules

    @cached_property
    def renaming(self) -> "RenameRules":
        """What else changes its name with a definition."""
        rules: RenameRules = _rules(self.name, "renaming")
        return rules

    @cached_property
    def testing(self) -> "TestRules":
        """What test frameworks do by convention."""
        rules: TestRules = _rules(self.name, "testing")
        return rules

    @cached_property
    def reflection(self) -> "ReflectionRules":
        """How its code reaches definitions other than by writing their names."""
        rules: ReflectionRules = _rules(self.name, "reflection")
        return rules

    @cached_property
    def types(self) -> "TypeRules":
        """What annotations declare, what classes are, what a value may be narrowed to."""
        rules: TypeRules = _rules(self.name, "typing_rules")
        return rules


def _rules(language: str, concern: str) -> Any:
    """The rules of a language: its own, inherited ones, or those of a language that has none."""
    part = part_of(language, concern) or importlib.import_module(f"codeplane.languages.rules.{concern}")
    return part.RULES


@cache
def part_of(language: str, part: str) -> ModuleType | None:
    """A module of a language's folder, or of the folder of the nearest language that it inherits from."""
    if (HERE / language / f"{part}.py").exists():
        return importlib.import_module(f"codeplane.languages.{language}.{part}")
    parent = specs()[language].inherits
    return part_of(parent, part) if parent else None


@cache
def specs() -> Mapping[str, LanguageSpec]:
    """All languages by name, in order of name."""
    folders = sorted(path.parent.name for path in HERE.glob("*/__init__.py"))
    names = [name for name in folders if name not in _NOT_LANGUAGES]
    return {name: importlib.import_module(f"codeplane.languages.{name}").SPEC for name in names}


class _Names(NamedTuple):
    """What names of files say."""

    extensions: Mapping[str, tuple[str, ...]]  # several languages where the content has to tell
    filenames: Mapping[str, str]
    shebangs: tuple[tuple[re.Pattern[str], str], ...]


@cache
def _by_name() -> _Names:
    extensions: dict[str, tuple[str, ...]] = {}
    for spec in specs().values():
        for ext in spec.extensions:
            extensions[ext] = (*extensions.get(ext, ()), spec.name)
    filenames = {name: spec.name for spec in specs().values() for name in spec.filenames}
    shebangs = tuple(
        (re.compile(rf"{re.escape(program)}[\d.]*\Z"), spec.name)
        for spec in specs().values()
        for program in spec.shebangs
    )
    return _Names(extensions, filenames, shebangs)


def possible_languages(path_name: str) -> tuple[str, ...]:
    """The languages that a file with this name may be in; none where the name does not say."""
    names = _by_name()
    base = path_name.rsplit("/", 1)[-1]
    if base in names.filenames:
        return (names.filenames[base],)
    at = base.find(".")
    while at >= 0:
        if languages := names.extensions.get(base[at:].lower()):
            return languages
        at = base.find(".", at + 1)
    return ()


def language_of(path_name: str, data: bytes) -> str | None:
    """The language of a file by its name; where that leaves it open, by what is in it.

    The first line is enough of `data` where the name has no ending. Of several `possible_languages`, those
    with a module `content` say themselves whether a file is theirs.
    """
    languages = possible_languages(path_name)
    if len(languages) < 2:
        return languages[0] if languages else _by_first_line(path_name, data)
    tellers = {name: part for name in languages if (part := part_of(name, "content")) is not None}
    others = [name for name in languages if name not in tellers]
    return next((name for name, part in tellers.items() if part.is_of_language(data)), others[0])


def _by_first_line(path_name: str, data: bytes) -> str | None:
    if "." in path_name.rsplit("/", 1)[-1] or not data.startswith(b"#!"):
        return None
    words = data[2:200].split(b"\n", 1)[0].decode("ascii", "replace").split()
    programs = [word.rsplit("/", 1)[-1] for word in words if "=" not in word and not word.startswith("-")]
    program = next((word for word in programs if word != "env"), "")
    return next((name for pattern, name in _by_name().shebangs if pattern.match(program)), None)
