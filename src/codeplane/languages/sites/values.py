"""Reads values as they are written: texts, names, calls with their arguments, lists."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.sites.grammar import CallForm, Shape, SiteGrammar
from codeplane.languages.sites.model import Value, ValueKind

_DEEPEST: Final = 120  # of values in values: an argument counts as many, a call of a chain as one
_ARGUMENT: Final = 10
_MOST_ITEMS: Final = 400  # of one list or mapping
_LONGEST: Final = 4_000  # characters of one text
OTHER: Final = Value(ValueKind.OTHER)
"""A value that nobody can read."""
FALLBACK: Final = "||"
"""What `a || b` is called, as a call with two arguments."""
CHOICE: Final = "?:"
"""What `a ? b : c` is called, as a call with what may be chosen."""
SPREAD: Final = "..."
"""What `...a` is called, as a call with one argument."""
MEMBERSHIP: Final = "in"
"""What `a in b` is called, as a call on `b` with one argument."""
_KEYS: Final = (ValueKind.TEXT, ValueKind.NAME, ValueKind.CONCAT)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class ValueReader:
    """Reads values as they are written, to a limited depth."""

    def __init__(self, grammar: SiteGrammar, data: bytes) -> None:
        self._grammar, self._data = grammar, data
        self._shapes = grammar.shapes
        self._cuts = 0  # values that were too deep to be read
        self._whole: dict[int, Value] = {}  # calls inside of values, by node, of which nothing was cut off

    def parts(self, node: Node, name: str) -> list[Node]:
        """The parts of a node that a grammar names: a field, a number, a type."""
        head, slash, rest = name.partition("/")
        nodes = list(parts_of_node(node, head))
        return [inner for one in nodes for inner in self.parts(one, rest)] if slash else nodes

    def text_of(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")[:_LONGEST]

    def read(self, node: Node, depth: int = 0) -> Value:
        """What a value is made of."""
        if depth > _DEEPEST:
            self._cuts += 1
            return OTHER
        kind = node.type
        match self._shapes.get(kind):
            case None:
                return Value(ValueKind.OTHER, "", node.start_byte)
            case Shape.NAME:
                return Value(ValueKind.NAME, self._plain_name(node), node.start_byte)
            case Shape.MEMBER:
                return self._member(node, depth)
            case Shape.CALL:
                return self._inner_call(node, self._grammar.calls[kind], depth)
            case Shape.TEXT:
                return self._text(node, depth)
            case _:
                return self._read_by_context(node, kind, depth)

    def _read_by_context(self, node: Node, kind: str, depth: int) -> Value:
        """A node whose type alone does not say what it is."""
        grammar = self._grammar
        if kind in grammar.literals and self.is_typed(node):
            return self._inner_call(node, grammar.literals[kind], depth)
        if kind in grammar.wrappers and node.named_children:
            return self.read(node.named_children[-1], depth + _ARGUMENT)
        if kind in grammar.firsts and node.named_children:
            return self.read(node.named_children[0], depth + _ARGUMENT)
        if kind in grammar.texts:
            return self._text(node, depth)
        if kind in grammar.names:
            return Value(ValueKind.NAME, self._plain_name(node), node.start_byte)
        if kind in grammar.members:
            return self._member(node, depth)
        if kind in grammar.calls:
            return self._inner_call(node, grammar.calls[kind], depth)
        if kind in grammar.fallbacks and _operator(node) in grammar.fallbacks[kind]:
            items = tuple(self.read(child, depth + _ARGUMENT) for child in node.named_children)
            return Value(ValueKind.CALL, FALLBACK, node.start_byte, items)
        if kind in grammar.concats:
            return self._concat(node, depth)
        if kind in grammar.subscripts:
            return self.subscript(node, *grammar.subscripts[kind]) or Value(
                ValueKind.OTHER, start=node.start_byte
            )
        if kind in grammar.choices:
            parts = [part_of_node(node, name) for name in grammar.choices[kind]]
            items = tuple(self.read(part, depth + _ARGUMENT) for part in parts if part is not None)
            return Value(ValueKind.CALL, CHOICE, node.start_byte, items)
        if kind in grammar.spreads and node.named_children:
            items = (self.read(node.named_children[0], depth + _ARGUMENT),)
            return Value(ValueKind.CALL, SPREAD, node.start_byte, items)
        if kind in grammar.singles and node.named_child_count == 1:
            return self.read(node.named_children[0], depth + _ARGUMENT)
        if kind in grammar.lists:
            return Value(ValueKind.LIST, start=node.start_byte, items=tuple(self._items(node, depth)))
        if kind in grammar.mappings:
            return Value(ValueKind.MAPPING, start=node.start_byte, items=tuple(self._pairs(node, depth)))
        if kind in grammar.functions:
            return Value(ValueKind.FUNCTION, start=node.start_byte)
        if kind in grammar.constants:
            return Value(ValueKind.CONSTANT, self.text_of(node), node.start_byte)
        return Value(ValueKind.OTHER, start=node.start_byte)

    def is_typed(self, node: Node) -> bool:
        """Whether a literal says the name of what it makes: `T{…}`, but not `[]T{…}`."""
        form = self._grammar.literals[node.type]
        type_name = part_of_node(node, form.function)
        return type_name is not None and (
            type_name.type in self._grammar.names or type_name.type in self._grammar.members
        )

    def site_call(self, node: Node, form: CallForm) -> Value:
        """A call that is a site: outer ones are read first, and the value is in theirs already."""
        value = self._whole.get(node.id)
        return value if value is not None else self.call(node, form)

    def _inner_call(self, node: Node, form: CallForm, depth: int) -> Value:
        cuts = self._cuts
        value = self.call(node, form, depth)
        if self._cuts == cuts:
            self._whole[node.id] = value
        return value

    def call(self, node: Node, form: CallForm, depth: int = 0) -> Value:
        """A call with its receiver, its name and its arguments."""
        if form.function:
            function = part_of_node(node, form.function)
            callee = self.read(function, depth + 1) if function is not None else OTHER
        else:
            callee = self._called(node, form, depth)
        parts = list(parts_of_node(node, form.arguments))
        end = parts[0].start_byte if parts else node.end_byte
        items = tuple(self._type_arguments(node, end, depth))
        for part in parts:
            is_text = part.type in self._grammar.texts  # a tagged template
            items += (self.read(part, depth + 1),) if is_text else tuple(self._arguments(part, depth))
        if form.block and (block := part_of_node(node, form.block)) is not None:
            items += (Value(ValueKind.FUNCTION, start=block.start_byte, keyword="&block"),)
        match callee.kind:
            case ValueKind.NAME:
                owner, dot, name = callee.text.rpartition(".")
                if not dot:
                    return Value(ValueKind.CALL, name, callee.start, items)
                receiver = Value(ValueKind.NAME, owner, callee.start)
                return Value(ValueKind.CALL, name, callee.start, (receiver, *items), is_method=True)
            case ValueKind.MEMBER:
                return Value(
                    ValueKind.CALL, callee.text, callee.start, (callee.items[0], *items), is_method=True
                )
            case _:
                return Value(ValueKind.CALL, "", node.start_byte, (callee, *items), is_method=True)

    def _type_arguments(self, node: Node, end: int, depth: int) -> Iterator[Value]:
        """`<A, B>` of a call, which stand in it or in the name that is called."""
        if not self._grammar.type_arguments or b"<" not in self._data[node.start_byte : end]:
            return
        around: Node | None = node
        for _ in range(3):
            for child in around.named_children if around is not None else ():
                if child.type in self._grammar.type_arguments:
                    for number, item in enumerate(child.named_children):
                        yield self.read(item, depth + 1)._replace(keyword=f"<{number}>")
                    return
            fields = ("function", "constructor", "name", "type")
            around = (
                next(filter(None, (part_of_node(around, name) for name in fields)), None) if around else None
            )

    def decorator(self, node: Node) -> Value:
        """A decorator as a call; one without arguments has none."""
        form = self._grammar.decorators[node.type]
        if form.function or form.name:
            return self.call(node, form)
        inner = node.named_children[0] if node.named_children else node
        value = self.read(inner)
        if value.kind is ValueKind.NAME:
            owner, dot, name = value.text.rpartition(".")
            receiver = (Value(ValueKind.NAME, owner, value.start),) if dot else ()
            return Value(ValueKind.CALL, name, value.start, receiver, is_method=bool(dot), keyword="@")
        return value

    def subscript(self, node: Node, owner_field: str, key_field: str) -> Value | None:
        """`owner[key]` as a call of no name, where the key is a text."""
        owner, key = part_of_node(node, owner_field), part_of_node(node, key_field)
        if owner is None or key is None:
            return None
        while key.type not in self._grammar.texts and key.named_child_count == 1:
            key = key.named_children[0]
        value = self.read(key)
        if value.kind not in _KEYS:
            return None
        return Value(ValueKind.CALL, "[]", node.start_byte, (self.read(owner), value), is_method=True)

    def membership(self, node: Node) -> Value | None:
        """`key in owner` as a call of `in` on the owner, where that has a name that the grammar knows."""
        if len(node.named_children) != 2 or _operator(node) not in self._grammar.memberships[node.type]:
            return None
        owner = self.read(node.named_children[1])
        is_tested = owner.text.rpartition(".")[2] in self._grammar.tested_owners
        key = self.read(node.named_children[0])
        if not is_tested or owner.kind is not ValueKind.NAME or key.kind not in _KEYS:
            return None
        return Value(ValueKind.CALL, MEMBERSHIP, node.start_byte, (owner, key), is_method=True)

    def keyed_member(self, node: Node) -> Value | None:
        """`process.env.HOME` as `process.env["HOME"]`."""
        owner_field, member_field = self._grammar.members[node.type]
        owner, member = part_of_node(node, owner_field), part_of_node(node, member_field)
        if owner is None or member is None or self.text_of(owner) not in self._grammar.keyed_owners:
            return None
        key = Value(ValueKind.TEXT, self.text_of(member), member.start_byte)
        receiver = Value(ValueKind.NAME, self.text_of(owner), owner.start_byte)
        return Value(ValueKind.CALL, "[]", node.start_byte, (receiver, key), is_method=True)

    def keyword(self, node: Node, depth: int = 0) -> Value:
        name_field, value_field = self._grammar.keywords[node.type]
        name, value = part_of_node(node, name_field), part_of_node(node, value_field)
        if value is None:
            return OTHER
        read = self.read(value, depth + _ARGUMENT)
        return read._replace(keyword=self.text_of(name).strip("\"':") if name is not None else "")

    def _called(self, node: Node, form: CallForm, depth: int) -> Value:
        name = part_of_node(node, form.name)
        receiver = part_of_node(node, form.receiver) if form.receiver else None
        if name is None:
            return OTHER
        return self._owned(name, receiver, depth)

    def _owned(self, name: Node, owner: Node | None, depth: int) -> Value:
        """A name behind what owns it: one dotted name where the owner is a name."""
        text = self._plain_name(name)
        if owner is None:
            return Value(ValueKind.NAME, text, name.start_byte)
        value = self.read(owner, depth + 1)
        if value.kind is ValueKind.NAME:
            return Value(ValueKind.NAME, f"{value.text}.{text}", value.start)
        return Value(ValueKind.MEMBER, text, name.start_byte, (value,))

    def _plain_name(self, node: Node) -> str:
        text = self.text_of(node)
        if text.isidentifier():
            return text
        return text.replace("::", ".").replace("\\", ".").lstrip(".@$").split("<")[0].strip()

    def _member(self, node: Node, depth: int) -> Value:
        owner_field, member_field = self._grammar.members[node.type]
        owner, member = part_of_node(node, owner_field), part_of_node(node, member_field)
        if member is None:
            return OTHER
        return self._owned(member, owner, depth)

    def _arguments(self, node: Node, depth: int) -> Iterator[Value]:
        for child in node.named_children[:_MOST_ITEMS]:
            if child.type == "comment" or child.is_extra:
                continue
            if child.type in self._grammar.keywords:
                value = self.keyword(child, depth)
                if value != OTHER:
                    yield value
            else:
                yield self.read(child, depth + _ARGUMENT)

    def _items(self, node: Node, depth: int) -> Iterator[Value]:
        for child in node.named_children[:_MOST_ITEMS]:
            fields = self._grammar.pairs.get(child.type)
            if fields is not None and child.named_child_count > 1:  # `["a" => 1]`
                yield from self._pair(child, fields, depth)
            elif not child.is_extra:
                yield self.read(child, depth + _ARGUMENT)

    def _pairs(self, node: Node, depth: int) -> Iterator[Value]:
        for child in node.named_children[:_MOST_ITEMS]:
            fields = self._grammar.pairs.get(child.type)
            if fields is None:
                if child.type in self._grammar.spreads:
                    yield self.read(child, depth + 1)
                if child.type in self._grammar.names:  # `{a}` is short for `{a: a}`
                    yield self.read(child, depth + _ARGUMENT)._replace(keyword=self.text_of(child))
                continue
            yield from self._pair(child, fields, depth)

    def _pair(self, node: Node, fields: tuple[str, str], depth: int) -> Iterator[Value]:
        key, value = part_of_node(node, fields[0]), part_of_node(node, fields[1])
        if key is None or value is None:
            return
        name = self.read(key, depth + _ARGUMENT)
        text = name.text if name.kind in (ValueKind.TEXT, ValueKind.NAME) else self.text_of(key)
        yield self.read(value, depth + _ARGUMENT)._replace(keyword=text)

    def _concat(self, node: Node, depth: int) -> Value:
        operator = self._grammar.concats[node.type]
        if operator and not any(child.type == operator for child in node.children):
            return Value(ValueKind.OTHER, start=node.start_byte)
        items: list[Value] = []
        for child in node.named_children:
            value = self.read(child, depth + _ARGUMENT)
            items += value.items if value.kind is ValueKind.CONCAT else (value,)
        return _joined(items, node.start_byte)

    def _text(self, node: Node, depth: int) -> Value:
        grammar, items = self._grammar, list[Value]()
        for child in node.named_children:
            if child.type in grammar.text_parts:
                text = self.text_of(child)
                if any(part.type in grammar.brace_escapes for part in child.named_children):
                    text = text.replace("{{", "{").replace("}}", "}")
                if child.type in grammar.escapes and len(text) == 2:
                    text = _ESCAPED.get(text[1], text[1])
                items.append(Value(ValueKind.TEXT, text, child.start_byte))
            elif child.type in grammar.holes:
                items.append(self._hole(child, depth))
            elif child.type in grammar.texts:
                items.append(self._text(child, depth + _ARGUMENT))
        if not items:
            text = self.text_of(node)
            is_bare = not grammar.raw_quotes
            return Value(ValueKind.TEXT, "" if is_bare else _unquoted(text), node.start_byte)
        return _joined(items, node.start_byte)

    def _hole(self, node: Node, depth: int) -> Value:
        """The value in a text: the first child that is one, or the node itself where it has no children."""
        values = (self.read(child, depth + _ARGUMENT) for child in node.named_children)
        value = next((value for value in values if value.kind is not ValueKind.OTHER), None)
        return value or (OTHER if node.named_children else self.read(node, depth + _ARGUMENT))


def _joined(items: list[Value], start: int) -> Value:
    """Texts side by side are one text; anything else between them stays."""
    parts: list[Value] = []
    for item in items:
        if parts and item.kind is ValueKind.TEXT and parts[-1].kind is ValueKind.TEXT:
            parts[-1] = parts[-1]._replace(text=parts[-1].text + item.text)
        else:
            parts.append(item)
    if len(parts) == 1 and parts[0].kind is ValueKind.TEXT:
        return parts[0]._replace(start=start)
    return Value(ValueKind.CONCAT, start=start, items=tuple(parts))


def _operator(node: Node) -> str:
    """The operator between the operands of a node."""
    return next((child.type for child in node.children if not child.is_named), "")


def _unquoted(text: str) -> str:
    body = text.lstrip("@$bBrRuUfF#")
    quote = body[:3] if body[:3] in ('"""', "'''") else body[:1]
    return body[len(quote) : len(body) - len(quote)] if quote in ('"', "'", "`", '"""', "'''") else text


def part_of_node(node: Node, name: str) -> Node | None:
    """A part of a node: a field, `#2` for a named child, `.` for itself, `(type)` for a child of a type,
    `a/b` for b in a."""
    if name.isidentifier():
        return node.child_by_field_name(name)
    head, slash, rest = name.partition("/")
    part = next(parts_of_node(node, head), None)
    return part_of_node(part, rest) if slash and part is not None else part


def parts_of_node(node: Node, name: str) -> Iterator[Node]:
    """Every part of a node that a name of `part_of_node` without `/` is about."""
    if not name:
        return
    if name.isidentifier():
        yield from node.children_by_field_name(name)
    elif name == ".":
        yield node
    elif name.startswith("#"):
        children = node.named_children
        number = int(name[1:])
        if -len(children) <= number < len(children):
            yield children[number]
    elif name.startswith("("):
        wanted = name.strip("()").split("|")
        yield from (child for child in node.named_children if child.type in wanted)
