"""How the deltas of a plan stand, by what validation has found and what has changed since."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.core.paths import RepoPath
from codeplane.delta.digest import digest_of_json
from codeplane.plans import Item, PlanTree
from codeplane.session.call import Call
from codeplane.session.delta.validation import remaining_phases, units_of
from codeplane.session.delta.verdicts import LONGEST_VALID_MS, stale_fields
from codeplane.session.delta.workbench import read_tree_file, toolchain_of
from codeplane.working_tree import digest_of

_NOT_DIGESTED: Final = ("digest",)


@dataclass
class Standing:
    """One task or step with a delta as it stands now."""

    item: Item
    phase: Item
    status: str
    confidence: str | None
    cause: str | None = None

    @property
    def detail(self) -> Mapping[str, Any]:
        """What the last validation has kept."""
        detail = self.item.derived.get("delta_detail")
        return detail if isinstance(detail, dict) else {}


@dataclass
class PlanStanding:
    """All deltas of a plan as they stand now, those that are done left out."""

    tree: PlanTree
    standings: list[Standing] = field(default_factory=list)

    def count(self, status: str) -> int:
        """How many have a status."""
        return sum(one.status == status for one in self.standings)


def plan_standing(call: Call, plan: str) -> PlanStanding:
    """How each delta stands; what has become stale is kept as that, so that gates see it."""
    plans = call.repo.work_plans
    tree = plans.load(plan)
    look = _Look(call)
    standings = [
        look.at(phase, item) for phase in remaining_phases(call, tree) for item in units_of(call, tree, phase)
    ]
    changes = {
        str(one.item.id): stale_fields(one.item, one.cause or "")
        for one in standings
        if one.status == "stale" and one.item.derived.get("delta_status") != "stale"
    }
    return PlanStanding(plans.set_derived_many(changes) if changes else tree, standings)


class _Look:
    """Compares what was validated with the files as they are, in the order of execution."""

    def __init__(self, call: Call) -> None:
        self._repo = call.repo
        self._toolchain = toolchain_of(call.repo).digest
        self._hashes: dict[str, str | None] = {}  # of files, as earlier tasks leave them
        self._left_by: dict[str, Item] = {}

    def at(self, phase: Item, item: Item) -> Standing:
        status = str(item.derived.get("delta_status", "pending"))
        confidence = item.derived.get("delta_confidence")
        standing = Standing(item, phase, status, str(confidence) if confidence else None)
        if status == "stale":
            standing.cause = str(standing.detail.get("cause", "")) or None
        elif status == "green" and (cause := self._staleness(standing)):
            standing.status, standing.cause = "stale", cause
        if standing.status == "green":
            self._follow(phase, standing)
        return standing

    def _staleness(self, standing: Standing) -> str | None:
        delta, detail = standing.item.delta or {}, standing.detail
        intent = {key: value for key, value in delta.items() if key not in _NOT_DIGESTED}
        if digest_of_json(intent) != delta.get("digest") or delta.get("digest") != detail.get("digest"):
            return "The delta is not the one that was validated."
        for path, hashes in _hashes_in(detail).items():
            if self._hash_of(path) != hashes.get("pre_hash"):
                earlier = self._left_by.get(path)
                by = f", which {earlier.title} leaves another way," if earlier is not None else ""
                return f"{path}{by} has changed since the validation."
        if standing.confidence == "tested" and detail.get("toolchain") != self._toolchain:
            return "toolchain.toml has changed since the validation."
        age_ms = time.time() * 1000 - float(detail.get("validated_at_ms", 0))
        return "The validation is older than 60 minutes." if age_ms > LONGEST_VALID_MS else None

    def _follow(self, phase: Item, standing: Standing) -> None:
        for path, hashes in _hashes_in(standing.detail).items():
            self._hashes[path], self._left_by[path] = hashes.get("post_hash"), phase

    def _hash_of(self, path: str) -> str | None:
        if path not in self._hashes:
            data = read_tree_file(self._repo, RepoPath(path))
            self._hashes[path] = f"sha256:{digest_of(data)}" if data is not None else None
        return self._hashes[path]


def _hashes_in(detail: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    files = detail.get("files")
    return files if isinstance(files, dict) else {}
