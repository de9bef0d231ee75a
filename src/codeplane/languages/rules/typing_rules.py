"""What a language says about types: what annotations declare, what classes are, how values are narrowed."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, Protocol

ANY_TYPE: Final = "*"  # stands for a type parameter in the parameters of a method from outside
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class TypeRules(Protocol):
    """The types of a language. The defaults are those of one whose types are plain names, if it has any."""

    static_types: bool = False  # a variable always has its declared type, whatever is done with it
    duck_typed: bool = False  # a declared type binds nobody: anything with the members may be passed
    builtins: frozenset[str] = frozenset()  # functions and classes that are there without an import

    # Annotations and signatures.
    reads_annotations: bool = False  # the functions below read types; without, only plain names are types
    deferred_annotations: bool = False  # a type may be evaluated when all of its file has run
    promise: str = ""  # the type of what can be awaited, where the file binds nothing else to the name
    self_types: frozenset[str] = frozenset()  # result types that mean the receiver's type: `typing.Self`
    type_variables: frozenset[str] = frozenset()  # calls that make a type variable: `typing.TypeVar`
    primitive_types: frozenset[str] = frozenset()  # types without members that anybody would name
    # Decorators that keep the result of a function as declared; None where no decorator changes it.
    type_preserving_decorators: frozenset[str] | None = None
    context_managers: Mapping[str, str] = _NONE  # `with` and `async with` → the method that gives the value

    # Narrowing.
    narrowing_calls: tuple[str, ...] = ()  # ask for the class of their first argument: `isinstance`
    type_guards: str = (
        ""  # pattern of a signature; the groups are the argument, and its type if it returns true
    )
    type_guard_word: str = ""  # a word that every such signature contains

    # Kinds of classes, by the names of their bases.
    protocols: frozenset[str] = frozenset()  # everything with the members is an instance: structural types
    structural_kinds: frozenset[str] = (
        frozenset()
    )  # kinds of definitions that are implemented without being named
    # Kinds of definitions that another file may add to: `declare module "./store" { interface Store { … } }`.
    augmented_kinds: frozenset[str] = frozenset()
    typed_dicts: frozenset[str] = frozenset()  # fields are keys of the instances, not members
    enums: frozenset[str] = frozenset()  # the instances are listed in the body: `RED = 1`
    memberless_bases: frozenset[str] = frozenset()  # have no members but those of every object

    # Members.
    nearest_base: bool = False  # the nearest inherited member counts; of two that are as near, neither
    declared_members_first: bool = False  # a declaration in a base wins over a mere value in the class
    members_declared_in_class: bool = False  # a definition outside of the class is that of a declared member
    embedded_fields: bool = False  # a type that another embeds is a field of it, under its own name
    # Where `self.x = …` defines a member of the class: in its methods alone, not in functions inside of them,
    # or in its constructor alone. Elsewhere it gives a value to what a base has.
    fields_made_in: Literal["", "methods", "constructor"] = ""
    # What the type of a field without a declared one follows from: `all`, every value that its class gives
    # it is of one class; `first`, its first value, for good.
    field_inference: Literal["", "all", "first"] = ""
    none_value: str = ""  # pattern of an assigned value that has no members: `= None`
    slots: str = ""  # the member whose list makes members of the class, whatever its bases have
    object_members: frozenset[str] = frozenset()  # of every class: a value for one does not define it
    unreachable_members: frozenset[str] = frozenset()  # never meant behind a receiver: `this.constructor`

    # What a class may be or make other than itself and its instances.
    new_method: str = ""  # the method by which a class makes something else when it is called: `__new__`
    metaclass_call: str = ""  # the method by which a metaclass decides what a call of its classes makes
    # The class that every class extends without a word, where a call may mean its methods beside overloads.
    root_class: str = ""
    descriptor: str = ""  # the method by which a member decides what is got for it: `__get__`

    @staticmethod
    def declared_type(written: str, imported: Mapping[str, str]) -> str:
        """The class that a declared type comes down to, or OTHER_TYPE. `imported`: local name → full name."""
        return ""

    @staticmethod
    def returned_type(signature: str, imported: Mapping[str, str]) -> str:
        """The class that a function returns by its signature; "" where it does not say."""
        return ""

    @staticmethod
    def awaited_type(signature: str, imported: Mapping[str, str]) -> str:
        """The class that `await` gets out of a call of a function; "" where it does not say."""
        return ""

    @staticmethod
    def intersection_parts(signature: str) -> Sequence[str] | None:
        """The types that an alias intersects with the members that it writes out, OTHER_TYPE for what has no
        name; None where aliases cannot be read."""
        return None

    def unpacked_keywords(self, signature: str) -> str:
        """The class whose fields a function takes by name, as written: `**options: Unpack[Options]`."""
        return ""

    def returned_class(self, signature: str) -> str:
        """The class that a function returns itself, or a class derived from it, by its signature, or ""."""
        return ""

    def metaclass(self, header: str) -> str:
        """The metaclass that the header of a class names, or ""."""
        return ""

    def is_mangled(self, name: str) -> bool:
        """Whether a member's name means another member in the code of every class: `self.__x`."""
        return False

    def may_have(self, base: str, name: str) -> bool:
        """Whether a class from outside the repository, by its full name, may have a member."""
        return True

    def outside_overloads(self, base: str, name: str) -> Sequence[Sequence[str]] | None:
        """The types of the parameters of each method that a class from outside has under a name, ANY_TYPE for
        a type parameter; None where they are not known."""
        return None if self.may_have(base, name) else ()


class PlainTypes(TypeRules):
    """A language without rules of its own."""


RULES: Final[TypeRules] = PlainTypes()
