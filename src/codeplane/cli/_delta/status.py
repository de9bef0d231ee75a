from pathlib import Path

import click

from codeplane.cli._command import command
from codeplane.cli._delta._run import run_tool


@command()
@click.argument("plan")
@click.option("--events", is_flag=True, help="Also what executions have come to.")
def status(root: Path, as_json: bool, plan: str, events: bool) -> None:
    """Show how the deltas of PLAN stand, and who executes now."""
    run_tool(root, "get_delta_status", {"plan": plan, "events": events}, as_json=as_json)
