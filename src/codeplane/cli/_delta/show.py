from pathlib import Path

import click

from codeplane.cli._command import command
from codeplane.cli._delta._run import run_tool


@command()
@click.argument("task")
@click.option("--side-by-side", is_flag=True, help="Two columns instead of a diff.")
def show(root: Path, as_json: bool, task: str, side_by_side: bool) -> None:
    """Show TASK before and after, with the places that match."""
    view = "side_by_side" if side_by_side else "diff"
    run_tool(root, "get_delta_status", {"plan": task, "task": task, "view": view}, as_json=as_json)
