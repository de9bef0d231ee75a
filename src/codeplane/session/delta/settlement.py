"""What a crash or an undo has left of a phase: its items are brought to what is true of the files."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.git.repo.pathspec import Selection
from codeplane.git.staging.stage import stage_paths
from codeplane.ledger import Operation
from codeplane.plans import Item, PlanTree
from codeplane.session.call import Call
from codeplane.session.delta.lock import ExecutionLock
from codeplane.session.delta.routes import is_done, last_step_back, route_to_done
from codeplane.session.delta.verdicts import stale_fields
from codeplane.session.operation.git import change
from codeplane.session.repo import RepoSession
from codeplane.session.staging import staging_rules


def settle_plan(call: Call, plan: str) -> list[str]:
    """Settles phases that say that they are being executed although nobody executes them; a line for each."""
    return settle_phases(call.repo, call.repo.work_plans.load(plan))


def settle_dead(repo: RepoSession) -> list[str]:
    """Settles the plan whose execution has died, at a start; a line for each phase that was cut off."""
    holder = ExecutionLock(repo.state).forget_dead()
    return settle_phases(repo, repo.work_plans.load(holder.plan)) if holder is not None else []


def settle_phases(repo: RepoSession, tree: PlanTree) -> list[str]:
    """Brings phases that were cut off to their end, or back, by what the ledger has of them."""
    notices = []
    workflow = repo.work_plans.workflow
    for phase in tree.phases_in_order():
        route = (
            []
            if repo.work_plans.is_dropped(phase) or is_done(workflow, phase)
            else route_to_done(workflow, phase)
        )
        is_executing = len(route) == 1 and phase.state != workflow.find_type(phase.type).first_state
        if not is_executing:
            continue
        operation = repo.ledger.of_phase(phase.id)
        if operation is not None:
            _close_phase(repo, tree, phase)
            notices.append(
                f"Phase {phase.title} ({phase.id}) was written by {operation.operation_id} before its"
                " execution was cut off; it counts as completed."
            )
        elif (target := last_step_back(workflow, phase)) is not None:
            repo.work_plans.transition_many([(phase.id, target)])
            notices.append(f"Phase {phase.title} ({phase.id}) was cut off before anything was written.")
    return notices


def _close_phase(repo: RepoSession, tree: PlanTree, phase: Item) -> None:
    workflow = repo.work_plans.workflow
    tasks = [
        task
        for task in tree.tasks_in_order(phase.id)
        if task.delta is not None and not is_done(workflow, task) and not repo.work_plans.is_dropped(task)
    ]
    moves = [(item.id, state) for item in (*tasks, phase) for state in route_to_done(workflow, item)]
    repo.work_plans.transition_many(moves)


def reopen_phase(call: Call, operation: Operation) -> None:
    """Opens a phase again whose changes were undone, and stages its files as they are now."""
    repo = call.repo
    if operation.phase is None or not (repo.state.path / "state.db").exists():
        return
    restage(call, [one.path for one in operation.changes], operation.phase)
    tree = repo.work_plans.load(operation.phase)
    phase, workflow = tree.item(operation.phase), repo.work_plans.workflow
    tasks = [
        task for task in tree.tasks_in_order(phase.id) if task.delta is not None and is_done(workflow, task)
    ]
    items = [one for one in (tree.plan, phase, *tasks) if is_done(workflow, one)]
    moves = [(one.id, back) for one in items if (back := last_step_back(workflow, one)) is not None]
    if moves:
        repo.work_plans.transition_many(moves)
    cause = f"{operation.operation_id}, which executed it, was undone."
    values = {str(task.id): stale_fields(task, cause) for task in tasks}
    if values:
        repo.work_plans.set_derived_many(values)
    call.warn(f"Phase {phase.title} ({phase.id}) is open again.")


def restage(call: Call, paths: Sequence[RepoPath], phase: str) -> None:
    """Stages files whose staged state is that of a phase which was taken back."""
    if call.repo.checkout.repository.head().commit is None:
        return
    status = call.repo.tree.git.look()
    staged_paths = {one.path for one in status.staged}
    names = [str(path) for path in paths if path in staged_paths]
    if names:
        stage_files(call, names, phase)


def stage_files(call: Call, paths: Sequence[str], phase: str) -> None:
    """Stages files as they are now."""
    checkout = call.repo.checkout
    selection = Selection.of(call.repo.tree.jail, list(paths))
    change(
        call,
        "git_stage",
        lambda: stage_paths(checkout.repository, checkout.programs, selection, staging_rules(call)),
        phase=phase,
    )
