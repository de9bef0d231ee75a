from typing import Annotated

from pydantic import Field

from codeplane.answers.checks import CheckOutput, checks_told
from codeplane.answers.output import Output
from codeplane.answers.plan import GroupOutput, group_told
from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.refactor import Plan, Site
from codeplane.refactor.decision_proof import line_hash
from codeplane.refactor.evidence import witness
from codeplane.refactor.text import Lines
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool

_LONGEST = 200
_MOST_FILES = 20
_PROVEN = "proven"


class RefactorInspectInput(Input):
    plan: Annotated[str, synonyms("id", "plan_id", "refactor_id")] = Field(
        max_length=100, description="`ref_…`."
    )
    group: Annotated[str | None, synonyms("candidate", "group_id")] = Field(
        default=None, max_length=40, description="One group alone; `proven` for what is certain."
    )
    offset: int = Field(default=0, ge=0, le=1_000_000, description="Places to skip.")
    limit: int = Field(default=40, ge=1, le=200, description="Most places to show.")


class CapsuleOutput(Output):
    capsule: str = Field(description="Kind of question.")
    question: str = Field(description="Question to answer.")
    groups: list[str] = Field(description="Groups that it settles.")
    verify: str = Field(description="How to find out.")
    stop_rule: str = Field(description="When to stop.")


class WitnessOutput(Output):
    files_scanned: list[str] = Field(description="Files that contain the name.")
    truncated: bool | None = Field(default=None, description="Whether there are more.")
    facts: list[str] = Field(description="`tier kind path:line` of the definitions.")
    invariants_failed: list[str] = Field(description="Why it is not certain.")


class RefactorInspectOutput(Output):
    outcome: str = Field(description="Outcome of the plan.")
    symbol: str = Field(description="Symbol identity, for a proof.")
    places: list[str] = Field(description="`group path:line #hash text`: the hash is proof of the line.")
    more: int | None = Field(default=None, description="Places beyond those.")
    groups: list[GroupOutput] | None = Field(default=None, description="Groups of open places.")
    witness: WitnessOutput | None = Field(default=None, description="What the outcome rests on.")
    capsules: list[CapsuleOutput] | None = Field(default=None, description="Questions to answer.")
    verified: list[CheckOutput] | None = Field(default=None, description="Results of the checks.")

    def render(self) -> str:
        lines = [f"{self.outcome}: {self.symbol}"]
        about = {one.id: one.about for one in self.groups or ()}
        last = ""
        for place in self.places:
            group, _, rest = place.partition(" ")
            if group != last:
                lines.append(f"{group}: {about[group]}" if group in about else f"{group}:")
                last = group
            where, _, text = rest.partition(" ")
            proof, _, source = text.partition(" ")
            lines.append(f"  {where}: {source}  {proof}")
        lines += [f"… {self.more} more places"] if self.more else []
        lines += [f"{one.question} {one.verify} {one.stop_rule}" for one in self.capsules or ()]
        for check in self.verified or ():
            lines.append(f"{check.check} {check.outcome}: {check.text}")
            lines += [f"  {finding}" for finding in check.findings or ()]
        return "\n".join(lines)


@tool(Effect.READ, "refactoring")
def refactor_inspect(call: Call, args: RefactorInspectInput) -> RefactorInspectOutput:
    """Shows the places of a plan that are not proven, with what would settle them.

    Use when:
    - a refactoring needs a decision
    Examples:
    - All open places: {"plan": "ref_0123456789ab"}
    """
    pending = call.repo.plans.get(args.plan)
    plan = pending.plan
    selection = _chosen(plan, args.group)
    page = selection[args.offset : args.offset + args.limit]
    result = witness(plan)
    return RefactorInspectOutput(
        outcome=plan.verdict,
        symbol=shown(plan.symbol),
        places=call.ask(lambda snapshot: _lines(snapshot, page)),
        more=max(0, len(selection) - args.offset - len(page)) or None,
        groups=[group_told(plan, one, 0) for one in plan.groups] if args.group is None else None,
        witness=WitnessOutput(
            files_scanned=list(result.files_scanned[:_MOST_FILES]),
            truncated=result.truncated or len(result.files_scanned) > _MOST_FILES or None,
            facts=list(result.facts),
            invariants_failed=list(result.invariants_failed),
        )
        if args.group is None
        else None,
        capsules=[
            CapsuleOutput(
                capsule=one.kind,
                question=one.question,
                groups=list(one.groups),
                verify=one.verify,
                stop_rule=one.stop_rule,
            )
            for one in result.capsules
        ]
        or None,
        verified=checks_told(pending.verification),
    )


def _chosen(plan: Plan, group: str | None) -> list[tuple[str, Site]]:
    """The places that were asked for, each with the group that it is in."""
    if group == _PROVEN:
        return [(site.tier.value, site) for site in plan.sites]
    groups = [one for one in plan.groups if group in (None, one.id)]
    if group is not None and not groups:
        text = ", ".join(one.id for one in plan.groups) or "none"
        raise NotFound(f"The plan has no {group[:40]}; its groups: {text}.")
    return [(one.id, site) for one in groups for site in one.sites]


def _lines(snapshot: Snapshot, places: list[tuple[str, Site]]) -> list[str]:
    files: dict[RepoPath, Lines] = {}
    report = []
    for group, site in places:
        if site.path not in files:
            files[site.path] = Lines(snapshot.source(site.path))
        text = files[site.path].text(site.line) if files[site.path].has(site.line) else ""
        report.append(f"{group} {shown(site.path)}:{site.line} #{line_hash(text)} {text.strip()[:_LONGEST]}")
    return report
