from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.plan import PlanOutput
from codeplane.session import Call
from codeplane.session.refactoring import Naming, rename
from codeplane.tools._parameters import LONGEST_SEC
from codeplane.tools._registry import Effect, synonyms, tool
from codeplane.tools._schema import UNLISTED
from codeplane.tools._settling import RefactoringInput, carried_out, needed


class RefactorRenameInput(RefactoringInput):
    symbol: Annotated[str, synonyms("target", "from")] = Field(
        default="", max_length=500, description="Qualified name or its end, `path:line`, or `sym_…`."
    )
    new_name: Annotated[str, synonyms("to")] = Field(default="", max_length=200, description="Bare name.")
    name: Annotated[str, synonyms("old_name", "local", "parameter")] = Field(
        default="",
        max_length=200,
        description="Local or parameter inside `symbol`.",
        json_schema_extra=UNLISTED,
    )
    force_syntactic: bool = Field(
        default=False,
        description="Apply low-risk edits even if not all is proven.",
        json_schema_extra=UNLISTED,
    )
    mode: Literal["semantic", "force_syntactic"] = Field(
        default="semantic",
        description="`force_syntactic`: as that parameter.",
        json_schema_extra=UNLISTED,
    )
    context_id: str | None = Field(
        default=None,
        max_length=500,
        description="Build context to use.",
        json_schema_extra=UNLISTED,
    )


@tool(Effect.WRITE, "refactoring", standard=True, timeout_sec=LONGEST_SEC)
def refactor_rename(call: Call, args: RefactorRenameInput) -> PlanOutput:
    """Renames a symbol and everything that refers to it, docs included; asks where uncertain.

    Examples:
    - A function: {"symbol": "app.load", "new_name": "read"}
    - A parameter, with keywords in calls: {"symbol": "app.load.path", "new_name": "file"}
    - A decision: {"plan": "ref_0123456789ab", "accept": ["group_1"]}
    """
    if not args.plan:
        needed("refactor_rename", symbol=args.symbol, new_name=args.new_name)
    is_forced = args.force_syntactic or args.mode == "force_syntactic"
    naming = Naming(args.symbol, args.new_name, args.name, args.context_id, is_forced=is_forced)
    return carried_out(call, args, lambda: rename(call, naming, args.verify or ()))
