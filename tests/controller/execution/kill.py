"""A server that ends at a chosen moment of a step; its arguments are BASE, MOMENT and PLAN."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from codeplane.controller.execution import steps
from codeplane.controller.execution.side_effects import run_effect
from codeplane.controller.runs import Run
from tests.controller.execution.runs import RunRepo, edit

KILLED = 7


def die(*_arguments: object, **_options: object) -> NoReturn:
    os._exit(KILLED)


def main() -> None:
    base, moment, plan = sys.argv[1:]
    repo = RunRepo.of(Path(base))
    match moment:
        case "before the write":
            repo.session.engine.committed = die  # type: ignore[method-assign]
        case "after the write":
            vars(steps)["finish_node"] = die
        case "after the commit":
            vars(steps)["run_effect"] = lambda *arguments: die(run_effect(*arguments))
    run = Run("w_1", "sess_1", "agent", plan=plan)
    if moment == "after the commit":
        repo.turn(run, "execute_gated_side_effect", planNodeId="s1", sideEffectType="git_commit")
    else:
        edits = [edit("+ url", "+ '/' + url")]
        repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=edits)
    sys.exit(1)


if __name__ == "__main__":
    main()
