"""Which methods of one name a class has side by side, and which take the place of others."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from codeplane.languages.facts import FLAG_OVERRIDE, FLAG_PRIVATE
from codeplane.languages.foreign import ForeignDefinition
from codeplane.languages.headers import Passing, header_of
from codeplane.languages.rules.typing_rules import ANY_TYPE

_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
_QUALIFIER: Final = re.compile(r"(?:\w+\.)+(?=\w)")
# `<T extends Item, U>` before the type that a method returns.
_LEADING: Final = re.compile(r"(?:^|\s)(<.*>)(?=\s|$)")
_TYPE_PARAMETER: Final = re.compile(r"[<,]\s*(?:in\s+|out\s+|reified\s+)?(\w+)")


def is_overload(
    language: str,
    item: ForeignDefinition,
    owner: ForeignDefinition | None,
    derived: Collection[ForeignDefinition],
) -> bool:
    """Whether a call of a derived class may mean a method of a base as well: the class inherits it, and none
    of its methods of that name overrides it. `owner` is the base."""
    if item.flags & FLAG_PRIVATE:
        return False
    types = _parameter_types(language, item)
    if types is None:
        return True
    variables = _type_parameters(language, item) | (_type_parameters(language, owner) if owner else set())
    return not _is_overridden(language, [ANY_TYPE if one in variables else one for one in types], derived)


def hides_all(
    language: str, overloads: Iterable[Sequence[str]], derived: Collection[ForeignDefinition]
) -> bool:
    """Whether each of several methods of a base, by the types of their parameters, is overridden."""
    return all(_is_overridden(language, types, derived) for types in overloads)


def _is_overridden(language: str, types: Sequence[str], derived: Collection[ForeignDefinition]) -> bool:
    return any(_overrides(language, one, types) for one in derived)


def _overrides(language: str, item: ForeignDefinition, types: Sequence[str]) -> bool:
    """Whether a method has the parameters of one of a base. What stands for a type parameter has to be marked
    as an override, `@Override compareTo(Item other)` for `compareTo(T other)`: `compareTo(Item other)` may be
    an overload where the base has an argument for its parameter. `@Override encode(Object o)` overrides no
    `encode(String s)`."""
    own = _parameter_types(language, item)
    if own is None or len(own) != len(types):
        return False
    is_marked = bool(item.flags & FLAG_OVERRIDE)
    return all(
        mine == other or (is_marked and other == ANY_TYPE) for mine, other in zip(own, types, strict=True)
    )


def _parameter_types(language: str, item: ForeignDefinition) -> list[str] | None:
    header = header_of(language, item)
    if header is None or header.parameters is None:
        return None
    return [_erased(one.type) + ("[]" if one.passing is Passing.REST else "") for one in header.parameters]


def _type_parameters(language: str, item: ForeignDefinition) -> set[str]:
    """The names of a definition's type parameters: behind its name, or before the type that it returns."""
    header = header_of(language, item)
    if header is None:
        return set()
    leading = _LEADING.search(" ".join(header.before))
    return set(_TYPE_PARAMETER.findall(header.type_parameters + (leading[1] if leading else "")))


def _erased(text: str) -> str:
    """A type without its arguments, its package and whether it may be null."""
    while (shorter := _ARGUMENTS.sub("", text)) != text:
        text = shorter
    return _QUALIFIER.sub("", "".join(text.split())).rstrip("?")
