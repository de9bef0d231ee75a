import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.core.errors import EditRefused
from codeplane.delta.proposal import propose_toolchain
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir
from codeplane.storage.files import write_private


@command()
@click.option("--write", is_flag=True, help="Write .codeplane/toolchain.toml, unless there is one.")
def toolchain(root: Path, as_json: bool, write: bool) -> None:
    """Propose a toolchain.toml from the linters and test runners that the repository uses.

    Read it, keep what you want, then run cpl trust: its commands run only as you have seen them.
    """
    checkout = Checkout.find(root, Places.of_user())
    linters = call_tool(checkout, "lint_tools", {})
    targets = call_tool(checkout, "discover_test_targets", {})
    for answer in (linters, targets):
        if answer.is_error:
            emit(answer.body, answer.text, as_json=as_json)
            sys.exit(1)
    names = [tool["name"] for tool in linters.body["result"]["tools"]]
    runners = dict.fromkeys(
        project.partition(" ")[0] for project in targets.body["result"].get("projects") or ()
    )
    text = propose_toolchain(names, runners) or "# No linter and no test runner that is known here is used.\n"
    if write:
        file = StateDir.create(checkout.root).toolchain_file
        if file.exists() or file.is_symlink():
            raise EditRefused(f"{file} exists.", hints=["cpl delta toolchain shows the proposal."])
        write_private(file, text.encode())
    emit({"toolchain": text, "written": write}, text.rstrip("\n"), as_json=as_json)
