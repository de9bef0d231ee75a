"""Refactorings in a repository: planned and proven on one state, applied on that state or not at all."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import CodePlaneError, ContentChanged, NotFound
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.refactor import Plan, Verdict, delete_file, delete_symbol, move_file, move_symbol, warmup
from codeplane.refactor import rename as renaming
from codeplane.refactor.catalogue import refactorings
from codeplane.refactor.forced_rename import forced
from codeplane.refactor.move_symbol import Wish
from codeplane.refactor.moves.file_uses import path_of
from codeplane.refactor.moves.route import Route
from codeplane.refactor.rename import Sweep
from codeplane.refactor.subject import find_subject
from codeplane.search.missing_file import existing
from codeplane.session.call import Call
from codeplane.session.plans import Pending, chosen_groups
from codeplane.session.preparse import reading_ahead
from codeplane.session.repo import RepoSession
from codeplane.verify import Check, Verification

_MOST_TRIES: Final = 4


def get_ready(repo: RepoSession, is_over: Callable[[], bool]) -> None:
    """Does what the first refactoring would wait for."""
    with suppress(CodePlaneError), repo.index.snapshot() as snapshot:
        warmup.get_ready(snapshot, is_over)


def make_plan(call: Call, make: Callable[[Snapshot], Plan], checks: Sequence[Check] = ()) -> Pending:
    """Makes a plan, proves it and tries it out by `checks`; anew where files change meanwhile."""
    call.repo.index.prepare()
    for left in reversed(range(_MOST_TRIES)):
        plan = call.ask(make)
        try:
            plan = prove_plan(call, plan)
            return call.repo.plans.make(plan, try_out(call, plan, checks))
        except ContentChanged:
            if not left:
                raise
            call.check()
    raise AssertionError("BUG: the last try has neither returned nor raised")


def try_out(call: Call, plan: Plan, checks: Sequence[Check]) -> Verification | None:
    """What comes of the edits where somebody tries them; None for a plan that is never applied."""
    if not checks or plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.change.edits.edits:
        return None
    # What runs tests and linters is loaded by the first call that tries something out.
    from codeplane.session.checks import verified

    return verified(call, plan.change, checks)


@dataclass(frozen=True)
class Naming:
    """What is to have which name; `name` is what goes by it at a line, or inside the symbol.

    Where it `is_forced`, the plan has the edits of low risk, whether or not all is proven.
    """

    symbol: str
    new_name: str
    name: str = ""
    context: str | None = None  # the build context that the caller has in mind
    is_forced: bool = False


def rename(call: Call, naming: Naming, checks: Sequence[Check] = ()) -> Pending:
    """A plan to give a symbol another name."""
    sweep, make = _sweep_settings(call), forced if naming.is_forced else renaming.draft

    with reading_ahead(call.repo) as begin:

        def drafted(snapshot: Snapshot) -> Plan:
            subject = find_subject(snapshot, naming.symbol, naming.name)
            return make(snapshot, subject, naming.new_name, sweep, begin)

        pending = make_plan(call, drafted, checks)
    contexts = pending.plan.contexts
    if naming.context is not None and contexts and naming.context not in contexts:
        call.warn(f"The build contexts of the plan: {', '.join(map(shown, contexts))}.")
    return pending


def move(
    call: Call, from_path: str, to_path: str, checks: Sequence[Check] = (), wish: Wish | None = None
) -> Pending:
    """A plan to bring a file or a directory to another place, or a symbol to another file."""
    sweep, tree = _sweep_settings(call), call.repo.tree

    def make(snapshot: Snapshot) -> Plan:
        if _is_symbol(snapshot, from_path):
            return move_symbol.draft(snapshot, snapshot.symbol(from_path), tree.jail.enter(to_path), wish)
        old = existing(snapshot, tree, from_path)
        new = tree.jail.enter(to_path)
        if snapshot.exists(old) and (to_path.endswith("/") or snapshot.is_directory(new)):
            new = RepoPath(f"{new}/{old.rpartition('/')[2]}")
        return move_file.draft(snapshot, Route(old, new, tuple(tree.links())), sweep)

    return make_plan(call, make, checks)


def _is_symbol(snapshot: Snapshot, text: str) -> bool:
    try:
        return path_of(snapshot, text) is None
    except NotFound:
        if "/" in text:
            return False
        raise


def delete(call: Call, target: str, accept: Sequence[str] = (), checks: Sequence[Check] = ()) -> Pending:
    """A plan to take out a symbol with what only names it, or a file or directory.

    `accept` are groups of uses that may be left.
    """

    def make(snapshot: Snapshot) -> Plan:
        path = path_of(snapshot, target)
        plan = (
            delete_file.draft(snapshot, path)
            if path is not None
            else delete_symbol.draft(snapshot, snapshot.symbol(target))
        )
        is_open = plan.verdict is Verdict.NEEDS_DECISION and bool(accept)
        return delete_symbol.with_groups(snapshot, plan, chosen_groups(plan, accept)) if is_open else plan

    return make_plan(call, make, checks)


def _sweep_settings(call: Call) -> Sweep:
    settings = call.repo.checkout.settings.refactor.doc_sweep
    is_on = settings.enabled and settings.auto_apply
    return Sweep(is_on, settings.min_confidence, settings.scan_extensions)


def prove_plan(call: Call, plan: Plan) -> Plan:
    """The plan with its verdict: what would change the meaning of other names is refused."""
    # What is blocked is not applied, and while files are being read no state lasts for a proof.
    return (
        plan if plan.verdict is Verdict.BLOCKED else refactorings()[plan.kind].proven(call.repo.index, plan)
    )
