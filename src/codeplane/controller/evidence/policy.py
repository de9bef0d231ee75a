"""How many sources a change needs, by category."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from codeplane.controller.evidence.record import Category
from codeplane.controller.evidence.verification import Support

DISTINCT: Final = "Two sources are distinct when they are different files or artefacts."
GUARD_RULES: Final = (
    "lowEvidenceGuard is true",
    "uncertaintyNote says what is not known",
    "requiresHumanReview is true",
)


class EvidencePolicy(BaseModel):
    """The minima that each change node is held to."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    min_requirement_sources: int = Field(default=1, ge=0, le=20)
    min_code_evidence_sources: int = Field(default=1, ge=0, le=20)
    min_policy_sources: int = Field(default=0, ge=0, le=20)
    allow_single_source_with_guard: bool = True
    low_evidence_guard_rules: tuple[str, ...] = GUARD_RULES
    distinct_source_definition: str = DISTINCT

    def minimum_of(self, category: Category) -> int:
        """How many distinct sources of a category a change needs."""
        return {
            Category.REQUIREMENT: self.min_requirement_sources,
            Category.CODE: self.min_code_evidence_sources,
            Category.POLICY: self.min_policy_sources,
        }[category]

    def is_weaker_than(self, other: "EvidencePolicy") -> bool:
        """Whether it asks for less than another in any respect."""
        less = any(self.minimum_of(category) < other.minimum_of(category) for category in Category)
        return less or (self.allow_single_source_with_guard and not other.allow_single_source_with_guard)


class Shortage(NamedTuple):
    """A category with too few sources."""

    category: Category
    names: Sequence[str]  # of the sources that there are
    minimum: int


def find_shortages(
    policy: EvidencePolicy, supports: Iterable[Support], *, is_new_file: bool
) -> list[Shortage]:
    """The categories that a change has too few sources of.

    A file that is yet to be created can't be read, so a new file needs no code evidence of its own.
    """
    by_category: dict[Category, dict[str, None]] = {category: {} for category in Category}
    for support in supports:
        by_category[support.category][support.source] = None
    shortages = []
    for category, sources in by_category.items():
        minimum = policy.minimum_of(category) - (category is Category.CODE and is_new_file)
        if len(sources) < minimum:
            shortages.append(Shortage(category, list(sources), minimum))
    return shortages


def is_single_source(supports: Iterable[Support]) -> bool:
    """Whether everything that is cited comes from one source."""
    return len({support.source for support in supports}) == 1
