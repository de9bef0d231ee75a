from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.memory import MemoryRecord, MemoryState, MemoryStore, render_memory
from codeplane.memory.export import Subject, export_lines
from codeplane.session.checkout import Checkout
from codeplane.storage.state_db import open_state_db

_USAGE = {
    "list": "cpl memory list, or cpl memory list --state pending",
    "show": "cpl memory show MEMORY",
    "approve": "cpl memory approve MEMORY",
    "reject": "cpl memory reject MEMORY --reason TEXT",
    "drop": "cpl memory drop MEMORY",
    "export": "cpl memory export records, changelog or friction",
}


@command()
@click.argument("action", type=click.Choice(list(_USAGE)))
@click.argument("subject", required=False)
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in MemoryState]),
    help="With list.",
)
@click.option("--reason", default="", help="With approve, reject and drop: why, for the changelog.")
def memory(
    root: Path, as_json: bool, action: str, subject: str | None, states: tuple[str, ...], reason: str
) -> None:
    """List memories of controlled runs, and decide about them.

    list prints all of them or those in a state, show one with its changes. approve and reject decide about
    one that is pending or provisional; drop retires one. export prints records, the changelog or friction
    as lines of JSON. What is decided here counts at once, also in a running server.
    """
    is_decision = action in ("approve", "reject", "drop")
    if (
        (subject is None) != (action == "list")
        or (states and action != "list")
        or (reason and not is_decision)
    ):
        raise InvalidArgument(f"{action} is not called like this.", hints=[_USAGE[action]])
    with _store_at(root) as store:
        if action == "list":
            records = store.list_all([MemoryState(state) for state in states]) if store is not None else []
            text = "\n".join(map(_line, records)) or "no memories"
            emit({"memories": [record.to_dict() for record in records]}, text, as_json=as_json)
        elif action == "export":
            _export(store, subject or "")
        elif store is None:
            raise NotFound("There are no memories here.", hints=[_USAGE["list"]])
        elif action == "show":
            record = store.show(subject or "")
            emit(_details(store, record), _page(store, record), as_json=as_json)
        else:
            record = getattr(store, action)(subject or "", reason)
            emit(record.to_dict(), _line(record), as_json=as_json)


@contextmanager
def _store_at(root: Path) -> Iterator[MemoryStore | None]:
    """The memories of a repository, read where they are; None where there have never been any."""
    checkout = Checkout.find(root, Places.of_user())
    path = checkout.state.path / "state.db"
    if not path.exists():
        yield None
        return
    database = open_state_db(path)
    try:
        yield MemoryStore(lambda: database, checkout.settings.controller.memory)
    finally:
        database.close()


def _export(store: MemoryStore | None, name: str) -> None:
    subjects: dict[str, Subject] = {subject: subject for subject in get_args(Subject)}
    if name not in subjects:
        raise InvalidArgument(
            f"There is nothing to export that is called {name[:60]!r}.", hints=[_USAGE["export"]]
        )
    for line in export_lines(store, subjects[name]) if store is not None else ():
        click.echo(line)


def _line(record: MemoryRecord) -> str:
    anchors = ", ".join(record.content.domain_anchor_ids) or "."
    codes = " ".join(record.content.rejection_codes)
    return f"{record.id} {record.state} {record.enforcement} {record.count}x {anchors} {codes}".rstrip()


def _details(store: MemoryStore, record: MemoryRecord) -> dict[str, Any]:
    return record.to_dict() | {"changes": [change.to_dict() for change in store.changes(record.id)]}


def _page(store: MemoryStore, record: MemoryRecord) -> str:
    lines = [_line(record), render_memory(record).partition(": ")[2]]
    lines += [f"rests on {path}" for path in record.content.digests]
    for change in store.changes(record.id):
        entry = change.to_dict()
        states = " -> ".join(state for state in (change.old_state, change.new_state) if state)
        lines.append(" ".join([entry["ts"], change.event, states, f"by {change.actor}: {change.reason}"]))
    return "\n".join(" ".join(line.split(" ")) for line in lines)
