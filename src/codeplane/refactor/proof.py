"""What somebody who decides has to show: that the places were looked at, as they are now."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from codeplane.jail import shown
from codeplane.refactor.plan import Group, Plan
from codeplane.refactor.text import Lines


@dataclass(frozen=True)
class Anchor:
    """A place, by what stands right before and right after the name there."""

    file: str
    line: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Evidence:
    """A line, by the hash of its text."""

    file: str
    line: int
    content_hash: str


@dataclass(frozen=True)
class Proof:
    symbol: str
    anchors: tuple[Anchor, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def lines(self) -> set[tuple[str, int]]:
        """File and line of everything that is shown."""
        anchors = {(one.file, one.line) for one in self.anchors}
        return anchors | {(one.file, one.line) for one in self.evidence}


def line_hash(text: str) -> str:
    """The hash of a line without its end, as `refactor_inspect` shows it."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def faults(plan: Plan, selected: Collection[str], proof: Proof, files: Mapping[str, Lines]) -> Iterator[str]:
    """What is wrong with a proof. `files` has those that it names, as they are now."""
    if proof.symbol not in (plan.symbol, plan.uid):
        yield f"The proof is about {proof.symbol[:100]!r}; the plan is about {shown(plan.symbol)}."
    for anchor in proof.anchors:
        if fault := _anchor_fault(plan, anchor, files):
            yield fault
    for one in proof.evidence:
        lines = files.get(one.file)
        text = lines.text(one.line) if lines is not None and lines.has(one.line) else None
        if text is None or not line_hash(text).startswith(one.content_hash[:16]) or len(one.content_hash) < 8:
            yield f"{one.file}:{one.line} does not have that hash."
    for group in plan.groups:
        if group.id in selected and not _is_covered(group, proof.lines):
            yield f"{group.id} ({shown(group.about)}) has no anchor and no line hash at one of its places."


def _anchor_fault(plan: Plan, anchor: Anchor, files: Mapping[str, Lines]) -> str:
    lines = files.get(anchor.file)
    text = lines.text(anchor.line) if lines is not None and lines.has(anchor.line) else ""
    if f"{anchor.before}{plan.old_name}{anchor.after}" in text:
        return ""
    return f"{anchor.file}:{anchor.line} does not have {anchor.before}{plan.old_name}{anchor.after}."


def _is_covered(group: Group, lines: Collection[tuple[str, int]]) -> bool:
    return any((shown(site.path), site.line) in lines for site in group.sites)
