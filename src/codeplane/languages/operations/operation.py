"""What an operation is: its arguments, what it is done to, and the function that computes its edits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations.source import Source

ArgumentKind = Literal["name", "path", "expression", "type", "statement", "text", "names", "flag", "choice"]
TargetKind = Literal["file", "definition", "node", "element"]
"""What it is done to: the file as a whole, a definition by its address, any node, an HTML element."""


class Argument(NamedTuple):
    """One argument of an operation."""

    name: str
    kind: ArgumentKind
    description: str
    is_required: bool = False
    choices: tuple[str, ...] = ()
    default: str | bool | None = None


@dataclass(frozen=True)
class Arguments:
    """The arguments of one use of an operation, checked and with their defaults."""

    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """A text that has to be there."""
        value = self.values[name]
        assert isinstance(value, str), f"BUG: {name} is no text"
        return value

    def optional(self, name: str) -> str | None:
        """A text that may be left out."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> Sequence[str]:
        """A list of texts, empty where it is left out."""
        return tuple(self.values.get(name) or ())

    def flag(self, name: str) -> bool:
        """Whether a flag is set."""
        return bool(self.values.get(name))

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None


@dataclass(frozen=True)
class Match:
    """One place that a target names: a node, and every capture of the pattern or query that found it.

    For a definition, `node` is the definition itself (without decorators, attributes, `export`), and
    `captures` has its `name`. For the file as a whole it is the root.
    """

    node: Node
    captures: Mapping[str, Sequence[Node]] = field(default_factory=dict)


class Outcome(NamedTuple):
    """The edits of one match; none where the file already is as it should be."""

    edits: Sequence[TextEdit] = ()
    notes: Sequence[str] = ()  # what a reader of the preview should know: a comment that goes, a second one


class OperationRefused(Exception):
    """An operation that can't be done safely at a place, with the reason in one sentence."""

    def __init__(self, reason: str, node: Node | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = node.start_byte if node is not None else None


class Change(NamedTuple):
    """A file before and after the edits of all matches."""

    before: Source
    after: Source
    edits: Sequence[TextEdit]
    matches: Sequence[Match]
    arguments: Arguments


Compute = Callable[[Source, Match, Arguments], Outcome]
Check = Callable[[Arguments], Sequence[str]]
IsDone = Callable[[Source, str, Arguments], bool]
CheckResult = Callable[[Change], None]


def _no_errors(_: Arguments) -> Sequence[str]:
    return ()


def _never_done(_source: Source, _target: str, _arguments: Arguments) -> bool:
    return False


@dataclass(frozen=True)
class Operation:
    """One operation of one language."""

    name: str
    version: int  # part of a delta's digest: raised when the same arguments give other edits
    target: TargetKind
    arguments: tuple[Argument, ...]
    summary: str  # published
    compute_edit: Compute  # once for each match, without effects
    check_arguments: Check = _no_errors  # beyond the kinds of the arguments
    is_done: IsDone = (
        _never_done  # asked where the target is not there: a renamed symbol, an element that went
    )
    check_result: CheckResult | None = (
        None  # raises `OperationRefused` where the edits don't do what is meant
    )


def operation(
    version: int,
    target: TargetKind,
    arguments: tuple[Argument, ...],
    *,
    check_arguments: Check = _no_errors,
    is_done: IsDone = _never_done,
    check_result: CheckResult | None = None,
) -> Callable[[Compute], Operation]:
    """Makes a function the operation of its name; its docstring is published."""

    def wrap(compute: Compute) -> Operation:
        name, summary = compute.__name__, " ".join((compute.__doc__ or "").split())
        return Operation(
            name, version, target, arguments, summary, compute, check_arguments, is_done, check_result
        )

    return wrap
