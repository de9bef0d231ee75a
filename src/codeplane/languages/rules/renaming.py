"""What else changes its name with a definition, and where parameters and fields are named by others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class RenameRules(Protocol):
    """The names of a language that belong together. By default, each definition is on its own."""

    one_definition_per_scope: bool = False  # a scope has one thing of a name, however often it is defined
    prototypes: bool = False  # one file declares what another defines, under the same full name
    generates_code: bool = False  # code of other languages, which has its names, is made from it
    type_names_file: bool = False  # a public type is named like its file
    property_field_prefix: str = ""  # a property is kept in the field of its name with this before it: `@`
    object_literals: bool = False  # literals of objects define members

    # Arguments and literals.
    named_arguments: bool = False  # calls may name parameters
    # Queries of calls and literals: `@keyword` names a parameter or a field of `@holder`, or of the class
    # around where there is none. `@splat` stands for any, `@macro` for what a macro makes of it, `@loose` for
    # one that is given to something without a name.
    keyword_patterns: tuple[str, ...] = ()
    # Queries of the `@key` that a mapping is given, which a splat may make a keyword of a call.
    key_patterns: tuple[str, ...] = ()
    keyword_kinds: frozenset[str] = frozenset(
        ("field", "variable", "constant", "property")
    )  # of such members
    # Query of a `@name` that is a key and its value at once, perhaps with a `@modifier` before it and with
    # the `@whole` where that is more → how the two are written apart.
    shorthand_patterns: Mapping[str, str] = _NONE
    constructor_calls: Mapping[str, str] = _NONE  # called method → the one that takes its arguments: `new`
    # Methods that take the arguments of a call of an instance, or of the header of a derived class.
    call_operators: frozenset[str] = frozenset()


class PlainNames(RenameRules):
    """A language without rules of its own."""


RULES: Final[RenameRules] = PlainNames()
