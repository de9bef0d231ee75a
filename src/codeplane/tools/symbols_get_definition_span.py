from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.source import heading
from codeplane.graph.spans import source_span
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.disambiguation import likeliest
from codeplane.session import Call
from codeplane.tools._parameters import SymbolName
from codeplane.tools._registry import Effect, Input, tool

MOST_LINES = 400


class SymbolsGetDefinitionSpanInput(Input):
    symbol: SymbolName
    max_lines: int = Field(default=120, description="Most lines, up to 400.")
    context_lines: int = Field(default=0, description="Lines before and after, up to 50.")


class DefinitionSpan(Output):
    symbol: str = Field(description="Qualified name.")
    path: str = Field(description="File.")
    lines: str = Field(description="`first-last of total`.")
    text: str = Field(description="Source, each line with its number.")
    truncated: bool | None = Field(default=None, description="Whether the definition goes on.")

    def render(self) -> str:
        return f"{heading(self.path, self.lines, 'cut' if self.truncated else None)}\n{self.text}"


@tool(Effect.READ, "symbols")
def symbols_get_definition_span(call: Call, args: SymbolsGetDefinitionSpanInput) -> DefinitionSpan:
    """Shows the source of one definition, decorators and documentation included.

    Use when:
    - you want to read a function or class that you know by name
    Not for:
    - lines that you know by number (use `code_get_span`)
    Examples:
    - The source of a method: {"symbol": "Model.save"}
    """
    most = clamped(call, "max_lines", args.max_lines, MOST_LINES)
    context = clamped(call, "context_lines", args.context_lines, 50, least=0)
    return call.ask(lambda snapshot: _definition_span(call, snapshot, args.symbol, (most, context)))


def _definition_span(call: Call, snapshot: Snapshot, symbol: str, sizes: tuple[int, int]) -> DefinitionSpan:
    most, context = sizes
    choice = likeliest(snapshot, symbol)
    call.warn(choice.note(symbol))
    definition = choice.definition
    call.instead_of_files(snapshot, [definition.path])
    first = max(1, definition.span.start_line - context)
    span = source_span(snapshot, definition.path, first, definition.span.end_line + context, most)
    call.showed_of(snapshot, definition.path)
    return DefinitionSpan(
        symbol=shown(snapshot.qualified_name(definition.path, definition.position)),
        path=shown(definition.path),
        lines=f"{span.first}-{span.last} of {span.total}",
        text=span.text,
        truncated=span.is_cut or None,
    )
