from pathlib import Path

import click

from codeplane.cli._command import command
from codeplane.cli._delta._run import run_tool


@command()
@click.argument("plan")
@click.option("--phase", help="Only this phase.")
@click.option("--level", type=click.Choice(["validated", "tested"]), default="tested", help="How far to go.")
def validate(root: Path, as_json: bool, plan: str, phase: str | None, level: str) -> None:
    """Simulate the deltas of PLAN and run their validators.

    Everything happens in memory and in a scratch copy; no file of the repository changes.
    """
    arguments = {"plan": plan, "level": level, **({"phase": phase} if phase else {})}
    run_tool(root, "validate_deltas", arguments, as_json=as_json)
