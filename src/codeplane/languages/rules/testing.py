"""What test frameworks of a language do by convention."""

from dataclasses import dataclass
from typing import Final, Protocol


@dataclass(frozen=True)
class Fixtures:
    """What tests are handed without an import, by the name of a parameter."""

    files: tuple[str, ...]  # names of files whose fixtures the tests in their directory and below get
    plugin_variable: str  # the variable in them that names modules with more
    word: str  # the name that every mark of a fixture contains
    mark: str  # pattern of what marks a function as a fixture
    for_all: str  # pattern in the mark of one that all tests get
    requesting_calls: tuple[str, ...]  # functions that ask for fixtures by strings


class TestRules(Protocol):
    """The conventions of a language's test frameworks. The defaults are those of one without any."""

    fixtures: Fixtures | None = None  # None where tests get only what they import
    framework_hooks: str = ""  # pattern of names that frameworks call


class NoConventions(TestRules):
    """A language without rules of its own."""


RULES: Final[TestRules] = NoConventions()
