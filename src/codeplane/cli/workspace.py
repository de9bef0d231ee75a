import sys
from pathlib import Path
from typing import Any

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.session.checkout import Checkout

_NAMELESS = ("list", "prune")


@command()
@click.argument("action", type=click.Choice(["create", "list", "reset", "delete", "prune"]))
@click.argument("name", required=False)
@click.option("--base", metavar="REF", help="With create and reset: branch or commit; by default HEAD.")
@click.option(
    "--branch", metavar="BRANCH", help="With create: its branch; by default named as the workspace."
)
@click.option("--kind", type=click.Choice(["worktree", "memory"]), help="With create: where its files are.")
@click.option("--force", is_flag=True, help="With reset and delete: discard its work, which is saved first.")
def workspace(root: Path, as_json: bool, action: str, name: str | None, **options: Any) -> None:
    """Make, list, reset and delete workspaces.

    A workspace is a state of the repository that one agent works in while others work elsewhere: by default a
    git worktree beside the repository, with a branch of its own. prune forgets those whose directories are
    gone. `cpl mcp --workspace NAME` lets an agent work in one.
    """
    if (name is None) != (action in _NAMELESS) and not (action == "create" and name is None):
        wrong = f"{action} takes no NAME." if name is not None else f"{action} needs the NAME of a workspace."
        raise InvalidArgument(wrong, hints=["cpl workspace list"])
    arguments = {key: value for key, value in {"workspace": name, **options}.items() if value}
    tool = f"workspace_{action}"
    if action == "prune":
        tool, arguments = "workspace_delete", {"orphans": True}
    answer = call_tool(Checkout.find(root, Places.of_user()), tool, arguments)
    emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)
