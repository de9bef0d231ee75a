"""Gives a route another path."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.operations import Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.codemods import (
    literal_errors,
    nodes_of,
    other_places,
    pair_arguments,
    replace_literals,
)

_KEYS: Final = frozenset(("path", "redirectTo"))
_ATTRIBUTES: Final = frozenset(("path", "to", "href", "from"))
# Express, Fastify, Koa; `map.get("/x")` is no route: the receiver has to be called like a router.
_METHODS: Final = frozenset("get post put delete patch head options all use route".split())
_NAVIGATIONS: Final = frozenset("navigate navigateByUrl createUrlTree push replace redirect".split())
_ROUTERS: Final = re.compile(r"(?:.*\.)?(?:app|server|fastify|api|\w*[rR]outer|history)")
# Decorators of NestJS.
_DECORATORS: Final = frozenset("Controller Get Post Put Delete Patch Head Options All".split())


@operation(
    version=1,
    target="file",
    arguments=pair_arguments("the path as the file spells it: `users/:id`", "the path that takes its place"),
    check_arguments=literal_errors,
)
def update_route_path_literal(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Gives routes of a path another one: `path:` of route tables, routers, decorators, links, navigation.

    The same text elsewhere stays, and is noted.
    """
    refuse_unsafe(source)
    old, new = arguments.text("from"), arguments.text("to")
    routes = list(dict.fromkeys(_route_texts(source)))
    places = [(one.start_byte, one.end_byte) for one in routes if source.text(one) == old]
    texts = {source.text(one) for one in routes}
    missing = f"The file declares no route `{old}`; it has {', '.join(sorted(texts)[:8]) or 'none'}."
    outcome = replace_literals(source, arguments, places, lambda: new in texts, missing)
    note = other_places(source, old, places, list(nodes_of(source.root, "string_fragment")))
    notes = [*generated_notes(source), *([note] if note else [])]
    return outcome._replace(notes=notes if outcome.edits else ())


def _route_texts(source: Source) -> Iterator[Node]:
    for node in nodes_of(source.root, "pair", "call_expression", "jsx_attribute"):
        if node.type == "pair":
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            if key is not None and value is not None and source.text(key).strip("\"'") in _KEYS:
                yield from _plain_text(value)
        elif node.type == "jsx_attribute":
            name, *values = node.named_children
            if source.text(name) in _ATTRIBUTES:
                yield from (text for value in values for text in _plain_text(value))
        elif _is_route_call(source, node):
            arguments = node.child_by_field_name("arguments")
            for first in arguments.named_children[:1] if arguments is not None else []:
                yield from _plain_text(first)


def _is_route_call(source: Source, call: Node) -> bool:
    function = call.child_by_field_name("function")
    if function is None:
        return False
    if call.parent is not None and call.parent.type == "decorator":
        return source.text(function) in _DECORATORS
    receiver, name = function.child_by_field_name("object"), function.child_by_field_name("property")
    if receiver is None or name is None or not _ROUTERS.fullmatch(source.text(receiver)):
        return False
    return source.text(name) in _METHODS | _NAVIGATIONS


def _plain_text(node: Node) -> Iterator[Node]:
    """The text of a literal, alone or as the first of a list: `navigate(["/users", id])`."""
    if node.type in ("array", "jsx_expression"):
        yield from (text for child in node.named_children[:1] for text in _plain_text(child))
    fragments = [child for child in node.children if child.type in ("string_fragment", "escape_sequence")]
    if node.type == "string" and len(fragments) == 1 and fragments[0].type == "string_fragment":
        yield fragments[0]
