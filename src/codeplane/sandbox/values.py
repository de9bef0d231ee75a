"""JSON values that go into the sandbox and come out of it, within bounds of depth and size."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

DEEPEST: Final = 32
MOST_VALUES: Final = 200_000
MOST_CHARACTERS: Final = 4_000_000
MOST_BITS: Final = 1_024

Path = tuple[str | int, ...]


class ValueRefused(ValueError):
    """A value is no plain JSON or goes beyond a bound; `path` is the place inside it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{render_path(path)} {reason}")
        self.path = path
        self.reason = reason


def render_path(path: Path) -> str:
    """The place inside a value as text: `$.rows[3].name`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "$" + "".join(parts)


def to_plain_json(value: object) -> Any:
    """Copies a value as plain JSON: tuples become lists, anything that JSON cannot say is refused.

    Every occurrence is counted and copied: a list that holds another one ten times, nine levels deep, is
    small where it was made and has no end where it is written out.
    """
    budget = _Budget()
    return _copy_value(value, (), budget)


class _Budget:
    def __init__(self) -> None:
        self.values = MOST_VALUES
        self.characters = MOST_CHARACTERS

    def charge(self, path: Path, characters: int = 0) -> None:
        self.values -= 1
        self.characters -= characters
        if self.values < 0:
            raise ValueRefused(path[:1], f"is too large: more than {MOST_VALUES} values")
        if self.characters < 0:
            raise ValueRefused(path[:1], f"is too large: more than {MOST_CHARACTERS} characters")


def _copy_value(value: object, path: Path, budget: _Budget) -> Any:
    if len(path) > DEEPEST:
        raise ValueRefused(path[:3], f"is nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        budget.charge(path, len(value))
        return _check_text(value, path)
    budget.charge(path)
    if isinstance(value, dict):
        return {
            _check_key(key, path, budget): _copy_value(item, (*path, key), budget)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_copy_value(item, (*path, number), budget) for number, item in enumerate(value)]
    return _check_scalar(value, path)


def _check_scalar(value: object, path: Path) -> bool | int | float | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise ValueRefused(path, f"has more than {MOST_BITS} bits")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueRefused(path, f"is {value}, which JSON cannot say")
        return value
    raise ValueRefused(path, f"is {with_article(type_name(value))}, not a JSON value")


def _check_key(key: object, path: Path, budget: _Budget) -> str:
    if not isinstance(key, str):
        raise ValueRefused(path, f"has a key that is {with_article(type_name(key))}, not a string")
    budget.charge(path, len(key))
    return _check_text(key, path)


def _check_text(text: str, path: Path) -> str:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueRefused(path, "has half of a surrogate pair, which no file can hold")
    return text


def with_article(name: str) -> str:
    """The name of a type with its article: an integer, a string, null."""
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def type_name(value: object) -> str:
    """The type of a value in the words of JSON, where it has one."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    # A class of the sandbox comes out as a proxy that has the name of the class.
    return names.get(type(value)) or str(getattr(value, "name", None) or type(value).__name__)


def leaves(value: object) -> Iterator[object]:
    """Everything inside a plain JSON value that is neither an array nor an object."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value
