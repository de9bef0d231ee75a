"""One tool of deltas called from the shell, with a line that tells how far it is."""

import sys
from collections.abc import Mapping
from pathlib import Path

from codeplane.cli._command import emit
from codeplane.cli._progress import StepLine
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.session.checkout import Checkout


def run_tool(root: Path, tool: str, arguments: Mapping[str, object], *, as_json: bool) -> None:
    """Calls the tool, prints its answer and exits: 1 where it failed or something is red."""
    line = StepLine(tool.replace("_", " "))
    checkout = Checkout.find(root, Places.of_user())
    answer = call_tool(checkout, tool, arguments, progress=line)
    line.clear()
    emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)
