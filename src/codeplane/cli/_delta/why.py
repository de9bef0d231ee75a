from pathlib import Path

import click

from codeplane.cli._command import command
from codeplane.cli._delta._run import run_tool


@command()
@click.argument("task")
def why(root: Path, as_json: bool, task: str) -> None:
    """Say why TASK is red or stale: which file, which place, which earlier phase."""
    run_tool(root, "get_delta_status", {"plan": task}, as_json=as_json)
