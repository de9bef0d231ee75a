"""Readers beside a writer that turns to new segments and drops old ones: nobody sees damage that is none."""

import subprocess
import sys
import threading
from pathlib import Path

from codeplane.core.ids import SessionId
from codeplane.ledger import History, Ledger, Limits, Tasks
from tests.ledger.making import operation, small_ledger
from tests.zygote import PATIENCE, ROOT

READER = """
import sys
from pathlib import Path
from codeplane.ledger import History
from codeplane.ledger.verify import verify
for line in sys.stdin:
    history = History(Path(sys.argv[1]))
    newest = [one.number for one in history.operations(limit=50)]
    problems = [*verify(history.directory), *history.all_problems()]
    assert newest == sorted(newest, reverse=True)
    print(len(newest), problems, flush=True)
"""


def write(ledger: Ledger, rows: int) -> None:
    tasks = Tasks(ledger, Limits(10**6, 10**6, 10**6), lambda: (None, None))
    for n in range(rows):
        task = tasks.open(SessionId("sess_1"))
        tasks.record(task, operation(f"op_{n}", task_id=task.task_id))
        tasks.close(task, "CLOSED_SUCCESS")


def test_a_reader_in_the_server_sees_no_damage(directory: Path) -> None:
    ledger = small_ledger(directory, keep_tasks=4)
    writer = threading.Thread(target=write, args=(ledger, 12))
    writer.start()
    looks = 0
    while writer.is_alive():
        numbers = [one.number for one in ledger.operations(limit=50)]
        assert numbers == sorted(numbers, reverse=True)
        assert all(task.state in ("OPEN", "CLOSED_SUCCESS") for task in ledger.tasks())
        ledger.last_undoable()
        assert ledger.all_problems() == []
        looks += 1
    writer.join()
    assert looks > 1 and ledger.verify() == [] and ledger.all_problems() == []
    ledger.close()


def test_a_reader_in_another_process_sees_no_damage(directory: Path) -> None:
    ledger = small_ledger(directory, keep_tasks=4)
    writer = threading.Thread(target=write, args=(ledger, 15))
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(directory)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdin is not None and reader.stdout is not None
    said = []
    writer.start()
    while writer.is_alive():
        print("look", file=reader.stdin, flush=True)
        said.append(reader.stdout.readline().strip())
    writer.join()
    reader.stdin.close()
    reader.stdout.close()
    assert reader.wait(PATIENCE) == 0
    assert said and {line.split(" ", 1)[1] for line in said} == {"[]"}, said
    assert ledger.verify() == []
    ledger.close()
    assert History(directory).problems == []
