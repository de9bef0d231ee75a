"""Checks the arguments of an operation against its grammar before anything is parsed or edited."""

import importlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from codeplane.core.suggest import nearest
from codeplane.languages.operations.fragments import LONGEST, Frame, fragment_error
from codeplane.languages.operations.operation import Argument, Arguments, Operation
from codeplane.languages.spec import HERE

_MOST_NAMES: Final = 200
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_arguments(
    operation: Operation, pack: str, language: str, values: Mapping[str, Any], *, is_partial: bool = False
) -> tuple[Arguments, list[str]]:
    """The arguments with their defaults, and what is wrong with them, each in a sentence.

    Where they are partial, captures of a target may still give what is missing.
    """
    grammar = {argument.name: argument for argument in operation.arguments}
    errors = [_unknown_argument(operation, name) for name in values if name not in grammar]
    for argument in grammar.values():
        value = values.get(argument.name)
        if value is None:
            is_missing = argument.is_required and not is_partial
            errors += [f"`{argument.name}` is missing: {argument.description}"] if is_missing else []
        else:
            errors += _value_errors(argument, pack, language, value)
    defaults = {name: argument.default for name, argument in grammar.items() if argument.default is not None}
    arguments = Arguments(
        {**defaults, **{name: value for name, value in values.items() if value is not None}}
    )
    return arguments, errors or ([] if is_partial else list(operation.check_arguments(arguments)))


def _unknown_argument(operation: Operation, name: str) -> str:
    names = [argument.name for argument in operation.arguments]
    close = nearest(name, names)
    hint = f"did you mean `{close[0]}`?" if close else f"it takes {', '.join(names) or 'none'}."
    return f"`{operation.name}` has no argument `{name[:60]}`; {hint}"


def _value_errors(argument: Argument, pack: str, language: str, value: Any) -> list[str]:
    if argument.kind == "flag":
        return [] if isinstance(value, bool) else [f"`{argument.name}` is true or false."]
    if argument.kind == "names":
        return _list_errors(argument, pack, language, value)
    if not isinstance(value, str):
        return [f"`{argument.name}` is a text."]
    return _text_errors(argument, pack, language, value)


def _list_errors(argument: Argument, pack: str, language: str, value: Any) -> list[str]:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if not is_list or not all(isinstance(item, str) for item in value) or len(value) > _MOST_NAMES:
        return [f"`{argument.name}` is a list of at most {_MOST_NAMES} texts."]
    single = argument._replace(kind="name")
    return [error for item in value for error in _text_errors(single, pack, language, item)]


def _text_errors(argument: Argument, pack: str, language: str, value: str) -> list[str]:
    name = argument.name
    if len(value) > LONGEST:
        return [f"`{name}` has {len(value)} characters; at most {LONGEST} are allowed."]
    if _CONTROL.search(value) or not _is_unicode(value):
        return [f"`{name}` holds control characters or half characters."]
    if argument.kind == "choice":
        return [] if value in argument.choices else [f"`{name}` is one of {', '.join(argument.choices)}."]
    error = fragment_error(language, frames_of(pack), argument.kind, value)
    return [f"`{name}`: {error}"] if error else []


def _is_unicode(value: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


@cache
def frames_of(pack: str) -> Mapping[str, Frame]:
    """How fragments of each kind are parsed in the languages of a pack."""
    if not (HERE / pack / "operations" / "_fragments.py").exists():
        return {}
    frames: Mapping[str, Frame] = importlib.import_module(
        f"codeplane.languages.{pack}.operations._fragments"
    ).FRAMES
    return frames
