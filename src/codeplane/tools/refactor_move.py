from typing import Annotated, Literal

from pydantic import Field

from codeplane.refactor import Verdict
from codeplane.session import Call
from codeplane.session.refactoring import apply, move
from codeplane.tools._delta import told
from codeplane.tools._plan import PlanOutput, is_refuted, plan_told
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._verified import LONGEST_SEC, VERIFY
from codeplane.verify import Check


class RefactorMoveInput(Input):
    from_path: Annotated[str, synonyms("from", "symbol", "path", "source", "old_path")] = Field(
        min_length=1, max_length=4096, description="File, directory, or a symbol at the top of a file."
    )
    to_path: Annotated[str, synonyms("to", "target", "destination", "new_path")] = Field(
        min_length=1, max_length=4096, description="Its new path; of a symbol, the file that it goes to."
    )
    verify: Annotated[list[Check] | None, synonyms("checks", "shadow_check")] = VERIFY
    apply: Literal["never", "if_certain"] = Field(
        default="never",
        description="`if_certain`: at once, where every edit is proven and every check passes.",
    )


@tool(Effect.WRITE, "refactoring", timeout_sec=LONGEST_SEC)
def refactor_move(call: Call, args: RefactorMoveInput) -> PlanOutput:
    """Moves a file, a directory or a symbol with every import that leads to it and every one that it needs.

    Use when:
    - a module, a package or a directory should be somewhere else, or have another name
    Not for:
    - another name for a function or a class: refactor_rename
    Examples:
    - A function to another module: {"from_path": "app.load.parse", "to_path": "app/text.py"}
    - A module into a package: {"from_path": "app/load.py", "to_path": "app/io/load.py"}
    """
    pending = move(call, args.from_path, args.to_path, args.verify or ())
    is_wanted = args.apply == "if_certain" and pending.plan.verdict is Verdict.OK
    if is_wanted and not is_refuted(call, pending):
        return plan_told(call, pending, told(call, apply(call, pending)))
    return plan_told(call, pending)
