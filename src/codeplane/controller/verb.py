"""What a verb is: arguments that are checked, a description, and a function that answers."""

import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

import codeplane.controller.verbs as verb_modules
from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import Outcome, RunState, SuggestedAction, VerbDescription
from codeplane.core.suggest import nearest, snake
from codeplane.core.synonyms import Synonyms

if TYPE_CHECKING:
    from codeplane.controller.turn import Turn

MISSING_FIELDS: Final = "PLAN_MISSING_REQUIRED_FIELDS"
SCOPE_VIOLATION: Final = "PLAN_SCOPE_VIOLATION"
_LONGEST_ECHO: Final = 80
_ENVELOPES: Final = frozenset(("args", "arguments", "params", "parameters", "input"))


class VerbArgs(BaseModel):
    """Base of every verb's arguments; camel case and snake case are both read."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, defer_build=True
    )


@dataclass(frozen=True)
class VerbResult:
    """What a verb answers when it was carried out."""

    result: dict[str, Any]
    text: str
    outcome: Outcome | None = None
    state: RunState | None = None
    pack_insufficiency: dict[str, Any] | None = None


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a request: which code and sub-code, where, and what would be right."""

    code: str
    sub_code: str
    field: str
    message: str

    def to_wire(self) -> dict[str, Any]:
        return {"code": self.code, "subCode": self.sub_code, "field": self.field, "message": self.message}


class Denied(Exception):
    """A verb that was not carried out: the codes, what to send instead, and details."""

    def __init__(
        self,
        codes: Sequence[str],
        message: str,
        suggestion: SuggestedAction | None = None,
        result: dict[str, Any] | None = None,
        text: str = "",
    ) -> None:
        super().__init__(message)
        self.codes = tuple(codes)
        self.message = message
        self.suggestion = suggestion
        self.result = result or {}
        self.text = text


@dataclass(frozen=True)
class VerbDescriptor:
    """What an agent is told of a verb besides its arguments."""

    description: str
    when_to_use: str


@dataclass(frozen=True)
class VerbUnit:
    """One verb, ready to be called."""

    verb: Verb
    args: type[VerbArgs]
    descriptor: VerbDescriptor
    run: "Callable[[Turn, Any], VerbResult]"
    example: "Callable[[Turn], dict[str, Any]]"
    accepts: Mapping[str, str] = field(default_factory=dict)  # every spelling of an argument
    correct: "Callable[[Turn, dict[str, Any]], SuggestedAction | None] | None" = None
    reshape: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def describe(self) -> VerbDescription:
        fields = self.args.model_fields
        return VerbDescription(
            description=self.descriptor.description,
            when_to_use=self.descriptor.when_to_use,
            required_args=[to_camel(name) for name, one in fields.items() if one.is_required()],
            optional_args=[to_camel(name) for name, one in fields.items() if not one.is_required()],
        )

    def read(self, arguments: Mapping[str, Any]) -> VerbArgs:
        """The arguments, or a denial that lists everything that is wrong with them."""
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for key, value in self.shaped(arguments).items():
            name = self.accepts.get(snake(key))
            if name is None:
                problems.append(self._unknown(key))
            else:
                values[name] = value
        try:
            args = self._validated(values)
        except ValidationError as error:
            problems += [_problem_of(one) for one in error.errors(include_url=False, include_context=False)]
            raise self._denied(problems) from error
        if problems:
            raise self._denied(problems)
        return args

    def shaped(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without a second envelope around them, in the shape that the verb has."""
        values = dict(arguments)
        for key in [key for key in values if snake(key) in _ENVELOPES and snake(key) not in self.accepts]:
            inner = values[key]
            if isinstance(inner, dict) and not inner.keys() & values.keys():
                del values[key]
                values |= inner
        return self.reshape(values)

    def _validated(self, values: dict[str, Any]) -> VerbArgs:
        """The arguments as the model reads them; one item counts as a list of one."""
        try:
            return self.args.model_validate(values)
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False)
            names = [one["loc"][0] for one in details if one["type"] == "list_type" and len(one["loc"]) == 1]
            items = {name: values[key] for name in names if (key := snake(str(name))) in values}
            if not items or not all(isinstance(value, str | dict) for value in items.values()):
                raise
        lists = {snake(str(name)): [value] for name, value in items.items()}
        return self.args.model_validate({**values, **lists})

    def _unknown(self, key: str) -> Problem:
        near = nearest(snake(key[:_LONGEST_ECHO]), self.accepts, most=1)
        ending = f"; did you mean {to_camel(self.accepts[near[0]])}?" if near else "."
        return Problem(
            SCOPE_VIOLATION,
            "scope.argument",
            key[:_LONGEST_ECHO],
            f"{self.verb} has no argument {key[:_LONGEST_ECHO]}{ending}",
        )

    def _denied(self, problems: Sequence[Problem]) -> Denied:
        codes = tuple(dict.fromkeys(problem.code for problem in problems))
        described = self.describe()
        takes = [*described.required_args, *(f"{name}?" for name in described.optional_args)]
        message = " ".join(problem.message for problem in problems)
        return Denied(
            codes,
            f"{message} {self.verb} takes {{{', '.join(takes)}}}.",
            result={"problems": [problem.to_wire() for problem in problems]},
        )


def _problem_of(error: Mapping[str, Any]) -> Problem:
    where = ".".join(
        to_camel(str(part)) if index == 0 else str(part) for index, part in enumerate(error["loc"])
    )
    if error["type"] == "missing":
        return Problem(MISSING_FIELDS, "fields.missing", where, f"{where} is missing.")
    return Problem(
        MISSING_FIELDS, "fields.invalid", where, f"{where or 'arguments'}: {error['msg'].rstrip('.')}."
    )


def _spellings(name: str, info: FieldInfo) -> Iterator[str]:
    yield name
    for marker in info.metadata:
        if isinstance(marker, Synonyms):
            yield from marker.names


def _no_example(_turn: "Turn") -> dict[str, Any]:
    return {}


@cache
def verb_units() -> Mapping[Verb, VerbUnit]:
    """Every verb by its name, found by reading the folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(verb_modules.__path__))
    return {Verb(name): _load_unit(name) for name in names if not name.startswith("_")}


def _load_unit(name: str) -> VerbUnit:
    module = import_module(f"{verb_modules.__name__}.{name}")
    args = cast("type[VerbArgs]", module.Args)
    accepts = {
        spelling: name for name, info in args.model_fields.items() for spelling in _spellings(name, info)
    }
    return VerbUnit(
        Verb(name),
        args,
        module.DESCRIPTOR,
        module.run,
        getattr(module, "example", _no_example),
        accepts,
        getattr(module, "correct", None),
        getattr(module, "reshape", dict),
    )


def to_wire_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments under the names that agents send."""
    return {to_camel(name): value for name, value in values.items()}
