"""What a decision has to be made from: what was looked at, what was found, and what would settle it."""

import hashlib
import json
from dataclasses import dataclass
from typing import Final

from codeplane.jail import shown
from codeplane.refactor.plan import Group, Plan, Site, Verdict

_MOST_FILES: Final = 40
_MOST_FACTS: Final = 20


@dataclass(frozen=True)
class Capsule:
    """One bounded question, and when to stop looking for its answer."""

    kind: str
    question: str
    groups: tuple[str, ...]
    verify: str
    stop_rule: str


@dataclass(frozen=True)
class Witness:
    files_scanned: tuple[str, ...]
    truncated: bool
    facts: tuple[str, ...]
    sites: tuple[Site, ...]  # the places of the facts
    invariants_failed: tuple[str, ...]
    capsules: tuple[Capsule, ...]


def witness(plan: Plan) -> Witness:
    """The evidence behind a plan that is not certain."""
    files = sorted(shown(path) for path in plan.read)
    definitions = [site for site in plan.sites if site.what not in _ROLES]
    facts = [f"{site.tier.value} {site.what} {shown(site.path)}:{site.line}" for site in definitions]
    return Witness(
        tuple(files[:_MOST_FILES]),
        len(files) > _MOST_FILES or len(facts) > _MOST_FACTS,
        tuple(facts[:_MOST_FACTS]),
        tuple(definitions[:_MOST_FACTS]),
        tuple(_failed(plan)),
        tuple(_capsules(plan)),
    )


_ROLES: Final = frozenset(("read", "write", "call", "type", "import", "export"))
_VERIFY: Final = {
    "receiver_resolution": (
        "Which of these receivers can be an instance of what holds {name}?",
        "Read where the receiver gets its value: parameters, assignments, what callers pass.",
        "Stop when every value that reaches the receiver is known.",
    ),
    "scope_resolution": (
        "Does {name} mean {symbol} at these places?",
        "Read the imports of the file and the scopes around the place.",
        "Stop at the first definition that can be imported and is not shadowed.",
    ),
    "context_membership": (
        "Which build contexts have these files?",
        "Read contexts.yaml and what cpl status lists.",
        "Stop when each file has its context.",
    ),
}


def _capsules(plan: Plan) -> list[Capsule]:
    """One for each kind of question that the open places ask."""
    kinds: dict[str, list[str]] = {}
    for group in plan.groups:
        kinds.setdefault(group.question, []).append(group.id)
    if len(plan.contexts) > 1:
        kinds["context_membership"] = list(map(shown, plan.contexts))
    capsules = []
    for kind, groups in kinds.items():
        question, verify, stop = _VERIFY[kind]
        text = question.format(name=shown(plan.old_name), symbol=shown(plan.symbol))
        capsules.append(Capsule(kind, text, tuple(groups), verify, stop))
    return capsules


def _failed(plan: Plan) -> list[str]:
    reasons = [one.kind for one in (*plan.problems, *plan.notes)]
    reasons += [reason for group in plan.groups for reason in group.reasons]
    reasons += [f"indexer_{kind}" for kind in plan.semantic.ambiguity]
    if plan.verdict is Verdict.BLOCKED:
        reasons.append("files_not_clean")
    return sorted(set(reasons))


def signature(plan: Plan) -> str:
    """Equal for equal questions: the symbol, and the places of which it is not known what they mean."""
    groups = [[group.about, list(group.reasons), _places(group)] for group in plan.groups]
    subject = [plan.kind, plan.symbol, plan.uid, groups, sorted(one.text for one in plan.notes)]
    return hashlib.sha256(json.dumps(subject).encode("utf-8", "surrogateescape")).hexdigest()


def _places(group: Group) -> list[list[object]]:
    return [[site.path, site.line, site.column] for site in group.sites]
