"""Where a file means a member of one of its classes."""

from collections.abc import Sequence

from codeplane.languages.facts import Definition, Facts, Occurrence
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.bindings import lines_of, offset_of

_KEYWORD = "="  # the receiver of `a` in `f(a=1)`
_FUNCTIONS = ("method", "constructor", "property")
# Base classes that have no members which a class would override by accident.
_PLAIN_BASES = frozenset(("object", "ABC", "Generic", "Protocol"))


def member_uses(source: Source, facts: Facts, bind: int) -> list[int]:
    """The bytes at which a member is meant; refused where some place may mean it or not."""
    name, scope = facts.binds[bind].name, facts.binds[bind].scope
    owner = next((number for number, one in enumerate(facts.definitions) if one.body == scope), None)
    if owner is None:
        raise OperationRefused(f"The class of `{name}` can't be told.")
    owner_class = facts.definitions[owner]
    numbers = {
        number + 1 for number, one in enumerate(facts.definitions) if one.parent == owner and one.name == name
    }
    is_function = all(facts.definitions[number - 1].kind in _FUNCTIONS for number in numbers)
    _refuse_inheritance(facts, owner_class, name)
    places, unclear = [], []
    for one in facts.named(name):
        if not one.receiver:
            places += [offset_of(source, one)] if one.target == bind + 1 else []
        elif one.target in numbers or _is_of_class(facts, one, owner_class.name):
            places.append(offset_of(source, one))
        elif not one.target and not (is_function and facts.receivers[one.receiver - 1] == _KEYWORD):
            unclear.append(offset_of(source, one))
    if unclear:
        raise OperationRefused(
            f"`{name}` at {lines_of(source, unclear)} may be this one or not; rename it in the whole project."
        )
    return places


def _is_of_class(facts: Facts, one: Occurrence, name: str) -> bool:
    """Whether a member is asked for on the class itself, or on what it just made."""
    is_unique = sum(bind.name == name for bind in facts.binds) == 1
    return is_unique and facts.receivers[one.receiver - 1] in (name, f"{name}()")


def _refuse_inheritance(facts: Facts, owner: Definition, name: str) -> None:
    bases = [base for base in owner.bases if base.rpartition(".")[2] not in _PLAIN_BASES]
    is_private = name.startswith("__")
    if bases and not is_private:
        raise OperationRefused(
            f"`{owner.name}` inherits from {_quoted_list(bases)}, which may have a `{name}`; rename it in the"
            " whole project."
        )
    heirs = [
        one for one in facts.definitions if owner.name in {base.rpartition(".")[2] for base in one.bases}
    ]
    if heirs and not is_private:
        raise OperationRefused(
            f"{_quoted_list([one.name for one in heirs])} inherits from `{owner.name}`; rename `{name}` in"
            " the whole project."
        )


def _quoted_list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
