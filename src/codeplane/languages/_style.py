"""How the headers of functions are written in a language, as data."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class HeaderStyle:
    """What a header says to those who call what it stands over."""

    # `name`: `name: type = default`. `type`: `type name = default`. `go`: `a, b type`. `sigil`: the name is
    # known by its first letter, the type stands before it.
    order: Literal["name", "type", "go", "sigil"] = "name"
    # Callers may pass an argument by the name of the parameter; `labels`: they have to, and the label is the
    # first of two names.
    named: bool = False
    labels: bool = False
    typed: bool = False  # a call has to fit the declared types
    inferred: bool = False  # a result that is not declared has a type all the same
    # Who sees what says nothing about it; "" where that depends.
    unsaid: Literal["", "private", "internal", "public"] = ""
    lenient: bool = False  # a call may pass fewer or more arguments than there are parameters
    angles: bool = False  # `<` and `>` are brackets behind a name
    marks: bool = False  # `/` and `*` alone say what is passed by position and what by name only
    named_only: bool = False  # `name:` is passed by name only
    quotes: str = "\"'`"
    rest: tuple[str, ...] = ()  # marks before or behind a name, or behind a type, of what takes all the rest
    named_rest: str = ""  # the mark of what takes all that is passed by name
    words: frozenset[str] = frozenset()  # stand before a parameter and say nothing to callers
    receivers: frozenset[str] = frozenset()  # first parameters that no call passes
    # A class has parameters behind its name, not bases.
    classes: bool = False
