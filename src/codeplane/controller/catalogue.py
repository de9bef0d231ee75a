"""Every verb, and in which states it is allowed. The table is the whole of the gate."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final

from codeplane.controller.contract import RunState


class Verb(StrEnum):
    """What a turn can do."""

    INITIALIZE_WORK = "initialize_work"
    LIST_AVAILABLE_VERBS = "list_available_verbs"
    LIST_SCOPED_FILES = "list_scoped_files"
    LIST_DIRECTORY_CONTENTS = "list_directory_contents"
    READ_FILE_LINES = "read_file_lines"
    LOOKUP_SYMBOL_DEFINITION = "lookup_symbol_definition"
    TRACE_SYMBOL_GRAPH = "trace_symbol_graph"
    SEARCH_CODEBASE_TEXT = "search_codebase_text"
    FETCH_JIRA_TICKET = "fetch_jira_ticket"
    FETCH_API_SPEC = "fetch_api_spec"
    GET_ORIGINAL_PROMPT = "get_original_prompt"
    WRITE_SCRATCH_FILE = "write_scratch_file"
    SUBMIT_EXECUTION_PLAN = "submit_execution_plan"
    REQUEST_EVIDENCE_GUIDANCE = "request_evidence_guidance"
    OBSERVE = "observe"
    SIGNAL_TASK_COMPLETE = "signal_task_complete"
    APPLY_CODE_PATCH = "apply_code_patch"
    RUN_SANDBOXED_CODE = "run_sandboxed_code"
    EXECUTE_GATED_SIDE_EFFECT = "execute_gated_side_effect"
    RUN_AUTOMATION_RECIPE = "run_automation_recipe"


_POST_PLAN: Final = frozenset(
    {
        Verb.APPLY_CODE_PATCH,
        Verb.RUN_SANDBOXED_CODE,
        Verb.EXECUTE_GATED_SIDE_EFFECT,
        Verb.RUN_AUTOMATION_RECIPE,
    }
)
_PRE_PLAN: Final = frozenset(Verb) - _POST_PLAN
_WITH_PLAN: Final = frozenset(Verb) - {Verb.INITIALIZE_WORK}
_TERMINAL: Final = frozenset({Verb.LIST_AVAILABLE_VERBS, Verb.GET_ORIGINAL_PROMPT, Verb.SIGNAL_TASK_COMPLETE})
BUDGET_SAFE: Final = _TERMINAL | {Verb.REQUEST_EVIDENCE_GUIDANCE, Verb.OBSERVE}
"""Verbs that a run over its budget may still use: they end the work or say what is missing."""
REPEATABLE: Final = frozenset(
    {
        Verb.LIST_AVAILABLE_VERBS,
        Verb.LIST_SCOPED_FILES,
        Verb.LIST_DIRECTORY_CONTENTS,
        Verb.READ_FILE_LINES,
        Verb.LOOKUP_SYMBOL_DEFINITION,
        Verb.SEARCH_CODEBASE_TEXT,
        Verb.GET_ORIGINAL_PROMPT,
    }
)
"""Verbs that only show something: such a turn may be taken again, and shows what it showed before."""

ALLOWED: Final[Mapping[RunState, frozenset[Verb]]] = {
    RunState.PLAN_REQUIRED: _PRE_PLAN,
    RunState.PLAN_ACCEPTED: _WITH_PLAN,
    RunState.EXECUTION_ENABLED: _WITH_PLAN,
    RunState.BLOCKED_BUDGET: BUDGET_SAFE,
    RunState.FAILED: _TERMINAL,
    RunState.COMPLETED: _TERMINAL,
}


@cache
def allowed_verbs(state: RunState) -> tuple[Verb, ...]:
    """The verbs of a state, in the order in which work goes."""
    return tuple(verb for verb in Verb if verb in ALLOWED[state])
