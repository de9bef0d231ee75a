"""What a site is, and the shapes of the values in it."""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple


class SiteKind(IntEnum):
    """What stands at a site."""

    CALL = 0
    DECORATOR = 1  # or attribute, or annotation
    SUBSCRIPT = 2  # with a key that is a text or a name; `a in b` too, as a call of `in`
    RAISE = 3
    CLASS = 4  # with its bases
    LOOP = 5  # over something; its names are the callee
    ASSIGN = 6  # of a value that no call makes: a text, a list, a mapping, another name
    RETURN = 7  # of such a value


class ValueKind(IntEnum):
    """What an argument is made of."""

    TEXT = 0
    NAME = 1  # a name or a dotted chain of names
    MEMBER = 2  # a member of something that is no name: `text` is the member, the only item its owner
    LIST = 3  # list, tuple, set, array
    MAPPING = 4  # its items have keywords
    CALL = 5  # items are the arguments, `text` the name that is called; the first item may be its receiver
    CONCAT = 6  # texts and values joined: `a + b`, f"{a}/b"
    FUNCTION = 7  # a lambda or a function in place
    CONSTANT = 8  # a number, a boolean, nothing
    OTHER = 9


class Value(NamedTuple):
    """A value as it is written. `start` is the byte that it begins with; of a call, its name's."""

    kind: ValueKind
    text: str = ""
    start: int = -1
    items: tuple["Value", ...] = ()
    keyword: str = ""
    is_method: bool = False  # a call whose first item is what it is called on

    @property
    def receiver(self) -> "Value | None":
        """What a method is called on."""
        return self.items[0] if self.is_method else None

    @property
    def arguments(self) -> tuple["Value", ...]:
        """The arguments of a call, without what it is called on."""
        return self.items[1:] if self.is_method else self.items

    def argument(self, number: int) -> "Value | None":
        """The positional argument of a number."""
        positional = [item for item in self.arguments if not item.keyword]
        return positional[number] if number < len(positional) else None

    def keyword_argument(self, name: str) -> "Value | None":
        return next((item for item in self.arguments if item.keyword == name), None)

    def walk(self) -> "Iterator[Value]":
        """The value and everything in it."""
        pending = [self]
        while pending:
            value = pending.pop()
            yield value
            pending.extend(reversed(value.items))


class Site(NamedTuple):
    """One place. `value` is the call, the decorator as a call, or what is assigned, raised or looped over."""

    kind: SiteKind
    start: int
    end: int
    value: Value
    name: str = ""  # what the value is assigned to, the class, or the names of a loop
    is_conditional: bool = False  # inside of an `if`, a `try` or the like
    is_returned: bool = False  # what the function returns
    loop: int = -1  # the number of the loop that it is in
    outer: int = -1  # the number of the site whose arguments or chain it is part of
