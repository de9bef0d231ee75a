"""Rules for registrations, middleware, log messages and retries, as data: one file a framework."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from codeplane.surfaces.rule import RULES, Names, parse_rule

FACT_RULES: Final = RULES / "facts"

FactKind = Literal["di", "middleware", "log", "retry"]


def _as_mapping(value: object) -> object:
    """Names without a detail of their own."""
    if isinstance(value, str):
        return {value: ""}
    return dict.fromkeys(value, "") if isinstance(value, list | tuple) else value


Methods = Annotated[Mapping[str, str], BeforeValidator(_as_mapping)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FactPattern(_Part):
    """One way to write a fact: a call, a decorator, or a list that a variable holds."""

    kind: FactKind
    call: Methods = Field(
        default_factory=dict, description="Full names of calls, each with its detail; `X().f` is a method."
    )
    decorator: Methods = Field(
        default_factory=dict, description="Full names of decorators, attributes or annotations."
    )
    owner: Names = Field(default=(), description="Full names of objects; `X()` is what a call of X gives.")
    methods: Methods = Field(
        default_factory=dict,
        description="Methods of these objects, each with its detail; `Use*` is a beginning.",
    )
    except_methods: Names = Field(default=(), description="Methods that a beginning doesn't mean.")
    fluent: bool = Field(default=False, description="Whether methods further along a chain count too.")
    variable: Names = Field(default=(), description="Variables of a module whose lists are meant.")
    item: str = Field(default="", description="The key of the name, where an item of a list is a mapping.")
    item_target: Names = Field(
        default=(), description="The keys of what is behind it, the first that is there."
    )
    wrappers: Names = Field(default=(), description="Calls around the name: `Middleware(X)`.")
    name: str = Field(default="arg0", description="What it is called: an argument, `each`, `decorated`, …")
    skip: Names = Field(default=(), description="Full names of values that are no such fact.")
    target: str = Field(default="", description="What is behind the name: an implementation.")
    detail: str = Field(default="", description="What the detail is, where the method doesn't say it.")
    options: Names = Field(default=(), description="Arguments that are told with the detail.")
    needs: Names = Field(default=(), description="Arguments of which one has to be there.")
    within: Names = Field(default=(), description="Base classes or markers that the class around has.")
    order: Literal["", "call", "reverse"] = Field(default="", description="How the facts of one object run.")


class FactRule(_Part):
    """Everything of one framework that is no endpoint, key or table."""

    framework: str
    languages: Names
    words: Names = Field(description="A file counts where it has one of these words.")
    packages: Names = Field(default=(), description="Packages that a file imports whole to get names.")
    imports: Names = Field(default=(), description="A file counts only where it imports one of these.")
    optional: bool = Field(default=False, description="Whether its facts are told only to who names it.")
    facts: tuple[FactPattern, ...]


@cache
def fact_rules() -> tuple[FactRule, ...]:
    """The rules that come with CodePlane."""
    return tuple(
        parse_rule(FactRule, path.read_text(), path.name) for path in sorted(FACT_RULES.glob("*.yaml"))
    )
