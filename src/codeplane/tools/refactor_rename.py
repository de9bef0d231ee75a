from typing import Annotated, Literal

from pydantic import Field

from codeplane.refactor import Verdict
from codeplane.session import Call
from codeplane.session.refactoring import Naming, apply, rename
from codeplane.tools._delta import told
from codeplane.tools._plan import PlanOutput, is_refuted, plan_told
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._verified import LONGEST_SEC, VERIFY
from codeplane.verify import Check


class RefactorRenameInput(Input):
    symbol: Annotated[str, synonyms("target", "from")] = Field(
        min_length=1, max_length=500, description="Qualified name or its end, `path:line`, or `sym_…`."
    )
    new_name: Annotated[str, synonyms("to")] = Field(
        min_length=1, max_length=200, description="The name alone, without its module."
    )
    name: Annotated[str, synonyms("old_name", "local", "parameter")] = Field(
        default="",
        max_length=200,
        description="With `path:line` or a function: the local, parameter or definition of that name there.",
    )
    verify: Annotated[list[Check] | None, synonyms("checks", "shadow_check")] = VERIFY
    apply: Literal["never", "if_certain"] = Field(
        default="never",
        description="`if_certain`: at once, where every edit is proven and every check passes.",
    )
    mode: Literal["semantic", "force_syntactic"] = Field(
        default="semantic",
        description="`force_syntactic`: the edits of low risk, though not all is proven; lists the others.",
    )


@tool(Effect.WRITE, "refactoring", timeout_sec=LONGEST_SEC)
def refactor_rename(call: Call, args: RefactorRenameInput) -> PlanOutput:
    """Renames a symbol everywhere it is meant and nowhere else, with comments and documents.

    Use when:
    - a function, class, method, field, constant, parameter or local should have another name
    Not for:
    - text that is no symbol: write_source
    Examples:
    - At once where it is certain: {"symbol": "app.load", "new_name": "read", "apply": "if_certain"}
    - A parameter with the keywords of its calls: {"symbol": "app.load.path", "new_name": "file"}
    """
    naming = Naming(args.symbol, args.new_name, args.name, is_forced=args.mode == "force_syntactic")
    pending = rename(call, naming, args.verify or ())
    is_wanted = args.apply == "if_certain" and pending.plan.verdict in (Verdict.OK, Verdict.OK_SYNTACTIC)
    if is_wanted and not is_refuted(call, pending):
        return plan_told(call, pending, told(call, apply(call, pending)))
    return plan_told(call, pending)
