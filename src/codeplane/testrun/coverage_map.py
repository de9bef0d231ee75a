"""What runs with coverage have shown: which functions each test runs, kept for the choice of tests."""

import json
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.graph.tests.by_coverage import OUTLINE, Block, Learnt, Parts, Record, Shape, parts_of
from codeplane.names import Snapshot
from codeplane.storage.database import Connection, Database

_LARGEST: Final = 256 << 20
_MOST_TESTS: Final = 50_000
_IMPORT: Final = "import|"  # before the path of a module in place of a test: what its import runs
_WHOLE: Final = "whole|"  # before the path of a test file of which every test has been run


class CoverageMap:
    """What is known about tests, in a database; read once, and again after it has learnt."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._known: Learnt | None = None

    def known(self) -> Learnt:
        with self._guard:
            if self._known is None:
                with self._database.read() as connection:
                    self._known = _read_map(connection)
            return self._known

    def learn(self, snapshot: Snapshot, report_files: Iterable[Path]) -> int:
        """Takes in what the batches of a run have told, for content as the snapshot has it; returns of how
        many tests that is."""
        reports = _Seen(snapshot)
        for file in report_files:
            if (report := _read_report(file)) is not None:
                reports.add(report)
        with self._guard, self._database.write() as connection:
            count = _write_records(connection, reports)
            _drop_stale(connection, snapshot.layout.blobs)
            self._known = None
        return count


def _read_report(file: Path) -> Mapping[str, Any] | None:
    try:
        if file.stat().st_size > _LARGEST:
            return None
        matches = decode_json(file.read_bytes())
    except (OSError, ValueError):
        return None
    keys = ("files", "tests", "opened", "starting", "failed", "whole")
    return matches if isinstance(matches, dict) and all(key in matches for key in keys) else None


class _Seen:
    """The reports of one run, as blocks of the files that the snapshot has."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot, self._digests = snapshot, snapshot.digests()
        self._parts: dict[RepoPath, Parts | None] = {}
        self.records: dict[str, dict[RepoPath, set[int]]] = {}
        self.open: set[str] = set()
        self.failed: set[str] = set()

    def add(self, report: Mapping[str, Any]) -> None:
        by_context: dict[str, dict[RepoPath, set[int]]] = {}
        unclear: set[str] = set(report["starting"])
        for path, context, block in self._report_blocks(report, unclear):
            by_context.setdefault(context, {}).setdefault(path, set()).add(block)
        for test, fixtures in report["tests"].items():
            contexts = (test, *fixtures)
            self._add_blocks(test, (by_context.get(one, {}) for one in contexts))
            if not unclear.isdisjoint(contexts):
                self.open.add(test)
        for context, matches in by_context.items():
            # What runs before any module is known is as good as the import of the file that it is in.
            for path, blocks in matches.items() if not context or context.startswith(_IMPORT) else ():
                self._add_blocks(context or f"{_IMPORT}{path}", [{path: blocks - {OUTLINE}}])
        self.failed.update(report["failed"])
        self.records |= {f"{_WHOLE}{path}": {} for path in report["whole"]}

    def _report_blocks(
        self, report: Mapping[str, Any], unclear: set[str]
    ) -> Iterator[tuple[RepoPath, str, int]]:
        for name, file in report["files"].items():
            path = RepoPath(name)
            parts = self._taken_apart(path, file["digest"])
            for context, lines in file["runs"].items():
                if parts is None:
                    unclear.add(context)  # it is another file by now
                    continue
                for line in lines:
                    yield path, context, parts.of_line(line) if line else OUTLINE
                yield path, context, OUTLINE
        for context, names in report["opened"].items():
            for path in map(RepoPath, names):
                if path in self._digests and path not in report["files"]:
                    yield path, context, OUTLINE

    def _taken_apart(self, path: RepoPath, digest: str) -> Parts | None:
        if self._digests.get(path) != digest:
            return None
        return self.parts(path)

    def parts(self, path: RepoPath) -> Parts | None:
        if path not in self._parts:
            try:
                self._parts[path] = parts_of(self._snapshot, path)
            except NotFound:
                self._parts[path] = None
        return self._parts[path]

    def shape(self, path: RepoPath) -> tuple[str, str]:
        """The digest of a file and its blocks, as they are kept."""
        parts = self.parts(path)
        return self._digests[path], json.dumps(parts.blocks if parts is not None else ())

    def _add_blocks(self, test: str, found: Iterable[Mapping[RepoPath, set[int]]]) -> None:
        record = self.records.setdefault(test, {})
        for blocks in found:
            for path, numbers in blocks.items():
                record.setdefault(path, set()).update(numbers)


def _write_records(connection: Connection, seen: _Seen) -> int:
    numbers: dict[RepoPath, int] = {}
    for path in sorted({path for record in seen.records.values() for path in record}):
        digest, blocks = seen.shape(path)
        connection.execute(
            "INSERT OR IGNORE INTO test_shape (path, digest, blocks) VALUES (?, ?, ?)", (path, digest, blocks)
        )
        row = connection.execute("SELECT id FROM test_shape WHERE path = ? AND digest = ?", (path, digest))
        numbers[path] = int(row.fetchone()[0])
    now = int(time.time() * 1000)
    for test, record in seen.records.items():
        blocks_of = {numbers[path]: sorted(matches) for path, matches in record.items()}
        values = (test, json.dumps(blocks_of), test in seen.open, now, test in seen.failed)
        connection.execute("INSERT OR REPLACE INTO test_record VALUES (?, ?, ?, ?, ?)", values)
    return sum(not test.startswith((_IMPORT, _WHOLE)) for test in seen.records)


def _drop_stale(connection: Connection, there: Collection[str]) -> None:
    """Drops tests whose files are gone, the oldest of too many, and contents that no test has run."""
    tests = [test for (test,) in connection.execute("SELECT test FROM test_record ORDER BY used_ms DESC")]
    orphans = [test for test in tests if test.rpartition("|")[2].partition("::")[0] not in there]
    for test in {*orphans, *tests[_MOST_TESTS:]}:
        connection.execute("DELETE FROM test_record WHERE test = ?", (test,))
    records = connection.execute("SELECT blocks FROM test_record").fetchall()
    references = {int(at) for (text,) in records for at in decode_json(text)}
    remaining = connection.execute("SELECT id FROM test_shape").fetchall()
    connection.executemany(
        "DELETE FROM test_shape WHERE id = ?", [(at,) for (at,) in remaining if at not in references]
    )


def _read_map(connection: Connection) -> Learnt:
    shapes = {
        int(number): Shape(RepoPath(path), digest, tuple(Block(*one) for one in decode_json(blocks)))
        for number, path, digest, blocks in connection.execute(
            "SELECT id, path, digest, blocks FROM test_shape"
        )
    }
    tests: dict[str, Record] = {}
    rows = connection.execute("SELECT test, blocks, is_open, has_failed FROM test_record")
    for test, text, is_open, has_failed in rows:
        matches = {
            int(at): frozenset(blocks) for at, blocks in decode_json(text).items() if int(at) in shapes
        }
        tests[test] = Record(matches, bool(is_open), bool(has_failed))
    imports = {
        RepoPath(name[len(_IMPORT) :]): record.blocks
        for name, record in tests.items()
        if name.startswith(_IMPORT)
    }
    whole = {RepoPath(name[len(_WHOLE) :]) for name in tests if name.startswith(_WHOLE)}
    test_records = {name: record for name, record in tests.items() if "::" in name}
    return Learnt(shapes, test_records, imports, frozenset(whole))
