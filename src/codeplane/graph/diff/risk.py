"""How far a change reaches: who refers to what has changed, and how likely it behaves otherwise."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from codeplane.contexts.contexts import is_marker
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.diff.structure import Change, ChangeKind
from codeplane.index import Purpose, purpose_by_path
from codeplane.languages.facts import Definition, Role
from codeplane.names import RefFact, Snapshot

Risk = Literal["low", "medium", "high", "unknown"]

_MANY: Final = 10
_MOST_LOOKED_AT: Final = 50  # definitions that tell what a file is for
_TEXTS: Final = frozenset(("heading",))
_DATA: Final = frozenset("key table block stage resource".split())


class Blast(NamedTuple):
    """References to what has changed; of what is gone, those that still name it and mean nothing else."""

    tiers: dict[Tier, int]
    files: list[RepoPath]
    tests: list[RepoPath]


def blast_of(snapshot: Snapshot, path: RepoPath, change: Change) -> Blast | None:
    """Who is concerned by a change, as the new state has it. Nobody uses what has just come."""
    if change.change is ChangeKind.ADDED:
        return None
    if change.after is not None:
        references = list(snapshot.references.to(Place(path, change.after)))
        if change.definition.parent >= 0 and _makes_instances(snapshot, path, change.definition):
            # It is called where its class is; others of its name say nothing.
            results = snapshot.references.to(Place(path, change.definition.parent))
            references = [ref for ref in references if ref.target] + [
                ref for ref in results if ref.role is Role.CALL
            ]
    else:
        references = list(_left(snapshot, path, change, change.definition.name))
    if change.change is ChangeKind.RENAMED:
        references += _left(snapshot, path, change, change.old_name)
    return _make_blast(snapshot, references)


def _left(snapshot: Snapshot, path: RepoPath, change: Change, name: str) -> Iterator[RefFact]:
    """What still names a definition that is gone and means nothing else: no local variable, nothing that
    is imported from elsewhere, and of a member only what stands behind a receiver."""
    facts = snapshot.facts(path)
    implicit = facts is None or facts.spec.scopes.implicit_self
    is_member = change.definition.parent >= 0 and not implicit
    for ref in snapshot.references.named(name):
        is_open = not ref.target and ref.tier is not Tier.PROVEN
        if is_open and (ref.receiver or not is_member) and not _is_imported(snapshot, ref):
            yield ref


def _is_imported(snapshot: Snapshot, ref: RefFact) -> bool:
    """Whether a name comes by an import from outside of the repository."""
    facts = snapshot.require_facts(ref.path)
    items = facts.imports if not ref.receiver else ()
    sources = [item for item in items if ref.name in (item.name, item.alias)]
    return bool(sources) and not any(
        snapshot.named_module(ref.path, item.module, item.kind) for item in sources
    )


def _makes_instances(snapshot: Snapshot, path: RepoPath, item: Definition) -> bool:
    facts = snapshot.facts(path)
    initializers = facts.spec.initializers if facts is not None else ()
    return item.kind == "constructor" or (item.kind == "method" and item.name in initializers)


def _make_blast(snapshot: Snapshot, references: list[RefFact]) -> Blast:
    files = sorted({ref.path for ref in references})
    sure = {ref.path for ref in references if ref.tier in (Tier.PROVEN, Tier.STRONG)}
    tests = snapshot.tests()
    return Blast(dict(Counter(ref.tier for ref in references)), files, sorted(sure & tests))


def risk_of(change: Change, blast: Blast | None) -> Risk:
    """How likely the change alters what others see, from its size and its users."""
    if change.change in (ChangeKind.ADDED, ChangeKind.MOVED):
        return "low"
    if blast is None:
        return "unknown"
    users = sum(blast.tiers.get(tier, 0) for tier in (Tier.PROVEN, Tier.STRONG))
    is_unseen = change.change is ChangeKind.SIGNATURE and change.breaking is False
    if change.change is ChangeKind.BODY or is_unseen:
        if "text_gone" in change.tags:
            return "unknown"
        if "minor_change" in change.tags:
            return "low"
        return "high" if "major_change" in change.tags and users >= _MANY else "medium"
    if change.change is ChangeKind.SIGNATURE:
        return "high" if users >= _MANY else "medium" if users else "low"
    return "high" if blast.tiers else "medium"


def category_of(snapshot: Snapshot | None, path: RepoPath) -> str:
    """What a file is for: prod, test, build, config or docs."""
    purpose = snapshot.purpose(path) if snapshot is not None else purpose_by_path(path)
    if purpose is Purpose.TEST or (snapshot is not None and path in snapshot.tests()):
        return "test"
    if is_marker(path) or purpose is Purpose.BUILT:
        return "build"
    facts = snapshot.facts(path) if snapshot is not None else None
    items = facts.definitions if facts is not None else ()
    kinds = {item.kind for item in items[:_MOST_LOOKED_AT]}
    if purpose in (Purpose.DOCS, Purpose.EXAMPLE) or (kinds and kinds <= _TEXTS):
        return "docs"
    return "config" if kinds and kinds <= _DATA else "prod"
