"""`cpl graph`, as people use it."""

import json
from pathlib import Path

from tests.drive import Cpl

STAMP = {"version": 1, "updated_at": "2026-01-31T12:00:00Z", "updated_by": "ann"}


def write_rows(cpl: Cpl, *rows: dict[str, object]) -> None:
    file = cpl.repo / ".codeplane" / "graph" / "seed" / "rows.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_seed_files_fill_the_graph_of_a_trusted_repository(cpl: Cpl) -> None:
    rows: list[dict[str, object]] = [
        {"id": "t", "type": "Table", **STAMP},
        {"id": "c", "type": "ColumnDef", **STAMP},
        {"id": "t-c", "type": "HAS_COLUMN", "source": "t", "target": "c", **STAMP},
    ]
    write_rows(cpl, *rows)
    refusal = cpl.run("graph", "sync")
    assert refusal.returncode == 4 and "trusted repository" in refusal.stderr
    cpl.run("trust")
    assert cpl.run("graph", "sync").stdout.endswith("graph.db: 2 nodes and 1 edges from 1 seed files.\n")
    write_rows(cpl, *rows[:2], {"id": "d", "type": "ColumnDef", **STAMP})
    assert cpl.json("graph", "status")["delta"] == {"added": 1, "changed": 0, "deleted": 1}
    file = cpl.json("graph", "export")["file"]
    assert '"id": "d", "type": "ColumnDef", "version": 2' in Path(file).read_text()
    write_rows(cpl, *rows, {"id": "x", "type": "Table"})
    failure = cpl.run("graph", "sync")
    assert failure.returncode == 1 and "rows.jsonl:4: the row has no `version`" in failure.stderr
    assert cpl.run("graph", "status").returncode == 1
    write_rows(cpl, *rows)
    assert "besides the seed: nothing" in cpl.run("graph", "status").stdout
