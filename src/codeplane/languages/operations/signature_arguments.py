"""The arguments of operations on signatures, declared once for all languages that have them."""

from collections.abc import Sequence
from typing import Final

from codeplane.languages.operations.operation import Argument, Arguments

_PARAMETER_PLACES: Final = ("after", "before", "position")
_TYPE_PLACES: Final = ("parameter", "variable", "field", "returns")


def added_parameter(
    *own: Argument, position: str, is_type_required: bool = False, type_note: str = ""
) -> tuple[Argument, ...]:
    """The arguments of `add_parameter`: those of all languages, with the `own` of one behind the type."""
    type_text = f"its type, as source text{type_note}"
    return (
        Argument("name", "name", "the name of the parameter", is_required=True),
        Argument("type", "type", type_text, is_required=is_type_required),
        *own,
        Argument("after", "name", "the parameter that it goes behind"),
        Argument("before", "name", "the parameter that it goes before"),
        Argument("position", "choice", position, choices=("first", "last")),
    )


def removed_parameter(spelling: str = "") -> tuple[Argument, ...]:
    """The arguments of `remove_parameter`; `spelling` says what is left out of the name."""
    return (
        Argument("name", "name", f"the parameter{spelling}", is_required=True),
        Argument("force", "flag", "also where the body uses it"),
    )


def annotated_places(*, variable: str, field: str, function: str = "function") -> tuple[Argument, ...]:
    """The arguments of `add_type_annotation`, with what may have variables, fields and results."""
    return (
        Argument("type", "type", "the type, as source text", is_required=True),
        Argument("parameter", "name", f"the parameter of the {function} that gets it"),
        Argument("variable", "name", f"the variable of the {variable} that gets it"),
        Argument("field", "name", f"the field of the {field}"),
        Argument("returns", "flag", f"the result of the {function} gets it, as where nothing else is named"),
        Argument("replace", "flag", "another type that is there is replaced"),
    )


def parameter_place_errors(arguments: Arguments) -> list[str]:
    """An error where more than one place for a new parameter is named."""
    return _place_errors(arguments, _PARAMETER_PLACES)


def type_place_errors(arguments: Arguments) -> list[str]:
    """An error where more than one thing that a type is for is named."""
    return _place_errors(arguments, _TYPE_PLACES)


def _place_errors(arguments: Arguments, names: Sequence[str]) -> list[str]:
    places = [name for name in names if name in arguments and arguments.values[name] is not False]
    return [f"Only one of {', '.join(names)} can be sent."] if len(places) > 1 else []
