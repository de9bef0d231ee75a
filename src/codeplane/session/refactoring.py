"""Refactorings in a repository: planned and proven on one state, applied on that state or not at all."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import (
    CodePlaneError,
    ContentChanged,
    DecisionRefused,
    NotFound,
    PlanStale,
    RequestError,
)
from codeplane.core.paths import Digest, RepoPath
from codeplane.index import Index, Snapshot
from codeplane.jail import shown
from codeplane.refactor import Plan, Verdict, ahead
from codeplane.refactor import delete as deleting
from codeplane.refactor import discard as discarding
from codeplane.refactor import move as moving
from codeplane.refactor import rename as renaming
from codeplane.refactor import transfer as transferring
from codeplane.refactor.proof import Proof, faults
from codeplane.refactor.relocation import Route
from codeplane.refactor.rename import Sweep, concerned
from codeplane.refactor.subject import find_subject
from codeplane.refactor.syntactic import forced
from codeplane.refactor.text import Lines
from codeplane.refactor.uses import path_of
from codeplane.search.missing import existing
from codeplane.session.ahead import reading_ahead
from codeplane.session.call import Call
from codeplane.session.operation import Intent, Written, write
from codeplane.session.plans import Pending
from codeplane.session.repo import RepoSession
from codeplane.session.verifying import verified
from codeplane.verify import Change, Check, Verification

_MOST_TRIES: Final = 4
_MOST_TOLD: Final = 20
_FIRST_TOLD: Final = 3
_PROOFS: Final[Mapping[str, Callable[[Index, Plan], Plan]]] = {
    "rename": renaming.proven,
    "move": moving.proven,
    "delete": deleting.proven,
    "discard": discarding.proven,
    "transfer": transferring.proven,
}
_CHOICES: Final[Mapping[str, Callable[[Snapshot, Plan, Collection[str]], Plan]]] = {
    "rename": renaming.with_groups,
    "move": moving.with_groups,
    "delete": deleting.with_groups,
    "discard": deleting.with_groups,
    "transfer": transferring.with_groups,
}


def get_ready(repo: RepoSession, is_over: Callable[[], bool]) -> None:
    """Does what the first refactoring would wait for."""
    with suppress(CodePlaneError), repo.index.snapshot() as snapshot:
        ahead.get_ready(snapshot, is_over)


def planned(call: Call, make: Callable[[Snapshot], Plan], wanted: Sequence[Check] = ()) -> Pending:
    """Makes a plan, proves it and has it tried out as is `wanted`; anew where files change meanwhile."""
    call.repo.index.prepare()
    for left in reversed(range(_MOST_TRIES)):
        made = call.ask(make)
        try:
            made = _proven(call, made)
            return call.repo.plans.add(made, _verified(call, made, wanted))
        except ContentChanged:
            if not left:
                raise
            call.check()
    raise AssertionError("BUG: the last try has neither returned nor raised")


def _verified(call: Call, plan: Plan, wanted: Sequence[Check]) -> Verification | None:
    """What comes of the edits where somebody tries them; None for a plan that is never applied."""
    if not wanted or plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.edits.edits:
        return None
    return verified(call, Change(plan.edits, plan.before), wanted)


@dataclass(frozen=True)
class Naming:
    """What is to have which name; `name` is what goes by it at a line, or inside the symbol.

    Where it `is_forced`, the plan has the edits of low risk, whether or not all is proven.
    """

    symbol: str
    new_name: str
    name: str = ""
    is_forced: bool = False


def rename(call: Call, naming: Naming, wanted: Sequence[Check] = ()) -> Pending:
    """A plan to give a symbol another name."""
    sweep, make = _sweep(call), forced if naming.is_forced else renaming.draft

    with reading_ahead(call.repo) as begin:

        def drafted(snapshot: Snapshot) -> Plan:
            subject = find_subject(snapshot, naming.symbol, naming.name)
            return make(snapshot, subject, naming.new_name, sweep, begin)

        return planned(call, drafted, wanted)


def move(call: Call, from_path: str, to_path: str, wanted: Sequence[Check] = ()) -> Pending:
    """A plan to bring a file or a directory to another place, or a symbol to another file."""
    sweep, tree = _sweep(call), call.repo.tree

    def make(snapshot: Snapshot) -> Plan:
        sources = snapshot.linker.sources
        if _is_symbol(snapshot, from_path):
            return transferring.draft(snapshot, snapshot.symbol(from_path), tree.jail.enter(to_path))
        old = existing(snapshot, tree, from_path)
        new = tree.jail.enter(to_path)
        if sources.exists(old) and (to_path.endswith("/") or sources.is_directory(new)):
            new = RepoPath(f"{new}/{old.rpartition('/')[2]}")
        return moving.draft(snapshot, Route(old, new, tuple(tree.links())), sweep)

    return planned(call, make, wanted)


def _is_symbol(snapshot: Snapshot, text: str) -> bool:
    try:
        return path_of(snapshot, text) is None
    except NotFound:
        if "/" in text:
            return False
        raise


def delete(call: Call, target: str, accept: Sequence[str] = (), wanted: Sequence[Check] = ()) -> Pending:
    """A plan to take out a symbol with what only names it, or a file or directory.

    `accept` are groups of uses that may be left.
    """

    def make(snapshot: Snapshot) -> Plan:
        path = path_of(snapshot, target)
        made = (
            discarding.draft(snapshot, path)
            if path is not None
            else deleting.draft(snapshot, snapshot.symbol(target))
        )
        is_open = made.verdict is Verdict.NEEDS_DECISION and bool(accept)
        return deleting.with_groups(snapshot, made, accept) if is_open else made

    return planned(call, make, wanted)


def _sweep(call: Call) -> Sweep:
    settings = call.repo.checkout.settings.refactor.doc_sweep
    return Sweep(settings.enabled and settings.auto_apply, settings.min_confidence)


def _proven(call: Call, plan: Plan) -> Plan:
    # What is blocked is not applied, and while files are being read no state lasts for a proof.
    return plan if plan.verdict is Verdict.BLOCKED else _PROOFS[plan.kind](call.repo.index, plan)


def decided(call: Call, pending: Pending, selected: Sequence[str], proof: Proof) -> Written:
    """Applies a plan with the groups that somebody has chosen, when the proof and the gate hold.

    The plan is there because something is not known, so what is looked at again is whether it is still the
    same question about the same files, and whether every other binding stays.
    """
    plan = pending.plan
    if plan.verdict not in (Verdict.NEEDS_DECISION, Verdict.OK, Verdict.OK_SYNTACTIC):
        raise DecisionRefused(
            f"The plan is {plan.verdict}: there is nothing to decide.", outcome=plan.verdict
        )
    unknown = sorted(set(selected) - {group.id for group in plan.groups})
    if unknown:
        raise DecisionRefused(f"The plan has no {', '.join(unknown)[:200]}.", reason="candidate_not_found")

    def chosen(snapshot: Snapshot) -> Plan:
        check_fresh(snapshot, plan)
        if wrong := list(faults(plan, selected, proof, _lines(call, snapshot, proof))):
            raise DecisionRefused(
                f"The proof does not hold: {wrong[0]}", reason="proof_verification_failed", faults=wrong[:20]
            )
        return _CHOICES[plan.kind](snapshot, plan, selected)

    made = _proven(call, call.ask(chosen))
    if made.verdict is Verdict.REFUSED:
        raise DecisionRefused(
            "With these places, other names would mean something else.",
            reason="binding_changed",
            problems=[one.text for one in made.problems[:20]],
        )
    written = apply(call, pending, made)
    call.repo.decisions.keep(plan, list(selected), {"symbol": proof.symbol, "anchors": len(proof.anchors)})
    return written


def _lines(call: Call, snapshot: Snapshot, proof: Proof) -> dict[str, Lines]:
    """The files that a proof names; one that is not there is left out."""
    found = {}
    for name in {file for file, _ in proof.lines}:
        with suppress(RequestError):
            found[name] = Lines(snapshot.source(call.repo.tree.jail.enter(name)))
    return found


def apply(call: Call, pending: Pending, plan: Plan | None = None) -> Written:
    """Makes the edits of a plan, if everything that it rests on is still as it was."""
    chosen = plan or pending.plan

    def make() -> Intent:
        with call.snapshot() as snapshot:
            check_fresh(snapshot, pending.plan)
            old: dict[RepoPath, bytes | None] = {
                edit.path: snapshot.source(edit.path)
                for edit in chosen.edits.edits
                if edit.before is not None
            }
        return Intent(f"refactor_{chosen.kind}", chosen.edits, old)

    written = write(call, make)
    call.repo.plans.drop(pending.id)
    return written


def check_fresh(snapshot: Snapshot, plan: Plan) -> None:
    now = concerned(snapshot, plan)
    was = plan.read
    differ = sorted(path for path in now.keys() | was.keys() if now.get(path) != was.get(path))
    if differ:
        told = [{"path": shown(path), "change": _change(path, was, now)} for path in differ[:_MOST_TOLD]]
        first = "; ".join(f"{one['path']} {one['change']}" for one in told[:_FIRST_TOLD])
        more = f"; {len(differ) - _FIRST_TOLD} more" if len(differ) > _FIRST_TOLD else ""
        raise PlanStale(
            f"{len(differ)} files that the plan rests on have changed since it was made: {first}{more}.",
            hints=["Ask for the refactoring again."],
            files=told,
        )


def _change(path: RepoPath, was: Mapping[RepoPath, Digest], now: Mapping[RepoPath, Digest]) -> str:
    if path not in was:
        return "has the name in it now"
    return "changed" if path in now else "does not have the name in it any more, or is gone"
