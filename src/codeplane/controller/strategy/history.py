"""What has happened in a run so far, as far as it makes a strategy be left."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from codeplane.controller.strategy.documents import Switch, Trigger

DEFAULT_AFTER: Final[Mapping[Trigger, int]] = {
    "plan_rejected": 3,
    "policy_conflict": 1,
    "repeated_failure_threshold": 3,
    "repeated_action_threshold": 4,
    "missing_required_proof_chain": 1,
}
"""How often a trigger has to fire where the strategy does not say."""
POLICY_CODE: Final = "PLAN_POLICY_VIOLATION"


@dataclass(frozen=True)
class RunHistory:
    """Counts of a run: rejected plans, their codes, failures and actions by signature, broken chains."""

    rejected_plans: int = 0
    rejection_codes: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    actions: Mapping[str, int] = field(default_factory=dict)
    broken_chains: Mapping[str, int] = field(default_factory=dict)

    def explain_trigger(self, switch: Switch) -> str | None:
        """Why a trigger has fired often enough, in one clause; None where it has not."""
        after = switch.after or DEFAULT_AFTER[switch.trigger]
        return next((reason for count, reason in self._reasons(switch.trigger) if count >= after), None)

    def _reasons(self, trigger: Trigger) -> Iterator[tuple[int, str]]:
        if trigger == "plan_rejected":
            yield self.rejected_plans, f"{self.rejected_plans} plans were rejected"
        elif trigger == "policy_conflict":
            count = self.rejection_codes.get(POLICY_CODE, 0)
            yield count, f"{count} plans broke a policy"
        elif trigger == "repeated_failure_threshold":
            yield from _most_frequent(self.failures, "{count} times the same failure, {name}")
        elif trigger == "repeated_action_threshold":
            yield from _most_frequent(self.actions, "{count} times the same action, {name}")
        else:
            yield from _most_frequent(self.broken_chains, "the chain {name} could not be proven ({count})")


def _most_frequent(counts: Mapping[str, int], text: str) -> Iterator[tuple[int, str]]:
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield count, text.format(count=count, name=name[:100])
