"""What a tool is, and how tools are found: by reading this folder.

What agents are told of each is kept in a file beside it, so that a server starts without the code of tools
that nobody has called. `make docs` writes it, and a test fails when it is stale.
"""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict

import codeplane.tools
from codeplane.answers.output import Output
from codeplane.config import Settings
from codeplane.core.documents import decode_json
from codeplane.core.synonyms import Synonyms as Synonyms
from codeplane.core.synonyms import synonyms as synonyms
from codeplane.session import Call
from codeplane.tools._docs import ToolDoc, parse_doc
from codeplane.tools._schema import lean_schema

# The families whose answers follow from files and code alone.
_OF_STATES: Final = frozenset(("search", "files", "symbols", "graph", "surfaces", "analysis", "testing"))
LISTING: Final = Path(__file__).with_name("_listing.json")


class Effect(StrEnum):
    """What a call may change: nothing, what the server keeps for the client, or the repository."""

    READ = "read"
    SESSION = "session"
    WRITE = "write"


class Input(BaseModel):
    """Base of every tool's parameters. What checks them is made when the tool is listed or called."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    # The parameter, an object, that takes in whatever is sent beside the others.
    rest_field: ClassVar[str | None] = None


def _never(_args: Any) -> bool:
    return False


@dataclass(frozen=True)
class Code:
    """What runs a tool, and what checks its parameters."""

    input: type[Input]
    outputs: tuple[type[Output], ...]
    run: Callable[[Call, Any], Output]
    is_repeatable: Callable[[Any], bool] = _never  # whether such a call of a tool that writes may be repeated


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool: everything that the server, the command line and the docs need to know of it.

    What a list of tools tells is at hand; the code is loaded when the tool is called.
    """

    name: str
    module: str
    doc: ToolDoc
    effect: Effect
    category: str
    standard: bool
    timeout_sec: float | None
    code: Callable[[], Code]
    # Whether it answers about any state of the files: a commit, a workspace, virtual files.
    reads_state: bool = False
    listed: Mapping[str, Any] | None = None  # the schema of its parameters, where it has been written down

    @property
    def input(self) -> type[Input]:
        return self.code().input

    @property
    def outputs(self) -> tuple[type[Output], ...]:
        return self.code().outputs

    @property
    def run(self) -> Callable[[Call, Any], Output]:
        return self.code().run

    def is_repeatable(self, args: Input) -> bool:
        """Whether a call does no harm when it is made again, or left behind before it has ended."""
        return self.effect is Effect.READ or self.code().is_repeatable(args)

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of its parameters, as agents are sent it."""
        return lean_schema(self.input) if self.listed is None else dict(self.listed)


def tool(
    effect: Effect,
    category: str,
    *,
    standard: bool = False,
    timeout_sec: float | None = None,
    reads_state: bool | None = None,
    is_repeatable: Callable[[Any], bool] = _never,
) -> Callable[[Callable[[Call, Any], Output]], Tool]:
    """Makes a tool of a function `(call, args) -> output`; its docstring is the tool's documentation.

    `category` is the family that it is listed under; `standard` puts it into the standard profile.
    `reads_state` says whether it answers about any state of the files; by default, tools that read do whose
    family is about files and code. `is_repeatable` says which calls of a tool that writes may be made again.
    """

    def wrap(function: Callable[[Call, Any], Output]) -> Tool:
        hints = get_type_hints(function)
        return_type = hints["return"]
        code = Code(hints["args"], get_args(return_type) or (return_type,), function, is_repeatable)
        return Tool(
            name=function.__name__,
            module=function.__module__,
            doc=parse_doc(function.__doc__),
            effect=effect,
            category=category,
            standard=standard,
            timeout_sec=timeout_sec,
            code=lambda: code,
            reads_state=_reads_state(effect, category) if reads_state is None else reads_state,
        )

    return wrap


@cache
def all_tools() -> dict[str, Tool]:
    """Every tool by name, in order; the code of one that has been written down is not loaded yet."""
    listing = {row["name"]: row for row in decode_json(LISTING.read_bytes())}
    return {name: _listed(listing[name]) if name in listing else load_tool(name) for name in _names()}


def loaded_tools() -> dict[str, Tool]:
    """Every tool by name, from its code."""
    return {name: load_tool(name) for name in _names()}


def load_tool(name: str) -> Tool:
    """A tool from its code. A module that does not hold the tool it is named for is a bug."""
    unit = getattr(import_module(f"codeplane.tools.{name}"), name, None)
    assert isinstance(unit, Tool), f"BUG: {name}.py holds no tool {name}"
    return unit


def row_of(unit: Tool) -> dict[str, Any]:
    """What is written down of a tool, so that it can be listed without its code."""
    return {
        "name": unit.name,
        "effect": unit.effect.value,
        "category": unit.category,
        "standard": unit.standard,
        "timeout_sec": unit.timeout_sec,
        **_exception(unit),
        "doc": asdict(unit.doc),
        "schema": unit.schema,
    }


def _reads_state(effect: Effect, category: str) -> bool:
    return effect is Effect.READ and category in _OF_STATES


def _exception(unit: Tool) -> dict[str, bool]:
    is_usual = unit.reads_state == _reads_state(unit.effect, unit.category)
    return {} if is_usual else {"reads_state": unit.reads_state}


def names_accepted(unit: Tool) -> frozenset[str]:
    """The names of its parameters with the synonyms that it declares."""
    return _names_of(unit.input)


@cache
def _names_of(model: type[Input]) -> frozenset[str]:
    markers = [one for field in model.model_fields.values() for one in field.metadata]
    synonym_names = {name for one in markers if isinstance(one, Synonyms) for name in one.names}
    return frozenset(synonym_names | model.model_fields.keys())


def _listed(row: Mapping[str, Any]) -> Tool:
    name = row["name"]
    return Tool(
        name=name,
        module=f"codeplane.tools.{name}",
        doc=ToolDoc.of(row["doc"]),
        effect=Effect(row["effect"]),
        category=row["category"],
        standard=row["standard"],
        timeout_sec=row["timeout_sec"],
        code=cache(lambda: load_tool(name).code()),
        reads_state=row.get("reads_state", _reads_state(Effect(row["effect"]), row["category"])),
        listed=row["schema"],
    )


def _names() -> list[str]:
    module_info = pkgutil.iter_modules(codeplane.tools.__path__)
    return sorted(module.name for module in module_info if not module.name.startswith("_"))


def offered_tools(settings: Settings) -> dict[str, Tool]:
    """The tools that a repository offers: those of a family that is switched off are not there."""
    off = () if settings.refactor.enabled else ("refactoring",)
    return {name: unit for name, unit in all_tools().items() if unit.category not in off}
