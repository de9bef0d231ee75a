"""What a call has to pass after a parameter was added or removed; each language says how its calls look."""

import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.calls import Passed, misfit
from codeplane.languages.headers import Parameter, Passing
from codeplane.languages.operations.lists import SeparatedList, list_of
from codeplane.languages.operations.operation import Outcome
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.operations.source import Source
from codeplane.languages.spec import HERE

_BY_POSITION: Final = (Passing.POSITION, Passing.EITHER)
_RESTS: Final = (Passing.REST, Passing.NAMED_REST)
_LONGEST_SHOWN: Final = 60


def _no_receiver(_source: Source, _definition: Node) -> bool | None:
    return False


@dataclass(frozen=True)
class CallGrammar:
    """How the calls of a language are written."""

    calls: frozenset[tuple[str, str]]  # kinds of calls, and the field with what is called
    arguments: frozenset[str]  # kinds of argument lists
    paths: frozenset[tuple[str, str]] = frozenset()  # kinds around a name, and the field that it has there
    keyword: str = ""  # the kind of an argument that is passed by name, with the fields `name` and `value`
    splats: frozenset[str] = frozenset()  # arguments that may pass any number of them
    lone: frozenset[str] = frozenset()  # arguments that bring the parentheses of the call along
    effects: frozenset[str] = frozenset()  # expressions that may do more than give a value
    names: frozenset[str] = frozenset(("identifier",))  # kinds of names that something around has to bind
    bound_paths: frozenset[str] | None = None
    """Those of `paths` that pass what stands before the name; None where it depends on what that is."""
    callers: frozenset[str] = frozenset()  # members of a function that call it
    is_lenient: bool = False  # calls may pass more than there are parameters, which values may do unseen
    has_receiver: Callable[[Source, Node], bool | None] = field(default=_no_receiver)
    """Whether a function has a parameter for what it is called on, as headers leave out; None if unusual."""
    explicit_receivers: frozenset[str] = frozenset()  # methods that are given it as an argument all the same
    class_methods: str = ""  # what stands before methods that are given their class, however they are called
    class_values: str = ""  # receivers that may be a class or not
    receiver_names: frozenset[str] = frozenset()  # of the parameter for what it is called on, in headers
    base_constructor: str = ""  # what a constructor calls that of its base by
    own_class: str = ""  # code that makes an instance of the class of a value, whichever that is
    module_value: str = ""  # what stands before a name by which that value becomes the module itself


class CallUnmapped(Exception):
    """A call that can't be changed for certain, with the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ArgumentChange(NamedTuple):
    """How the parameters of a function change, for its calls."""

    before: Sequence[Parameter]  # without the one that a method is called on
    after: Sequence[Parameter]
    name: str  # of the parameter that comes or goes
    argument: str | None  # what calls pass for it; None where they leave it to its default

    @property
    def is_added(self) -> bool:
        """Whether the parameter comes."""
        return not any(one.name == self.name for one in self.before)

    @property
    def parameter(self) -> Parameter:
        """The parameter that comes or goes."""
        return next(one for one in (*self.after, *self.before) if one.name == self.name)

    @property
    def position(self) -> int | None:
        """Its number among those that calls pass by position; None where they have to name it."""
        parameters = self.after if self.is_added else self.before
        names = [one.name for one in parameters if one.passing in _BY_POSITION]
        return names.index(self.name) if self.name in names else None

    @property
    def is_seen_by_calls(self) -> bool:
        """Whether calls may have to change: not for a default that nothing is passed behind."""
        if not self.is_added or self.argument is not None or self.parameter.default is None:
            return True
        if self.position is None:
            return False
        return any(one.passing in (*_BY_POSITION, Passing.REST) for one in self.after[self.position + 1 :])


@dataclass(frozen=True)
class CallSite:
    """A call in a file: the list of what it passes, item by item."""

    source: Source
    grammar: CallGrammar
    node: Node
    arguments: Node
    path: Node  # what is called, as it is written

    @property
    def is_lone(self) -> bool:
        """Whether one argument brings the parentheses along: `all(x for x in y)`."""
        return self.arguments.type in self.grammar.lone

    @property
    def items(self) -> SeparatedList:
        """The arguments for edits."""
        return list_of(self.source, self.arguments)

    @property
    def is_bound(self) -> bool | None:
        """Whether the function is called on what stands before its name; None where the syntax can't tell."""
        bound, node = self.grammar.bound_paths, self.path
        if bound is None:
            return None
        fields = dict(self.grammar.paths)
        while node.type in fields and node.type not in bound:
            inner = node.child_by_field_name(fields[node.type])
            if inner is None:
                break
            node = inner
        return node.type in bound


def grammar_of(language: str) -> CallGrammar | None:
    """How calls of a language are written; None where nothing is known about it."""
    pack = pack_of(language) or language
    return _grammar_in(pack)


@cache
def _grammar_in(pack: str) -> CallGrammar | None:
    if not (HERE / pack / "operations" / "_call_sites.py").exists():
        return None
    grammar: CallGrammar = importlib.import_module(
        f"codeplane.languages.{pack}.operations._call_sites"
    ).GRAMMAR
    return grammar


def call_at(source: Source, grammar: CallGrammar, offset: int, name: str) -> CallSite | None:
    """The call of a name that begins at a byte; None where the name is not called there."""
    path = path_at(source, grammar, offset, name)
    parent = path.parent if path is not None else None
    if path is None or parent is None:
        return None
    for kind, field_name in grammar.calls:
        if parent.type == kind and parent.child_by_field_name(field_name) == path:
            arguments = next((one for one in parent.children if one.type in _list_kinds(grammar)), None)
            return CallSite(source, grammar, parent, arguments, path) if arguments is not None else None
    return None


def _list_kinds(grammar: CallGrammar) -> Collection[str]:
    return grammar.arguments | grammar.lone


def path_at(source: Source, grammar: CallGrammar, offset: int, name: str) -> Node | None:
    """The expression that a name which begins at a byte is the end of: `a.b.name`."""
    node = source.root.descendant_for_byte_range(
        offset, offset + len(name.encode("utf-8", "surrogateescape"))
    )
    if node is None or node.start_byte != offset:
        return None
    while (parent := node.parent) is not None and any(
        parent.type == kind and parent.child_by_field_name(field_name) == node
        for kind, field_name in grammar.paths
    ):
        node = parent
    return node


def follows_member(source: Source, grammar: CallGrammar, path: Node) -> bool:
    """Whether something is asked of a function, other than to be called: `f.__doc__`."""
    parent = path.parent
    fields = [field_name for kind, field_name in grammar.paths if parent is not None and kind == parent.type]
    for field_name in fields:
        member = parent.child_by_field_name(field_name) if parent is not None else None
        if member is not None and member != path:
            return source.text(member) not in grammar.callers
    return False


def changed_call(call: CallSite, change: ArgumentChange, skip: int = 0) -> Outcome:
    """The edits of a call; the first `skip` arguments are what the function is called on.

    `CallUnmapped` where it can't be told what the call has to pass.
    """
    if call.arguments.has_error or call.node.has_error:
        raise CallUnmapped("holds syntax that the grammar does not know")
    if call.is_lone:
        return _changed_lone(call, change)
    items = call.items
    positions, keywords = _split_arguments(call, items)
    passed = Passed(max(0, len(positions) - skip), tuple(keywords), is_open=False)
    fault = misfit(change.before, passed) if not call.grammar.is_lenient else ""
    if fault or len(positions) < skip:
        raise CallUnmapped(f"does not fit the function as it is: {fault or 'nothing it is called on'}")
    if change.is_added:
        return Outcome(_added_edits(call, items, change, (len(positions), skip), keywords))
    return _removed_argument(call, items, change, (len(positions), skip), keywords)


def _split_arguments(call: CallSite, items: SeparatedList) -> tuple[list[int], dict[str, int]]:
    """The items that are passed by position, and those that are passed by name."""
    positions, keywords = [], {}
    for number, item in enumerate(items.items):
        node = item.node
        if node.type in call.grammar.splats or any(one.type in call.grammar.splats for one in item.nodes):
            raise CallUnmapped(f"passes `{_shown(call.source, node)}`, which may hold any arguments")
        name = node.child_by_field_name("name") if node.type == call.grammar.keyword else None
        if name is not None:
            keywords[call.source.text(name)] = number
        else:
            positions.append(number)
    return positions, keywords


def _added_edits(
    call: CallSite,
    items: SeparatedList,
    change: ArgumentChange,
    counts: tuple[int, int],
    keywords: dict[str, int],
) -> list[TextEdit]:
    positional, skip = counts
    if change.name in keywords:
        raise CallUnmapped(f"passes `{change.name}` by name already, to something else")
    index = change.position
    is_behind = index is not None and positional > index + skip
    argument = change.argument
    if argument is None:
        # What is passed behind the parameter would be taken for it.
        argument = change.parameter.default if is_behind else None
        if argument is None:
            return []
    if index is not None and (is_behind or (positional == index + skip and not keywords)):
        return items.insert(index + skip, argument)
    if not call.grammar.keyword or change.parameter.passing is Passing.POSITION:
        raise CallUnmapped("passes fewer arguments than stand before the new one")
    return items.insert(len(items.items), f"{change.name}={argument}")


def _changed_lone(call: CallSite, change: ArgumentChange) -> Outcome:
    """A call whose one argument has no parentheses of its own gets them before a second one."""
    if not change.is_added:
        if change.position == 0:
            return Outcome([call.source.replace(call.arguments.start_byte, call.arguments.end_byte, "()")])
        return Outcome()
    if change.argument is None and change.position != 0:
        return Outcome()
    argument = change.argument or change.parameter.default or ""
    start, end = call.arguments.start_byte, call.arguments.end_byte
    if change.position == 0:
        return Outcome([call.source.insert(start, f"({argument}, "), call.source.insert(end, ")")])
    text = argument if change.position == 1 else f"{change.name}={argument}"
    return Outcome([call.source.insert(start, "("), call.source.insert(end, f", {text})")])


def _removed_argument(
    call: CallSite,
    items: SeparatedList,
    change: ArgumentChange,
    counts: tuple[int, int],
    keywords: dict[str, int],
) -> Outcome:
    positional, skip = counts
    if change.parameter.passing in _RESTS:
        by_position = len([one for one in change.before if one.passing in _BY_POSITION])
        names = {one.name for one in change.before}
        if positional - skip > by_position or not names.issuperset(keywords):
            raise CallUnmapped(f"passes what `{change.name}` takes")
        return Outcome()
    number = keywords.get(change.name)
    if number is None and change.position is not None and change.position + skip < positional:
        number = change.position + skip
    if number is None:
        return Outcome()
    outcome = items.remove([number])
    node = items.items[number].node
    if any(one.type in call.grammar.effects for one in _descendants(node)):
        text = f"`{_shown(call.source, node)}` is no longer evaluated; it may do more than give a value."
        return Outcome(outcome.edits, [*outcome.notes, text])
    return outcome


def free_names(language: str, grammar: CallGrammar, expression: str) -> set[str]:
    """The names of an expression that something around it has to bind."""
    source = Source(language, expression.encode("utf-8", "surrogateescape"))
    members = {field_name for _, field_name in grammar.paths}
    names = set()
    for node in _descendants(source.root):
        parent = node.parent
        if node.type not in grammar.names or parent is None:
            continue
        is_member = any(parent.child_by_field_name(one) == node for one in members) and parent.type in {
            kind for kind, _ in grammar.paths
        }
        is_keyword = parent.type == grammar.keyword and parent.child_by_field_name("name") == node
        if not is_member and not is_keyword:
            names.add(source.text(node))
    return names


def _descendants(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.named_children


def _shown(source: Source, node: Node) -> str:
    text = " ".join(source.text(node).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
