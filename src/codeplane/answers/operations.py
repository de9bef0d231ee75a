"""The operations of a language as somebody needs them who writes a delta: a line each."""

from collections.abc import Iterator

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.languages.operations import Operation, operations_of
from codeplane.languages.operations.operation import Argument
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.spec import specs

_TARGETS = {"file": "the file", "definition": "a definition", "node": "any code", "element": "an element"}
_BEYOND = (
    'other files: "scope": "project" for rename_symbol, "call_sites": true for parameters;'
    ' "accept": true leaves places that are not proven'
)
_SHAPE = (
    '{"path": "PATH", "transforms": [{"operation": "…", "target": "Class.method", …}],'
    ' "assertions": [{"pattern": "f($X)", "expect": "exists"}], "validate_with": ["NAME"]};'
    ' for several files {"elements": […]}'
)


class OperationsOutput(Output):
    """What can be done to the files of a language, and how a delta is written."""

    language: str | None = Field(default=None, description="Language; none for all.")
    operations: list[str] = Field(description="Operations with their arguments; `?` marks optional ones.")
    delta: str | None = Field(default=None, description="The shape of a delta.")

    def render(self) -> str:
        if self.language is None:
            return "\n".join(self.operations)
        lines = [
            f"operations of {self.language} (`?` is optional):",
            *(f"- {one}" for one in self.operations),
        ]
        targets = 'target: a symbol ("Class.method"), or pattern ("f($X, $$$REST)"), query'
        selector = ", selector (CSS)" if self.language == "html" else ""
        lines.append(f"{targets}{selector}; expect: number of places (1)")
        lines += [_BEYOND] if any(one.startswith("add_parameter") for one in self.operations) else []
        return "\n".join([*lines, f"delta: {self.delta}"])


def operations_output(language: str) -> OperationsOutput:
    """The operations of one language."""
    operations = operations_of(language)
    lines = [_line_of(one) for one in operations.values()]
    return OperationsOutput(language=language, operations=lines, delta=_SHAPE)


def all_operations_output() -> OperationsOutput:
    """The operations of every grammar pack, by name."""
    return OperationsOutput(operations=list(_pack_lines()))


def _pack_lines() -> Iterator[str]:
    for name in sorted(specs()):
        if pack_of(name) == name:
            yield f"{name}: {', '.join(sorted(operations_of(name)))}"


def _line_of(operation: Operation) -> str:
    arguments = ", ".join(_argument_text(one) for one in operation.arguments)
    return f"{operation.name}({arguments}) on {_TARGETS[operation.target]}"


def _argument_text(argument: Argument) -> str:
    choices = f"={'|'.join(argument.choices)}" if argument.choices else ""
    kind = "=true" if argument.kind == "flag" else choices
    return f"{argument.name}{'' if argument.is_required else '?'}{kind}"
