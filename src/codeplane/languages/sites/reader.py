"""Reads the sites of a file. Only nodes that a language's grammar names are looked at."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from tree_sitter import Node, Query

from codeplane.languages.query import captures, compiled, grammar_of, parse_within_limits
from codeplane.languages.sites.grammar import CallForm, SiteGrammar
from codeplane.languages.sites.model import Site, SiteKind, Value, ValueKind
from codeplane.languages.spec import part_of, specs

SITES_VERSION: Final = 7
_DEEPEST: Final = 120  # of values in values: an argument counts as many, a call of a chain as one
_ARGUMENT: Final = 10
_MOST_ITEMS: Final = 400  # of one list or mapping
_LONGEST: Final = 4_000  # characters of one text
_MOST_SITES: Final = 50_000  # of one file
_OTHER: Final = Value(ValueKind.OTHER)
FALLBACK: Final = "||"
"""What `a || b` is called, as a call with two arguments."""
CHOICE: Final = "?:"
"""What `a ? b : c` is called, as a call with what may be chosen."""
SPREAD: Final = "..."
"""What `...a` is called, as a call with one argument."""
DEFAULT_EXPORT: Final = "export default"
"""What the value is assigned to that a module exports without a name."""
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_RANKS: Final = {"tail": 0, "return": 2}  # of roles of one node, outer ones first
_PARTS: Final = frozenset({CHOICE, FALLBACK, SPREAD})


@cache
def grammar_for(language: str) -> SiteGrammar | None:
    """The nodes of a language; None where its sites can't be read."""
    spec = specs().get(language)
    while spec is not None:
        module = part_of(spec.name, "sites")
        if module is not None:
            grammar: SiteGrammar = module.SITES
            return grammar
        spec = specs().get(spec.inherits) if spec.inherits else None
    return None


def has_sites(language: str) -> bool:
    return grammar_for(language) is not None


def read_sites(language: str, data: bytes) -> list[Site]:
    """The sites of a file in order of their beginnings; none where it is beyond the limits."""
    grammar = grammar_for(language)
    root = parse_within_limits(language, data) if grammar is not None else None
    if grammar is None or root is None:
        return []
    return _Sweep(grammar, data).read(_nodes_of(language, root))


def _nodes_of(language: str, root: Node) -> list[tuple[Node, str]]:
    grammar = grammar_for(language)
    blocks = grammar.blocks if grammar is not None else frozenset()
    nodes = [
        (node, role)
        for role, some in captures(_query_of(language), root).items()
        for node in some
        # A function whose body is a value returns that; one with a block has statements that do.
        if role != "return" or not node.named_children or node.named_children[-1].type not in blocks
    ]
    nodes.sort(key=lambda pair: (pair[0].start_byte, -pair[0].end_byte, _RANKS.get(pair[1], 1)))
    return nodes[:_MOST_SITES]


@cache
def _query_of(language: str) -> Query:
    grammar = grammar_for(language)
    assert grammar is not None, "BUG: asked for before"
    roles: list[tuple[str, object]] = [
        ("call", grammar.calls),
        ("literal", grammar.literals),
        ("decorator", grammar.decorators),
        ("subscript", grammar.subscripts),
        ("member", grammar.members if grammar.keyed_owners else ()),
        ("raise", grammar.raises),
        ("class", grammar.classes),
        ("loop", grammar.loops),
        ("assign", grammar.assignments),
        ("default", grammar.defaults),
        ("return", grammar.returns),
        ("condition", grammar.conditions),
        ("function", grammar.functions),
    ]
    # Languages that share a table don't have all of its nodes: TypeScript calls a field otherwise.
    kinds = grammar_of(language)
    lines = [
        f"({node}) @{role}"
        for role, nodes in roles
        for node in sorted(nodes)  # type: ignore[call-overload]
        if kinds.id_for_node_kind(node, True)
    ]
    lines += grammar.tails
    return compiled(language, "\n".join(lines))


class _Sweep:
    """One pass over the nodes of a file, outer ones before inner ones."""

    def __init__(self, grammar: SiteGrammar, data: bytes) -> None:
        self._grammar = grammar
        self._values = ValueReader(grammar, data)
        self._open: list[tuple[Node, str, int]] = []  # nodes that are not left yet, with their sites
        self._sites: list[Site] = []

    def read(self, nodes: list[tuple[Node, str]]) -> list[Site]:
        for node, role in nodes:
            while self._open and self._open[-1][0].end_byte <= node.start_byte:
                self._open.pop()
            number = self._add(node, role)
            self._open.append((node, role, number))
        return self._sites

    def _add(self, node: Node, role: str) -> int:
        site = self._site_of(node, role)
        if site is None:
            return -1
        self._sites.append(site)
        return len(self._sites) - 1

    def _site_of(self, node: Node, role: str) -> Site | None:
        grammar, values = self._grammar, self._values
        match role:
            case "call":
                value = values.call(node, grammar.calls[node.type])
                return self._made(SiteKind.CALL, node, value, self._assigned_name(node))
            case "literal" if values.is_typed(node):
                value = values.call(node, grammar.literals[node.type])
                return self._made(SiteKind.CALL, node, value, self._assigned_name(node))
            case "tail":
                return self._plain_return(node, node)
            case "decorator":
                return self._made(SiteKind.DECORATOR, node, values.decorator(node))
            case "subscript":
                owner, key = grammar.subscripts[node.type]
                return self._keyed(node, values.subscript(node, owner, key))
            case "member":
                return self._keyed(node, values.keyed_member(node))
            case "raise":
                inner = _part(node, grammar.raises[node.type])
                value = values.read(inner) if inner is not None else Value(ValueKind.CONSTANT)
                return self._made(SiteKind.RAISE, node, value)
            case "class":
                return self._class_site(node)
            case "loop":
                names, over = grammar.loops[node.type]
                target, source = _part(node, names), _part(node, over)
                if target is None or source is None:
                    return None
                return self._made(SiteKind.LOOP, node, values.read(source), values.text_of(target))
            case "assign":
                return self._assign_site(node)
            case "default":
                source = _part(node, grammar.defaults[node.type])
                value = values.read(source) if source is not None else _OTHER
                return self._assigned(node, value, DEFAULT_EXPORT)
            case "return":
                return self._return_site(node)
            case _:
                return None

    def _keyed(self, node: Node, value: Value | None) -> Site | None:
        return self._made(SiteKind.SUBSCRIPT, node, value) if value is not None else None

    def _class_site(self, node: Node) -> Site | None:
        name_field, base_fields = self._grammar.classes[node.type]
        name = _part(node, name_field)
        if name is None:
            return None
        bases = tuple(
            self._values.read(child)
            if child.type not in self._grammar.keywords
            else self._values.keyword(child)
            for field in base_fields
            for part in _parts(node, field)
            for child in (part.named_children or [part])
        )
        return self._made(
            SiteKind.CLASS, node, Value(ValueKind.LIST, items=bases), self._values.text_of(name)
        )

    def _assign_site(self, node: Node) -> Site | None:
        target_field, value_field = self._grammar.assignments[node.type]
        target, source = _part(node, target_field), _part(node, value_field)
        if target is None or source is None:
            return None
        return self._assigned(node, self._values.read(source), self._values.text_of(target))

    def _assigned(self, node: Node, value: Value, name: str) -> Site | None:
        if value.kind is ValueKind.OTHER or (value.kind is ValueKind.CALL and value.text not in _PARTS):
            return None  # a call is a site of its own and knows what it is assigned to
        if value.kind is ValueKind.FUNCTION and not self._grammar.function_values:
            return None
        return self._made(SiteKind.ASSIGN, node, value, name)

    def _return_site(self, node: Node) -> Site | None:
        if not node.named_children:
            return None
        return self._plain_return(node, node.named_children[-1])

    def _plain_return(self, node: Node, source: Node) -> Site | None:
        value = self._values.read(source)
        is_plain = value.kind not in (ValueKind.CALL, ValueKind.OTHER) or value.text in _PARTS
        is_plain &= value.kind is not ValueKind.FUNCTION or self._grammar.function_values
        return self._made(SiteKind.RETURN, node, value) if is_plain else None

    def _made(self, kind: SiteKind, node: Node, value: Value, name: str = "") -> Site:
        is_conditional = is_returned = False
        loop = outer = -1
        for around, role, number in reversed(self._open):
            if role == "function" or role == "class":
                break
            if role == "loop" and loop < 0:
                loop = number
            elif role in ("call", "decorator", "literal") and outer < 0 and number >= 0:
                outer = number
            elif role == "tail":
                is_returned |= around.id == node.id
            elif role == "condition":
                is_conditional = True
            elif role == "return" and around.named_child_count and outer < 0:
                is_returned = True
        return Site(
            kind, node.start_byte, node.end_byte, value, name, is_conditional, is_returned, loop, outer
        )

    def _assigned_name(self, node: Node) -> str:
        """What the result of a call is assigned to, straight or behind `await` and parentheses; several names
        with ` = ` between them."""
        names: list[str] = []
        for around, role, _ in reversed(self._open):
            if role not in ("assign", "default"):
                break
            is_default = role == "default"
            fields = (
                self._grammar.defaults[around.type] if is_default else self._grammar.assignments[around.type]
            )
            source = _part(around, fields if isinstance(fields, str) else fields[1])
            if source is None or not self._is_behind(source, node):
                break
            target = None if isinstance(fields, str) else _part(around, fields[0])
            name = self._values.text_of(target) if target is not None else DEFAULT_EXPORT
            names.append(name.partition(",")[0] if self._grammar.first_results else name)
        return " = ".join(reversed(names))

    def _is_behind(self, source: Node, node: Node) -> bool:
        """Whether a node is another one without the parentheses, `await` or type around it."""
        grammar, current = self._grammar, source
        while current.named_children and current.id != node.id:
            if current.type in grammar.wrappers or current.type in grammar.singles:
                current = current.named_children[-1]
            elif current.type in grammar.firsts:
                current = current.named_children[0]
            elif current.type in grammar.assignments:  # `a = b = c`
                inner = _part(current, grammar.assignments[current.type][1])
                if inner is None:
                    return False
                current = inner
            else:
                return False
        return current.id == node.id


class ValueReader:
    """Reads values as they are written, to a limited depth."""

    def __init__(self, grammar: SiteGrammar, data: bytes) -> None:
        self._grammar, self._data = grammar, data

    def parts(self, node: Node, name: str) -> list[Node]:
        """The parts of a node that a grammar names: a field, a number, a type."""
        head, slash, rest = name.partition("/")
        nodes = list(_parts(node, head))
        return [inner for one in nodes for inner in self.parts(one, rest)] if slash else nodes

    def text_of(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")[:_LONGEST]

    def read(self, node: Node, depth: int = 0) -> Value:
        grammar, kind = self._grammar, node.type
        if depth > _DEEPEST:
            return _OTHER
        if kind in grammar.literals and self.is_typed(node):
            return self.call(node, grammar.literals[kind], depth)
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
            return self.call(node, grammar.calls[kind], depth)
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
            parts = [_part(node, name) for name in grammar.choices[kind]]
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
        type_name = _part(node, form.function)
        return type_name is not None and (
            type_name.type in self._grammar.names or type_name.type in self._grammar.members
        )

    def call(self, node: Node, form: CallForm, depth: int = 0) -> Value:
        """A call with its receiver, its name and its arguments."""
        if form.function:
            function = _part(node, form.function)
            callee = self.read(function, depth + 1) if function is not None else _OTHER
        else:
            callee = self._called(node, form, depth)
        parts = list(_parts(node, form.arguments))
        end = parts[0].start_byte if parts else node.end_byte
        items = tuple(self._type_arguments(node, end, depth))
        for part in parts:
            is_text = part.type in self._grammar.texts  # a tagged template
            items += (self.read(part, depth + 1),) if is_text else tuple(self._arguments(part, depth))
        if form.block and (block := _part(node, form.block)) is not None:
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
            around = next(filter(None, (_part(around, name) for name in fields)), None) if around else None

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
        owner, key = _part(node, owner_field), _part(node, key_field)
        if owner is None or key is None:
            return None
        while key.type not in self._grammar.texts and key.named_child_count == 1:
            key = key.named_children[0]
        value = self.read(key)
        if value.kind not in (ValueKind.TEXT, ValueKind.NAME, ValueKind.CONCAT):
            return None
        return Value(ValueKind.CALL, "[]", node.start_byte, (self.read(owner), value), is_method=True)

    def keyed_member(self, node: Node) -> Value | None:
        """`process.env.HOME` as `process.env["HOME"]`."""
        owner_field, member_field = self._grammar.members[node.type]
        owner, member = _part(node, owner_field), _part(node, member_field)
        if owner is None or member is None or self.text_of(owner) not in self._grammar.keyed_owners:
            return None
        key = Value(ValueKind.TEXT, self.text_of(member), member.start_byte)
        receiver = Value(ValueKind.NAME, self.text_of(owner), owner.start_byte)
        return Value(ValueKind.CALL, "[]", node.start_byte, (receiver, key), is_method=True)

    def keyword(self, node: Node, depth: int = 0) -> Value:
        name_field, value_field = self._grammar.keywords[node.type]
        name, value = _part(node, name_field), _part(node, value_field)
        if value is None:
            return _OTHER
        read = self.read(value, depth + _ARGUMENT)
        return read._replace(keyword=self.text_of(name).strip("\"':") if name is not None else "")

    def _called(self, node: Node, form: CallForm, depth: int) -> Value:
        name = _part(node, form.name)
        receiver = _part(node, form.receiver) if form.receiver else None
        if name is None:
            return _OTHER
        text = self._plain_name(name)
        if receiver is None:
            return Value(ValueKind.NAME, text, name.start_byte)
        owner = self.read(receiver, depth + 1)
        if owner.kind is ValueKind.NAME:
            return Value(ValueKind.NAME, f"{owner.text}.{text}", owner.start)
        return Value(ValueKind.MEMBER, text, name.start_byte, (owner,))

    def _plain_name(self, node: Node) -> str:
        return self.text_of(node).replace("::", ".").replace("\\", ".").lstrip(".@$").split("<")[0].strip()

    def _member(self, node: Node, depth: int) -> Value:
        owner_field, member_field = self._grammar.members[node.type]
        owner, member = _part(node, owner_field), _part(node, member_field)
        if member is None:
            return _OTHER
        text = self._plain_name(member)
        if owner is None:
            return Value(ValueKind.NAME, text, member.start_byte)
        value = self.read(owner, depth + 1)
        if value.kind is ValueKind.NAME:
            return Value(ValueKind.NAME, f"{value.text}.{text}", value.start)
        return Value(ValueKind.MEMBER, text, member.start_byte, (value,))

    def _arguments(self, node: Node, depth: int) -> Iterator[Value]:
        for child in node.named_children[:_MOST_ITEMS]:
            if child.type == "comment" or child.is_extra:
                continue
            if child.type in self._grammar.keywords:
                value = self.keyword(child, depth)
                if value != _OTHER:
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
        key, value = _part(node, fields[0]), _part(node, fields[1])
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
        return value or (_OTHER if node.named_children else self.read(node, depth + _ARGUMENT))


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


def _part(node: Node, name: str) -> Node | None:
    """A part of a node: a field, `#2` for a named child, `.` for itself, `(type)` for a child of a type,
    `a/b` for b in a."""
    head, slash, rest = name.partition("/")
    part = next(_parts(node, head), None)
    return _part(part, rest) if slash and part is not None else part


def _parts(node: Node, name: str) -> Iterator[Node]:
    if not name:
        return
    if name == ".":
        yield node
    elif name.startswith("#"):
        children = node.named_children
        number = int(name[1:])
        if -len(children) <= number < len(children):
            yield children[number]
    elif name.startswith("("):
        wanted = name.strip("()").split("|")
        yield from (child for child in node.named_children if child.type in wanted)
    else:
        yield from node.children_by_field_name(name)
