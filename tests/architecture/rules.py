"""What holds for every tool, as functions from tools to violations, so that each rule can be seen to fail."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_types import ListToolsResult

from codeplane.core.errors import CodePlaneError
from codeplane.server.decode import decode
from codeplane.server.endpoint import listed_tool
from codeplane.server.profiles import profiles
from codeplane.tools import Tool

NAME = re.compile(r"[a-z][a-z0-9_]*")
LONGEST_NAME = 60 - len("mcp__codeplane__")
LONGEST_DESCRIPTION = 900
STANDARD_CHARACTERS = 15_750
STANDARD_TOOLS = 25


def named_for_its_module(tools: Iterable[Tool]) -> Iterator[str]:
    for tool in tools:
        if tool.module != f"codeplane.tools.{tool.name}":
            yield f"{tool.name} lives in {tool.module}"
        if not NAME.fullmatch(tool.name) or len(tool.name) > LONGEST_NAME:
            yield f"{tool.name} is not a name that every client takes"


def described(tools: Iterable[Tool]) -> Iterator[str]:
    for tool in tools:
        for model in (tool.input, *tool.outputs):
            for name, field in model.model_fields.items():
                if not field.description:
                    yield f"{tool.name}: {model.__name__}.{name} has no description"
        if not tool.doc.summary.endswith("."):
            yield f"{tool.name}: its docstring does not begin with a sentence"
        if len(tool.doc.description) > LONGEST_DESCRIPTION:
            yield f"{tool.name}: its description has {len(tool.doc.description)} characters"


def examples_work(tools: Iterable[Tool]) -> Iterator[str]:
    for tool in tools:
        for example in tool.doc.examples:
            try:
                decode(tool, example.params)
            except CodePlaneError as error:
                yield f"{tool.name}: example {example.description!r}: {error}"


def has_a_case(tools: Iterable[Tool], cases: Path) -> Iterator[str]:
    """A case of its own, with the text that a model reads."""
    for tool in tools:
        case = cases / f"{tool.name}.txt"
        if not case.is_file():
            yield f"{tool.name} has no case {tool.name}.txt"
        elif "\n-- text --\n" not in case.read_text():
            yield f"{tool.name}.txt never shows the text of an answer"


def fits_the_budget(tools: dict[str, Tool], budget: int = STANDARD_CHARACTERS) -> Iterator[str]:
    """Every conversation pays for the list of tools before it has asked anything."""
    profile = profiles(tools)["standard"]
    standard = profile.tools.values()
    listed = ListToolsResult(tools=[listed_tool(tool, profile.schema_of(tool)) for tool in standard])
    size = len(listed.model_dump_json(exclude_none=True, by_alias=True))
    if size > budget:
        yield f"the list of the standard profile has {size} characters"
    if len(standard) > STANDARD_TOOLS:
        yield f"the standard profile has {len(standard)} tools"


def nothing_reaches_through_a_snapshot(package: Path) -> Iterator[str]:
    """Only the rooms that resolve names know what is behind a snapshot."""
    insides = {"linker", "memo", "sources", "_resolver", "_view"}
    inner = ("names", "index", "contexts", "working_tree", "git", "parsing", "languages", "core", "storage")
    for source in sorted(package.rglob("*.py")):
        path = source.relative_to(package)
        if path.parts[0] in inner:
            continue
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in insides:
                yield f"{path}:{node.lineno}: {ast.unparse(node)}"


def only_codeplane_errors(sources: Iterable[Path]) -> Iterator[str]:
    """A tool raises what the catalogue explains; anything else would reach the agent as INTERNAL_ERROR."""
    known = {error.__name__ for error in _all_errors(CodePlaneError)}
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func).rsplit(".", 1)[-1]
                if name not in known:
                    yield f"{source.name}:{node.lineno} raises {name}"


def _all_errors(root: type[CodePlaneError]) -> Iterator[type[CodePlaneError]]:
    for child in root.__subclasses__():
        yield child
        yield from _all_errors(child)
