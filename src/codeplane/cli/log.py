import sys
from pathlib import Path
from typing import Any

import click

from codeplane.answers.ledger import operation_head, task_line
from codeplane.cli._command import command, emit
from codeplane.cli._ledger import history_of, mark_ended
from codeplane.core.errors import NotFound
from codeplane.core.ids import OperationId, TaskId
from codeplane.git import locate
from codeplane.ledger import History
from codeplane.ledger.summary import operation_summary, task_summary
from codeplane.ledger.verify import tip, verify
from codeplane.storage import StateDir
from codeplane.storage.files import disk_problem
from codeplane.storage.objects import ObjectStore


@command()
@click.option("--task", help="Show this task only.")
@click.option(
    "-n", "count", type=click.IntRange(1, 100_000), default=20, help="Number of operations; by default 20."
)
@click.option("--show", metavar="OPERATION", help="Show one operation, with its full diff if kept.")
@click.option("--verify", "prove", is_flag=True, help="Verify the ledger.")
def log(root: Path, as_json: bool, task: str | None, count: int, show: str | None, prove: bool) -> None:
    """Show the changes made in the repository, newest first, by task.

    Works with or without a server and changes nothing. With --verify, checks every row of the ledger instead
    and prints the hash of the last one; exit code 1 if something is wrong.
    """
    state = StateDir.at(locate(root))
    history = history_of(state)
    if prove:
        _verify_history(history, as_json=as_json)
        return
    if show is not None:
        report = _one(history, state, OperationId(show))
        emit(report, _one_text(report), as_json=as_json)
        return
    report = _make_report(history, TaskId(task) if task is not None else None, count)
    mark_ended(state, report["tasks"])
    emit(report, _text(report), as_json=as_json)


def _make_report(history: History, task: TaskId | None, count: int) -> dict[str, Any]:
    operations = history.operations(task=task, limit=count)
    task_ids = [task] if task is not None else dict.fromkeys(one.task_id for one in operations)
    tasks = {
        name: task_summary(recorded_task)
        for name in task_ids
        if (recorded_task := history.task(name)) is not None
    }
    if task is not None and not tasks and not operations:
        raise NotFound(f"The ledger has no task {task!r}.", hints=["cpl log"])
    problems = [*history.all_problems(), *filter(None, [disk_problem(history.directory.parent)])]
    report = {"operations": [operation_summary(one) for one in operations], "tasks": list(tasks.values())}
    return report | ({"problems": problems} if problems else {})


def _text(report: dict[str, Any]) -> str:
    tasks = {task["task_id"]: task_line(task) for task in report["tasks"]}
    lines: list[str] = [tasks[name] for name in tasks if not report["operations"]]
    current = None
    for operation in report["operations"]:
        if operation["task_id"] != current:
            current = operation["task_id"]
            lines.append(tasks.get(current, current))
        lines.append(f"{operation['number']:>6}  {operation_head(operation)}")
        lines += [f"{'':8}{file}" for file in operation.get("short_diff", "").splitlines()]
    lines += [f"problem: {problem}" for problem in report.get("problems", [])]
    return "\n".join(lines) or "No changes on record."


def _one(history: History, state: StateDir, operation_id: OperationId) -> dict[str, Any]:
    operation = history.find(operation_id)
    if operation is None:
        raise NotFound(f"The ledger has no operation {operation_id!r}.", hints=["cpl log"])
    report: dict[str, Any] = {"operation": operation_summary(operation)}
    if operation.artifact is not None and (artifact := ObjectStore(state.artifacts).read(operation.artifact)):
        report["diff"] = artifact.decode("utf-8", "replace")
    return report


def _one_text(report: dict[str, Any]) -> str:
    operation = report["operation"]
    rows = [(name, value) for name, value in operation.items() if name not in ("short_diff", "changes")]
    lines = [f"{name:<20} {' '.join(str(value).split())}" for name, value in rows]
    lines += [f"{'':20} {file}" for file in operation.get("short_diff", "").splitlines()]
    return "\n".join([*lines, report.get("diff", "The full diff was not kept (setting ledger.artifacts).")])


def _verify_history(history: History, *, as_json: bool) -> None:
    problems = verify(history.directory)
    end = tip(history.directory) if not problems else None
    report: dict[str, Any] = {"holds": not problems, "problems": problems}
    if end is not None:
        report["last"] = {"number": end[0], "hash": end[1]}
    holds = "The ledger is empty." if end is None else f"Verified up to row {end[0]}: {end[1]}"
    emit(report, "\n".join(problems) or holds, as_json=as_json)
    sys.exit(1 if problems else 0)
