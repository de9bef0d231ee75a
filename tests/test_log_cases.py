"""Runs every text case of `tests/cases/log`: rows of a ledger, and what the commands say about them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codeplane.cli._group import cpl
from codeplane.config.settings import LedgerSettings
from codeplane.core.ids import SessionId, TaskId
from codeplane.ledger import Ledger, Limits, Task
from codeplane.storage import StateDir
from tests.drive import user_env
from tests.ledger.making import change, operation

CASES = sorted((Path(__file__).parent / "cases" / "log").glob("*.txt"))
HEADING = re.compile(r"^-- (.+) --$", re.MULTILINE)
START = 1_700_000_000_000


@pytest.mark.parametrize("file", CASES, ids=[case.stem for case in CASES])
def test_case(
    file: Path, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("os.environ", user_env(home))
    about, _, rows, *rest = HEADING.split(file.read_text())
    write_rows(repo, [json.loads(line) for line in rows.splitlines() if line])
    ran = [f"-- {command} --\n{run(repo, command.split())}\n" for command in rest[::2]]
    text = "".join([f"{about}-- rows --{rows}", *ran]).rstrip("\n") + "\n"
    if request.config.getoption("--update") and text != file.read_text():
        file.write_text(text)
        pytest.fail("rewritten; read the difference")
    assert text == file.read_text()


def run(repo: Path, words: list[str]) -> str:
    done = CliRunner().invoke(cpl, [*words, "--root", str(repo)], prog_name="cpl")
    text = f"{done.output}(exit code {done.exit_code})\n"
    text = re.sub(r"\b[0-9a-f]{64}\b", "<hash>", text.replace(str(repo), "<root>"))
    return re.sub(r"\bmain [0-9a-f]{12}\b", "main <commit>", text)


def write_rows(repo: Path, said: list[dict[str, Any]]) -> None:
    if not said:
        return
    ledger = Ledger.open(StateDir.create(repo).ledger, LedgerSettings())
    tasks: dict[str, Task] = {}
    for second, row in enumerate(said):
        now = START + second * 1000
        if "task" in row:
            task = Task(
                task_id=TaskId(row["task"]),
                session_id=SessionId("sess_1"),
                limits=Limits(row.get("max_mutations", 200), 100, 14_400),
                label=row.get("label"),
                opened_ms=now,
            )
            tasks[task.task_id] = task
            ledger.append([task.event("opened")])
        elif "close" in row:
            task = tasks[row["close"]]
            task.state, task.reason, task.closed_ms = row["state"], row["reason"], now
            ledger.append([task.event("closed")])
        else:
            changes = tuple(change(*one) for one in row.pop("changes", []))
            task_id = TaskId(row.pop("in"))
            made = operation(row.pop("op"), task_id=task_id, timestamp_ms=now, changes=changes, **row)
            ledger.record(made)
    ledger.close()
