import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from codeplane.answers.git.hints import tool_hint
from codeplane.answers.source import heading, offer
from codeplane.core.errors import CodePlaneError, PathRefused
from codeplane.core.paths import Digest
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.read_spans import MOST_CHARACTERS, MOST_LINES, ReadFile, Reading, ReadSpan, read
from codeplane.search.read_targets import Finder, Wanted, split_revision
from codeplane.session import Call
from codeplane.session.call import Limit
from codeplane.session.token_savings import MOST_READ
from codeplane.tools import Effect, Input, Output, tool
from codeplane.tools._registry import synonyms
from codeplane.tools._schema import UNLISTED

_LINES = re.compile(r":L?\d[\d:L-]*\Z")


def _as_text(value: object) -> object:
    """`{"path": "a.py", "start_line": 3, "end_line": 9, "ref": "v1"}` is `a.py:3-9@v1`."""
    if not isinstance(value, dict):
        return value
    lines = [value.get(key) for key in ("start_line", "end_line")]
    name = value.get("symbol") or value.get("path") or ""
    ref = f"@{value['ref']}" if value.get("ref") else ""
    if lines == [None, None] or value.get("symbol"):
        return f"{name}{ref}"
    return f"{name}:{lines[0] or 1}-{lines[1] or ''}{ref}"


TargetText = Annotated[str, Field(min_length=1, max_length=1000), BeforeValidator(_as_text)]


class ReadSourceInput(Input):
    targets: Annotated[
        list[TargetText],
        synonyms("target", "path", "paths", "file", "file_path", "files", "symbol", "symbols", "names"),
    ] = Field(
        min_length=1,
        max_length=50,
        description="What to read: `path`, `path:10-40`, `path:12` (around a line), or a symbol: "
        "`Model.save`, a qualified name, a `sym_…` uid; `…@v1.0` at a commit.",
    )
    ref: Annotated[str | None, synonyms("revision", "commit", "at")] = Field(
        default=None,
        min_length=1,
        max_length=250,
        description="Commit to read all targets at.",
        json_schema_extra=UNLISTED,
    )
    start_line: int | None = Field(
        default=None, ge=1, description="First line, for a single path.", json_schema_extra=UNLISTED
    )
    end_line: int | None = Field(
        default=None, ge=1, description="Last line, for a single path.", json_schema_extra=UNLISTED
    )


class SourceSpan(Output):
    text: str = Field(description="Numbered lines.")
    symbol: str | None = Field(default=None, description="Definition, if requested by name.")
    more: str | None = Field(default=None, description="Target that continues where the text was cut.")


class SourceFile(Output):
    path: str = Field(description="Path in the repository.")
    file_sha256: str = Field(
        description="Digest of the whole file; send it with edits to guard against changes."
    )
    lines: int = Field(description="Lines of the whole file.")
    newline: str | None = Field(default=None, description="`crlf` if lines end so.")
    spans: list[SourceSpan] = Field(description="What was requested, in order.")


class SourceFailure(Output):
    target: str = Field(description="What was requested.")
    error: str = Field(description="Name of the error and what is wrong.")
    hints: list[str] | None = Field(default=None, description="What to send instead.")


class ReadSourceOutput(Output):
    files: list[SourceFile] = Field(description="Source by file.")
    left: list[str] | None = Field(default=None, description="Targets that did not fit.")
    failed: list[SourceFailure] | None = Field(default=None, description="Targets that could not be read.")

    def render(self) -> str:
        parts = [_file_text(file) for file in self.files]
        parts += [_failure_text(one) for one in self.failed or ()]
        return "\n\n".join(parts)


def _failure_text(one: SourceFailure) -> str:
    return "\n".join([f"{one.target}: {one.error}", *(f"  {hint}" for hint in one.hints or ())])


def _file_text(file: SourceFile) -> str:
    head = heading(file.path, file.lines, file.newline)
    return "\n".join([head, "\n…\n".join(span.text for span in file.spans)])


@tool(Effect.READ, "files", standard=True)
def read_source(call: Call, args: ReadSourceInput) -> ReadSourceOutput:
    """Reads source, many targets in one call: definitions by name, lines of files, whole files.

    Use when:
    - you know names or lines; ask for all you need at once
    Not for:
    - finding something (search)
    Examples:
    - Two definitions and some lines: {"targets": ["Model.save", "helper", "app.py:10-40"]}
    - A file: {"targets": ["README.md"]}
    """
    call.session.read_budget.check()
    by_ref = _by_revision(call, args)
    refs = [ref for ref in by_ref if ref is not None]
    if refs:
        reading = call.ask_with(refs, lambda states: _read(call, args, by_ref, *states), looks=None in by_ref)
    else:
        reading = call.ask(lambda snapshot: _read(call, args, by_ref, snapshot, {}))
    if not reading.files and len(reading.failed) == 1:
        raise reading.failed[0][1]
    if reading.is_cut:
        call.limits_applied["lines"] = Limit(None, MOST_LINES)
    if reading.left:
        call.limits_applied["characters"] = Limit(None, MOST_CHARACTERS)
    rest = [span.left for file in reading.files for span in file.spans if span.left] + reading.left
    if rest:
        call.next_actions.append(offer("read_source", targets=rest))
    call.warn(call.session.read_budget.charge(reading.characters))
    for file in reading.files:
        call.instead_of(min(len(file.data), MOST_READ))
        if not file.ref:
            call.showed(file.fact.path, Digest(file.fact.digest), file.data)
    return ReadSourceOutput(
        files=[_file(file) for file in reading.files],
        left=reading.left or None,
        failed=[_source_failure(*one) for one in reading.failed] or None,
    )


def _by_revision(call: Call, args: ReadSourceInput) -> dict[str | None, list[str]]:
    """The targets by the revision that each is read at; a file may have an `@` in its name."""
    by_ref: dict[str | None, list[str]] = {}
    for text in args.targets:
        target, ref = (text, args.ref) if args.ref or _is_file(call, text) else split_revision(text)
        by_ref.setdefault(ref, []).append(target)
    return by_ref


def _is_file(call: Call, text: str) -> bool:
    if "@" not in text:
        return False
    jail = call.repo.tree.jail
    try:
        return (jail.root / jail.enter(_LINES.sub("", text))).is_file()
    except PathRefused:
        return False


def _read(
    call: Call,
    args: ReadSourceInput,
    by_ref: Mapping[str | None, Sequence[str]],
    now: Snapshot,
    commits: Mapping[str, Snapshot],
) -> Reading:
    reading = Reading()
    for ref, texts in by_ref.items():
        snapshot = now if ref is None else commits[ref]
        reading.add(_read_at(call, args, snapshot, texts, MOST_CHARACTERS - reading.characters), ref)
    return reading


def _read_at(
    call: Call, args: ReadSourceInput, snapshot: Snapshot, texts: Sequence[str], most: int
) -> Reading:
    finder = Finder(snapshot, snapshot.paths)
    requests: list[tuple[str, Wanted]] = []
    failures: list[tuple[str, CodePlaneError]] = []
    for text in texts:
        call.check()
        try:
            if len(args.targets) == 1:
                requests.append((text, finder.lines(text, args.start_line, args.end_line)))
            else:
                requests.append((text, finder.find(text)))
        except CodePlaneError as error:
            failures.append((text, error))
    for note in finder.notes:
        call.warn(note)
    reading = read(snapshot, requests, most)
    reading.failed = failures + reading.failed
    return reading


def _file(file: ReadFile) -> SourceFile:
    return SourceFile(
        path=file.name,
        file_sha256=file.fact.digest,
        lines=file.lines,
        newline="crlf" if file.is_crlf else None,
        spans=[_source_span(span) for span in file.spans],
    )


def _source_span(span: ReadSpan) -> SourceSpan:
    return SourceSpan(text=span.text, symbol=", ".join(span.symbols) or None, more=span.left or None)


def _source_failure(target: str, error: CodePlaneError) -> SourceFailure:
    hints = [tool_hint(hint) for hint in error.hints]
    candidates = error.details.get("candidates")
    if isinstance(candidates, list):
        hints += [f"{one['name']} ({one['at']})" for one in candidates]
    return SourceFailure(target=shown(target), error=f"{error.name()}: {error.message}", hints=hints or None)
