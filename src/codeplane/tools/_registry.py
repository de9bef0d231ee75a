"""What a tool is, and how tools are found: by reading this folder."""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict

import codeplane.tools
from codeplane.config import Settings
from codeplane.session import Call
from codeplane.tools._docs import ToolDoc, parse_doc


class Effect(StrEnum):
    """What a call may change: nothing, what the server keeps for the client, or the repository."""

    READ = "read"
    SESSION = "session"
    WRITE = "write"


class Input(BaseModel):
    """Base of every tool's parameters. What checks them is made when the tool is listed or called."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Output(BaseModel):
    """Base of every tool's answer. Fields that are `None` are left out on the wire.

    What checks them is made at the first answer: most servers give few of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


@dataclass(frozen=True)
class Synonyms:
    """Other names that agents give a parameter; accepted, not advertised."""

    names: tuple[str, ...]


def synonyms(*names: str) -> Synonyms:
    return Synonyms(names)


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool: everything that the server, the command line and the docs need to know of it."""

    name: str
    module: str
    doc: ToolDoc
    effect: Effect
    category: str
    standard: bool
    timeout_sec: float | None
    input: type[Input]
    outputs: tuple[type[Output], ...]
    run: Callable[[Call, Any], Output]


def tool(
    effect: Effect, category: str, *, standard: bool = False, timeout_sec: float | None = None
) -> Callable[[Callable[[Call, Any], Output]], Tool]:
    """Makes a tool of a function `(call, args) -> output`; its docstring is the tool's documentation.

    `category` is the family that it is listed under; `standard` puts it into the standard profile.
    """

    def wrap(function: Callable[[Call, Any], Output]) -> Tool:
        hints = get_type_hints(function)
        returned = hints["return"]
        return Tool(
            name=function.__name__,
            module=function.__module__,
            doc=parse_doc(function.__doc__),
            effect=effect,
            category=category,
            standard=standard,
            timeout_sec=timeout_sec,
            input=hints["args"],
            outputs=get_args(returned) or (returned,),
            run=function,
        )

    return wrap


@cache
def all_tools() -> dict[str, Tool]:
    """Every tool by name. A module that does not hold the tool it is named for is a bug."""
    found = {}
    for module in pkgutil.iter_modules(codeplane.tools.__path__):
        if not module.name.startswith("_"):
            loaded = import_module(f"codeplane.tools.{module.name}")
            unit = getattr(loaded, module.name, None)
            assert isinstance(unit, Tool), f"BUG: {module.name}.py holds no tool {module.name}"
            found[unit.name] = unit
    return dict(sorted(found.items()))


def offered_tools(settings: Settings) -> dict[str, Tool]:
    """The tools that a repository offers: those of a family that is switched off are not there."""
    off = () if settings.refactor.enabled else ("refactoring",)
    return {name: unit for name, unit in all_tools().items() if unit.category not in off}
