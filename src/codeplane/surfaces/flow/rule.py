"""Rules of frameworks whose routers are values: what makes one, what derives one, what adds a route."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from codeplane.surfaces.rule import Names, parse_rule

RULES: Final = Path(__file__).parent.parent / "rules" / "flow"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RouterType(_Part):
    """A kind of router."""

    new: Names = Field(default=(), description="Full names of what makes one when it is called.")
    declared: Names = Field(default=(), description="Full names of the types that one is declared with.")
    prefix: str = Field(default="", description="Where its own prefix is in the call that makes it.")
    root: bool = Field(default=False, description="Whether it serves by itself, without a mount.")
    facade: Names = Field(default=(), description="Full names of classes that are called in its place.")


class LinkRule(_Part):
    """A method of a router that gives another router, or hands one to a function."""

    owner: Names
    call: Names
    gives: str = Field(default="", description="The kind of router that it gives; its own if empty.")
    prefix: str = Field(default="", description="Where the prefix is.")
    function: str = Field(default="", description="Where the function is that gets the router.")


class MountRule(_Part):
    """A method that puts routers below another, or a function that does."""

    owner: Names = ()
    call: Names = ()
    function: Names = Field(default=(), description="Full names of functions that put one below the default.")
    child: str = "arg0"
    prefix: str = ""


class RouteRule(_Part):
    """A method that adds a route, or a function that does."""

    owner: Names = ()
    call: Names = ()
    function: Names = Field(default=(), description="Full names of functions that add one to the default.")
    path: str = "arg0"
    method: str = Field(default="name", description="Where the methods are; `name` is the method's own name.")
    handler: str = Field(default="last", description="Where the handler is.")
    verbs_in: Literal["", "handler"] = Field(default="", description="Handlers that say their methods.")
    style: Literal["plain", "verb_first"] = Field(default="plain", description="`GET /x` is verb_first.")
    fewest: int = Field(default=1, description="Arguments that it has at least.")


class MarkRule(_Part):
    """Attributes that make a function a route once it is handed to a router."""

    mark: Mapping[str, str] = Field(description="Full name of an attribute, and the verb or where it is.")
    path: str = "arg0"
    owner: Names = Field(default=(), description="Kinds of routers that take such functions.")
    call: Names = Field(default=(), description="Methods that take them.")
    macro: Names = Field(default=(), description="Macros around a list of them.")


class WrapRule(_Part):
    """A function around a router, which serves what the router serves."""

    function: Names
    child: str = "arg0"
    prefix: str = ""


class FlowRule(_Part):
    """Everything about one framework whose routers are values."""

    framework: str
    languages: Names
    imports: Names = Field(default=(), description="A file counts where its imports reach one of these.")
    words: Names = Field(default=(), description="A file counts where it holds one of these names.")
    types: Mapping[str, RouterType]
    links: tuple[LinkRule, ...] = ()
    mounts: tuple[MountRule, ...] = ()
    routes: tuple[RouteRule, ...] = ()
    marks: tuple[MarkRule, ...] = ()
    wraps: tuple[WrapRule, ...] = ()
    verbs: Mapping[str, str] = Field(
        default_factory=dict, description="Methods whose name isn't the verb, such as `Any: ANY`."
    )
    verb_calls: Mapping[str, str] = Field(
        default_factory=dict, description="Calls in a handler that say its verb, and their full names."
    )
    handler_calls: Names = Field(default=(), description="Calls in a handler that have the function.")
    method_calls: Names = Field(default=(), description="Calls in the same chain that name the methods.")
    default_type: str = Field(default="", description="The kind of router that functions add to.")
    is_builder: bool = Field(default=False, description="Whether any other method gives the router itself.")
    opaque: Names = Field(default=(), description="Last parts of types that may hide a router: `Handler`.")
    is_typed: bool = Field(default=True, description="Whether headers of functions name what they return.")
    wrapped: bool = Field(default=False, description="Whether classes around a router are routers.")
    join: Literal["concat", "path", "nest"] = "concat"
    ends_at_wildcard: bool = Field(
        default=False, description="Whether nothing can stand behind a wildcard, which a mount brings itself."
    )


@cache
def flow_rules() -> tuple[FlowRule, ...]:
    """The rules that come with CodePlane, by framework."""
    return tuple(parse_rule(FlowRule, path.read_text(), path.name) for path in sorted(RULES.glob("*.yaml")))
