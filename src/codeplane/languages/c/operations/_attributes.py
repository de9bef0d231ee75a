"""The attributes of a declaration: `__attribute__((x))`, `[[x]]`, `__declspec(x)`, `_Noreturn`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from tree_sitter import Node

from codeplane.languages.operations import Source
from codeplane.languages.query import parse

Form = Literal["gnu", "standard", "declspec", "keyword"]
_FORMS: Final[dict[str, Form]] = {
    "attribute_specifier": "gnu",
    "attribute_declaration": "standard",
    "ms_declspec_modifier": "declspec",
}
_KEYWORDS: Final = ("_Noreturn", "noreturn")
_BODIES: Final = frozenset(
    "parameter_list compound_statement field_declaration_list enumerator_list initializer_list".split()
)
_FRAME: Final = " int f(void);"
_ARGUMENTS: Final = re.compile(
    r"\A(?:__attribute(?:__)?\s*\(\s*\((.*)\)\s*\)|\[\[(.*)\]\]|__declspec\s*\((.*)\))\Z", re.DOTALL
)


class Attribute(NamedTuple):
    """One attribute as it is asked for."""

    text: str
    form: Form
    items: frozenset[str]  # `format(printf,1,2)`; underscores around a name and blanks do not count

    @property
    def inner_text(self) -> str:
        """What stands in its brackets."""
        match = _ARGUMENTS.match(self.text)
        return (
            next((group for group in match.groups() if group is not None), "").strip() if match else self.text
        )

    @property
    def names(self) -> frozenset[str]:
        """The names of its items, without their arguments."""
        return frozenset(item.partition("(")[0] for item in self.items)


def read_attribute(text: str) -> Attribute | None:
    """The attribute that a text is; None for anything else."""
    text = text.strip()
    if text in _KEYWORDS:
        return Attribute(text, "keyword", frozenset((text,)))
    root = parse("c", (text + _FRAME).encode())
    first = root.children[0].children[0] if root.children and root.children[0].children else None
    if root.has_error or first is None or len(root.children) != 1:
        return None
    form = _FORMS.get(first.type)
    is_whole = first.end_byte == len(text.encode())
    return Attribute(text, form, items_of(text)) if form and is_whole and items_of(text) else None


def items_of(text: str) -> frozenset[str]:
    """What an attribute consists of, each in one spelling."""
    match = _ARGUMENTS.match(text.strip())
    inner = next((group for group in match.groups() if group is not None), "") if match else text
    return frozenset(_normal(one) for one in _split_items(inner) if one.strip())


def _split_items(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _normal(item: str) -> str:
    bare = "".join(item.split())
    return re.sub(r"\A__(\w+?)__(?=\Z|\()", r"\1", bare)


def attribute_nodes(owner: Node) -> list[Node]:
    """The attributes of a declaration itself, not those of its parameters, members or statements."""
    result, waiting = [], list(reversed(owner.children))
    while waiting:
        node = waiting.pop()
        if node.type in _FORMS or (node.type == "type_qualifier" and (node.text or b"") in _KEYWORDS_BYTES):
            result.append(node)
        elif node.type not in _BODIES and not _is_other(owner, node):
            waiting += reversed(node.children)
    return result


_KEYWORDS_BYTES: Final = tuple(word.encode() for word in _KEYWORDS)


def _is_other(owner: Node, node: Node) -> bool:
    """Whether a structure stands in a declaration of something of it."""
    return node.type.endswith("_specifier") and node.type != "storage_class_specifier" and owner != node


def is_present(source: Source, nodes: Sequence[Node], attribute: Attribute) -> bool:
    """Whether attributes have all items of one."""
    items = {
        item for node in nodes if _form_of(node) == attribute.form for item in items_of(source.text(node))
    }
    return attribute.items <= items


def _form_of(node: Node) -> Form:
    return _FORMS.get(node.type, "keyword")
