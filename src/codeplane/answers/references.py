"""Uses that are not certain, as tools answer them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.graph.possible_uses import CERTAIN, Use, grouped
from codeplane.jail import shown
from codeplane.names import Snapshot

_MOST_LINES = 12
_MOST_OF_RECEIVER = 8  # files


class PossibleUses(Output):
    receiver: str = Field(description="What precedes the name, if anything.")
    why: str = Field(description="Why these are not certain.")
    total: int = Field(description="Number of uses.")
    files: list[str] = Field(description="`path:line,line` of them, and the number of further files.")


def possible_uses(snapshot: Snapshot, uses: Iterable[Use], most_files: int) -> list[PossibleUses]:
    """The uses by receiver, in at most so many files."""
    groups = []
    left = most_files
    for group in grouped(snapshot, uses):
        if left <= 0:
            break
        most = min(left, _MOST_OF_RECEIVER)
        files = [
            f"{shown(path)}:{_render_numbers(lines)}" for path, lines in list(group.files.items())[:most]
        ]
        left -= len(files)
        files += [f"+{len(group.files) - most} files"] if len(group.files) > most else []
        receiver = shown(group.receiver)
        groups.append(PossibleUses(receiver=receiver, why=group.why, total=group.total, files=files))
    return groups


def possible_text(groups: Sequence[PossibleUses], total: int, what: str) -> list[str]:
    """The groups as lines, those with one reason together; `total` counts those that are not listed too."""
    lines = []
    for why in dict.fromkeys(group.why for group in groups):
        alike = [group for group in groups if group.why == why]
        lines.append(f"possible {what}: {why}")
        for group in alike:
            times = f" ×{group.total}" if group.total > 1 else ""
            receiver = group.receiver.strip("=#") or "(no receiver)"
            lines.append(f"  {receiver}{times}  {'  '.join(group.files)}")
    more = total - sum(group.total for group in groups)
    return [*lines, f"  {more} more possible {what}"] if more > 0 else lines


class ReferenceLine(Protocol):
    """A reference as a tool lists it."""

    line: int
    text: str
    why: str | None


class ReferencesInFile(Protocol):
    """A file as a tool lists its references."""

    path: str

    @property
    def refs(self) -> Sequence[ReferenceLine]: ...


def reference_lines(files: Sequence[ReferencesInFile]) -> list[str]:
    """References by file as `rg` prints matches; certain ones first, then possible ones by their reasons."""
    lines: list[str] = []
    reasons = dict.fromkeys(ref.why for file in files for ref in file.refs)
    for why in sorted(reasons, key=lambda why: why is not None):
        lines += [f"possible: {why}"] if why else []
        for file in files:
            rows = {ref.line: f"{ref.line}: {ref.text}" for ref in file.refs if ref.why == why}
            lines += [file.path, *rows.values()] if rows else []
    return lines


def counted(tiers: Mapping[str, int], kinds: Mapping[str, int]) -> str:
    """How many references there are by certainty, and of each kind."""
    certain = sum(tiers.get(tier, 0) for tier in CERTAIN)
    possible = sum(tiers.values()) - certain
    said = f"{certain} certain" + (f", {possible} possible" if possible else "")
    return f"{said} ({', '.join(f'{count} {kind}' for kind, count in kinds.items())})" if kinds else said


def _render_numbers(lines: Sequence[int]) -> str:
    cut = "…" if len(lines) > _MOST_LINES else ""
    return ",".join(map(str, lines[:_MOST_LINES])) + cut
