"""The import that an operation is asked for, read from its argument."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from codeplane.languages.operations import Arguments, OperationRefused, Source
from codeplane.languages.rust.operations._declarations import (
    DECLARATIONS,
    Declaration,
    declarations_in,
)
from codeplane.languages.rust.operations._use_trees import Leaf, leaves_in

_RESERVED: Final = frozenset(
    "as async await break const continue dyn else enum extern false fn for if impl in let loop match mod move"
    " mut pub ref return static struct trait true type unsafe use where while".split()
)
MODULE = "the inline module of the file that is meant: `tests`, `a::b`; the file itself by default"


class Request(NamedTuple):
    """A declaration that somebody sent, and what it imports."""

    text: str
    declaration: Declaration
    leaves: Sequence[Leaf]


def read_request(arguments: Arguments) -> Request | None:
    """The declaration of the argument `import`; None where it is none, or more than one."""
    text = arguments.text("import").strip()
    text = text if text.endswith(";") else f"{text};"
    fragment = Source("rust", text.encode("utf-8", "surrogateescape"))
    if fragment.root.has_error:
        return None
    others = [
        child for child in fragment.root.children if child.type not in (*DECLARATIONS, "attribute_item")
    ]
    declarations = declarations_in(fragment, fragment.root)
    if others or len(declarations) != 1:
        return None
    leaves = list(dict.fromkeys(leaves_in(declarations[0].tree)))
    if any(name in _RESERVED for leaf in leaves for name in (*leaf.path, leaf.alias)):
        return None  # the grammar takes `use` in `use use a::B;` for a name
    lines = "\n".join(fragment.text(child) for child in fragment.root.children)
    return Request(lines, declarations[0], leaves) if leaves else None


def check_request(arguments: Arguments) -> Sequence[str]:
    """What is wrong with the argument `import`."""
    return [] if read_request(arguments) else ["`import` is one `use` or `extern crate` declaration."]


def is_same_leaf(one: Leaf, other: Leaf) -> bool:
    """Whether two imports bind the same thing to the same name, raw identifiers and `::` aside."""
    return _plain_path(one) == _plain_path(other) and _plain(one.alias) == _plain(other.alias)


def is_same_path(one: Leaf, other: Leaf) -> bool:
    """Whether two imports are of one thing, whatever they call it."""
    return _plain_path(one) == _plain_path(other)


def _plain_path(leaf: Leaf) -> tuple[str, ...]:
    path = tuple(map(_plain, leaf.path))
    return path[1:] if path[0] == "" and len(path) > 1 else path


def _plain(name: str) -> str:
    return name.removeprefix("r#")


def bound_leaves(declaration: Declaration) -> list[Leaf]:
    """What a declaration imports."""
    return list(leaves_in(declaration.tree))


def refuse_broken_head(source: Source, declarations: Sequence[Declaration]) -> None:
    """Refuses a file with a syntax error in one of its imports."""
    for one in declarations:
        if one.node.has_error:
            line = source.line_of(one.node.start_byte)
            raise OperationRefused(f"The declaration at line {line} has a syntax error.", one.node)
