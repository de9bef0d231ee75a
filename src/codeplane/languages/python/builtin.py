"""What the classes that come with Python have, where that is the same in every version."""

import abc
import builtins
import collections.abc
import enum
import typing
from collections.abc import Container
from functools import cache
from importlib import import_module

_ENUMS = {f"enum.{name}": getattr(enum, name) for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum")}
# What a class that extends one of `typing` extends in fact: `typing.MutableMapping[str, str]`.
_ALIASES = {
    f"typing.{name}": alias.__origin__
    for name, alias in vars(typing).items()
    if getattr(getattr(alias, "__origin__", None), "__module__", "") in ("builtins", "collections.abc")
}
_KNOWN = {
    **{name: value for name, value in vars(builtins).items() if isinstance(value, type)},
    **{f"collections.abc.{name}": getattr(collections.abc, name) for name in collections.abc.__all__},
    **_ALIASES,
    **_ENUMS,
    **{f"{module.__name__}.{name}": object for module, name in ((abc, "ABC"), (typing, "Generic"))},
}
# Attributes of instances that classes of enumerations themselves do not show.
_GIVEN = frozenset(("name", "value"))
# Classes of the library, by module, that give their instances no public attributes but those of the class.
_LIBRARY = {
    "ast": ("NodeVisitor", "NodeTransformer"),
    "asyncio": ("BaseProtocol", "Protocol", "BufferedProtocol", "DatagramProtocol", "SubprocessProtocol"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "contextlib": ("AbstractAsyncContextManager", "AbstractContextManager", "ContextDecorator"),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone", "tzinfo"),
    "decimal": ("Decimal",),
    "io": ("BufferedIOBase", "BytesIO", "IOBase", "RawIOBase", "StringIO", "TextIOBase"),
    "numbers": ("Complex", "Integral", "Number", "Rational", "Real"),
    "string": ("Formatter",),
    "threading": ("Thread",),
    "unittest": ("TestCase", "IsolatedAsyncioTestCase"),
}


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


class _Public:
    """Some names, and every one that is private: a version of its own choice may have it."""

    def __init__(self, names: list[str]) -> None:
        self._names = frozenset(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names or str(name).startswith("_")


@cache
def members_of(base: str) -> Container[str]:
    """The names that instances of a class have; every name where the class is not known."""
    class_ = _KNOWN.get(base)
    if class_ is not None:
        return frozenset(dir(class_)) | (_GIVEN if base in _ENUMS else frozenset())
    module, _, name = base.rpartition(".")
    if name not in _LIBRARY.get(module, ()):
        return _Everything()
    # Imported here so that a start does not wait for modules that few ask about.
    return _Public(dir(getattr(import_module(module), name)))
