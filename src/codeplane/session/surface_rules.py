"""Rules for surfaces that a repository brings along; they count only where it is trusted."""

from typing import TYPE_CHECKING

from codeplane.names import Snapshot
from codeplane.session.checkout import Checkout
from codeplane.surfaces.rule_source import use_rules

if TYPE_CHECKING:
    from codeplane.surfaces.rule_set import RuleSet


def heed_surface_rules(checkout: Checkout, snapshot: Snapshot) -> None:
    """Has questions about the surfaces of a snapshot use the repository's rules too."""
    if checkout.trusted and checkout.state.surfaces.is_dir():
        use_rules(snapshot, lambda: _rules(checkout))


def _rules(checkout: Checkout) -> "RuleSet":
    from codeplane.surfaces.rule_set import read_rules  # its models take long to load

    return read_rules(checkout.state.surfaces)
