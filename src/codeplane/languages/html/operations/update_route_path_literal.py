"""Gives links to a route another path."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.html.operations._attributes import set_value, value_of
from codeplane.languages.html.selectors import document_of
from codeplane.languages.html.tokens import Attribute
from codeplane.languages.operations import Arguments, Match, OperationRefused, Outcome, Source, operation
from codeplane.languages.operations.codemods import literal_errors, pair_arguments

_LINKS: Final = frozenset(
    "routerlink href action formaction hx-get hx-post hx-put hx-patch hx-delete".split()
)
# Angular: the value is an expression, `'/users'` or `['/users', id]`.
_BINDINGS: Final = frozenset(("[routerlink]", "[href]"))
_TEXT: Final = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"|&quot;((?:(?!&quot;).)*)&quot;")


@operation(
    version=1,
    target="file",
    arguments=pair_arguments("the path as the file spells it: `/users`", "the path that takes its place"),
    check_arguments=literal_errors,
)
def update_route_path_literal(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Gives links, forms and `routerLink` of a path another one, bound ones by their first text."""
    old, new = arguments.text("from"), arguments.text("to")
    attributes = [one for element in document_of(source).elements for one in element.start_tag.attributes]
    edits = [edit for one in attributes for edit in _edits(source, one, old, new)]
    if edits:
        return Outcome(edits)
    texts = {text for one in attributes for text in _paths_in(source, one)}
    if new in texts:
        return Outcome()
    raise OperationRefused(f"No link leads to `{old}`; there are {', '.join(sorted(texts)[:8]) or 'none'}.")


def _edits(source: Source, attribute: Attribute, old: str, new: str) -> Iterator[TextEdit]:
    if attribute.name in _LINKS and attribute.quote is not None and value_of(source, attribute) == old:
        yield from set_value(source, attribute, new)
    elif (place := _first_text(source, attribute)) is not None and place[2] == old:
        yield source.replace(place[0], place[1], new)


def _paths_in(source: Source, attribute: Attribute) -> Iterator[str]:
    if attribute.name in _LINKS and attribute.quote is not None:
        yield value_of(source, attribute)
    elif (place := _first_text(source, attribute)) is not None:
        yield place[2]


def _first_text(source: Source, attribute: Attribute) -> tuple[int, int, str] | None:
    """The bytes of the first text in a bound value, and the text."""
    if attribute.name not in _BINDINGS:
        return None
    value = source.slice(attribute.value_start, attribute.value_end)
    match = _TEXT.search(value)
    if match is None or match.lastindex is None:
        return None
    start = attribute.value_start + len(
        value[: match.start(match.lastindex)].encode("utf-8", "surrogateescape")
    )
    text = match[match.lastindex]
    return start, start + len(text.encode("utf-8", "surrogateescape")), text
