"""Plans that are carried out: at once, as far as they are certain, when tests pass, or by a decision."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal

from codeplane.core.edits import Change
from codeplane.core.errors import CodePlaneError, DecisionRefused, PlanStale, RequestError
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.names import Freshness, Snapshot
from codeplane.refactor import Plan, Verdict
from codeplane.refactor import rename as renaming
from codeplane.refactor.catalogue import refactorings
from codeplane.refactor.decision_proof import Proof, faults
from codeplane.refactor.plan import MENTIONS
from codeplane.refactor.rename import concerned
from codeplane.refactor.risk_policy import is_for_tests
from codeplane.refactor.text import Lines
from codeplane.session.call import Call
from codeplane.session.operation.aftermath import afterwards
from codeplane.session.operation.edits import Intent, Written, write
from codeplane.session.plans import Pending
from codeplane.session.refactoring import prove_plan, try_out
from codeplane.verify import Outcome, Verification

Mode = Literal["never", "if_certain", "if_verified", "certain_part"]

_MOST_TOLD: Final = 20
_FIRST_TOLD: Final = 3
_READY: Final = (Verdict.OK, Verdict.OK_SYNTACTIC)
_DELETIONS: Final = ("delete", "discard")


@dataclass(frozen=True)
class Execution:
    """What has come of a plan; without `written` nothing has changed."""

    pending: Pending
    result: Written | None = None
    rest: Pending | None = None  # the open places that were left, as a plan of their own


def execute_plan(call: Call, pending: Pending, mode: Mode) -> Execution:
    """Carries a plan out as far as a mode allows; one that is not carried out waits for it."""
    outcome = _execute_in_mode(call, pending, mode)
    if outcome.result is None:
        _offer_plan(call, outcome.pending)
    return outcome


def _offer_plan(call: Call, pending: Pending) -> None:
    """Has a plan found by its id. Where that cannot outlive this process, it is said."""
    try:
        call.repo.plans.keep(pending)
    except CodePlaneError as error:
        call.warn(f"The plan is not saved; it ends with this process: {error.message}")


def _execute_in_mode(call: Call, pending: Pending, mode: Mode) -> Execution:
    plan = pending.plan
    if mode == "never" or plan.verdict not in (*_READY, Verdict.NEEDS_DECISION):
        return Execution(pending)
    if pending.verification is not None and not pending.verification.is_passed:
        call.warn("Not applied: not every requested check passed.")
        return Execution(pending)
    if plan.verdict in _READY:
        return Execution(pending, apply_plan(call, pending), _rest_of_rename(call, pending))
    if mode == "if_verified":
        return _if_verified(call, pending)
    if mode == "certain_part" and plan.kind not in _DELETIONS:
        return execute_with(call, pending)
    return Execution(pending)


def _keep_choice(call: Call, plan: Plan, selected: list[str], proof: Proof | None) -> None:
    """Has a choice offered again when the same question comes up in the same files."""
    claims = {"symbol": plan.symbol, "anchors": len(proof.anchors) if proof is not None else 0}
    keep = call.repo.decisions.keep
    afterwards(call.warn, "the choice was not recorded", lambda: keep(plan, selected, claims), None)


def _if_verified(call: Call, pending: Pending) -> Execution:
    """Applies what is certain where the tests say that nothing else is meant."""
    plan = pending.plan
    if plan.kind in _DELETIONS or not is_for_tests(plan.groups, plan.notes):
        call.warn("Not applied: tests cannot settle the open places.")
        return Execution(pending)
    verification = try_out(call, plan, ("parse", "tests", "lint"))
    pending = replace(pending, verification=verification)
    if verification is None or not _is_good(verification):
        call.warn("Not applied: the tests did not pass with it.")
        return Execution(pending)
    return execute_with(call, pending)


def _is_good(verification: Verification) -> bool:
    """Whether tests have run, and nothing that could be tried is worse than before."""
    passes = {one.check for one in verification.checks if one.outcome is Outcome.PASSED}
    return "tests" in passes and all(one.outcome is not Outcome.FAILED for one in verification.checks)


def _rest_of_rename(call: Call, pending: Pending, selected: Collection[str] = ()) -> Pending | None:
    """The places that were left by a rename, as a plan; none where there are none."""
    plan = pending.plan
    choice = plan.choosing(selected, plan.epoch)
    is_whole = all(group.id in selected for group in plan.groups) and not choice.offered
    if plan.kind != "rename" or is_whole:
        return None

    def plan_of_rest() -> Pending:
        rest = call.repo.plans.make(call.ask(lambda snapshot: renaming.rest(snapshot, plan, selected)))
        call.repo.plans.keep(rest, parent=pending.id)
        return rest

    return afterwards(call.warn, "the open places are no longer a plan", plan_of_rest, None)


def execute_with(
    call: Call, pending: Pending, selected: Sequence[str] = (), proof: Proof | None = None
) -> Execution:
    """Carries a plan out with the groups that somebody has chosen."""
    proven_plan = decide_plan(call, pending, selected, proof)
    result = apply_plan(call, pending, proven_plan)
    if groups := [one for one in selected if one.partition(":")[0] != MENTIONS]:
        _keep_choice(call, pending.plan, groups, proof)
    left = tuple(group for group in proven_plan.groups if group.id not in selected)
    return Execution(
        replace(pending, plan=replace(proven_plan, groups=left)),
        result,
        _rest_of_rename(call, pending, selected),
    )


def decide_plan(
    call: Call, pending: Pending, selected: Sequence[str] = (), proof: Proof | None = None
) -> Plan:
    """The plan with the groups that somebody has chosen, when the gate and a proof that is sent hold.

    The plan is there because something is not known, so what is looked at again is whether it is still the
    same question about the same files, and whether every other binding stays.
    """
    plan = pending.plan
    if plan.verdict not in (Verdict.NEEDS_DECISION, Verdict.OK, Verdict.OK_SYNTACTIC):
        raise DecisionRefused(
            f"The plan is {plan.verdict}: there is nothing to decide.", outcome=plan.verdict
        )

    def chosen(snapshot: Snapshot) -> Plan:
        check_fresh(snapshot, plan)
        lines = _lines_of_proof(call, snapshot, proof) if proof is not None else {}
        if proof is not None and (wrong := list(faults(plan, proof, lines))):
            raise DecisionRefused(
                f"The proof does not hold: {wrong[0]}", reason="proof_verification_failed", faults=wrong[:20]
            )
        return refactorings()[plan.kind].with_groups(snapshot, plan, selected)

    proven_plan = prove_plan(call, call.ask(chosen))
    if proven_plan.verdict is Verdict.REFUSED:
        raise DecisionRefused(
            "With these places, other names would mean something else.",
            reason="binding_changed",
            problems=[one.text for one in proven_plan.problems[:20]],
        )
    return proven_plan


def _lines_of_proof(call: Call, snapshot: Snapshot, proof: Proof) -> dict[str, Lines]:
    """The files that a proof names; one that is not there is left out."""
    files = {}
    for name in {file for file, _ in proof.lines}:
        with suppress(RequestError):
            files[name] = Lines(snapshot.source(call.repo.tree.jail.enter(name)))
    return files


def apply_plan(call: Call, pending: Pending, plan: Plan | None = None) -> Written:
    """Makes the edits of a plan, if everything that it rests on is still as it was."""
    choice = plan or pending.plan

    def make() -> Intent:
        with call.snapshot() as snapshot:
            check_fresh(snapshot, pending.plan)
            before = {
                edit.path: snapshot.source(edit.path)
                for edit in choice.change.edits.edits
                if edit.before is not None
            }
        return Intent(f"refactor_{choice.kind}", Change(choice.change.edits, before))

    result = write(call, make)
    drop = call.repo.plans.drop
    afterwards(call.warn, "its plan is not dropped", lambda: drop(pending.id), None)
    return result


def _call_again(plan: Plan) -> str:
    """The call that plans the same on the files as they are now."""
    arguments: dict[str, object]
    match plan.kind:
        case "rename":
            tool, arguments = "refactor_rename", {"symbol": plan.symbol, "new_name": plan.new_name}
        case "transfer":
            tool, arguments = "refactor_move", {"from_path": plan.symbol, "to_path": plan.target}
        case "move":
            tool, arguments = "refactor_move", {"from_path": plan.symbol, "to_path": _destination(plan)}
        case _:
            tool, arguments = "refactor_delete", {"target": plan.symbol}
    texts = {name: shown(str(value)) for name, value in arguments.items()}
    return f"{tool} {json.dumps(texts, ensure_ascii=False)}"


def _destination(plan: Plan) -> str:
    """Where the file or directory of a move goes, by one of the files that go there."""
    old, new = next(iter(plan.moves.items()))
    return new.removesuffix(old.removeprefix(plan.symbol))


def check_fresh(snapshot: Snapshot, plan: Plan) -> None:
    """Refuses a plan where a file that it rests on has changed, or what indexers said of one may not hold."""
    _check_contents(snapshot, plan)
    basis = plan.semantic
    states = {path: snapshot.semantic_states.state_for_edit(path) for path in sorted(basis.files)}
    open_files = [path for path, state in states.items() if state.freshness is not Freshness.CLEAN]
    if open_files:
        files = [{"path": shown(path), "change": states[path].reason} for path in open_files[:_MOST_TOLD]]
        state = states[open_files[0]]
        raise PlanStale(
            f"The semantic facts of {files[0]['path']}, by which the plan was made, are {state.freshness}:"
            f" {state.reason}.",
            hints=[
                f"semantic_refresh {json.dumps({'files': [one['path'] for one in files]})}",
                _call_again(plan),
            ],
            files=files,
        )
    if basis.files and basis.last_run != snapshot.semantics.last_run:
        raise PlanStale("An indexer has run since the plan was made.", hints=[_call_again(plan)], files=[])


def _check_contents(snapshot: Snapshot, plan: Plan) -> None:
    now = concerned(snapshot, plan)
    was = plan.read
    differ = sorted(path for path in now.keys() | was.keys() if now.get(path) != was.get(path))
    if differ:
        files = [
            {"path": shown(path), "change": _describe_change(path, was, now)} for path in differ[:_MOST_TOLD]
        ]
        first = "; ".join(f"{one['path']} {one['change']}" for one in files[:_FIRST_TOLD])
        more = f"; {len(differ) - _FIRST_TOLD} more" if len(differ) > _FIRST_TOLD else ""
        whose = f"{len(differ)} files" if len(differ) > 1 else "A file"
        have = "have" if len(differ) > 1 else "has"
        raise PlanStale(
            f"{whose} that the plan is based on {have} changed since: {first}{more}.",
            hints=[_call_again(plan)],
            files=files,
        )


def _describe_change(path: RepoPath, was: Mapping[RepoPath, Digest], now: Mapping[RepoPath, Digest]) -> str:
    if path not in was:
        return "now contains the name"
    return "changed" if path in now else "no longer contains the name, or is gone"
