from typing import Annotated, Any

from pydantic import Field

from codeplane.answers.work_plan import PlanTreeOutput, tree_output
from codeplane.core.errors import InvalidArgument
from codeplane.plans import parse_document
from codeplane.plans.document import LARGEST_DOCUMENT
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_PAGE = 100


class PlanCreateInput(Input):
    title: str | None = Field(default=None, description="Title of the plan.")
    description: str | None = Field(default=None, description="What it is for.")
    phases: list[dict[str, Any]] | None = Field(
        default=None,
        description="`{title, key?, description?, after?, tasks: [{title, key?, description?, delta?, "
        "after?, blocks?, steps?, fields?}]}`; `after` and `blocks` name keys. A phase lands whole.",
    )
    fields: dict[str, Any] | None = Field(default=None, description="Fields of the plan's type.")
    type: str | None = Field(default=None, max_length=60, description="Type of the plan; `plan` by default.")
    plan: dict[str, Any] | None = Field(
        default=None, description="The whole plan in one object.", json_schema_extra=UNLISTED
    )
    text: Annotated[str | None, synonyms("document", "yaml", "json")] = Field(
        default=None, max_length=LARGEST_DOCUMENT, description="The whole plan as YAML or JSON instead."
    )


@tool(Effect.SESSION, "plans", timeout_sec=120)
def plan_create(call: Call, args: PlanCreateInput) -> PlanTreeOutput:
    """Writes down a plan of phases and tasks, whole; no file changes.

    Tasks may carry a code delta: `delta_try {"path": …}` lists operations. Unknown keys are refused.

    Use when:
    - a change is large enough to be checked, reviewed and executed phase by phase
    Not for:
    - the preview of one refactoring (refactor_rename and the like)
    Examples:
    - Two tasks in order: {"title": "Type core.py", "phases": [{"title": "Annotate", "tasks": [{"key": "a",
      "title": "create_issue"}, {"title": "close_issue", "after": ["a"]}]}]}
    - One with a delta: {"title": "Type core.py", "phases": [{"title": "Annotate", "tasks": [{"title": "load",
      "delta": {"path": "core.py", "transforms": [{"operation": "add_type_annotation", "target": "load",
      "type": "str"}], "validate_with": ["types"]}}]}]}
    """
    parts = {
        name: value
        for name in ("title", "type", "description", "fields", "phases")
        if (value := getattr(args, name)) is not None
    }
    ways = [way for way in (args.text, args.plan, parts) if way]
    if len(ways) != 1:
        raise InvalidArgument(
            "plan_create takes either title and phases, or text.",
            hints=['plan_create {"title": "…", "phases": [{"title": "…", "tasks": [{"title": "…"}]}]}'],
        )
    document = parse_document(args.text) if args.text else args.plan or parts
    plans = call.repo.work_plans
    return tree_output(plans.create(document), plans.workflow, 0, _PAGE)
