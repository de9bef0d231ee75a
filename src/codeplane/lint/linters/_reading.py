"""Reading what linters print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from codeplane.core.documents import Malformed, decode_json, decode_json_at
from codeplane.lint.diagnostic import Severity
from codeplane.lint.linter import Unreadable

Json = Mapping[str, Any]


_LONGEST_LINE: Final = 4_000


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def short_lines(data: bytes) -> str:
    """A text without lines that are too long to be about one place."""
    return "\n".join(line for line in text_of(data).splitlines() if len(line) <= _LONGEST_LINE)


def json_of(data: bytes) -> object:
    """A JSON document; a program may print something around it."""
    text = text_of(data)
    begins = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not begins:
        raise Unreadable
    try:
        value: object = decode_json_at(text, min(begins))
    except Malformed as error:
        raise Unreadable from error
    return value


def object_of(data: bytes) -> Json:
    """A JSON document that has to be an object."""
    value = json_of(data)
    if not isinstance(value, dict):
        raise Unreadable
    return value


def list_of(data: bytes) -> Sequence[Json]:
    """A JSON document that has to be a list; the objects in it."""
    value = json_of(data)
    if not isinstance(value, list):
        raise Unreadable
    return items(value)


def json_lines(data: bytes) -> Iterator[Json]:
    """The objects of a text that has one a line; other lines are passed over."""
    for line in data.split(b"\n"):
        if line.startswith(b"{"):
            try:
                value = decode_json(text_of(line))
            except Malformed:
                continue
            if isinstance(value, dict):
                yield value


def mapping(value: object) -> Json:
    """A value that should be an object; an empty one where it is not."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[Json]:
    """The objects of a value that should be a list of them."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def number(value: object) -> int:
    """A value that should be a number not below 0; 0 where it is not."""
    return max(0, value) if isinstance(value, int) else 0


def word(value: object) -> str:
    return value if isinstance(value, str) else ""


def severity_of(value: object, default: Severity = "error") -> Severity:
    """A severity by the usual words for it."""
    match word(value).lower():
        case "error" | "fatal" | "failure":
            return "error"
        case "warning" | "warn":
            return "warning"
        case "info" | "information" | "note" | "style" | "hint" | "none":
            return "info"
        case _:
            return default
