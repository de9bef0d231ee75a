"""What somebody who decides has to show: that the places were looked at, as they are now."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codeplane.jail import shown
from codeplane.refactor.plan import Plan
from codeplane.refactor.text import Lines


@dataclass(frozen=True)
class Anchor:
    """A place, by what stands right before and right after the name there."""

    file: str
    line: int
    before: str = ""
    after: str = ""
    column: int = 0  # of the name, from 1; 0 where it is not claimed
    text: str = ""  # that stands there; the name of the plan where it is not claimed


@dataclass(frozen=True)
class Evidence:
    """A line, by the hash of its text."""

    file: str
    line: int
    content_hash: str


@dataclass(frozen=True)
class Proof:
    """What somebody claims about places; nothing has to be claimed, and what is claimed has to be true."""

    symbol: str = ""
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


def faults(plan: Plan, proof: Proof, files: Mapping[str, Lines]) -> Iterator[str]:
    """What is wrong with what a proof claims. `files` has those that it names, as they are now."""
    if proof.symbol and proof.symbol not in (plan.symbol, plan.uid):
        yield f"The proof is about {proof.symbol[:100]!r}; the plan is about {shown(plan.symbol)}."
    for anchor in proof.anchors:
        if fault := _anchor_fault(plan, anchor, files):
            yield fault
    for one in proof.evidence:
        lines = files.get(one.file)
        text = lines.text(one.line) if lines is not None and lines.has(one.line) else None
        if text is None or not line_hash(text).startswith(one.content_hash[:16]) or len(one.content_hash) < 8:
            yield f"{one.file}:{one.line} does not have that hash."


def _anchor_fault(plan: Plan, anchor: Anchor, files: Mapping[str, Lines]) -> str:
    lines = files.get(anchor.file)
    text = lines.text(anchor.line) if lines is not None and lines.has(anchor.line) else ""
    name = anchor.text or plan.old_name
    quote = f"{anchor.before}{name}{anchor.after}"
    at = anchor.column - 1 - len(anchor.before)
    is_there = text.startswith(quote, at) if anchor.column and at >= 0 else quote in text
    if is_there and (not anchor.column or at >= 0):
        return ""
    where = f"{anchor.file}:{anchor.line}" + (f":{anchor.column}" if anchor.column else "")
    return f"{where} does not have {quote}."
