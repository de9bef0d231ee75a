"""HTTP methods as code writes them, and the handlers that go with them."""

from collections.abc import Iterator, Mapping
from typing import Final

from codeplane.languages.sites import Value, ValueKind
from codeplane.surfaces.values import Evaluator, Located

VERBS: Final = frozenset(
    "GET POST PUT PATCH DELETE HEAD OPTIONS TRACE CONNECT QUERY PROPFIND REPORT ANY ALL WS".split()
)
_METHOD: Final = "METHOD"


def verb_of(text: str) -> str:
    """The verb that a text or a constant's name means: `get`, `http.MethodGet`, `HttpMethod.GET`."""
    name = text.replace("::", ".").rpartition(".")[2].upper()
    name = name.removeprefix(_METHOD).strip("_") or name
    return name if name in VERBS else ""


def verb_of_value(evaluator: Evaluator, located: Located) -> str:
    """The verb that a value is; empty where that isn't known."""
    text = evaluator.text(located)
    if text is not None:
        return "ANY" if text in ("*", "") else verb_of(text) or text.upper()
    value = located.value
    if value.kind in (ValueKind.NAME, ValueKind.MEMBER):
        return verb_of(value.text)
    if value.kind is ValueKind.CALL and len(value.arguments) == 1:  # `Method::from("GET")`
        return verb_of_value(evaluator, Located(located.path, value.arguments[0], located.environment))
    return ""


def verbs_of_value(evaluator: Evaluator, located: Located) -> tuple[str, ...] | None:
    """The verbs of a text, a constant or a list of them; None where one isn't known."""
    items = evaluator.items(located) if located.value.kind is not ValueKind.TEXT else None
    if located.value.kind is ValueKind.CONCAT:  # `GET | POST`
        items = [Located(located.path, item, located.environment) for item in located.value.items]
    if items is None:
        text = evaluator.text(located)
        parts = text.replace("|", ",").split(",") if text else []
        if len(parts) > 1:
            return tuple(part.strip().upper() for part in parts)
    verbs = tuple(verb_of_value(evaluator, item) for item in (items if items is not None else [located]))
    return verbs if all(verbs) else None


def chained(value: Value) -> Iterator[Value]:
    """The calls of a chain, the last one first."""
    current: Value | None = value
    while current is not None and current.kind is ValueKind.CALL:
        yield current
        current = current.receiver


def handlers_in(
    value: Value, verb_calls: Mapping[str, str], handler_calls: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Value | None]]:
    """`get(a).post(b)` and `web::get().to(a)`: the verbs that a handler says, each with its function."""
    verbs: list[str] = []
    function: Value | None = None
    rows: list[tuple[tuple[str, ...], Value | None]] = []
    for call in chained(value):
        if call.text in handler_calls:
            function = call.argument(0)
        elif call.text in verb_calls:
            verb = verb_calls[call.text]
            if verb.startswith("arg"):
                word = call.argument(int(verb[3:]))
                verb = verb_of(
                    word.arguments[0].text if word and word.arguments else word.text if word else ""
                )
                handler = call.argument(1)
            else:
                handler = call.argument(0)
            if not verb:
                continue
            if handler_calls:
                verbs.append(verb)
            else:
                rows.append(((verb,), handler))
    if handler_calls:
        rows = [(tuple(verbs) or ("ANY",), function)] if verbs or function is not None else []
    yield from reversed(rows)
