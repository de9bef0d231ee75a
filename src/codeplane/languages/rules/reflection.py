"""How code reaches definitions other than by their written names: by texts, lists, calling conventions.

A rename or a deletion asks these rules for everything that no reference shows.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class ReflectionRules(Protocol):
    """The reflection of a language. The defaults are those of a language without any."""

    # Definitions that are asked for their own names: `cls.__name__`.
    name_attributes: tuple[str, ...] = ()  # attributes that hold the name of a definition
    name_attribute_owners: str = ""  # pattern of what has one, where other things have such attributes too
    derived_name: str = ""  # pattern that builds another name from a definition's; the group is whose
    own_class: tuple[str, ...] = ()  # how methods write the class of their instance: `type(self)`
    class_attributes: tuple[str, ...] = ()  # attributes of an instance that hold its class: `__class__`
    type_factories: tuple[str, ...] = ()  # calls whose first argument repeats the name: `TypeVar("T")`
    class_factories: tuple[
        str, ...
    ] = ()  # calls that make a class, its name first: `type(f"Reader{kind}", …)`
    set_name_hook: str = ""  # the method that tells a value which name a class binds it to: `__set_name__`

    # Members by their names as texts.
    member_lists: tuple[str, ...] = ()  # members of a class that list others by name: `__slots__`
    # Pattern of a call that takes an object and the name of a member of it → where the call comes from: ""
    # for the language itself, `parameter`, or a part of the module that it is imported from.
    attribute_calls: Mapping[str, str] = _NONE
    attribute_hooks: frozenset[str] = frozenset()  # methods that are asked for a member: `__getattr__`
    member_enumeration: tuple[str, ...] = ()  # words by which code gets all members of something: `dir`
    # Bases whose heirs can be asked for members by name: `Color["RED"]`.
    enums_by_name: frozenset[str] = frozenset()

    # Namespaces as values.
    namespace_reads: Mapping[str, str] = _NONE  # word → pattern that gets all names of a module, its group
    own_namespace_reads: Mapping[str, str] = _NONE  # word → pattern by which a module gets its own names
    caller_namespace: tuple[
        str, ...
    ] = ()  # functions that, called with nothing, give the names around the call
    local_namespace: tuple[str, ...] = ()  # functions that reach the local variables around the call by name
    signature_inspection: tuple[str, ...] = ()  # words by which code asks a function for its parameters
    module_registries: str = ""  # pattern that gets a module by a text, its group: `sys.modules[…]`
    modules_are_values: bool = False  # a variable can hold a module, so its members may stand behind any name
    import_expressions: frozenset[str] = frozenset()  # forms of import that are expressions: `require(…)`

    # All fields of an object at once.
    bulk_field_access: str = (
        ""  # query of a `@holder` whose fields are read by name, with the function `@asking`
    )
    bulk_field_kinds: frozenset[str] = frozenset(("field", "variable", "constant"))  # kinds that it reads
    accessor_methods: str = ""  # pattern of methods that stand for a field then: `getX`
    serialized_name: str = ""  # pattern of a field's line that gives it another name then: a tag of Go

    # Names inside of texts.
    self_documenting: str = ""  # query of `@quoted` code whose own text the program gets: `f"{size=}"`
    self_documenting_text: str = ""  # pattern that a file with such code contains
    pastes_tokens: bool = False  # macros may build names, and may be given names of members

    # Who else may call a definition.
    reserved_names: str = ""  # pattern of names that the language itself calls: `__init__`
    protocol_members: str = ""  # pattern of members of standard protocols, which may be called implicitly
    virtual_subclassing: tuple[str, ...] = ()  # methods of a class that adopt others as derived: `register`
    test_doubles: frozenset[str] = frozenset()  # classes whose instances have any member that they are given

    # What a decorator, annotation or attribute may do with the definition that it stands before.
    decorator: str = r"^\s*@\s*([\w.]+)"  # pattern; the group is the name
    decorator_mark: str = "@"  # its first characters, as messages show it
    transparent_decorators: frozenset[str] = frozenset()  # leave alone what a definition is called by
    field_decorators: frozenset[str] = frozenset()  # of these, leave alone the names of a class's fields

    # Risks of a rename that are noted, not asked about: on real packages, hardly any place was meant.
    advisory_risks: frozenset[str] = frozenset()

    def mangled_prefix(self, class_name: str) -> str:
        """How the private members of a class are named outside of it, at least the beginning."""
        return ""

    def interpolated_name(self, name: str) -> str:
        """Pattern of a variable inside of a string that reads it: `{name}`; "" where no string does."""
        return ""

    def printed_name(self, kind: str, name: str) -> str:
        """Pattern of a text in which the language itself prints the name of a definition of a kind:
        `<pkg.Name object at …>`, `Name(x=1)`; "" where it prints none."""
        return ""


class NoReflection(ReflectionRules):
    """A language without rules of its own."""


RULES: Final[ReflectionRules] = NoReflection()
