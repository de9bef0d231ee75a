"""What a language tells the reader of sites: which nodes are what, and where their parts are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property


@dataclass(frozen=True)
class CallForm:
    """A call: the field of what is called, or those of its receiver and name; and that of its arguments."""

    function: str = ""
    receiver: str = ""
    name: str = ""
    arguments: str = "arguments"
    block: str = ""  # a function that stands behind the arguments


class Shape(Enum):
    """What the type of a node alone says."""

    NAME = 1
    MEMBER = 2
    CALL = 3
    TEXT = 4
    ANY = 5  # its children, or its operator, decide


@dataclass(frozen=True)
class SiteGrammar:
    """The nodes of one language. A node type that is nowhere in here is a value that nobody can read."""

    calls: Mapping[str, CallForm]
    decorators: Mapping[str, CallForm] = field(default_factory=dict)
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # fields of owner and member
    subscripts: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # fields of owner and key
    memberships: Mapping[str, frozenset[str]] = field(default_factory=dict)  # `a in b`, by its operators
    tested_owners: frozenset[str] = (
        frozenset()
    )  # last names of owners whose keys are tested: `a in os.environ`
    keyed_owners: frozenset[str] = frozenset()  # owners whose members are keys: `process.env.HOME`
    names: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    text_parts: frozenset[str] = frozenset()  # nodes inside of a text that are its characters
    holes: frozenset[str] = frozenset()  # nodes inside of a text that are values
    brace_escapes: frozenset[str] = frozenset()  # nodes inside of a text where `{{` stands for `{`
    escapes: frozenset[str] = frozenset()  # nodes inside of a text that stand for another character
    raw_quotes: bool = False  # a text without parts is read between its quotes
    singles: frozenset[str] = frozenset()  # lists that stand for their only item
    lists: frozenset[str] = frozenset()
    mappings: frozenset[str] = frozenset()
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # key and value of a mapping
    keywords: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # name and value of an argument
    literals: Mapping[str, CallForm] = field(default_factory=dict)  # calls if their type is a name: `T{a: 1}`
    wrappers: frozenset[str] = frozenset()  # nodes that stand for their last named child
    firsts: frozenset[str] = frozenset()  # nodes that stand for their first named child: `List<T>`
    type_arguments: frozenset[str] = frozenset()  # `<A, B>` of a call: arguments called `<0>`, `<1>`
    concats: Mapping[str, str] = field(default_factory=dict)  # node and operator
    fallbacks: Mapping[str, frozenset[str]] = field(default_factory=dict)  # `a || b`, by its operators
    choices: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # `a ? b : c`, by what may be chosen
    spreads: frozenset[str] = frozenset()  # items that stand for all items of a list: `...a`
    defaults: Mapping[str, str] = field(default_factory=dict)  # what a module exports without a name
    functions: frozenset[str] = frozenset()
    function_values: bool = False  # functions are assigned and returned like any value
    constants: frozenset[str] = frozenset()
    raises: Mapping[str, str] = field(default_factory=dict)  # node and the field of what is raised
    raising: str = ""  # a query for calls that raise, as @raise, and for bare ones, as @bare
    catches: Mapping[str, tuple[str, str]] = field(
        default_factory=dict
    )  # classes that are caught, and the name
    classes: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # name and bases
    loops: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # names and what is looped over
    comprehensions: frozenset[str] = frozenset()  # loops stand behind what they repeat
    assignments: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # target and value
    first_results: bool = False  # a call gives several results, and the first name is that of the first
    returns: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()  # bodies that are statements, where a body may be a value as well
    tails: tuple[str, ...] = ()  # queries that capture as `@tail` what a function gives without `return`
    conditions: frozenset[str] = frozenset()

    @cached_property
    def shapes(self) -> Mapping[str, Shape]:
        """The shape of every node that may be a value."""
        table = dict.fromkeys(
            (
                *self.fallbacks, *self.concats, *self.subscripts, *self.choices, *self.spreads, *self.singles,
                *self.lists, *self.mappings, *self.functions, *self.constants,
            ),
            Shape.ANY,
        )  # fmt: skip
        # What comes later is asked first.
        table |= dict.fromkeys(self.calls, Shape.CALL)
        table |= dict.fromkeys(self.members, Shape.MEMBER)
        table |= dict.fromkeys(self.names, Shape.NAME)
        table |= dict.fromkeys(self.texts, Shape.TEXT)
        return table | dict.fromkeys((*self.literals, *self.wrappers, *self.firsts), Shape.ANY)
