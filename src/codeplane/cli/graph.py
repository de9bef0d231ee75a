from pathlib import Path
from typing import Any

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places
from codeplane.core.errors import NotTrusted
from codeplane.graph_store import export_delta, find_delta, open_store, read_seeds, sync_seeds
from codeplane.graph_store.store import GraphStore
from codeplane.graph_store.sync import SEED_FOLDER
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir


@command()
@click.argument("action", type=click.Choice(["sync", "export", "status"]))
def graph(root: Path, as_json: bool, action: str) -> None:
    """Fill the graph store from its seed files, or show how it differs from them.

    sync drops the graph, makes its constraints anew and reads .codeplane/graph/seed/**/*.jsonl. A row that is
    not valid leaves the graph as it was. export writes what the graph says besides the seed files to
    .codeplane/graph/out/, as seed rows. status shows the store, its size and the differences. All of them
    need a trusted repository.
    """
    checkout = Checkout.find(root, Places.of_user())
    if not checkout.trusted:
        text = f"The seed files of {checkout.root} are read only in a trusted repository."
        raise NotTrusted(text, hints=["cpl trust"])
    state = StateDir.create(checkout.root).path
    store = open_store(state, checkout.settings.graph_store)
    try:
        report = _ACTIONS[action](store, state)
    finally:
        store.close()
    emit(report, _render_report(action, report), as_json=as_json)


def _run_sync(store: GraphStore, state: Path) -> dict[str, Any]:
    seeds = sync_seeds(store, state)
    return {"store": store.name, "files": seeds.files, "nodes": len(seeds.nodes), "edges": len(seeds.edges)}


def _run_export(store: GraphStore, state: Path) -> dict[str, Any]:
    file = export_delta(store, state, actor="cpl graph export")
    return {"store": store.name, "file": str(file) if file is not None else None}


def _show_status(store: GraphStore, state: Path) -> dict[str, Any]:
    seeds = read_seeds(state / SEED_FOLDER)
    delta = find_delta(store, seeds)
    size = store.size()
    return {
        "store": store.name,
        "nodes": size.nodes,
        "edges": size.edges,
        "constraints": list(store.constraints()),
        "seed": {"files": seeds.files, "nodes": len(seeds.nodes), "edges": len(seeds.edges)},
        "delta": {
            "added": len(delta.additions),
            "changed": len(delta.changes),
            "deleted": len(delta.deletions),
        },
    }


_ACTIONS = {"sync": _run_sync, "export": _run_export, "status": _show_status}


def _render_report(action: str, report: dict[str, Any]) -> str:
    if action == "export":
        return report["file"] or "The graph says nothing besides its seed files."
    if action == "sync":
        counts = f"{report['nodes']} nodes and {report['edges']} edges"
        return f"{report['store']}: {counts} from {report['files']} seed files."
    seed = report["seed"]
    differences = ", ".join(f"{count} {name}" for name, count in report["delta"].items() if count)
    lines = [
        f"store: {report['store']}",
        f"graph: {report['nodes']} nodes, {report['edges']} edges",
        f"constraints: {', '.join(report['constraints']) or 'none'}",
        f"seed: {seed['nodes']} nodes, {seed['edges']} edges in {seed['files']} files",
        f"besides the seed: {differences or 'nothing'}",
    ]
    return "\n".join(lines)
