"""What the classes that come with Python have, where that is the same in every version."""

import abc
import builtins
import collections.abc
import enum
import typing
from collections.abc import Container
from functools import cache

_KNOWN = {
    **{name: value for name, value in vars(builtins).items() if isinstance(value, type)},
    **{f"collections.abc.{name}": getattr(collections.abc, name) for name in collections.abc.__all__},
    **{f"enum.{name}": getattr(enum, name) for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum")},
    **{f"{module.__name__}.{name}": object for module, name in ((abc, "ABC"), (typing, "Generic"))},
}
# Attributes that instances are given, which the class itself does not show.
_GIVEN = frozenset(("name", "value", "args", "filename", "strerror", "errno", "msg", "text", "code", "obj"))


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


@cache
def members_of(base: str) -> Container[str]:
    """The names that instances of a class have; every name where the class is not known."""
    known = _KNOWN.get(base)
    return (
        frozenset(dir(known)) | (_GIVEN if known is not object else frozenset()) if known else _Everything()
    )
