"""The request and the answer of a turn, field by field; on the wire the names are in camel case."""

from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from codeplane.answers.output import Output

SCHEMA_VERSION: Final = "1.0.0"
Outcome = Literal["ok", "pack_insufficient"]


class RunState(StrEnum):
    """Where a run stands; it decides which verbs are allowed."""

    PLAN_REQUIRED = "PLAN_REQUIRED"
    PLAN_ACCEPTED = "PLAN_ACCEPTED"
    EXECUTION_ENABLED = "EXECUTION_ENABLED"
    BLOCKED_BUDGET = "BLOCKED_BUDGET"
    FAILED = "FAILED"
    COMPLETED = "COMPLETED"


class WireModel(BaseModel):
    """Base of everything that a turn sends: camel case outside, immutable inside."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
    )


class TurnRequest(WireModel):
    """A turn as an agent asks for it."""

    verb: str
    args: dict[str, Any] = Field(default_factory=dict)
    work_id: str | None = None
    agent_id: str | None = None
    run_session_id: str | None = None
    original_prompt: str | None = None
    trace_meta: dict[str, Any] = Field(default_factory=dict)


class VerbDescription(WireModel):
    """What an agent is told of a verb."""

    description: str
    when_to_use: str
    required_args: list[str]
    optional_args: list[str]


class SuggestedAction(WireModel):
    """The call to send instead or next. Sent as it is, with `args` flat or nested, it is accepted."""

    verb: str
    reason: str
    args: dict[str, Any] | None = None


class Scope(WireModel):
    """Where a run may read and write."""

    worktree_root: str
    scratch_root: str


class KnowledgeStrategy(WireModel):
    """How the run goes about its work, and why so."""

    strategy_id: str
    context_signature: dict[str, Any] | None = None
    reasons: list[str] = Field(default_factory=list)


class BudgetStatus(WireModel):
    """Tokens of the run, requests and answers together."""

    max_tokens: int
    used_tokens: int
    threshold_tokens: int
    blocked: bool


class SubAgentHints(WireModel):
    """Nodes of the plan that different agents can work on at the same time."""

    recommended: bool = False
    splits: list[list[str]] = Field(default_factory=list)


class Progress(WireModel):
    """How much of the accepted plan is done."""

    total_nodes: int
    completed_nodes: int
    remaining_nodes: int
    pending_validations: int


class TurnResponse(Output):
    """The answer to a turn. What an agent reads is its text; this is the structured form."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
    )

    run_session_id: str = Field(description="The conversation that the run began in.")
    work_id: str = Field(description="The run; send it to go on with it from anywhere.")
    agent_id: str = Field(description="The agent.")
    state: RunState = Field(description="Where the run stands after this turn.")
    outcome: Outcome | None = Field(default=None, description="Whether the context pack is sufficient.")
    capabilities: list[str] = Field(description="Verbs that are allowed now.")
    verb_descriptions: dict[str, VerbDescription] | None = Field(
        default=None, description="What they do: in the first turn, when the state changes, and on request."
    )
    scope: Scope = Field(description="Where the run may read and write.")
    result: dict[str, Any] = Field(description="What the verb answered.")
    deny_reasons: list[str] = Field(description="Rejection codes; none where the verb was carried out.")
    suggested_action: SuggestedAction | None = Field(
        default=None, description="What to send instead of a denied verb; it is accepted."
    )
    next_action: SuggestedAction | None = Field(default=None, description="What to send next.")
    progress: Progress | None = Field(default=None, description="How much of the plan is done.")
    knowledge_strategy: KnowledgeStrategy = Field(description="Strategy of the run.")
    budget_status: BudgetStatus = Field(description="Tokens.")
    trace_ref: str = Field(description="The request as logs and ledger know it.")
    schema_version: str = Field(default=SCHEMA_VERSION, description="Version of this form.")
    sub_agent_hints: SubAgentHints = Field(description="What can be split among agents.")
    pack_insufficiency: dict[str, Any] | None = Field(
        default=None, description="What the context pack lacks, and how to get it."
    )
    text: str = Field(default="", exclude=True, description="The answer as an agent reads it.")

    def is_done(self) -> bool:
        return not self.deny_reasons

    def render(self) -> str:
        return self.text
