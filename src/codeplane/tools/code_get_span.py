from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.source import heading
from codeplane.core.paths import RepoPath
from codeplane.graph.spans import SourceSpan, source_span
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.read_targets import Finder
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, tool

MOST_LINES = 400


class CodeGetSpanInput(Input):
    path: str = Field(description="File, relative to the repository.")
    start_line: int = Field(default=1, ge=1, description="First line.")
    end_line: int | None = Field(default=None, ge=1, description="Last line; without it, 120 lines.")
    context_lines: int = Field(default=0, ge=0, description="Lines before and after, up to 50.")


class SpanOutput(Output):
    path: str = Field(description="File.")
    lines: str = Field(description="`first-last of total`.")
    text: str = Field(description="Source, each line with its number.")
    truncated: bool | None = Field(
        default=None, description="Whether some of the requested lines are missing."
    )

    def render(self) -> str:
        return f"{heading(self.path, self.lines, 'cut' if self.truncated else None)}\n{self.text}"


@tool(Effect.READ, "symbols")
def code_get_span(call: Call, args: CodeGetSpanInput) -> SpanOutput:
    """Shows a range of lines of one file.

    Use when:
    - you know the file and the lines
    Not for:
    - a definition that you know by name (use `symbols_get_definition_span`)
    Examples:
    - Ten lines: {"path": "app/models.py", "start_line": 20, "end_line": 29}
    """
    context = clamped(call, "context_lines", args.context_lines, 50, least=0)
    first = max(1, args.start_line - context)
    last = (args.end_line if args.end_line is not None else args.start_line + 119) + context
    most = clamped(call, "max_lines", max(1, last - first + 1), MOST_LINES)

    def show(snapshot: Snapshot) -> SpanOutput:
        path = Finder(snapshot, snapshot.paths).file(args.path)
        call.instead_of_files(snapshot, [path])
        span = source_span(snapshot, path, first, last, most)
        call.showed_of(snapshot, path)
        return _told(path, span)

    return call.ask(show)


def _told(path: RepoPath, piece: SourceSpan) -> SpanOutput:
    return SpanOutput(
        path=shown(path),
        lines=f"{piece.first}-{piece.last} of {piece.total}",
        text=piece.text,
        truncated=piece.is_cut or None,
    )
