"""What calls pass, and whether it fits the header of what is called."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.headers import Parameter, Passing
from codeplane.languages.query import parse_within_limits

_COMMENTS: Final = frozenset("comment line_comment block_comment".split())
# May pass any number of arguments.
_OPEN: Final = frozenset(
    "list_splat dictionary_splat spread_element variadic_argument variadic_unpacking splat_argument"
    " hash_splat_argument pair".split()
)
_ALONE: Final = frozenset(("generator_expression",))  # an argument that brings the parentheses along
_BY_PLACE: Final = (Passing.POSITION, Passing.EITHER)
_BY_NAME: Final = (Passing.EITHER, Passing.NAME)
_RESTS: Final = (Passing.REST, Passing.NAMED_REST)


class Passed(NamedTuple):
    """The arguments of a call; `is_open` where a splat may hold more."""

    positional: int
    keywords: tuple[str, ...]
    is_open: bool


def passed_at(language: str, data: bytes, offsets: Collection[int]) -> dict[int, Passed]:
    """What the calls pass whose names begin at some bytes of a file. What is not called is left out."""
    root = parse_within_limits(language, data)
    if root is None:
        return {}
    lists = {offset: _arguments_at(root, offset) for offset in offsets}
    return {offset: _passed_by(node) for offset, node in lists.items() if node is not None}


def _arguments_at(root: Node, offset: int) -> Node | None:
    """The arguments of the call whose name begins at a byte: nothing else stands between the two."""
    node = root.descendant_for_byte_range(offset, offset + 1)
    end = node.end_byte if node is not None else -1
    while node is not None and node.end_byte == end and node.parent is not None:
        node = node.parent
        arguments = node.child_by_field_name("arguments")
        if arguments is not None and arguments.start_byte >= end:
            return arguments
    return None


def _passed_by(arguments: Node) -> Passed:
    if arguments.type in _ALONE:
        return Passed(1, (), is_open=False)
    positional, keywords, is_open = 0, [], arguments.has_error
    for child in arguments.named_children:
        name = child.child_by_field_name("name") if child.type.endswith("argument") else None
        if child.type in _OPEN or any(inner.type in _OPEN for inner in child.named_children[:1]):
            is_open = True
        elif name is not None:
            keywords.append((name.text or b"").decode("utf-8", "replace"))
        elif child.type not in _COMMENTS:
            positional += 1
    return Passed(positional, tuple(keywords), is_open)


def misfit(parameters: Sequence[Parameter], passed: Passed) -> str:
    """Why a call cannot pass what it passes; "" where it fits, or nothing tells."""
    if passed.is_open:
        return ""
    positional = [one for one in parameters if one.passing in _BY_PLACE]
    has_rest = any(one.passing is Passing.REST for one in parameters)
    if passed.positional > len(positional) and not has_rest:
        return f"passes {passed.positional} positional, at most {len(positional)} fit"
    positional_names = {one.name for one in positional[: passed.positional]}
    names = {one.name for one in parameters if one.passing in _BY_NAME}
    takes_any = any(one.passing is Passing.NAMED_REST for one in parameters)
    extra_names = [name for name in passed.keywords if name not in names]
    if extra_names and not takes_any:
        return f"no parameter {extra_names[0]}"
    if twice := [name for name in passed.keywords if name in positional_names]:
        return f"passes {twice[0]} twice"
    missing = [
        one.name
        for one in parameters
        if one.default is None
        and one.passing not in _RESTS
        and one.name not in positional_names
        and one.name not in passed.keywords
    ]
    return f"missing {', '.join(missing)}" if missing else ""
