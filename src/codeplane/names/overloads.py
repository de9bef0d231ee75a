"""Which methods of one name a class has side by side, and which take the place of others."""

import re
from collections.abc import Collection
from typing import Final

from codeplane.languages.facts import FLAG_OVERRIDE, FLAG_PRIVATE
from codeplane.languages.foreign import ForeignDefinition
from codeplane.languages.headers import Passing, header_of

_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
_QUALIFIER: Final = re.compile(r"(?:\w+\.)+(?=\w)")


def is_overload(language: str, item: ForeignDefinition, derived: Collection[ForeignDefinition]) -> bool:
    """Whether a call of a derived class may mean a method of a base as well: the class inherits it, and none
    of its methods of that name overrides it."""
    return not item.flags & FLAG_PRIVATE and not any(_overrides(language, one, item) for one in derived)


def _overrides(language: str, item: ForeignDefinition, base: ForeignDefinition) -> bool:
    """Whether a method has the parameters of one of a base, or says that it overrides one and has as many:
    `compareTo(Item other)` for `compareTo(T other)`."""
    own, others = _parameter_types(language, item), _parameter_types(language, base)
    if own is None or others is None:
        return False
    return own == others or (bool(item.flags & FLAG_OVERRIDE) and len(own) == len(others))


def _parameter_types(language: str, item: ForeignDefinition) -> list[str] | None:
    header = header_of(language, item)
    if header is None or header.parameters is None:
        return None
    return [_erased(one.type) + ("[]" if one.passing is Passing.REST else "") for one in header.parameters]


def _erased(text: str) -> str:
    """A type without its arguments and its package."""
    while (shorter := _ARGUMENTS.sub("", text)) != text:
        text = shorter
    return _QUALIFIER.sub("", "".join(text.split()))
