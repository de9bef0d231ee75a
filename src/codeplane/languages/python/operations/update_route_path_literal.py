"""Gives a route another path."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations import Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.codemods import (
    literal_errors,
    nodes_of,
    other_places,
    pair_arguments,
    replace_literals,
)
from codeplane.languages.python.operations._guards import refuse_unsafe

# Flask, FastAPI, Starlette, Django, aiohttp: calls whose first argument is a path.
_CALLS: Final = frozenset(
    "route websocket api_route path re_path url add_url_rule add_route add_api_route add_resource mount"
    " Route WebSocketRoute Mount".split()
)
# `d.get("/x")` of a dictionary is no route: these count as decorators only.
_METHODS: Final = frozenset("get post put delete patch head options trace".split())
_KEYWORDS: Final = frozenset("prefix url_prefix path rule".split())


@operation(
    version=1,
    target="file",
    arguments=pair_arguments("the path as the file spells it: `/users`", "the path that takes its place"),
    check_arguments=literal_errors,
)
def update_route_path_literal(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Gives routes of a path another one, where they are declared: decorators, `path()`, prefixes.

    The same text elsewhere stays, and is noted.
    """
    old, new = arguments.text("from"), arguments.text("to")
    refuse_unsafe(source, new)
    routes = list(_route_texts(source))
    places = [(one.start_byte, one.end_byte) for one in routes if source.text(one) == old]
    texts = {source.text(one) for one in routes}
    missing = f"The file declares no route `{old}`; it has {', '.join(sorted(texts)[:8]) or 'none'}."
    outcome = replace_literals(source, arguments, places, lambda: new in texts, missing)
    note = other_places(source, old, places, list(nodes_of(source.root, "string_content")))
    return outcome._replace(notes=[note] if note and outcome.edits else ())


def _route_texts(source: Source) -> Iterator[Node]:
    for call in nodes_of(source.root, "call"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None:
            continue
        name = source.text(function).rpartition(".")[2]
        is_decorator = call.parent is not None and call.parent.type == "decorator"
        first = next(iter(arguments.named_children), None)
        if first is not None and (name in _CALLS or (is_decorator and name in _METHODS)):
            yield from _plain_text(first)
        for argument in arguments.named_children:
            keyword = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
            value = argument.child_by_field_name("value")
            if keyword is not None and value is not None and source.text(keyword) in _KEYWORDS:
                yield from _plain_text(value)


def _plain_text(node: Node) -> Iterator[Node]:
    """The text of a literal that is whole: no parts that are computed, no second literal behind it."""
    contents = [child for child in node.children if child.type not in ("string_start", "string_end")]
    if node.type == "string" and len(contents) == 1 and contents[0].type == "string_content":
        yield contents[0]
