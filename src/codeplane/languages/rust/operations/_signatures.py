"""The parameters of a function, and how a signature is laid out."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.lists import SeparatedList, list_of
from codeplane.languages.rust.operations._attributes import attribute_path, attributes_of
from codeplane.languages.rust.operations._guards import COMMENTS
from codeplane.languages.rust.operations._widths import MAX_WIDTH, display_width

FUNCTIONS: Final = ("function_item", "function_signature_item")
# Attributes whose functions have the signature that a runner or the compiler calls them with.
_FIXED: Final = frozenset(
    "test bench proc_macro proc_macro_derive proc_macro_attribute panic_handler alloc_error_handler"
    " global_allocator start".split()
)
_ELIDED: Final = re.compile(r"&(?!\s*')|'_\b")


class Parameter(NamedTuple):
    """One parameter: its node, its pattern and the name that the pattern alone is."""

    node: Node
    name: Node | None
    pattern: Node | None
    type: Node | None

    @property
    def is_receiver(self) -> bool:
        """Whether it is what the method is called on."""
        return self.node.type == "self_parameter" or (
            self.name is None and self.pattern is not None and self.pattern.type == "self"
        )

    @property
    def is_rest(self) -> bool:
        """Whether it stands for any number of arguments."""
        return self.node.type == "variadic_parameter"


def function_of(node: Node) -> Node:
    """The function that a target is."""
    if node.type not in FUNCTIONS:
        raise OperationRefused("Only functions and methods have parameters that can change.", node)
    return node


def parameters_of(source: Source, function: Node) -> tuple[SeparatedList, list[Parameter]]:
    """The parameters of a function as a list and one by one."""
    node = function.child_by_field_name("parameters")
    assert node is not None, "BUG: a function without parameters"
    items = list_of(source, node, trailing=True)
    return items, [_read_parameter(item.node) for item in items.items]


def _read_parameter(node: Node) -> Parameter:
    pattern = node.child_by_field_name("pattern")
    kind = node.child_by_field_name("type")
    inner = pattern
    while inner is not None and inner.type == "mut_pattern":
        inner = inner.named_children[-1]
    return Parameter(node, inner if inner is not None and inner.type == "identifier" else None, pattern, kind)


def refuse_fixed(source: Source, function: Node) -> None:
    """Refuses a function whose signature somebody else decides: `main`, tests, procedural macros."""
    name = function.child_by_field_name("name")
    is_root = function.parent is not None and function.parent.type == "source_file"
    if name is not None and source.text(name) == "main" and is_root:
        raise OperationRefused("`main` is called with no arguments.", function)
    for item in attributes_of(function):
        if attribute_path(source, item).rpartition("::")[2] in _FIXED:
            raise OperationRefused(f"`{source.text(item)}` fixes the signature of the function.", item)


def has_elided_lifetime(text: str) -> bool:
    """Whether a type holds a reference without a named lifetime."""
    return _ELIDED.search(text) is not None


def borrows_elided(source: Source, function: Node) -> bool:
    """Whether the result borrows from a parameter that no lifetime and no receiver names."""
    result = function.child_by_field_name("return_type")
    _, parameters = parameters_of(source, function)
    has_receiver = any(one.is_receiver and "&" in source.text(one.node) for one in parameters)
    return result is not None and has_elided_lifetime(source.text(result)) and not has_receiver


def signature_notes(source: Source, function: Node, name: str) -> list[str]:
    """Remarks on what else goes by the signature: a trait, documentation, calls in the file."""
    notes = []
    block = function.parent.parent if function.parent is not None else None
    if block is not None and block.type == "trait_item":
        notes.append("Implementations of the trait have to change too.")
    trait = block.child_by_field_name("trait") if block is not None and block.type == "impl_item" else None
    if trait is not None:
        notes.append(f"The trait `{source.text(trait)}` and its other implementations have to change too.")
    documentation = "".join(_documentation(source, function))
    if re.search(rf"[*-]\s+`{re.escape(name)}`", documentation):
        notes.append(f"The documentation describes `{name}`.")
    elif re.search(r"#\s+(?:Arguments|Parameters)", documentation):
        notes.append("The documentation describes the parameters.")
    return notes


def _documentation(source: Source, function: Node) -> Iterator[str]:
    sibling = function.prev_sibling
    while sibling is not None and (sibling.type in COMMENTS or sibling.type == "attribute_item"):
        yield source.text(sibling)
        sibling = sibling.prev_sibling


def lay_out(
    source: Source, function: Node, items: SeparatedList, texts: Sequence[str], result: str | None = None
) -> list[TextEdit] | None:
    """The edit that puts a signature on several lines, or on one, where its new width asks for that.

    None where it stays as it is: it fits as before, or it was on several lines though one would have done.
    """
    opening, closing = items.opening, items.closing
    is_commented = items.comments or any(one.lead or one.tail for one in items.items)
    if opening is None or closing is None or is_commented:
        return None
    old = [source.slice(item.start, item.end) for item in items.items]
    before = source.slice(source.line_start(opening.start_byte), opening.end_byte)
    after = _text_behind(source, function, closing, None)
    new_after = _text_behind(source, function, closing, result)
    inside = source.slice(opening.end_byte, closing.start_byte)
    if after is None or new_after is None or any("\n" in text for text in (*old, *texts)):
        return None
    is_wide = display_width(f"{before}{', '.join(old)}{after}") > MAX_WIDTH
    gets_wide = display_width(f"{before}{', '.join(texts)}{new_after}") > MAX_WIDTH
    newline, indent = source.newline_at(opening.start_byte), source.indent_at(opening.start_byte)
    if gets_wide and not is_wide and texts and inside == ", ".join(old):
        inner = "".join(f"{newline}{indent}{source.indent_unit}{text}," for text in texts)
        return [source.replace(opening.end_byte, closing.start_byte, f"{inner}{newline}{indent}")]
    if is_wide and not gets_wide and "\n" in inside and items.has_trailing_separator:
        return [source.replace(opening.end_byte, closing.start_byte, ", ".join(texts))]
    return None


def _text_behind(source: Source, function: Node, closing: Node, result: str | None) -> str | None:
    """What stands in the line of a closing bracket: the result, and what begins the body."""
    own, body = function.child_by_field_name("return_type"), function.child_by_field_name("body")
    end = own.end_byte if own is not None else closing.end_byte
    text = source.slice(closing.start_byte, end) if result is None else f") -> {result}"
    has_where = any(child.type == "where_clause" for child in function.children)
    if "\n" in text:
        return None
    if has_where:
        return text
    if body is None:
        return f"{text};"
    return f"{text} {{}}" if body.end_byte - body.start_byte == 2 else f"{text} {{"
