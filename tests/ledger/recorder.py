"""Records until it is killed, and says after each row that it is on the disk. Run by `test_kill`."""

import sys
import time
from pathlib import Path

from codeplane.config.settings import LedgerSettings
from codeplane.core.ids import SessionId
from codeplane.ledger import Ledger, Limits, Tasks
from tests.ledger.making import operation


def main(directory: str, run: str, *flags: str) -> None:
    ledger = Ledger.open(Path(directory), LedgerSettings(), segment_bytes=30_000)
    tasks = Tasks(ledger, Limits(10**6, 10**6, 10**6), lambda: ("c" * 40, 1))
    interrupted = tasks.interrupt_open()
    problems = [*ledger.verify(), *ledger.all_problems()]
    print(f"started {interrupted} {problems}", flush=True)
    task = tasks.open(SessionId("sess_1"), label=run)
    for n in range(10_000):
        if "--early" in flags:
            print(f"op_{run}_{n}", flush=True)
            time.sleep(0.01)
        tasks.record(task, operation(f"op_{run}_{n}", task_id=task.task_id))
        print(f"op_{run}_{n}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
