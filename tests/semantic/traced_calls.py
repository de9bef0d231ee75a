"""Calls of tools in a process of their own, with everything that the semantic tier might do on record.

`python -m tests.semantic.traced_calls ROOT BASE` prints, as JSON, the modules that were loaded, the SQL that
was run and the programs that were started: while the repository is opened and read, and while it is asked.
"""

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"))
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("refs_find", {"symbol": "Store.fetch"}),
    ("graph_callers", {"symbol": "Store.fetch", "depth": 3}),
    ("symbols_get_card", {"symbol": "Store"}),
    ("types_hierarchy", {"symbol": "Store"}),
    ("search", {"query": "fetch"}),
    ("refactor_rename", {"symbol": "Store.fetch", "new_name": "get", "apply": "never"}),
)


class Record:
    """What has happened since the last look."""

    def __init__(self) -> None:
        self._statements: list[str] = []
        self._programs: list[str] = []

    def watch(self) -> None:
        """Puts down every statement and every start of a program from now on."""
        sys.addaudithook(self._note_start)
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect

        def traced(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_trace_callback(self._statements.append)
            return connection

        sqlite3.connect = traced  # type: ignore[assignment]

    def take(self) -> dict[str, list[str]]:
        statements, programs = sorted(set(self._statements)), list(self._programs)
        self._statements.clear()
        self._programs.clear()
        modules = sorted(name for name in sys.modules if name.startswith("codeplane."))
        threads = sorted(thread.name for thread in threading.enumerate())
        return {"modules": modules, "statements": statements, "programs": programs, "threads": threads}

    def _note_start(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in STARTS:
            self._programs.append(f"{event} {arguments}")


def main() -> None:
    record = Record()
    record.watch()
    subprocess.run(["git", "--version"], check=True, capture_output=True)  # shows that starts are seen
    from tests.tools.repo import Repo  # only now: the database would have its own name for `connect`

    repo = Repo.at(Path(sys.argv[1]), Path(sys.argv[2]))
    repo.session.refresh()
    opened = record.take()
    for tool, arguments in CALLS:
        repo.result(tool, **arguments)
    asked = record.take()
    repo.session.close()
    json.dump({"opened": opened, "asked": asked}, sys.stdout)


if __name__ == "__main__":
    main()
