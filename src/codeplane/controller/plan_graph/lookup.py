"""Questions that several checks ask about the files of a plan, each answered once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.controller.evidence.citation import parse_citation
from codeplane.controller.evidence.record import EvidenceRecord, category_of_file
from codeplane.controller.evidence.symbols import SymbolMatch, symbols_of
from codeplane.controller.evidence.verification import FileText, Flaw, Span, Support, Verifier, read_text
from codeplane.controller.plan_graph.draft import NodeDraft
from codeplane.controller.plan_graph.facts import ChangeRefusal, PlanFacts
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath

_MOST_TESTS: Final = 5
_TRIAL_FIELDS: Final = ("targetFile", "targetSymbols", "newSymbols", "allowImports", "edits", "delta")
_LONGEST_SPAN: Final = 40  # lines that are shown as new evidence


@dataclass
class PlanLookup:
    """Answers about files, tests and citations, kept for the rest of a validation."""

    facts: PlanFacts
    new_evidence: dict[str, EvidenceRecord] = field(
        default_factory=dict
    )  # evidence that the answer has to show
    _texts: dict[RepoPath, FileText | None] = field(default_factory=dict)
    _symbols: dict[RepoPath, list[SymbolMatch]] = field(default_factory=dict)
    _tests: dict[tuple[RepoPath, tuple[str, ...]], list[str]] = field(default_factory=dict)
    _records: list[EvidenceRecord] | None = None
    _trials: dict[str, ChangeRefusal | None] = field(default_factory=dict)

    # What the verifier asks is answered from here, so that evidence given out now counts.

    @property
    def snapshot(self) -> Any:
        return self.facts.snapshot

    @property
    def prompt(self) -> str:
        return self.facts.prompt

    @property
    def artifacts(self) -> Any:
        return self.facts.artifacts

    def enter(self, text: str) -> RepoPath:
        """The path inside the repository that a text names."""
        return self.facts.enter(text)

    def evidence(self, handle: str) -> EvidenceRecord | None:
        """The evidence with a handle of this run."""
        return self.new_evidence.get(handle) or self.facts.evidence(handle)

    def handles(self) -> Sequence[EvidenceRecord]:
        """All evidence of this run."""
        if self._records is None:
            self._records = list(self.facts.handles())
        return [*self._records, *self.new_evidence.values()]

    def path_of(self, text: str) -> RepoPath | None:
        """The path that a text names; None where it is refused."""
        try:
            return self.facts.enter(text) if text else None
        except CodePlaneError:
            return None

    def existing_path(self, text: str) -> RepoPath | None:
        """The file that a text names; None where there is none."""
        path = self.path_of(text)
        return path if path is not None and self.facts.snapshot.exists(path) else None

    def text(self, path: RepoPath) -> FileText | None:
        """A file in lines."""
        if path not in self._texts:
            self._texts[path] = read_text(self.facts.snapshot, path)
        return self._texts[path]

    def symbols(self, path: RepoPath) -> list[SymbolMatch]:
        """The definitions of a file."""
        if path not in self._symbols:
            self._symbols[path] = symbols_of(self.facts.snapshot, path)
        return self._symbols[path]

    def symbols_by_name(self, path: RepoPath) -> list[str]:
        """The names of the definitions of a file."""
        return [one.name for one in self.symbols(path)]

    def has_code(self, path: RepoPath) -> bool:
        """Whether a file has definitions that tests could run."""
        file = self.facts.snapshot.file(path)
        prose = {"heading", "key", "selector", "block", "stage", "resource"}
        return (
            file is not None
            and bool(file.language)
            and any(one.kind not in prose for one in self.symbols(path))
        )

    def tests(self, path: RepoPath, symbols: Sequence[str]) -> list[str]:
        """The test files that reach symbols of a file, nearest first."""
        key = path, tuple(symbols)
        if key not in self._tests:
            self._tests[key] = list(self.facts.tests_reaching(path, symbols))[:_MOST_TESTS]
        return self._tests[key]

    def node_tests(self, node: NodeDraft) -> list[str]:
        """The test files that reach the target of a change."""
        path = self.existing_path(node.text("targetFile"))
        return self.tests(path, node.texts("targetSymbols")) if path is not None else []

    def try_change(self, node: NodeDraft) -> ChangeRefusal | None:
        """Why what a node carries can't be made in its file; None where it can."""
        key = repr([node.body.get(name) for name in _TRIAL_FIELDS])
        if key not in self._trials:
            self._trials[key] = self.facts.try_change(node.body)
        return self._trials[key]

    def check_citation(self, value: object) -> Support | Flaw:
        """Whether one citation of a plan holds."""
        citation = parse_citation(value)
        if citation is None:
            return Flaw(
                "evidence.form",
                f"{str(value)[:80]!r} is no citation: send ev_…, path:first-last, prompt: …, or a ticket.",
            )
        return Verifier(self).verify_citation(citation)

    def give_evidence(self, span: Span) -> EvidenceRecord | None:
        """New evidence of some lines, which the answer shows; None where none can be given out."""
        path = self.existing_path(span.source)
        text = self.text(path) if path is not None else None
        if path is None or text is None or self.facts.issue is None:
            return None
        first = max(1, min(span.first_line, len(text.lines)))
        last = max(first, min(span.last_line, len(text.lines), first + _LONGEST_SPAN - 1))
        quote = "\n".join(text.lines[first - 1 : last])
        record = self.facts.issue(category_of_file(path), path, (first, last), text.digest, quote)
        self.new_evidence[record.handle] = record
        return record
