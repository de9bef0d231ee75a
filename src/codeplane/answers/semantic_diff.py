"""Changes of definitions as answers have them, and as text."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Literal

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.proof import Tier
from codeplane.graph.diff.review import ASIDE, Rank, Reviewed
from codeplane.graph.diff.risk import Blast, blast_of, category_of, risk_of
from codeplane.graph.diff.structure import Change, ChangeKind
from codeplane.jail import shown
from codeplane.names import Snapshot

_LONGEST: Final = 110  # of a part of a header that differs
_LONGEST_HEADER: Final = 100
_LONGEST_PARAMETER: Final = 40
_MOST_TESTS: Final = 5
_HEADINGS: Final = {
    Rank.BREAKING: "BREAKING",
    Rank.AMBIGUOUS: "MAY BREAK",
    Rank.HEADER: "HEADERS AND PRIVATE NAMES",
    Rank.BODY: "BODIES",
    Rank.ADDED: "ADDED",
    Rank.TEST: "TESTS AND DOCS",
}
# Said by the kind of change, or by its size, already.
_UNSAID: Final = frozenset(
    "symbol_added symbol_removed symbol_renamed symbol_moved parameters_changed signature_changed"
    " minor_change major_change body_logic_changed kind_changed".split()
)
_PROVIDED: Final = frozenset(("inherited", "imported_instead"))  # its users have another one
_BRACKETS: Final = re.compile(r"(?<=[(\[{]) |,? (?=[)\]}])")
_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")


class BlastRadius(Output):
    references: dict[str, int] = Field(
        description="References by tier; for a removed definition, what still names it."
    )
    files: int = Field(description="Files that refer to it.")
    tests: list[str] | None = Field(default=None, description="Test files among these.")

    def text(self, *, is_gone: bool) -> str:
        total = sum(self.references.values())
        sure = sum(self.references.get(tier.value, 0) for tier in (Tier.PROVEN, Tier.STRONG))
        files = f"in {self.files} file{'s' if self.files > 1 else ''}"
        if is_gone:
            return f"still named {total}× {files}"
        maybe = f" (+{total - sure} possible)" if total > sure else ""
        return f"used {sure}×{maybe} {files}"


class StructuralChange(Output):
    change: str = Field(description="added, removed, renamed, moved, signature_changed or body_changed.")
    name: str = Field(description="Name with its enclosing definitions.")
    kind: str = Field(description="Kind of definition.")
    old_kind: str | None = Field(default=None, description="Kind before.")
    lines: str = Field(description="`first-last` in the state that has it.")
    breaking: bool | Literal["unknown"] | None = Field(
        default=None,
        description="Whether users may have to change; `unknown` if the header does not show it.",
    )
    private: Literal[True] | None = Field(
        default=None, description="For an addition: nothing outside can use it."
    )
    risk: str | None = Field(default=None, description="Behaviour: low, medium, high or unknown.")
    tags: list[str] | None = Field(default=None, description="Kind of change.")
    parameters: dict[str, list[str]] | None = Field(
        default=None, description="By tag, the parameters added, removed or renamed."
    )
    lines_changed: int | None = Field(default=None, description="Changed lines of its own.")
    old_name: str | None = Field(default=None, description="Name before.")
    old_path: str | None = Field(default=None, description="File of its package that it was in.")
    old_signature: str | None = Field(default=None, description="Header before.")
    signature: str | None = Field(default=None, description="Header now.")
    preview: list[str] | None = Field(default=None, description="Changed lines of code.")
    preview_more: int | None = Field(default=None, description="Such lines that are not shown.")
    impact: BlastRadius | None = Field(default=None, description="Who is affected.")

    @property
    def word(self) -> str:
        """What happened to a definition of which there is nothing more to say; several share a line."""
        tags = [tag.replace("_", " ") for tag in self.tags or () if tag not in _UNSAID]
        is_unseen = self.change == "body_changed" and not (self.preview or self.preview_more)
        is_plain = self.private or ((is_unseen or self.change == "removed") and self.impact is None)
        return ", ".join(["changed" if is_unseen else self.change, *tags]) if is_plain else ""

    @property
    def size(self) -> int:
        """Characters that it takes."""
        return len(self.name) + 2 if self.word else len(self.line()) + 1

    def line(self) -> str:
        """The change in one line, indented."""
        where = "-" if self.change == "removed" else self.lines.partition("-")[0]
        return "\n".join([f"  {where}: {'; '.join(self._parts())}", *self._code()])

    def _code(self) -> Iterator[str]:
        """The lines of code that differ, and how many are not shown."""
        lines = self.preview or []
        indents = [len(line[1:]) - len(line[1:].lstrip()) for line in lines if line[1:].strip()]
        margin = min(indents, default=0)
        yield from (f"    {line[0]}{line[1 + margin :]}" for line in lines if line[1:])
        if lines and self.preview_more:
            yield f"    … {self.preview_more} more"

    def _parts(self) -> Iterator[str]:
        match self.change:
            case "renamed":
                yield f"{self.old_name} → {self.name}"
            case "removed":
                yield f"{self.name} removed"
            case "moved":
                yield f"{self.name} moved from {self.old_path}"
            case "added":
                yield self._render_header()
            case _:
                yield f"{self.name}{self._count()}"
        names_by_tag = self.parameters or {}
        for tag, names in names_by_tag.items():
            yield _cut(f"{tag.replace('_', ' ')}: {', '.join(names)}", _LONGEST)
        others = [tag for tag in self.tags or () if tag not in _UNSAID and tag not in names_by_tag]
        if others:
            yield ", ".join(tag.replace("_", " ") for tag in others)
        is_told = names_by_tag and not others and "signature_changed" not in (self.tags or ())
        if self.old_kind:
            yield f"{self.old_kind} became {self.kind}"
            if self.old_signature and self.signature:
                yield _cut(f"{self.old_signature} → {self.signature}", _LONGEST)
        elif not is_told and self.change == "signature_changed" and self.old_signature and self.signature:
            words = _word_diff(self.old_signature, self.signature)
            # Of a long header that is another one, the parameters tell more than its beginning.
            if not names_by_tag or "…" not in words:
                yield words
        if self.impact is not None:
            yield self.impact.text(is_gone=self.change in ("removed", "renamed"))

    def _count(self) -> str:
        """How many lines differ, where they are not shown all."""
        is_shown = self.preview and not self.preview_more
        if not self.lines_changed or is_shown or (self.change == "signature_changed" and not self.preview):
            return ""
        return f" ({self.lines_changed} line{'s' if self.lines_changed > 1 else ''})"

    def _render_header(self) -> str:
        """The header with the full name in place of the last part of it; the name where there is none."""
        header = _BRACKETS.sub("", " ".join((self.signature or "").split()))
        own = re.escape(self.name.rpartition(".")[2])
        renamed_header, count = re.subn(rf"(?<!\w){own}(?!\w)", lambda _: self.name, header, count=1)
        return _cut(renamed_header if count else self.name, _LONGEST_HEADER)


class ChangedFile(Output):
    rank: str = Field(description="Why it is listed here: breaking, unclear, header, body, added or test.")
    path: str = Field(description="File.")
    status: str = Field(description="added, modified, deleted or renamed.")
    category: str = Field(description="prod, test, build, config or docs.")
    old_path: str | None = Field(default=None, description="Path before.")
    changes: list[StructuralChange] = Field(description="Changes in order of position.")

    def heading(self) -> str:
        came = f"{self.old_path} → " if self.old_path else ""
        return f"{came}{self.path}" + (f" ({self.status})" if self.status in ("added", "deleted") else "")


def rendered(files: Sequence[ChangedFile]) -> Iterator[str]:
    """The changes below their ranks and files."""
    rank = ""
    for file in files:
        if file.rank != rank:
            rank = file.rank
            yield _HEADINGS[Rank[rank.upper()]]
        yield file.heading()
        for word, some in groupby(file.changes, key=lambda change: change.word):
            if word:
                names = dict.fromkeys(change.name for change in some)
                yield f"  {word}: {', '.join(names)}"
            else:
                yield from dict.fromkeys(change.line() for change in some)


def change_told(snapshot: Snapshot | None, unit: Reviewed, most: int) -> StructuralChange:
    """One change, with who is concerned by it and at most so many lines of code."""
    file, one = unit.file, unit.change
    span, signature = one.definition.span, one.definition.signature
    is_missed = snapshot is not None and not _PROVIDED & set(one.tags)
    blast = blast_of(snapshot, file.path, one) if snapshot is not None and is_missed else None
    is_added = one.change is ChangeKind.ADDED
    code = one.preview[:most] if unit.rank is not Rank.TEST else ()
    more = len(one.preview) - len(code) + one.preview_more if code else 0
    return StructuralChange(
        change=one.change.value,
        name=shown(one.name),
        kind=one.definition.kind,
        old_kind=one.old_kind or None,
        lines=f"{span.start_line}-{span.end_line}",
        breaking=verdict_of(one) if category_of(snapshot, file.path) not in ASIDE else None,
        risk=risk_of(one, blast),
        private=True if is_added and (one.is_private or unit.rank is Rank.TEST) else None,
        tags=list(one.tags),
        parameters=_by_tag(one.parameters) or None,
        lines_changed=one.lines_changed,
        old_name=shown(one.old_name) or None,
        old_path=shown(one.old_path) or None,
        old_signature=shown(one.old_signature) or None,
        signature=shown(signature) or None if one.old_signature or is_added else None,
        preview=[shown(line) for line in code] or None,
        preview_more=more or None,
        impact=_blast_radius(blast) if blast is not None and unit.rank is not Rank.TEST else None,
    )


def _by_tag(parameters: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    by_tag: dict[str, list[str]] = {}
    for tag, parameter in parameters:
        by_tag.setdefault(tag, []).append(_cut(shown(parameter), _LONGEST_PARAMETER))
    return by_tag


def verdict_of(one: Change) -> bool | Literal["unknown"] | None:
    """Whether users may have to change; None for a body, which has no header that tells."""
    if one.breaking is None:
        return "unknown"
    is_header = one.change is ChangeKind.SIGNATURE
    return one.breaking or (False if is_header else None)


def _blast_radius(blast: Blast) -> BlastRadius | None:
    if not blast.tiers:
        return None
    return BlastRadius(
        references={tier.value: blast.tiers[tier] for tier in Tier if tier in blast.tiers},
        files=len(blast.files),
        tests=[shown(path) for path in blast.tests[:_MOST_TESTS]] or None,
    )


def _word_diff(old: str, new: str) -> str:
    """What differs between two headers, as `git diff --word-diff` marks it."""
    was, now = _WORDS.findall(old), _WORDS.findall(new)
    start = 0
    while start < min(len(was), len(now)) and was[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(was), len(now)) - start and was[-1 - end] == now[-1 - end]:
        end += 1
    old_words, come = ("".join(words[start : len(words) - end]).strip() for words in (was, now))
    old_words, come = _cut(old_words, _LONGEST), _cut(come, _LONGEST)
    return (f"[-{old_words}-]" if old_words else "") + (f"{{+{come}+}}" if come else "")


def _cut(text: str, most: int) -> str:
    return f"{text[:most]}…" if len(text) > most else text
