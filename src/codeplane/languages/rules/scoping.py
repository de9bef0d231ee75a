"""Where a name is seen: scopes, name spaces, receivers, and what crosses from file to file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, Protocol

from codeplane.languages.facts import ScopeKind

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_NO_LOOKUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
_NO_KINDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType({})


class ScopeRules(Protocol):
    """The scopes of a language. The defaults are those of one whose names count all over their scope."""

    resolves: bool = True  # False: no name is bound, for what shadows what is not known
    blank_name: str = ""  # a name that binds nothing: `_`
    # Names of a class body are seen in the `body` alone, in `nested` functions too, or `never`.
    members_visible: Literal["body", "nested", "never"] = "never"

    # From where on a name counts.
    ordered_scopes: frozenset[ScopeKind] = (
        frozenset()
    )  # after its first binding, for code directly in the scope
    # After the declaration, seen from anywhere; declaring a local again shadows the first.
    sequential_scopes: frozenset[ScopeKind] = frozenset()
    sequential_definitions: bool = False  # there, definitions too count from where they begin
    redeclares: bool = (
        False  # there, declaring again keeps the variable, and definitions count from their names
    )
    declared_scopes: frozenset[ScopeKind] = frozenset()  # from the end of its own first declarator
    hoists_to_body: bool = False  # hoisted names belong to the body: defaults of parameters do not see them
    star_imports_rebind: bool = False  # a star import may replace what was bound before it

    # Name spaces. Kind of a definition or import, or `type_param` → the spaces that it is bound in, a letter
    # each, `-` for none. What is not listed is a value, `v`. Empty where all names share one space.
    name_spaces: Mapping[str, str] = _NONE
    # `read`, `write`, `call`, `type`, `export`, `new`, `class` or `namespace` → the spaces that a name is
    # looked up in: those of one text together, from scope to scope, and then those of the next. `v` for what
    # is not listed. Where the text ends in `?`, a value is not certain to be meant.
    lookup_spaces: Mapping[str, tuple[str, ...]] = _NO_LOOKUPS
    # Spaces whose names the queries mark with `@space.NAME` → the kinds of definitions in one alone. A name
    # in one that the file does not define has the receiver `#NAME`, and a type is written `NAME type`.
    marked_spaces: Mapping[str, frozenset[str]] = _NO_KINDS
    unscoped_kinds: frozenset[str] = frozenset()  # members bound in the scope around their type: C's enums
    overloaded_kinds: frozenset[str] = frozenset()  # definitions of one name in one scope are a group
    reopened_kinds: frozenset[str] = frozenset(("namespace",))  # several definitions of a name are one thing

    # Walls between scopes. They need `name_spaces`.
    closed_names: str = ""  # pattern of names that neither a function nor a class sees outside of itself
    opaque_scopes: frozenset[ScopeKind] = (
        frozenset()
    )  # do not see around: namespaces nothing, functions no locals
    star_imports_hide: bool = False  # star imports in a scope hide what is around it
    inherits_names: bool = False  # inherited members are seen without a receiver and hide what is around
    static_nested_classes: bool = False  # a static class sees no members of instances of classes around it
    implicit_members: Mapping[str, str] = (
        _NONE  # kind → methods that every such type has, with spaces between
    )
    inherited_before_file: bool = (
        False  # inherited names come before those of the file; others may add to both
    )
    open_functions: bool = False  # functions outside of classes may be overloaded in other files
    functions_escape: bool = False  # what is defined inside of a function is seen everywhere once it has run

    # The receiver.
    self_parameters: tuple[str, ...] = ()  # its names where it is the first parameter of a method
    self_keywords: tuple[str, ...] = ()  # its names that need no binding
    class_keywords: tuple[str, ...] = ()  # names of the class itself, which static methods know too
    super_receivers: tuple[str, ...] = ()  # stand for the base classes of the class around: `super()`
    parent_receivers: tuple[str, ...] = ()  # stand for the class that it extends, without its traits
    implicit_self: bool = False  # what is called without a receiver is a member of the receiver's class
    # Arrows may run with another receiver than the code around, and code directly in a class has the class.
    rebinds_self: bool = False
    # Pattern behind the name of a method that declares its receiver; the group is its class, if it has one.
    declared_self: str = ""
    static_members_apart: bool = False  # static members are not members of instances
    # Methods stand in blocks outside of their type: a member that is called is a method, another is a field,
    # and only links know which there are.
    methods_apart: bool = False

    # Imports and packages.
    import_binds: Literal["first", "last", "none"] = "none"  # the part that `import a.b.c` binds
    imports_single_files: bool = False  # an import brings one file, and those of a package see each other
    namespace_packages: bool = False  # a directory without a file of its own can be a module, named `dir/`
    module_keywords: tuple[str, ...] = ()  # stand for modules at the beginning of a path: `crate`, `super`
    namespace_separator: str = ""  # stands between the parts of a name that says its namespace: `A\b`
    # Kinds that are seen in all groups of ambient places, not only in the first; empty: all are.
    fallback_kinds: frozenset[str] = frozenset()


class PlainScopes(ScopeRules):
    """A language without rules of its own."""


RULES: Final[ScopeRules] = PlainScopes()
