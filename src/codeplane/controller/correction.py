"""What a denied call was meant to be: what is right in it stays, what is wrong is put right."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.verb import Denied, VerbUnit, verb_units
from codeplane.core.errors import CodePlaneError
from codeplane.core.suggest import nearest, snake

if TYPE_CHECKING:
    from codeplane.controller.turn import Turn

_LONGEST_ECHO: Final = 80
_MOST_ROUNDS: Final = 20


def corrected_action(turn: "Turn", verb: Verb, arguments: Mapping[str, Any]) -> SuggestedAction | None:
    """The call with the arguments that were sent, corrected; None where it can't be, or is no other call.

    The module of the verb has made sure that what they name is there, so it is accepted when it is sent.
    """
    unit = verb_units()[verb]
    if unit.correct is None:
        return None
    try:
        action = unit.correct(turn, usable_values(unit, arguments))
        if action is None:
            return None
        args = verb_units()[Verb(action.verb)].read(action.args or {})
        is_same = action.verb == verb and args == unit.read(arguments)
    except Denied:
        is_same = False  # what was sent can't even be read
    except CodePlaneError:
        return None
    return None if is_same else action


def usable_values(unit: VerbUnit, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent, under the names that the verb has; values that it can't read are left out."""
    values: dict[str, Any] = {}
    slips: dict[str, Any] = {}
    for key, value in unit.shaped(arguments).items():
        name = unit.accepts.get(snake(key))
        if name is not None:
            values[name] = value
        elif near := nearest(snake(key[:_LONGEST_ECHO]), unit.accepts, most=1):
            slips[unit.accepts[near[0]]] = value
    values = {**slips, **values}
    for _ in range(_MOST_ROUNDS):
        try:
            unit.args.model_validate(values)
        except ValidationError as error:
            unreadable = values.keys() & {snake(str(one["loc"][0])) for one in error.errors() if one["loc"]}
            if not unreadable:
                break  # something is missing
            values = {name: value for name, value in values.items() if name not in unreadable}
        else:
            break
    return values
