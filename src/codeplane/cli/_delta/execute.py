import sys
from pathlib import Path

import click

from codeplane.cli._command import command
from codeplane.cli._delta._run import run_tool
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.session.checkout import Checkout


@command()
@click.argument("plan")
@click.option("--phase", help="Only this phase.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--auto-commit", is_flag=True, help="Commit each phase; otherwise it is left staged.")
@click.option("--allow-dirty", is_flag=True, help="Accept untracked files.")
@click.option("--no-git", is_flag=True, help="Accept any changes; stage and commit nothing.")
@click.option(
    "--confidence",
    type=click.Choice(["structural", "validated", "tested"]),
    default="tested",
    help="What every task must have; by default tested.",
)
def execute(
    root: Path, as_json: bool, plan: str, phase: str | None, yes: bool, **options: bool | str
) -> None:
    """Execute the phases of PLAN, each whole or not at all.

    At a terminal the plan is shown and you are asked first. `cpl undo` takes the last phase back.
    """
    arguments = {"plan": plan, **options, **({"phase": phase} if phase else {})}
    if not yes:
        _confirm(root, plan)
    run_tool(root, "execute_deltas", arguments, as_json=as_json)


def _confirm(root: Path, plan: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidArgument("This is no terminal to ask at.", hints=[f"cpl delta execute {plan} --yes"])
    answer = call_tool(Checkout.find(root, Places.of_user()), "get_delta_status", {"plan": plan})
    click.echo(answer.text)
    if answer.is_error or not click.confirm("Execute it?"):
        sys.exit(1)
