"""The schema of the files of features, strategies and proof chains."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from codeplane.controller.strategy.predicates import PREDICATES
from codeplane.core.suggest import nearest

Trigger = Literal[
    "plan_rejected",
    "policy_conflict",
    "repeated_failure_threshold",
    "repeated_action_threshold",
    "missing_required_proof_chain",
]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
FactKind = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
Sentence = Annotated[str, Field(min_length=1, max_length=300)]
_DEEPEST: Final = 8


class Document(BaseModel):
    """Base of every part of a file: unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


def _check_predicate(name: str) -> str:
    if name not in PREDICATES:
        near = nearest(name[:60], PREDICATES, most=1)
        raise ValueError(f"there is no predicate {name[:60]}; {_hint(near, PREDICATES)}")
    return name


def _hint(near: list[str], names: Mapping[str, Any]) -> str:
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"


class Condition(Document):
    """One of: a feature with its value, a predicate with its values, or conditions joined."""

    feature: str | None = None
    is_: bool | str | None = Field(default=None, alias="is")
    at_least: str | None = None
    at_most: str | None = None
    predicate: Annotated[str, AfterValidator(_check_predicate)] | None = None
    values: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=100)
    ] = ()
    all_: tuple["Condition", ...] | None = Field(default=None, alias="all", min_length=1)
    any_: tuple["Condition", ...] | None = Field(default=None, alias="any", min_length=1)
    not_: "Condition | None" = Field(default=None, alias="not")

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        forms = [self.feature, self.predicate, self.all_, self.any_, self.not_]
        if sum(form is not None for form in forms) != 1:
            raise ValueError("a condition has exactly one of feature, predicate, all, any, not")
        comparisons = [self.is_, self.at_least, self.at_most]
        if (self.feature is not None) != (sum(value is not None for value in comparisons) == 1):
            raise ValueError(
                "a feature is compared by exactly one of is, atLeast, atMost, and nothing else is"
            )
        if (self.predicate is not None) != bool(self.values):
            raise ValueError("a predicate has values, and nothing else has")
        if self.depth() > _DEEPEST:
            raise ValueError(f"conditions nest at most {_DEEPEST} levels deep")
        return self

    def parts(self) -> tuple["Condition", ...]:
        return (*(self.all_ or ()), *(self.any_ or ()), *((self.not_,) if self.not_ is not None else ()))

    def depth(self) -> int:
        return 1 + max((part.depth() for part in self.parts()), default=0)

    def features(self) -> set[str]:
        """Every feature that the condition asks for."""
        own = {self.feature} if self.feature is not None else set()
        return own.union(*(part.features() for part in self.parts()))


class Feature(Document):
    """A feature of a task: a condition, or an ordinal with its levels from low to high."""

    description: Sentence
    when: Condition | None = None
    levels: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        if (self.when is None) == (self.levels is None):
            raise ValueError("a feature has either when or levels")
        return self


class FeatureFile(Document):
    """The features of tasks."""

    features: dict[str, Feature]


class RequiredChain(Document):
    """A chain that has to be whole, always or under a condition."""

    chain: Identifier
    when: Condition | None = None


class Requirements(Document):
    """What a plan under a strategy has to rest on."""

    chains: tuple[RequiredChain, ...] = ()
    contract: bool = False


class Switch(Document):
    """Another strategy to go on with when a trigger has fired some times."""

    trigger: Trigger
    to: Identifier
    after: Annotated[int, Field(ge=1, le=1_000)] | None = None


class Strategy(Document):
    """A way to go about a task."""

    strategy: Identifier
    version: Annotated[int, Field(ge=1)]
    description: Sentence
    priority: Annotated[int, Field(ge=0, le=1_000)]
    when: Condition | None = None
    requires: Requirements = Requirements()
    approach: Annotated[tuple[Sentence, ...], Field(max_length=20)] = ()
    switches: Annotated[tuple[Switch, ...], Field(max_length=20)] = ()


class Hop(Document):
    """One fact of a chain, and the kinds of edges that lead to it from the fact before."""

    fact: FactKind
    via: tuple[FactKind, ...] = ()
    mend: Annotated[str, Field(max_length=500)] = ""


class Chain(Document):
    """A sequence of facts, each tied to the one before."""

    chain: Identifier
    version: Annotated[int, Field(ge=1)]
    description: Sentence
    hops: Annotated[tuple[Hop, ...], Field(min_length=2, max_length=30)]

    @model_validator(mode="after")
    def _check_edges(self) -> Self:
        if self.hops[0].via or not all(hop.via for hop in self.hops[1:]):
            raise ValueError("each hop but the first has via: the kinds of edges that lead to it")
        return self
