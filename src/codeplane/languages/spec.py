"""What a language is: a folder with a `SPEC` and queries. Finds the folders and reads their specs."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal

from codeplane.languages.facts import ScopeKind
from codeplane.languages.style import HeaderStyle, Writing

if TYPE_CHECKING:
    from codeplane.languages.rules.reflection import ReflectionRules
    from codeplane.languages.rules.typing_rules import TypeRules

HERE = Path(__file__).parent
_NOT_LANGUAGES = ("extraction", "rules")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_FLAGS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Sharing:
    """What tests get without an import, by the customs of a test framework."""

    files: tuple[str, ...]  # names of files whose fixtures the tests in their directory and below get
    plugins: str  # the variable in them that names modules with more
    word: str  # the name that every mark of a fixture has in it
    mark: str  # pattern of what marks a function as a fixture, which tests ask for by a parameter of its name
    for_all: str  # pattern in the mark of one that all tests get
    asked: tuple[str, ...]  # functions that ask for fixtures by strings


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

    # `body`: names of a class body are seen in the body alone. `nested`: in nested functions too. `never`.
    members_visible: Literal["body", "nested", "never"] = "never"
    # Scopes where a name counts only after its first binding, for code that stands directly in them.
    ordered: frozenset[ScopeKind] = frozenset()
    # Scopes where locals count only after their declaration, seen from anywhere; declaring again shadows.
    sequential: frozenset[ScopeKind] = frozenset()
    # In these scopes declaring again keeps the variable, and definitions too count from their name on.
    redeclares: bool = False
    blank: str = ""  # a name that binds nothing
    # Scopes where every name counts from the end of its own first declarator, seen from anywhere.
    declared: frozenset[ScopeKind] = frozenset()
    # Name spaces whose names the queries mark with `@space.NAME` → the kinds of definitions in one alone.
    # Where there are such, a name that the file does not define has the receiver `#NAME`, and a type is
    # written `NAME type`.
    apart: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Kinds of members that are bound in the scope around their type: the constants of an `enum` in C.
    open_kinds: frozenset[str] = frozenset()
    # Names of the receiver. A parameter has to be the first of a method; a keyword needs no binding.
    self_parameters: tuple[str, ...] = ()
    self_keywords: tuple[str, ...] = ()
    # Arrows may run with another receiver than the code around them, and code directly in a class has the
    # class itself for one.
    self_moves: bool = False
    # Pattern of what follows the name of a method that declares its receiver; the group is its class, if any.
    declared_self: str = ""
    implicit_self: bool = False  # what is called without a receiver is a member of the receiver's class
    # Names of base classes come before those of the file, and other files may add to both.
    bases_before_file: bool = False
    # Hoisted names belong to the block that is the function's body: defaults of parameters do not see them.
    hoists_to_body: bool = False
    # Static members are not members of instances.
    static_apart: bool = False
    # A static class does not see members of the instances of classes around it. Needs `inherits_names`.
    nested_apart: bool = False
    class_keywords: tuple[str, ...] = ()  # names of the class itself, which static methods know too
    # Kind of a definition or import, or `type_param` → the name spaces that it is bound in, a letter each,
    # `-` for none. What is not listed is a value, `v`. Empty where all names share one space.
    spaces: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    # `read`, `write`, `call`, `type`, `export`, `new`, `class` or `namespace` → the spaces that a name is
    # looked up in: those of one text together, from scope to scope, and then those of the next. `v` for what
    # is not listed. Where the text ends in `?`, a value is not certain to be meant.
    looks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Pattern of names that neither a function nor a class sees outside of itself; arrows do. Needs `spaces`.
    closed: str = ""
    # Scopes that do not see what is around them: namespaces nothing, functions no locals. Needs `spaces`.
    islands: frozenset[ScopeKind] = frozenset()
    # Star imports in a scope hide what is around that scope. Needs `spaces`.
    stars_hide: bool = False
    overloads: frozenset[str] = frozenset()  # kinds whose definitions of one name in one scope are a group
    # Members of base classes are seen without a receiver and hide what is around the class. Needs `spaces`.
    inherits_names: bool = False
    # Functions outside of classes may share their name with those of other files: one alone is no proof.
    open_functions: bool = False
    functions_rise: bool = (
        False  # what is defined inside of a function can be seen everywhere once it has run
    )
    implied: Mapping[str, str] = field(default_factory=lambda: _NOTHING)  # kind → methods that all have
    # Definitions in sequential scopes are seen from where they begin, not everywhere in the scope.
    definitions_in_order: bool = False
    # A star import may replace what was bound before it.
    star_rebinds: bool = False
    # The local name of `import a.b.c` without alias: the first part, the last part, or none.
    import_binds: Literal["first", "last", "none"] = "none"
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
    indented: bool = False  # blocks are told by the columns of their lines
    initializers: tuple[str, ...] = ()  # methods that run when an instance is made
    # Methods that take the arguments of a call of an instance, or of the header of a derived class.
    unnamed_calls: frozenset[str] = frozenset()
    constructor: str = r"[A-Z]"  # how the last part of a called name begins when it is a class
    main: str = ""  # the function, or static method, that a program begins with
    main_files: tuple[str, ...] = ()  # names of files that make their directory a program
    main_guard: str = ""  # pattern of the line by which a file says that it can be run
    tests: Mapping[str, str] = field(default_factory=dict)  # kind → pattern of names that are tests
    test_base: str = ""  # pattern of base classes that make a class a test suite
    sharing: Sharing | None = None  # None where tests get only what they import
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
    # False: no name is bound, for what shadows what is not known.
    resolves: bool = True
    # Names are text, not tokens: a pair of one of these marks around a name is left out, and so are all lines
    # but the first.
    name_marks: str | None = None
    owner_in_name: bool = False  # a definition with an owner is named `owner.name`
    # Data can be as large as it likes: the deepest node that a pattern begins at, and the definitions kept.
    query_depth: int = 20_000
    most_definitions: int = 0
    # A directory without a file of its own can be a module; places name it as `dir/`.
    directories_are_modules: bool = False
    # Kinds of which several definitions with one name are one thing: reopened classes, partial ones.
    merges: frozenset[str] = frozenset(("namespace",))
    # Receivers that stand for the base classes of the class around: `super()`, `base`.
    super_receivers: tuple[str, ...] = ()
    # Receivers that stand for the class that the class around extends, without the traits of it.
    parent_receivers: tuple[str, ...] = ()
    # What stands between the parts of a name that says its namespace, where `modules.py` reads such names.
    qualifier: str = ""
    # Words that stand for modules at the beginning of a path, also in imports: `modules.py` says which, and
    # the names behind are looked up one after the other.
    module_keywords: tuple[str, ...] = ()
    # An import brings one file of a package, and the files of a package see each other without any.
    imports_single_files: bool = False
    # Methods stand in blocks outside of their type: a member that is called is a method, one that is not is a
    # field, and only links know which there are.
    members_apart: bool = False
    # Kinds that are seen through the first group of ambient places and through the others too; empty: all.
    far_kinds: frozenset[str] = frozenset()
    # How headers are written; None where they cannot be taken apart.
    header: HeaderStyle | None = None
    # What is a comment and what a literal; None where that takes a parser to tell.
    writing: Writing | None = None
    # Where `writing` is None: patterns of each `@comment`, and of what is inside each `@string`.
    texts: str = ""
    hooks: str = ""  # pattern of names that frameworks call by
    literal_members: bool = False  # objects that are written down define members
    prototypes: bool = False  # what one file declares, another defines, under the same full name
    named_files: bool = False  # a type that others see is named like its file
    embeds: bool = False  # a type that another embeds is a field of it, under its own name
    # Patterns of calls and literals: `@keyword` names a parameter or a field of `@holder`, or of the class
    # around where there is none. `@splat` stands for any, `@macro` for what a macro makes of it, `@loose` for
    # one that is given to something without a name.
    keywords: tuple[str, ...] = ()
    makers: Mapping[str, str] = field(default_factory=lambda: _NOTHING)  # `new` → what runs then
    property_mark: str = ""  # a property is kept in the field of its name with this mark before it
    named_arguments: bool = False  # calls may name parameters
    # Kinds of members that an argument of a call or literal may give a value by name.
    given_kinds: frozenset[str] = frozenset(("field", "variable", "constant", "property"))
    fixture: str = ""  # pattern of what marks a definition that tests are handed by its name
    fixture_files: tuple[str, ...] = ()  # files whose fixtures are there for all tests below their directory
    fixture_texts: str = ""  # pattern of functions that take the names of fixtures as texts
    one_per_scope: bool = False  # a scope has one thing of a name, however often it is defined there
    # Patterns of a `@name` that is a key and its value at once, perhaps with a `@modifier` before it and with
    # the `@whole` where that is more → how the two are written apart.
    shorthands: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    standard: str = ""  # pattern of how the modules of the language's own library begin, as imported
    generates: bool = False  # code of other languages, which has its names, is made from it
    gaps: str = ""  # what the support table says about things left out

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
    inherited = specs()[language].inherits
    return part_of(inherited, part) if inherited else None


@cache
def specs() -> Mapping[str, LanguageSpec]:
    """All languages by name, in order of name."""
    folders = sorted(path.parent.name for path in HERE.glob("*/__init__.py"))
    names = [name for name in folders if name not in _NOT_LANGUAGES]
    return {name: importlib.import_module(f"codeplane.languages.{name}").SPEC for name in names}


@cache
def _by_name() -> tuple[Mapping[str, str], Mapping[str, str], tuple[tuple[re.Pattern[str], str], ...]]:
    extensions = {ext: spec.name for spec in specs().values() for ext in spec.extensions}
    filenames = {name: spec.name for spec in specs().values() for name in spec.filenames}
    shebangs = tuple(
        (re.compile(rf"{re.escape(program)}[\d.]*\Z"), spec.name)
        for spec in specs().values()
        for program in spec.shebangs
    )
    return extensions, filenames, shebangs


def language_of(path_name: str, first_bytes: bytes) -> str | None:
    """The language of a file by its name, or by its first line where the name does not say."""
    extensions, filenames, shebangs = _by_name()
    base = path_name.rsplit("/", 1)[-1]
    if base in filenames:
        return filenames[base]
    for at in [match.start() for match in re.finditer(r"\.", base)]:
        if language := extensions.get(base[at:].lower()):
            return language
    if "." in base or not first_bytes.startswith(b"#!"):
        return None
    words = first_bytes[2:200].split(b"\n", 1)[0].decode("ascii", "replace").split()
    programs = [word.rsplit("/", 1)[-1] for word in words if "=" not in word and not word.startswith("-")]
    program = next((word for word in programs if word != "env"), "")
    return next((language for pattern, language in shebangs if pattern.match(program)), None)
