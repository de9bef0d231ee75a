"""A rename that somebody asks for although it is not proven: what is safe by the look of it, what is not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.names import Snapshot
from codeplane.refactor.mentions import words
from codeplane.refactor.plan import Group, Plan, Problem, Risk, Site, Verdict
from codeplane.refactor.rename import Ahead, Sweep, draft, written
from codeplane.refactor.subject import Subject
from codeplane.refactor.variables import Variable

_MOST_DYNAMIC: Final = 100
_REVIEW: Final = {
    "multiple_definitions_in_scope": "Confirm which definition is meant.",
    "metaprogramming_context": "Check the names computed at run time in the file.",
    "text_match": "Confirm that the text names the symbol.",
    "receiver_not_proven": "Find out what the receiver holds.",
    "not_bound": "Find out where the name comes from.",
    "keyword_argument": "Find out what is called or made there.",
    "shorthand": "Find out whose key it is.",
    "macro": "Expand the macro and look what becomes of the name.",
    "string_with_the_name": "Find out who reads the string.",
    "name_in_string": "Find out who reads the string.",
    "not_understood": "Read the code: no fact tells of it.",
}


def forced(snapshot: Snapshot, subject: Subject, new: str, sweep: Sweep, ahead: Ahead) -> Plan:
    """A rename with the edits of low risk alone; the others stay open, each with what makes it risky."""
    plan = draft(snapshot, subject, new, sweep, ahead)
    if plan.verdict is Verdict.UNSUPPORTED and not isinstance(subject, Variable):
        plan = _by_text(snapshot, plan, (subject.path, subject.name_line, subject.name_column))
    elif plan.verdict not in (Verdict.NEEDS_DECISION, Verdict.BLOCKED):
        return plan
    safe = [site for group in plan.groups if group.risk == "low" for site in group.sites]
    risky = [group for group in plan.groups if group.risk != "low"]
    rewrite = replace(
        plan,
        verdict=Verdict.OK_SYNTACTIC,
        sites=tuple(sorted({*plan.sites, *safe})),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(risky, 1)),
        notes=(*plan.notes, *plan.problems),
        problems=(),
    )
    return written(
        snapshot, rewrite, [*rewrite.sites, *(one.site for one in rewrite.mentions if one.is_taken)]
    )


def review(plan: Plan) -> list[str]:
    """What to look at in the places that were left alone, a line for each reason."""
    groups_of: dict[str, list[str]] = {}
    for group in plan.groups:
        for reason in group.reasons:
            groups_of.setdefault(reason, []).append(group.id)
    return [f"{', '.join(ids)}: {_REVIEW.get(reason, reason)}" for reason, ids in groups_of.items()]


def _by_text(snapshot: Snapshot, plan: Plan, position: tuple[RepoPath, int, int]) -> Plan:
    """The plan of a language whose names are not bound: by words, in the files of the language."""
    sites_by_reasons: dict[tuple[str, ...], list[Site]] = {}
    sites = []
    for site in _matches(snapshot, plan, position[0]):
        if (site.path, site.line, site.column) == position:
            sites.append(replace(site, tier=Tier.PROVEN, what="define"))
        else:
            sites_by_reasons.setdefault(_reasons(snapshot, plan, site), []).append(site)
    groups = [
        Group("", f"{plan.old_name} as a word", tuple(some), _risk(reasons), reasons, "scope_resolution")
        for reasons, some in sorted(sites_by_reasons.items())
    ]
    note = Problem("language", "What names refer to is unknown; only words were compared.")
    return replace(plan, sites=tuple(sites), groups=tuple(groups), problems=(), notes=(note,))


def _matches(snapshot: Snapshot, plan: Plan, path: RepoPath) -> Iterator[Site]:
    """The words that are the name, outside of comments and documents."""
    facts = snapshot.require_facts(path)
    language_family = facts.spec.family
    near = set()
    for one in snapshot.paths_with(plan.old_name):
        there = snapshot.facts(one)
        if there is not None and there.spec.family == language_family:
            near.add(one)
            for occurrence in snapshot.occurrences(one, plan.old_name):
                yield Site(
                    one,
                    occurrence.line,
                    occurrence.column,
                    plan.old_name,
                    plan.new_name,
                    Tier.UNKNOWN,
                    "code",
                )
    for word in words.words(snapshot, plan.old_name, plan.new_name):
        if word.site.path in near and word.where in ("code", "data", "string"):
            yield word.site


def _reasons(snapshot: Snapshot, plan: Plan, site: Site) -> tuple[str, ...]:
    reasons = []
    if site.what != "code":
        reasons.append("text_match")
    if len(snapshot.definitions(plan.old_name)) > 1:
        reasons.append("multiple_definitions_in_scope")
    if any(one.computed for one in snapshot.dynamics_in(site.path, _MOST_DYNAMIC).items):
        reasons.append("metaprogramming_context")
    return tuple(reasons)


def _risk(reasons: tuple[str, ...]) -> Risk:
    return "low" if not reasons else "medium" if len(reasons) == 1 else "high"
