"""How well each build context could be read: its files, their definitions, and what could not be parsed."""

from typing import Any, Final

from codeplane.jail import shown
from codeplane.names import Snapshot

_MOST_CONTEXTS: Final = 50
_MOST_ERRORS: Final = 5


def project_diagnostics(snapshot: Snapshot) -> list[dict[str, Any]]:
    """One row for each context that owns files, by name."""
    rows: dict[str, dict[str, Any]] = {}
    level = snapshot.semantic_states.level() if not snapshot.semantics.is_empty else None
    for file in snapshot.overview.parsed_files():
        unit = snapshot.units.unit_of(file.path, file.language)
        row = rows.setdefault(unit, {"files": 0, "symbol_count": 0, "problems": 0, "errors": []})
        row["files"] += 1
        row["symbol_count"] += file.definitions
        if file.state in ("partial", "failed"):
            row["problems"] += 1
            row["errors"] += [f"{shown(file.path)}: {file.reason}"][: _MOST_ERRORS - len(row["errors"])]
    return [
        {
            "project_name": shown(unit),
            "compiled": not row["problems"],
            **{key: value for key, value in row.items() if value != []},
            **({"semantic_level": str(level)} if level is not None else {}),
        }
        for unit, row in sorted(rows.items())[:_MOST_CONTEXTS]
    ]
