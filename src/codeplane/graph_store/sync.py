"""From seed files to the graph, and back as deltas."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from codeplane.graph_store.model import Edge, Node
from codeplane.graph_store.seeds import Seeds, read_seeds
from codeplane.graph_store.store import GraphStore
from codeplane.storage.files import private_dir, write_private

SEED_FOLDER: Final = "graph/seed"
OUT_FOLDER: Final = "graph/out"


@dataclass(frozen=True)
class Delta:
    """What the graph says besides its seed files, as rows that can become seed rows."""

    additions: tuple[Node | Edge, ...]
    changes: tuple[Node | Edge, ...]
    deletions: tuple[Node | Edge, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.additions or self.changes or self.deletions)


def sync_seeds(store: GraphStore, state_dir: Path) -> Seeds:
    """Drops the graph and fills it from the seed files; a bad row leaves everything as it was."""
    seeds = read_seeds(state_dir / SEED_FOLDER)
    store.replace_all(seeds.nodes, seeds.edges)
    return seeds


def find_delta(store: GraphStore, seeds: Seeds) -> Delta:
    """Compares the graph with its seed files."""
    by_id = seeds.by_id()
    additions: list[Node | Edge] = []
    changes: list[Node | Edge] = []
    present = set()
    for row in _all_rows(store):
        present.add(row.id)
        seed = by_id.get(row.id)
        if seed is None:
            additions.append(row)
        elif seed != row:
            changes.append(row)
    deletions = tuple(row for row in by_id.values() if row.id not in present)
    return Delta(tuple(additions), tuple(changes), deletions)


def export_delta(
    store: GraphStore, state_dir: Path, *, actor: str, now: datetime | None = None
) -> Path | None:
    """Writes what the graph says besides its seed files, as seed rows of higher versions; None where it says
    nothing else."""
    seeds = read_seeds(state_dir / SEED_FOLDER)
    delta = find_delta(store, seeds)
    if delta.is_empty:
        return None
    moment = now or datetime.now(UTC)
    lines = [json.dumps(row, ensure_ascii=False) for row in _delta_rows(delta, seeds, actor, moment)]
    private_dir(state_dir / "graph")
    folder = private_dir(state_dir / OUT_FOLDER)
    file = folder / f"delta-{moment:%Y%m%dT%H%M%S%fZ}.jsonl"
    write_private(file, "".join(f"{line}\n" for line in lines).encode())
    return file


def _all_rows(store: GraphStore) -> Iterator[Node | Edge]:
    yield from store.all_nodes()
    yield from store.all_edges()


def _delta_rows(delta: Delta, seeds: Seeds, actor: str, moment: datetime) -> Iterator[dict[str, Any]]:
    by_id = seeds.by_id()
    stamp = {"updated_at": moment.isoformat(timespec="seconds").replace("+00:00", "Z"), "updated_by": actor}
    for row in delta.additions:
        own_stamp = {"updated_at": row.updated_at, "updated_by": row.updated_by}
        yield _seed_row(row, row.version, {name: value or stamp[name] for name, value in own_stamp.items()})
    for row in delta.changes:
        yield _seed_row(row, max(row.version, by_id[row.id].version + 1), stamp)
    for row in delta.deletions:
        yield {**_seed_row(row, row.version + 1, stamp), "deleted": True}


def _seed_row(row: Node | Edge, version: int, stamp: dict[str, str]) -> dict[str, Any]:
    ends = {"source": row.source, "target": row.target} if isinstance(row, Edge) else {}
    properties = {"properties": dict(row.properties)} if row.properties else {}
    return {"id": row.id, "type": row.kind, "version": version, **stamp, **ends, **properties}
