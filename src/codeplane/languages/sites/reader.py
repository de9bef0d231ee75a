"""Reads the sites of a file. Only nodes that a language's grammar names are looked at."""

from functools import cache
from typing import Final

from tree_sitter import Node, Query

from codeplane.languages.query import captures, compiled, grammar_of, parse_within_limits
from codeplane.languages.sites.grammar import SiteGrammar
from codeplane.languages.sites.model import Site, SiteKind, Value, ValueKind
from codeplane.languages.sites.values import (
    CHOICE,
    FALLBACK,
    OTHER,
    SPREAD,
    ValueReader,
    part_of_node,
    parts_of_node,
)
from codeplane.languages.spec import part_of, specs

_MOST_SITES: Final = 50_000  # of one file
_LONGEST_LINES: Final = 400  # bytes of an average line, beyond which a file was written by a bundler
_BUNDLED: Final = 10_000  # bytes of a file that may be a bundle
DEFAULT_EXPORT: Final = "export default"
"""What the value is assigned to that a module exports without a name."""
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


def read_own_sites(language: str, data: bytes) -> list[Site]:
    """The sites of a file; none of a bundle, whose source says the same where people wrote it."""
    is_bundle = len(data) > _BUNDLED and len(data) > _LONGEST_LINES * (data.count(b"\n") + 1)
    return [] if is_bundle else read_sites(language, data)


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
        ("membership", grammar.memberships),
        ("comprehension", grammar.comprehensions),
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
        self._loops: dict[int, int] = {}  # of comprehensions, by node

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
        if role == "loop" and self._open and self._open[-1][1] == "comprehension":
            self._repeat(self._open[-1][0], len(self._sites) - 1)
        return len(self._sites) - 1

    def _repeat(self, comprehension: Node, loop: int) -> None:
        """Puts what stands before the loop of a comprehension into that loop."""
        self._loops[comprehension.id] = loop
        for number in range(loop - 1, -1, -1):
            site = self._sites[number]
            if site.start < comprehension.start_byte:
                return
            if site.loop < 0 or self._sites[site.loop].start < comprehension.start_byte:
                self._sites[number] = site._replace(loop=loop)

    def _site_of(self, node: Node, role: str) -> Site | None:
        grammar, values = self._grammar, self._values
        match role:
            case "call":
                value = values.site_call(node, grammar.calls[node.type])
                return self._made(SiteKind.CALL, node, value, self._assigned_name(node))
            case "literal" if values.is_typed(node):
                value = values.site_call(node, grammar.literals[node.type])
                return self._made(SiteKind.CALL, node, value, self._assigned_name(node))
            case "tail":
                return self._plain_return(node, node)
            case "decorator":
                return self._made(SiteKind.DECORATOR, node, values.decorator(node))
            case "subscript":
                owner, key = grammar.subscripts[node.type]
                return self._keyed(node, values.subscript(node, owner, key))
            case "membership":
                return self._keyed(node, values.membership(node), is_test=True)
            case "member":
                return self._keyed(node, values.keyed_member(node))
            case "raise":
                inner = part_of_node(node, grammar.raises[node.type])
                value = values.read(inner) if inner is not None else Value(ValueKind.CONSTANT)
                return self._made(SiteKind.RAISE, node, value)
            case "class":
                return self._class_site(node)
            case "loop":
                names, over = grammar.loops[node.type]
                target, source = part_of_node(node, names), part_of_node(node, over)
                if target is None or source is None:
                    return None
                return self._made(SiteKind.LOOP, node, values.read(source), values.text_of(target))
            case "assign":
                return self._assign_site(node)
            case "default":
                source = part_of_node(node, grammar.defaults[node.type])
                value = values.read(source) if source is not None else OTHER
                return self._assigned(node, value, DEFAULT_EXPORT)
            case "return":
                return self._return_site(node)
            case _:
                return None

    def _keyed(self, node: Node, value: Value | None, *, is_test: bool = False) -> Site | None:
        if value is None:
            return None
        site = self._made(SiteKind.SUBSCRIPT, node, value)
        return site._replace(is_returned=False) if is_test else site  # what it gives is no part of its owner

    def _class_site(self, node: Node) -> Site | None:
        name_field, base_fields = self._grammar.classes[node.type]
        name = part_of_node(node, name_field)
        if name is None:
            return None
        bases = tuple(
            self._values.read(child)
            if child.type not in self._grammar.keywords
            else self._values.keyword(child)
            for field in base_fields
            for part in parts_of_node(node, field)
            for child in (part.named_children or [part])
        )
        return self._made(
            SiteKind.CLASS, node, Value(ValueKind.LIST, items=bases), self._values.text_of(name)
        )

    def _assign_site(self, node: Node) -> Site | None:
        target_field, value_field = self._grammar.assignments[node.type]
        target, source = part_of_node(node, target_field), part_of_node(node, value_field)
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
            elif role == "comprehension" and loop < 0:
                loop = self._loops.get(around.id, -1)
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
            source = part_of_node(around, fields if isinstance(fields, str) else fields[1])
            if source is None or not self._is_behind(source, node):
                break
            target = None if isinstance(fields, str) else part_of_node(around, fields[0])
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
                inner = part_of_node(current, grammar.assignments[current.type][1])
                if inner is None:
                    return False
                current = inner
            else:
                return False
        return current.id == node.id
