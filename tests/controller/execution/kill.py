"""A server that ends at a chosen moment of a step: `python -m tests.controller.execution.kill BASE MOMENT PLAN`."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from codeplane.controller.execution import steps
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
            steps.finish_node = die  # type: ignore[assignment]
        case "after the commit":
            steps.run_effect = lambda *arguments: die(RUN_EFFECT(*arguments))  # type: ignore[assignment]
    run = Run("w_1", "sess_1", "agent", plan=plan)
    if moment == "after the commit":
        repo.turn(run, "execute_gated_side_effect", planNodeId="s1", sideEffectType="git_commit")
    else:
        edits = [edit("+ url", "+ '/' + url")]
        repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=edits)
    sys.exit(1)


RUN_EFFECT = steps.run_effect

if __name__ == "__main__":
    main()
