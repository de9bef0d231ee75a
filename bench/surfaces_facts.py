"""What `surfaces_list` costs by kind on a repository: CPU of the first answer, and the time of later ones.

python -m bench.surfaces_facts PATH...    (directories that are git repositories)
"""

import subprocess
import sys
import time
from pathlib import Path

from bench.corpora import indexed
from codeplane.names import Snapshot
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import table_surface, tables_with_uses
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.fact_lists import fact_surface
from codeplane.surfaces.facts import KINDS
from codeplane.surfaces.scope import own_files

SLOWEST_AGAIN_MS = 50
ROUNDS = 20


def count_rows(snapshot: Snapshot, kind: str) -> int:
    """The rows of a kind, without those of tests."""
    is_own = own_files(snapshot)
    match kind:
        case "endpoint":
            return sum(is_own(one.path) for one in endpoints_of(snapshot).endpoints)
        case "config":
            return sum(is_own(use.path) for use in config_surface(snapshot).uses)
        case "table":
            return len(tables_with_uses(table_surface(snapshot), is_own))
        case _:
            return sum(is_own(fact.path) for fact in fact_surface(snapshot, kind).facts)  # type: ignore[arg-type]


def main() -> int:
    failures = 0
    for path in map(Path, sys.argv[1:]):
        if not (path / ".git").exists():
            subprocess.run(["git", "init", "-q", str(path)], check=True)
        with indexed(path) as index, index.snapshot() as snapshot:
            print(f"{path.name}: {len(snapshot.layout.ordered)} files")
            for kind in ("endpoint", "config", "table", *KINDS):
                started = time.process_time()
                rows = count_rows(snapshot, kind)
                first = time.process_time() - started
                again = []
                for _ in range(ROUNDS):
                    started = time.perf_counter()
                    count_rows(snapshot, kind)
                    again.append((time.perf_counter() - started) * 1000)
                p95 = sorted(again)[int(ROUNDS * 0.95) - 1]
                failures += p95 > SLOWEST_AGAIN_MS
                print(f"  {kind}: {rows} rows, first {first:.2f} s CPU, again p95 {p95:.1f} ms")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
