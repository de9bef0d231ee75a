"""Which tests have failed on an unchanged tree, so that a change is not blamed for them."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from codeplane.ledger import failure_fingerprint
from codeplane.storage.database import Database
from codeplane.testrun.results import Case

_MOST: Final = 20_000


class Baseline:
    """Failures of the last run of each test on a tree without changes, in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, failures: Sequence[Case]) -> dict[str, str]:
        """The commit at which each of some failures was there already, by the id of the test."""
        if not failures:
            return {}
        with self._database.read() as connection:
            rows = connection.execute("SELECT test, failure, at_commit FROM test_baseline").fetchall()
        by_test = {test: (failure, commit) for test, failure, commit in rows}
        matches = ((case.id, by_test.get(case.id)) for case in failures)
        same = {case.id: _failure_mark(case) for case in failures}
        return {test: row[1] for test, row in matches if row is not None and row[0] == same[test]}

    def note(self, cases: Iterable[Case], failures: Iterable[Case], commit: str) -> None:
        """Takes the outcomes of a run at a commit without changes into account."""
        now = int(time.time() * 1000)
        with self._database.write() as connection:
            connection.executemany("DELETE FROM test_baseline WHERE test = ?", [(one.id,) for one in cases])
            connection.executemany(
                "INSERT OR REPLACE INTO test_baseline VALUES (?, ?, ?, ?)",
                [(one.id, _failure_mark(one), commit, now) for one in failures],
            )
            connection.execute(
                "DELETE FROM test_baseline WHERE used_ms <= (SELECT used_ms FROM test_baseline"
                " ORDER BY used_ms DESC LIMIT 1 OFFSET ?)",
                (_MOST,),
            )


def _failure_mark(case: Case) -> str:
    """One mark for a failure, wherever an edit has moved the lines that it goes through."""
    return failure_fingerprint([case.id], case.kind, case.message, None)
