"""Has a file import from another module."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.codemods import nodes_of
from codeplane.languages.python.import_blocks import read_names
from codeplane.languages.python.operations._guards import refuse_unsafe

_MODULE: Final = re.compile(r"\.*[^\W\d]\w*(\.[^\W\d]\w*)*|\.+")
_STATEMENTS: Final = ("import_statement", "import_from_statement")
_MOST_NAMED: Final = 8


def _module_errors(arguments: Arguments) -> Sequence[str]:
    texts = {name: arguments.text(name).strip() for name in ("from", "to")}
    return [
        f"`{name}`: {text[:60]!r} is not the name of a module."
        for name, text in texts.items()
        if not _MODULE.fullmatch(text)
    ]


@operation(
    version=1,
    target="file",
    arguments=(
        Argument("from", "text", "the module as the file spells it: `a.b`, `.c`", is_required=True),
        Argument("to", "text", "the module that takes its place", is_required=True),
    ),
    check_arguments=_module_errors,
)
def update_import_specifier(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Has every import of a module in a file take another module; the names that it binds stay.

    `import a` becomes `import b as a`. `import a.b` without an alias is refused, since code below spells the
    module out.
    """
    old, new = arguments.text("from").strip(), arguments.text("to").strip()
    refuse_unsafe(source, new)
    edits = list(_edits(source, old, new))
    modules = [name for _, name in _modules(source)]
    if edits or new in modules:
        return Outcome(edits)
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(modules[:_MOST_NAMED])) or "nothing"
    raise OperationRefused(f"The file does not import `{old}`; it imports {names}.")


def _modules(source: Source) -> Iterator[tuple[Node, str]]:
    """The modules that statements name, with the nodes that spell them."""
    for statement in nodes_of(source.root, *_STATEMENTS):
        module = statement.child_by_field_name("module_name")
        if module is not None:
            yield module, "".join(source.text(module).split())
            continue
        for name in read_names(source, statement)[1]:
            inner = name.node.child_by_field_name("name") if name.node.type == "aliased_import" else name.node
            if inner is not None:
                yield inner, name.name


def _edits(source: Source, old: str, new: str) -> Iterator[TextEdit]:
    for node, name in _modules(source):
        parent = node.parent
        if name != old or parent is None:
            continue
        is_plain = parent.type == "import_statement"
        if is_plain and new.startswith("."):
            raise OperationRefused("`import` takes no relative module; only `from … import` does.", node)
        if is_plain and "." in old:
            raise OperationRefused(
                f"`import {old}` has code spell the module out; give it an alias first.", node
            )
        text = f"{new} as {old}" if is_plain and new != old else new
        yield source.replace(node.start_byte, node.end_byte, text)
