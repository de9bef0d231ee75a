"""Coverage of a run: what its batches have measured, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import decode_json

_LARGEST: Final = 64 << 20


@dataclass(frozen=True)
class FileCoverage:
    """Lines of one file: those that could be run, and those that were."""

    statements: frozenset[int]
    executed: frozenset[int]

    @property
    def missing(self) -> list[int]:
        return sorted(self.statements - self.executed)

    @property
    def percent(self) -> float:
        return 100 * len(self.statements & self.executed) / len(self.statements) if self.statements else 100.0


@dataclass
class Coverage:
    """By file, relative to the repository."""

    files: dict[str, FileCoverage] = field(default_factory=dict)

    @property
    def percent(self) -> float:
        whole = sum(len(one.statements) for one in self.files.values())
        run = sum(len(one.statements & one.executed) for one in self.files.values())
        return 100 * run / whole if whole else 100.0


def read_coverage(scratch: Path, root: Path) -> Coverage | None:
    """What the batches below a directory have left; None where none of them has measured anything."""
    reports = [
        document
        for file in sorted(scratch.glob("*/coverage.json"))
        if (document := _read_report(file)) is not None
    ]
    if not reports:
        return None
    coverage = Coverage()
    for report in reports:
        for name, lines in report.items():
            path = _path_inside(name, root)
            if path:
                coverage.files[path] = _merge_lines(coverage.files.get(path), lines)
    return coverage


def _read_report(file: Path) -> Mapping[str, Any] | None:
    try:
        if file.stat().st_size > _LARGEST:
            return None
        files = decode_json(file.read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return files if isinstance(files, dict) else None


def _path_inside(name: str, root: Path) -> str:
    path = Path(name)
    if not path.is_absolute():
        return name
    return str(path.relative_to(root)) if path.is_relative_to(root) else ""


def _merge_lines(known: FileCoverage | None, lines: Mapping[str, Any]) -> FileCoverage:
    hits = frozenset(lines.get("executed_lines", ()))
    statements = hits | frozenset(lines.get("missing_lines", ()))
    if known is None:
        return FileCoverage(statements, hits)
    return FileCoverage(known.statements | statements, known.executed | hits)


def spans(lines: Sequence[int]) -> str:
    """`3-5, 9`: lines in a row told once."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and parts[-1][1] == line - 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)
