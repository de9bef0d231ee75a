"""Where the rules for a state come from. Apart from the rules themselves, whose models take long to load."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from codeplane.core.slots import EpochSlot
from codeplane.names import Codebase

if TYPE_CHECKING:
    from codeplane.surfaces.rule_set import RuleSet

LOADERS: Final[EpochSlot[str, "Callable[[], RuleSet]"]] = EpochSlot("surface rules")


def use_rules(code: Codebase, load: "Callable[[], RuleSet]") -> None:
    """Has questions about a state use other rules; they are loaded when one is asked."""
    code.answers(LOADERS)[""] = load
