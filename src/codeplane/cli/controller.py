import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.controller.contract import RunState
from codeplane.controller.runs import Run, RunStore
from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.git import locate
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir
from codeplane.storage.state_db import open_state_db

_USAGE = {
    "turn": 'cpl controller turn read_file_lines \'{"targetFile": "app.py"}\'',
    "runs": "cpl controller runs",
    "release": "cpl controller release WORK",
}


@command()
@click.argument("action", type=click.Choice(list(_USAGE)))
@click.argument("subject", required=False)
@click.argument("arguments", required=False)
@click.option("--work", help="With turn: the run to go on with; a new one by default.")
def controller(
    root: Path, as_json: bool, action: str, subject: str | None, arguments: str | None, work: str | None
) -> None:
    """Take turns of a controlled run, list runs, or release one.

    turn sends the verb SUBJECT with its ARGUMENTS, a JSON object, and prints what an agent would read. runs
    lists the last runs with state, turns and tokens. release lets a run go on that has failed or is over its
    budget: this is a person's decision, so no tool does it.
    """
    if (subject is None) != (action == "runs") or (arguments is not None and action != "turn"):
        raise InvalidArgument(f"{action} is not called like this.", hints=[_USAGE[action]])
    if action == "turn":
        _take_turn(root, subject or "", arguments, work, as_json=as_json)
        return
    with _runs_at(root) as runs:
        if action == "runs":
            rows = [run.to_row() for run in runs.recent()] if runs is not None else []
            emit({"runs": rows}, "\n".join(_line(row) for row in rows) or "No runs.", as_json=as_json)
        else:
            if runs is None:
                raise NotFound("There are no runs here.", hints=[_USAGE["turn"]])
            run = _release(runs, subject or "")
            text = f"{run.work_id} goes on in {run.state} with a new budget."
            emit(run.to_row(), text, as_json=as_json)


def _take_turn(root: Path, verb: str, arguments: str | None, work: str | None, *, as_json: bool) -> None:
    try:
        values = decode_json(arguments) if arguments is not None else {}
    except ValueError as error:
        raise InvalidArgument(f"ARGUMENTS: {error}.", hints=[_USAGE["turn"]]) from error
    if not isinstance(values, dict):
        raise InvalidArgument("ARGUMENTS must be a JSON object.", hints=[_USAGE["turn"]])
    request: dict[str, Any] = {"verb": verb, "args": values} | ({"workId": work} if work else {})
    answer = call_tool(Checkout.find(root, Places.of_user()), "controller_turn", request)
    emit(answer.body, answer.text, as_json=as_json)
    is_denied = answer.is_error or bool(answer.body["result"]["denyReasons"])
    sys.exit(1 if is_denied else 0)


@contextmanager
def _runs_at(root: Path) -> Iterator[RunStore | None]:
    """The runs of a repository, read where they are; None where there was never one."""
    path = StateDir.at(locate(root)).path / "state.db"
    if not path.exists():
        yield None
        return
    database = open_state_db(path)
    try:
        yield RunStore(lambda: database)
    finally:
        database.close()


def _release(runs: RunStore, work_id: str) -> Run:
    with runs.holding(work_id):
        run = runs.load(work_id)
        if run is None:
            raise NotFound(f"There is no run {work_id[:80]}.", hints=[_USAGE["runs"]])
        if run.state not in (RunState.FAILED, RunState.BLOCKED_BUDGET):
            raise InvalidArgument(f"{run.work_id} is in {run.state}; there is nothing to release.")
        usual = RunState.PLAN_REQUIRED if run.plan is None else RunState.EXECUTION_ENABLED
        run.state = run.body.resume_state or usual
        run.tokens, run.body.resume_state, run.body.failure = 0, None, ""
        run.body.rejections.clear()
        runs.save(run)
        return run


def _line(row: dict[str, Any]) -> str:
    prompt = json.dumps(row["prompt"][:60], ensure_ascii=False) if row["prompt"] else ""
    counts = f"{row['turns']} turns, {row['denials']} denied, {row['usedTokens']} tokens"
    return f"{row['workId']} {row['state']} {counts} {prompt}".rstrip()
