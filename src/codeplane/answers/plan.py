"""A refactoring that is planned, as every tool that makes or shows one tells it."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from codeplane.answers.change import Delta
from codeplane.answers.checks import CheckOutput, checks_told
from codeplane.answers.output import Output
from codeplane.answers.plan_text import plan_text
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.mutation.diff_preview import preview
from codeplane.refactor import Group, Mention, Plan, Problem, Site, Verdict
from codeplane.refactor.catalogue import refactorings
from codeplane.refactor.evidence import Capsule, witness
from codeplane.refactor.forced_rename import review
from codeplane.refactor.plan import MENTIONS
from codeplane.refactor.risk_policy import is_for_tests
from codeplane.session import Call
from codeplane.session.plans import Pending

_MOST_FILES = 40
_MOST_LINES = 160  # of the diff
_LEAST = 4
_MOST_GROUPS = 20
_MOST_SAMPLES = 3
_MOST_PLACES = 40
_MOST_TOLD = 12
_LONGEST = 160
_READY = (Verdict.OK, Verdict.OK_SYNTACTIC)
_DELETIONS = ("delete", "discard")


# The first answer about a plan, a first one that shows its diff, or one that goes on with it.
Shape = Literal["first", "preview", "again"]


class GroupOutput(Output):
    id: str = Field(description="Name it in `accept` to include these places.")
    about: str = Field(description="What the places have in common.")
    places: int = Field(description="How many.")
    risk: str = Field(description="low, medium or high.")
    reasons: list[str] = Field(description="Why it is not proven.")
    sample: list[str] = Field(description="`path:line: text` of some.")


class PlanOutput(Output):
    plan: str | None = Field(default=None, description="Id, to continue with it.")
    outcome: str = Field(description="ok, ok_syntactic, needs_decision, blocked, refused or unsupported.")
    symbol: str = Field(description="What is refactored.")
    summary: str = Field(description="One-line summary.")
    edits: dict[str, int] | None = Field(default=None, description="Edits by certainty tier.")
    files: list[str] | None = Field(default=None, description="`path: edits`.")
    more_files: int | None = Field(default=None, description="Files beyond those.")
    undecided: list[GroupOutput] | None = Field(default=None, description="Places that may refer to it.")
    more_undecided: int | None = Field(default=None, description="Groups beyond those.")
    left: list[GroupOutput] | None = Field(default=None, description="Unlikely places, left as they are.")
    contexts: list[str] | None = Field(default=None, description="Build contexts, if there are several.")
    doubts: list[str] | None = Field(default=None, description="Risks that could not be ruled out.")
    problems: list[str] | None = Field(default=None, description="What prevents it.")
    suggested_refresh_scope: dict[str, list[str]] | None = Field(
        default=None, description="Scope of the `semantic_refresh` that may unblock it."
    )
    can_force_syntactic: bool | None = Field(
        default=None, description="Whether `force_syntactic` goes on without the facts of an indexer."
    )
    remarks: list[str] | None = Field(default=None, description="What else is done.")
    mentions: dict[str, int] | None = Field(
        default=None, description="In comments and documents, by confidence."
    )
    mentions_changed: int | None = Field(default=None, description="How many of these are changed too.")
    mentions_left: list[str] | None = Field(default=None, description="Mentions that stay as they are.")
    mentions_offered: int | None = Field(
        default=None,
        description="How many of these lines, from the first, `mentions` in `accept` would change.",
    )
    mentions_groups: dict[str, int] | None = Field(
        default=None, description="How many of the offered lines each part of them has, in their order."
    )
    review: list[str] | None = Field(default=None, description="Changed mentions to review.")
    diff: str | None = Field(default=None, description="The change, as far as it fits.")
    verified: list[CheckOutput] | None = Field(default=None, description="Results of the checks.")
    decided_before: list[str] | None = Field(
        default=None, description="Groups chosen earlier for the same question about the same files."
    )
    checklist: list[str] | None = Field(default=None, description="Questions that settle it, and how.")
    expires_ms: int | None = Field(default=None, description="When it expires.")
    applied: Delta | None = Field(default=None, description="What was done.")

    def is_done(self) -> bool:
        is_preview = self.outcome in ("ok", "ok_syntactic") and self.verified is None
        return self.applied is not None or is_preview

    def render(self) -> str:
        return plan_text(self)


def next_calls(pending: Pending) -> list[str]:
    """The calls that go on with a plan, the likeliest first."""
    plan, tool = pending.plan, refactorings()[pending.plan.kind].TOOL
    if plan.verdict in _READY:
        return [_call(tool, plan=pending.id)]
    if plan.verdict is Verdict.BLOCKED and (scope := _refresh_scope(plan)) is not None:
        return [_call("semantic_refresh", **scope), *_forced_calls(plan, tool)]
    if plan.verdict is not Verdict.NEEDS_DECISION:
        return [_call(tool, **way) for way in plan.ways]
    rest = [group.id for group in plan.groups] or [MENTIONS] if plan.is_rest else "none"
    accept = [group.id for group in plan.asking] or rest
    calls = [_call(tool, plan=pending.id, accept=accept)]
    if is_for_tests(plan.groups, plan.notes) and not plan.is_rest and plan.kind not in _DELETIONS:
        calls.append(_call(tool, plan=pending.id, apply="if_verified"))
    return calls


def _refresh_scope(plan: Plan) -> dict[str, list[str]] | None:
    """The files that an indexer would have to be asked about again."""
    return {"files": [shown(path) for path in plan.not_fresh]} if plan.not_fresh else None


def _forced_calls(plan: Plan, tool: str) -> list[str]:
    """The call that changes what is certain without an indexer; renames alone have it."""
    names = {"symbol": shown(plan.symbol), "new_name": shown(plan.new_name)}
    return [_call(tool, **names, force_syntactic=True)] if plan.kind == "rename" else []


def _call(tool: str, **arguments: object) -> str:
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def plan_told(
    call: Call,
    pending: Pending,
    applied: Delta | None = None,
    rest: Pending | None = None,
    shape: Shape = "first",
) -> PlanOutput:
    """A plan, with its diff in a preview, or what was done and what is left."""
    plan = pending.plan
    paths = [edit.path for edit in plan.change.edits.edits if edit.after is not None or not plan.moves]
    mentions = _changed_mentions(plan)
    is_blocked = plan.verdict is Verdict.BLOCKED
    go_on = pending if applied is None else rest
    groups = rest.plan if rest is not None else plan
    if go_on is not None and (applied is None or groups.asking):
        call.next_actions += next_calls(go_on)
    most = max(_MOST_SAMPLES, _MOST_PLACES // max(1, len(groups.groups)))
    return PlanOutput(
        plan=go_on.id if go_on is not None else None,
        outcome=plan.verdict,
        symbol=shown(plan.symbol),
        summary=summary(plan),
        edits=dict(Counter(site.tier.value for site in plan.sites)) or None,
        files=_files(plan, paths),
        more_files=max(0, len(paths) - _MOST_FILES) or None,
        undecided=[group_told(groups, one, most) for one in groups.asking[:_MOST_GROUPS]] or None,
        more_undecided=max(0, len(groups.asking) - _MOST_GROUPS) or None,
        left=[group_told(groups, one, most) for one in groups.left[:_MOST_GROUPS]] or None,
        contexts=list(map(shown, plan.contexts)) if len(plan.contexts) > 1 else None,
        doubts=_told(plan.notes),
        problems=_told(plan.problems),
        suggested_refresh_scope=_refresh_scope(plan) if is_blocked else None,
        can_force_syntactic=plan.kind == "rename" if is_blocked else None,
        remarks=list(plan.remarks) or None,
        mentions=dict(Counter(one.confidence for one in plan.mentions)) or None,
        mentions_changed=len(mentions) or None,
        mentions_left=_left(plan) if shape != "again" else None,
        mentions_offered=len(_lines(plan, _by_form(plan.offered))) or None if go_on is not None else None,
        mentions_groups=_mention_groups(plan) if go_on is not None and shape != "again" else None,
        review=[line(plan, one.site) for one in mentions if one.confidence != "high"][:_MOST_TOLD] or None,
        diff=_render_diff(plan, paths)
        if shape == "preview" and plan.verdict is not Verdict.REFUSED
        else None,
        verified=checks_told(pending.verification),
        decided_before=call.repo.decisions.find(plan) if plan.verdict is Verdict.NEEDS_DECISION else None,
        checklist=_render_checklist(plan) or None if applied is None else None,
        expires_ms=go_on.expires_ms if go_on is not None else None,
        applied=applied,
    )


def summary(plan: Plan) -> str:
    files = len({site.path for site in plan.taken} | _landing_paths(plan))
    mentions = len(_changed_mentions(plan))
    verb = refactorings()[plan.kind].TOOL.rpartition("_")[2]
    names = shown(plan.symbol) + (f" to {shown(new)}" if (new := _new(plan)) else "")
    counts = (
        [_number(len(plan.sites) + len(_landing_paths(plan)), "place")] if plan.sites or not mentions else []
    )
    counts += [_number(mentions, "mention")] if mentions else []
    text = f"{verb} {names}: {' and '.join(counts)} in {_number(files, 'file')}"
    if plan.kind == "discard":
        text = f"delete {shown(plan.symbol)}: {_number(len(plan.change.edits.edits), 'file')}"
    if plan.moves:
        text += f", {_number(len(plan.moves), 'file')} moved"
    if plan.asking:
        text += f"; {_number(sum(len(group.sites) for group in plan.asking), 'place')} undecided"
    return text


def _landing_paths(plan: Plan) -> set[RepoPath]:
    """The file that a definition is put into: one place more, whatever imports change there."""
    is_written = plan.kind == "transfer" and bool(plan.change.edits.edits)
    return {plan.target} if is_written and plan.target is not None else set()


def _new(plan: Plan) -> str:
    """What something is called afterwards, or where it is."""
    if plan.target is not None:
        return plan.target
    for old, new in plan.moves.items():
        return new.removesuffix(old.removeprefix(plan.symbol))
    return plan.new_name


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def group_told(plan: Plan, group: Group, most: int) -> GroupOutput:
    return GroupOutput(
        id=group.id,
        about=shown(group.about),
        places=len(group.sites),
        risk=group.risk,
        reasons=list(group.reasons),
        sample=[line(plan, site) for site in group.sites[:most]],
    )


def line(plan: Plan, site: Site) -> str:
    """`path:line: text` of a site."""
    data = plan.shown_lines.get((site.path, site.line))
    return f"{shown(site.path)}:{site.line}" + (f": {data.strip()[:_LONGEST]}" if data else "")


def _told(problems: Iterable[Problem]) -> list[str] | None:
    lines = [_where(one) + one.text for one in problems]
    more = [f"… {len(lines) - _MOST_TOLD} more"] if len(lines) > _MOST_TOLD else []
    return [*lines[:_MOST_TOLD], *more] or None


def _where(one: Problem) -> str:
    if one.path is None:
        return ""
    return f"{shown(one.path)}:{one.line}: " if one.line else f"{shown(one.path)}: "


def _files(plan: Plan, paths: list[RepoPath]) -> list[str] | None:
    counts = Counter(site.path for site in (*plan.sites, *(one.site for one in _changed_mentions(plan))))
    counts.update(_landing_paths(plan))
    came = {new: old for old, new in plan.moves.items()}
    lines = []
    for path in paths[:_MOST_FILES]:
        origin = f" (from {shown(came[path])})" if path in came else ""
        origin = " (new)" if path in _landing_paths(plan) - plan.change.before.keys() else origin
        lines.append(f"{shown(path)}: {counts[came.get(path, path)]}{origin}")
    return lines or None


def _render_checklist(plan: Plan) -> list[str]:
    if plan.verdict is Verdict.OK_SYNTACTIC:
        return review(plan)
    return [f"{one.question} {one.verify} {one.stop_rule}" for one in _find_capsules(plan)]


def _find_capsules(plan: Plan) -> tuple[Capsule, ...]:
    return witness(plan).capsules if plan.verdict is Verdict.NEEDS_DECISION else ()


def _changed_mentions(plan: Plan) -> list[Mention]:
    return [one for one in plan.mentions if one.is_taken]


def _left(plan: Plan) -> list[str] | None:
    """`path:line: text` of mentions that are not changed; of the past, which is to stay, the lines alone."""
    left = [one for one in plan.mentions if not one.is_taken]
    rows = _lines(plan, _by_form([one for one in left if not one.is_past]))
    past: dict[RepoPath, dict[int, None]] = {}
    for one in left:
        if one.is_past:
            past.setdefault(one.site.path, {})[one.site.line] = None
    rows += [f"{shown(path)}:{','.join(map(str, lines))}" for path, lines in past.items()]
    more = [f"… {len(rows) - _MOST_TOLD} more"] if len(rows) > _MOST_TOLD else []
    return [*rows[:_MOST_TOLD], *more] or None


def _by_form(mentions: Iterable[Mention]) -> list[Mention]:
    return sorted(mentions, key=lambda one: one.form)


def _mention_groups(plan: Plan) -> dict[str, int] | None:
    """The lines of each form; one that has two forms counts for the first."""
    first: dict[str, str] = {}
    for one in _by_form(plan.offered):
        first.setdefault(line(plan, one.site), one.group)
    counts = dict(Counter(first.values()))
    return counts if len(counts) > 1 else None


def _lines(plan: Plan, mentions: Iterable[Mention]) -> list[str]:
    return list(dict.fromkeys(line(plan, one.site) for one in mentions))


def _render_diff(plan: Plan, paths: list[RepoPath]) -> str | None:
    share = max(_LEAST, _MOST_LINES // max(1, len(paths)))
    parts, room = [], _MOST_LINES
    for edit in plan.change.edits.edits:
        before = plan.change.before.get(edit.moved_from or edit.path)
        if edit.path in plan.moves or before == edit.after:
            continue
        text = preview(shown(edit.path), before, edit.after, min(share, room))
        room -= text.count("\n") + 1
        parts.append(text)
        if room < _LEAST:
            break
    return "\n".join(parts) or None
