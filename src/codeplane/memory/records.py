"""A memory: where it applies, what it enforces, why it was made, and where in its life it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.core.ids import MemoryId

ROOT_ANCHOR: Final = "."
"""The anchor of the repository itself: what it carries applies to every file."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Text = Annotated[str, StringConstraints(max_length=4_000)]
Feature = StrictBool | StrictInt | Annotated[str, StringConstraints(max_length=200)]


class MemoryState(StrEnum):
    """Where a memory is in its life."""

    PENDING = "pending"
    PROVISIONAL = "provisional"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    RETIRED = "retired"


ENFORCED: Final = frozenset((MemoryState.PROVISIONAL, MemoryState.APPROVED))
"""States in which a memory is shown and enforced."""


class Enforcement(StrEnum):
    """What a memory does."""

    FEW_SHOT = "few_shot"
    PLAN_RULE = "plan_rule"
    STRATEGY_SIGNAL = "strategy_signal"
    INFORMATIONAL = "informational"


class Trigger(StrEnum):
    """What a memory or a friction entry came from."""

    REJECTION_PATTERN = "rejection_pattern"
    HUMAN_OVERRIDE = "human_override"
    RETROSPECTIVE = "retrospective"
    RULE_VIOLATION = "rule_violation"
    FRICTION_SIGNAL = "friction_signal"


class Phase(StrEnum):
    """The part of a run that a memory is about."""

    EXPLORATION = "exploration"
    PLANNING = "planning"
    EXECUTION = "execution"
    RETROSPECTIVE = "retrospective"


class MemoryPart(BaseModel):
    """Part of a memory as files and answers have it: camelCase, nothing unknown."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, use_enum_values=False
    )


class FewShot(MemoryPart):
    """An example: what was refused, and what was accepted in its place."""

    instruction: Text = Field(min_length=1)
    before: Text = ""
    after: Text = Field(min_length=1)
    anti_pattern: Text = ""
    why_wrong: Text = ""


class RuleCondition(MemoryPart):
    """When a rule counts, as data: every part that is given has to hold."""

    features: dict[Name, Feature] = Field(default_factory=dict, max_length=20)
    files: tuple[Name, ...] = Field(default=(), max_length=50)
    node_kinds: tuple[Name, ...] = Field(default=(), max_length=10)

    @field_validator("files")
    @classmethod
    def _check_globs(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        _compile_globs(patterns)
        return patterns


class PlanRule(MemoryPart):
    """Steps that a plan must have, or a plan that is not wanted at all."""

    condition: RuleCondition = RuleCondition()
    required_steps: tuple[Name, ...] = Field(default=(), max_length=20)
    deny_code: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{2,79}$")] = "PLAN_POLICY_VIOLATION"


class StrategySignal(MemoryPart):
    """A feature that a strategy is chosen by, set to a value."""

    feature_flag: Name
    value: Feature
    reason: Text = Field(min_length=1)


class MemoryContent(MemoryPart):
    """What a memory says, apart from its life: this is what an override file holds."""

    trigger: Trigger = Trigger.HUMAN_OVERRIDE
    phase: Phase = Phase.PLANNING
    domain_anchor_ids: tuple[Name, ...] = Field(default=(), max_length=50)
    graph_node_ids: tuple[Name, ...] = Field(default=(), max_length=50)
    enforcement_type: Enforcement
    few_shot: FewShot | None = None
    plan_rule: PlanRule | None = None
    strategy_signal: StrategySignal | None = None
    rejection_codes: tuple[Name, ...] = Field(default=(), max_length=20)
    origin_strategy_id: Annotated[str, StringConstraints(max_length=300)] = ""
    note: Text = ""
    digests: dict[Name, Name] = Field(default_factory=dict, max_length=50)

    @field_validator("domain_anchor_ids")
    @classmethod
    def _normalise_anchors(cls, anchors: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(normalise_anchor(anchor) for anchor in anchors))

    @model_validator(mode="after")
    def _check_payload(self) -> Self:
        payloads = {
            Enforcement.FEW_SHOT: self.few_shot,
            Enforcement.PLAN_RULE: self.plan_rule,
            Enforcement.STRATEGY_SIGNAL: self.strategy_signal,
        }
        for enforcement, payload in payloads.items():
            name = to_camel(enforcement.value)
            if (payload is not None) != (self.enforcement_type is enforcement):
                problem = "is missing" if payload is None else f"does not belong to {self.enforcement_type}"
                raise ValueError(f"{name} {problem}")
        if self.enforcement_type is Enforcement.INFORMATIONAL and not self.note:
            raise ValueError("note is missing")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain data with camelCase keys; what is empty is left out."""
        values = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {key: value for key, value in values.items() if value not in ("", [], {})}


@dataclass(frozen=True, kw_only=True)
class MemoryRecord:
    """A memory as the store has it."""

    id: MemoryId
    state: MemoryState
    content: MemoryContent
    count: int  # rejections that speak for it
    created_ms: int
    updated_ms: int  # since when it is in its state
    trace_ref: str
    source: str = ""  # the override file that it came from

    @property
    def enforcement(self) -> Enforcement:
        return self.content.enforcement_type

    @property
    def is_scaffold(self) -> bool:
        """Whether CodePlane wrote it from friction, so that a person should look at it."""
        return self.content.trigger is not Trigger.HUMAN_OVERRIDE

    def to_dict(self) -> dict[str, Any]:
        """The record with camelCase keys, as it is shown and exported."""
        return {
            "id": self.id,
            **self.content.to_dict(),
            "state": self.state.value,
            "count": self.count,
            "createdAt": format_moment(self.created_ms),
            "updatedAt": format_moment(self.updated_ms),
            "traceRef": self.trace_ref,
            **({"source": self.source} if self.source else {}),
        }


@dataclass(frozen=True)
class MemoryChange:
    """One line of the changelog."""

    memory: str
    event: str
    old_state: str | None
    new_state: str | None
    actor: str
    reason: str
    at_ms: int

    def to_dict(self) -> dict[str, Any]:
        """The line with camelCase keys, as it is shown and exported."""
        values: Mapping[str, str | None] = {
            "ts": format_moment(self.at_ms),
            "memoryId": self.memory,
            "event": self.event,
            "oldState": self.old_state,
            "newState": self.new_state,
            "actor": self.actor,
            "reason": self.reason,
        }
        return {key: value for key, value in values.items() if value}


def _compile_globs(patterns: Sequence[str]) -> None:
    try:
        Globs(patterns)
    except InvalidArgument as error:
        raise ValueError(error.message) from error


def normalise_anchor(text: str) -> str:
    """The folder that a text names, without `./` and a slash at its end; the root is `.`."""
    folder = text.strip().removeprefix("./").strip("/")
    if folder in ("", ROOT_ANCHOR):
        return ROOT_ANCHOR
    if any(part in ("", ".", "..") for part in folder.split("/")):
        raise ValueError(f"{text[:60]!r} is no folder of the repository")
    return folder


def format_moment(at_ms: int) -> str:
    """A moment in UTC, to the second."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
