"""A plan as those who call over plain HTTP are told it: candidates, witness packet, decision capsules."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.refactor import Group, Plan, Site, Verdict
from codeplane.refactor.evidence import Capsule, Witness, witness
from codeplane.refactor.plan import DIVERGENCE
from codeplane.refactor.text import Lines
from codeplane.session.plans import Pending

COMMIT: Final = "/decisions/commit"
PROVEN, CACHED = "proven", "cached"
_CONFIDENCE: Final = {Tier.PROVEN: 1.0, Tier.STRONG: 0.95, Tier.ANCHORED: 0.5, Tier.UNKNOWN: 0.3}
_REFERENCES: Final = frozenset(("read", "write", "call", "type", "import", "export"))
_TEXTS: Final = frozenset(("string", "data", "prose", "comment", "document", "listed", "attribute"))
_MOST_FACTS: Final = 20


class Told:
    """One plan, told with the files as they are in a snapshot: columns count characters from 1."""

    def __init__(self, pending: Pending, snapshot: Snapshot, decision: Sequence[str] | None) -> None:
        self._pending, self._plan, self._decision = pending, pending.plan, decision
        self._snapshot = snapshot
        self._files: dict[RepoPath, Lines] = {}

    def body(self) -> dict[str, Any]:
        plan = self._plan
        body: dict[str, Any] = {
            "status": plan.verdict,
            "plan_id": self._pending.id,
            "symbol": shown(plan.symbol),
            "expires_at": datetime.fromtimestamp(self._pending.expires_ms / 1000, UTC).isoformat(),
        }
        if plan.problems:
            body["problems"] = [one.text for one in plan.problems]
        if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED):
            return body
        if plan.verdict is Verdict.BLOCKED:
            body |= _blocked(plan)
        packet = witness(plan)
        return body | {
            "candidates": self._find_candidates(),
            "witness": self._witness(packet),
            "decision_capsules": [self._capsule(one) for one in packet.capsules],
            "commit_endpoint": COMMIT,
        }

    def _find_candidates(self) -> list[dict[str, Any]]:
        return [*self._cached(), self._certain(), *map(self._candidate, self._plan.groups)]

    def _cached(self) -> list[dict[str, Any]]:
        """What was chosen when the same files asked the same question."""
        if self._decision is None:
            return []
        groups = [group for group in self._plan.groups if group.id in self._decision]
        sites = (*self._plan.sites, *(site for group in groups for site in group.sites))
        return [
            {
                "id": CACHED,
                "description": "Chosen earlier for the same question about the same files",
                "selected": [group.id for group in groups],
                "provenance": "semantic",
                "risk_level": "low",
                "risk_reasons": [],
                **self._collect_edits(sites),
            }
        ]

    def _certain(self) -> dict[str, Any]:
        """What every choice takes along."""
        return {
            "id": PROVEN,
            "description": f"{shown(self._plan.symbol)} where it is certain",
            "provenance": "semantic",
            "risk_level": "low",
            "risk_reasons": [],
            **self._collect_edits(self._plan.sites),
        }

    def _candidate(self, group: Group) -> dict[str, Any]:
        return {
            "id": group.id,
            "description": shown(group.about),
            "provenance": "syntactic",
            "asked": group.asks,
            "risk_level": group.risk,
            "risk_reasons": list(group.reasons),
            **self._collect_edits(group.sites),
        }

    def _collect_edits(self, sites: Iterable[Site]) -> dict[str, Any]:
        all_sites = list(sites)
        edits = [{**self._location(one), "old": one.old, "new": one.new} for one in all_sites]
        confidence = min((_CONFIDENCE[site.tier] for site in all_sites), default=1.0)
        return {"confidence": confidence, "apply_plan": {"edits": edits}}

    def _witness(self, evidence: Witness) -> dict[str, Any]:
        sets = [
            _set("certain", "Places that certainly refer to the symbol", [PROVEN], "a proven or strong link")
        ]
        sets += [
            _set(group.id, shown(group.about), [group.id], "; ".join(group.reasons))
            for group in self._plan.groups
        ]
        return {
            "bounds": {
                "files_scanned": list(evidence.files_scanned),
                "contexts_queried": list(map(shown, self._plan.contexts)),
                "truncated": evidence.truncated,
            },
            "facts": [self._fact(site) for site in evidence.sites[:_MOST_FACTS]],
            "invariants_failed": list(evidence.invariants_failed),
            "candidate_sets": {one["name"]: one for one in sets},
            "disambiguation_checklist": [
                {"question": one.question, "fact_needed": one.kind, "how_to_verify": one.verify}
                for one in evidence.capsules
            ],
        }

    def _fact(self, site: Site) -> dict[str, Any]:
        kind = "reference" if site.what in _REFERENCES else "text" if site.what in _TEXTS else "definition"
        return {
            "fact_type": kind,
            "location": self._location(site),
            "content": self._line(site).strip(),
            "provenance": "text" if kind == "text" else "semantic",
            "confidence": _CONFIDENCE[site.tier],
        }

    def _capsule(self, one: Capsule) -> dict[str, Any]:
        groups = [group for group in self._plan.groups if group.id in one.groups]
        outputs = [
            {
                "id": group.id,
                "value": shown(group.about),
                "supporting_evidence": [self._location(site) for site in group.sites[:_MOST_FACTS]],
            }
            for group in groups
        ]
        return {
            "capsule_type": one.kind,
            "inputs": {"symbol": shown(self._plan.symbol), "question": one.question},
            "candidate_outputs": outputs,
            "verification_method": one.verify,
            "stop_rule": one.stop_rule,
        }

    def _location(self, site: Site) -> dict[str, Any]:
        before = self._line(site).encode("utf-8", "surrogateescape")[: site.column]
        return {
            "file": shown(site.path),
            "line": site.line,
            "column": len(before.decode("utf-8", "surrogateescape")) + 1,
        }

    def _line(self, site: Site) -> str:
        if site.path not in self._files:
            self._files[site.path] = Lines(self._snapshot.source(site.path))
        lines = self._files[site.path]
        return lines.text(site.line) if lines.has(site.line) else ""


def _set(name: str, description: str, members: list[str], rule: str) -> dict[str, Any]:
    return {"name": name, "description": description, "members": members, "membership_rule": rule}


def _blocked(plan: Plan) -> dict[str, Any]:
    """What a plan waits for, and how to go on without it."""
    arguments = {"symbol": shown(plan.symbol), "new_name": shown(plan.new_name)}
    way_on = {
        "can_force_syntactic": True,
        "next": {"path": "/refactor/rename", "body": {**arguments, "force_syntactic": True}},
    }
    if any(one.kind == DIVERGENCE for one in plan.problems):
        # Another run of the indexers says the same.
        return {"reason": DIVERGENCE, **way_on}
    files = sorted({shown(one.path) for one in plan.problems if one.path is not None})
    return {"reason": "semantic_not_fresh", "suggested_refresh_scope": {"files": files}, **way_on}
