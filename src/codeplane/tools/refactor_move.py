from typing import Annotated

from pydantic import Field

from codeplane.answers.plan import PlanOutput
from codeplane.refactor.move_symbol import Wish
from codeplane.refactor.moves.symbol_move import OnCycle
from codeplane.session import Call
from codeplane.session.refactoring import move
from codeplane.tools._parameters import LONGEST_SEC
from codeplane.tools._registry import Effect, synonyms, tool
from codeplane.tools._schema import UNLISTED
from codeplane.tools._settling import RefactoringInput, carried_out, needed


class RefactorMoveInput(RefactoringInput):
    from_path: Annotated[str, synonyms("from", "symbol", "path", "source", "old_path")] = Field(
        default="", max_length=4096, description="File, directory or symbol."
    )
    to_path: Annotated[str, synonyms("to", "target", "destination", "new_path")] = Field(
        default="", max_length=4096, description="New path; for a symbol, the file to put it in."
    )
    with_symbols: Annotated[list[str] | None, synonyms("with", "along")] = Field(
        default=None,
        max_length=50,
        description="Other top-level names of the same file that move with the symbol.",
        json_schema_extra=UNLISTED,
    )
    on_cycle: OnCycle = Field(
        default="refuse",
        description="If imports would be circular: import inside functions, or (ES modules) `allow` it.",
        json_schema_extra=UNLISTED,
    )


@tool(Effect.WRITE, "refactoring", standard=True, timeout_sec=LONGEST_SEC)
def refactor_move(call: Call, args: RefactorMoveInput) -> PlanOutput:
    """Moves a file, a directory or a top-level symbol (Python, Go, JS/TS) and rewrites every import.

    Examples:
    - A function to another module: {"from_path": "app.load.parse", "to_path": "app/text.py"}
    - A module into a package: {"from_path": "app/load.py", "to_path": "app/io/load.py"}
    """
    if not args.plan:
        needed("refactor_move", from_path=args.from_path, to_path=args.to_path)
    wish = Wish(tuple(args.with_symbols or ()), args.on_cycle)
    return carried_out(call, args, lambda: move(call, args.from_path, args.to_path, args.verify or (), wish))
