"""Whether a citation holds: file, lines, symbol and text are there, unchanged, and this run has read them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from codeplane.controller.evidence.citation import Citation, CitationKind
from codeplane.controller.evidence.record import Category, EvidenceRecord, category_of_file
from codeplane.controller.evidence.symbols import match_symbol
from codeplane.core.errors import CodePlaneError, NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import is_misspelled
from codeplane.jail import shown
from codeplane.names import Snapshot

_SHORTEST_PROOF: Final = 12  # characters of a quote that nobody guesses
_SHOWN_LINES: Final = 3
_SHOWN_COLUMNS: Final = 100
_SPAN_LINES: Final = 12


class EvidenceFacts(Protocol):
    """What citations are checked against."""

    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def prompt(self) -> str: ...
    @property
    def artifacts(self) -> Mapping[str, Mapping[str, Any]]: ...
    @property
    def evidence(self) -> Callable[[str], EvidenceRecord | None]: ...
    @property
    def handles(self) -> Callable[[], Sequence[EvidenceRecord]]: ...
    @property
    def enter(self) -> Callable[[str], RepoPath]: ...


class Span(NamedTuple):
    """Lines of a file that could be cited instead."""

    source: str
    first_line: int
    last_line: int


class Support(NamedTuple):
    """A citation that holds: what it shows, and the source that counts."""

    category: Category
    source: str
    first_line: int = 0
    last_line: int = 0
    handle: str = ""


class Flaw(NamedTuple):
    """A citation that does not hold, and what is really there."""

    sub_code: str
    message: str
    instead: Span | None = None


@dataclass(frozen=True)
class FileText:
    """A file of the snapshot in lines."""

    path: RepoPath
    digest: str
    lines: Sequence[str]

    def excerpt(self, first: int, last: int) -> str:
        """The first of some lines, as they are."""
        lines = [line.strip()[:_SHOWN_COLUMNS] for line in self.lines[first - 1 : last]]
        return " ⏎ ".join(lines[:_SHOWN_LINES]) + (" …" if len(lines) > _SHOWN_LINES else "")


def is_slip(name: str, path: str) -> bool:
    """Whether a file name is that of a path with a slip or two before its ending."""
    stem, _, ending = name.rpartition(".")
    own_stem, _, own_ending = path.rpartition("/")[2].rpartition(".")
    return ending == own_ending and is_misspelled(stem, own_stem)


def read_text(snapshot: Snapshot, path: RepoPath) -> FileText | None:
    """A file of the snapshot; None where there is none."""
    file = snapshot.file(path)
    if file is None:
        return None
    try:
        data = snapshot.source(path)
    except NotFound:
        return None
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return FileText(path, file.digest, text.split("\n"))


@dataclass(frozen=True)
class Verifier:
    """Checks citations against one run and one snapshot."""

    facts: EvidenceFacts

    def verify_citation(self, citation: Citation) -> Support | Flaw:
        """What a citation shows, or why it shows nothing."""
        match citation.kind:
            case CitationKind.HANDLE:
                return self._verify_handle(citation)
            case CitationKind.PROMPT:
                return self._verify_prompt(citation)
            case CitationKind.ARTIFACT:
                return self._verify_artifact(citation)
            case CitationKind.FILE:
                return self._verify_file(citation)

    def _verify_handle(self, citation: Citation) -> Support | Flaw:
        record = self.facts.evidence(citation.handle)
        if record is None:
            last = ", ".join(f"{one.handle} ({one.place})" for one in list(self.facts.handles())[-3:])
            there = f" It has {last}." if last else " It has none yet: reading verbs give them out."
            return Flaw("evidence.unknown_handle", f"This run has no handle {citation.handle[:40]}.{there}")
        if record.category is Category.REQUIREMENT:
            return Support(record.category, record.source, handle=record.handle)
        if citation.source and citation.source != record.source:
            return Flaw(
                "evidence.lines", f"{record.handle} is {record.place}, not {citation.source}.", _span(record)
            )
        if (
            citation.first_line
            and not record.first_line <= citation.first_line <= citation.last_line <= record.last_line
        ):
            wrong = f"{citation.first_line}-{citation.last_line}"
            return Flaw(
                "evidence.lines", f"{record.handle} is {record.place}, not lines {wrong}.", _span(record)
            )
        return self._verify_record(record, citation)

    def _verify_record(self, record: EvidenceRecord, citation: Citation) -> Support | Flaw:
        try:
            path = self.facts.enter(record.source)
        except CodePlaneError as error:
            return Flaw("evidence.closed", f"{record.source} is no evidence: {error.message}")
        text = read_text(self.facts.snapshot, path)
        if text is None:
            return Flaw("evidence.no_file", f"{shown(path)} does not exist any more.")
        if text.digest != record.digest or citation.digest not in ("", text.digest):
            return Flaw(
                "evidence.stale",
                f"{shown(path)} has changed since {record.handle} was read.",
                _moved(record, text),
            )
        lines = citation.first_line or record.first_line, citation.last_line or record.last_line
        if citation.quote and not _contains(text, lines, citation.quote):
            return self._wrong_quote(text, lines, citation.quote)
        return Support(category_of_file(path), path, *lines, record.handle)

    def _verify_prompt(self, citation: Citation) -> Support | Flaw:
        prompt = _squeeze(self.facts.prompt)
        if not prompt:
            return Flaw("evidence.not_fetched", "This run has no prompt: send it as `originalPrompt`.")
        if _squeeze(citation.quote).strip(".…") not in prompt:
            return Flaw(
                "evidence.quote", f"The prompt does not say {citation.quote[:80]!r}. It says: {prompt[:160]}"
            )
        return Support(Category.REQUIREMENT, "prompt")

    def _verify_artifact(self, citation: Citation) -> Support | Flaw:
        key = citation.source.casefold()
        for name in self.facts.artifacts:
            if name.casefold() == key or name.casefold().rpartition(":")[2] == key:
                return Support(Category.REQUIREMENT, name)
        names = ", ".join(list(self.facts.artifacts)[:5]) or "nothing"
        return Flaw(
            "evidence.not_fetched", f"{citation.source[:80]} was not fetched in this run; {names} was."
        )

    def _verify_file(self, citation: Citation) -> Support | Flaw:
        try:
            path = self.facts.enter(citation.source)
        except CodePlaneError as error:
            return Flaw("evidence.closed", f"{citation.source[:80]} is no evidence: {error.message}")
        text = read_text(self.facts.snapshot, path)
        if text is None:
            name = path.rpartition("/")[2]
            layout = self.facts.snapshot.layout
            slips = (RepoPath(one) for one in layout.blobs if is_slip(name, one))
            near = [*layout.by_name.get(name, ()), *slips]
            like = f" Did you mean {shown(near[0])}?" if near else ""
            return Flaw("evidence.no_file", f"There is no file {shown(path)}.{like}")
        lines = self._cited_lines(citation, text)
        if isinstance(lines, Flaw):
            return lines
        if citation.digest not in ("", text.digest):
            return Flaw(
                "evidence.stale", f"{shown(path)} has changed since it had that digest.", Span(path, *lines)
            )
        if citation.quote and not _contains(text, lines, citation.quote):
            return self._wrong_quote(text, lines, citation.quote)
        is_proven = len(_squeeze(citation.quote)) >= _SHORTEST_PROOF
        return self._reading_of(text, lines, is_proven=is_proven)

    def _cited_lines(self, citation: Citation, text: FileText) -> tuple[int, int] | Flaw:
        path, count = text.path, len(text.lines) - (text.lines[-1] == "")
        if citation.symbol:
            matches = match_symbol(self.facts.snapshot, path, citation.symbol)
            if not matches:
                return Flaw(
                    "evidence.symbol",
                    f"{shown(path)} has no symbol {citation.symbol[:80]}.",
                    _first_lines(text),
                )
            if not citation.first_line:
                return matches[0].first_line, matches[0].last_line
        if not citation.first_line:
            reads = [one for one in self.facts.handles() if one.source == path]
            return (reads[-1].first_line, reads[-1].last_line) if reads else (1, max(1, count))
        if citation.last_line > count:
            return Flaw("evidence.lines", f"{shown(path)} has {count} lines.", _first_lines(text))
        if not any(line.strip() for line in text.lines[citation.first_line - 1 : citation.last_line]):
            return Flaw("evidence.lines", f"{citation.text} is blank.", _first_lines(text))
        return citation.first_line, citation.last_line

    def _reading_of(self, text: FileText, lines: tuple[int, int], *, is_proven: bool) -> Support | Flaw:
        path = text.path
        reads = [one for one in self.facts.handles() if one.source == path]
        current = [one for one in reads if one.digest == text.digest]
        if is_proven or _is_covered(lines, current):
            handle = next(
                (one.handle for one in current if one.first_line <= lines[0] and lines[1] <= one.last_line),
                "",
            )
            return Support(category_of_file(path), path, *lines, handle)
        if _is_covered(lines, reads):
            return Flaw(
                "evidence.stale", f"{shown(path)} has changed since this run read it.", Span(path, *lines)
            )
        place = f"{shown(path)}:{lines[0]}-{lines[1]}"
        return Flaw(
            "evidence.unread", f"This run has not read {place}: {text.excerpt(*lines)}", Span(path, *lines)
        )

    def _wrong_quote(self, text: FileText, lines: tuple[int, int], quote: str) -> Flaw:
        place = f"{shown(text.path)}:{lines[0]}-{lines[1]}"
        line = _line_of(text, quote)
        elsewhere = f" The quote is at line {line}." if line else ""
        there = (line, line + quote.strip().count("\n")) if line else lines
        message = f"{place} does not say {quote.strip()[:60]!r}; it says: {text.excerpt(*lines)}{elsewhere}"
        return Flaw("evidence.quote", message, Span(text.path, *there))


def _span(record: EvidenceRecord) -> Span | None:
    return Span(record.source, record.first_line, record.last_line) if record.first_line else None


def _moved(record: EvidenceRecord, text: FileText) -> Span:
    """Where the lines of an older content are now; the same numbers where they are gone."""
    first = _line_of(text, record.quote.strip().split("\n")[0]) if record.quote.strip() else 0
    first = first or min(record.first_line, len(text.lines)) or 1
    return Span(text.path, first, min(first + record.last_line - record.first_line, len(text.lines)))


def _first_lines(text: FileText) -> Span:
    return Span(text.path, 1, min(_SPAN_LINES, len(text.lines)))


def _is_covered(lines: tuple[int, int], records: Sequence[EvidenceRecord]) -> bool:
    """Whether all of some lines were shown, by one read or by several."""
    line = lines[0]
    for record in sorted(records, key=lambda one: one.first_line):
        if record.first_line <= line <= record.last_line:
            line = record.last_line + 1
    return line > lines[1]


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _contains(text: FileText, lines: tuple[int, int], quote: str) -> bool:
    return _squeeze(quote) in _squeeze("\n".join(text.lines[lines[0] - 1 : lines[1]]))


def _line_of(text: FileText, quote: str) -> int:
    """The line that a text begins at; 0 where it is not there."""
    first = _squeeze(quote.strip().split("\n")[0])
    return next((number for number, line in enumerate(text.lines, 1) if first and first in _squeeze(line)), 0)
