"""Coverage that other tools write, brought into the one form that a run is read in."""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import json_object

REPORT: Final = "coverage.json"
_LARGEST: Final = 64 << 20
_GO_BLOCK: Final = re.compile(r"(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$", re.MULTILINE)
_GO_MODULE: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def from_istanbul(report: Path, reports: Path) -> None:
    """What jest and vitest write: statements, and how often each was run."""
    files = {}
    for path, entry in json_object(_read_bytes(report), _LARGEST).items():
        places, counts = (
            entry.get(key) if isinstance(entry, dict) else None for key in ("statementMap", "s")
        )
        if isinstance(places, dict) and isinstance(counts, dict):
            files[path] = _line_sets((_line_of(places[key]), counts.get(key)) for key in places)
    _write_report(files, reports)


def from_go(profile: Path, module: Path, reports: Path) -> None:
    """The blocks of a cover profile, whose files begin with the path of their module."""
    match = _GO_MODULE.search(_read_bytes(module / "go.mod").decode("utf-8", "replace"))
    if match is None:
        return
    blocks: dict[str, list[tuple[int, object]]] = {}
    for path, first, last, count in _GO_BLOCK.findall(_read_bytes(profile).decode("utf-8", "replace")):
        inside = path.removeprefix(f"{match[1]}/")
        lines = range(int(first), min(int(last), int(first) + 10_000) + 1)
        blocks.setdefault(str(module / inside), []).extend((line, int(count)) for line in lines)
    _write_report({path: _line_sets(matches) for path, matches in blocks.items()}, reports)


def _line_sets(found: Iterable[tuple[int, object]]) -> dict[str, list[int]]:
    hits: set[int] = set()
    missing: set[int] = set()
    for line, count in found:
        (hits if isinstance(count, int) and count > 0 else missing).add(line)
    return {"executed_lines": sorted(hits - {0}), "missing_lines": sorted(missing - hits - {0})}


def _line_of(place: object) -> int:
    start = place.get("start") if isinstance(place, dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return line if isinstance(line, int) else 0


def _read_bytes(file: Path) -> bytes:
    with suppress(OSError), file.open("rb") as stream:
        return stream.read(_LARGEST)
    return b""


def _write_report(files: Mapping[str, Any], reports: Path) -> None:
    if files:
        (reports / REPORT).write_text(json.dumps({"files": files}))
