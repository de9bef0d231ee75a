"""What a crash or an undo has left of a phase: its items are brought to what is true of the files."""

from collections.abc import Callable, Sequence

from codeplane.core.errors import CodePlaneError, NotFound, PlanDamaged
from codeplane.core.paths import Digest, RepoPath
from codeplane.git.repo.pathspec import Selection
from codeplane.git.staging.stage import stage_paths
from codeplane.ledger import Operation
from codeplane.plans import Item, PlanTree, Workflow
from codeplane.session.call import Call
from codeplane.session.delta.lock import ExecutionLock
from codeplane.session.delta.routes import is_done, last_step_back, route_to_done
from codeplane.session.delta.verdicts import stale_fields
from codeplane.session.delta.workbench import read_tree_file
from codeplane.session.operation.aftermath import afterwards
from codeplane.session.operation.edits import Written
from codeplane.session.operation.git import change
from codeplane.session.repo import RepoSession
from codeplane.session.staging import repo_staging_rules, staging_rules
from codeplane.working_tree import digest_of


def settle_plan(repo: RepoSession, plan: str) -> list[str]:
    """Settles a plan that nobody executes; one that is gone or can't be read has nothing to settle."""
    try:
        tree = repo.work_plans.load(plan)
    except (NotFound, PlanDamaged):
        return []
    return settle_phases(repo, tree)


def settle_dead(repo: RepoSession) -> list[str]:
    """Settles the plan whose execution has died, at a start; a line for each phase that was cut off."""
    lock = ExecutionLock(repo.state)
    holder = lock.dead_holder()
    if holder is None:
        return []
    try:
        notices = settle_phases(repo, repo.work_plans.load(holder.plan))
    except NotFound:
        notices = []  # the plan was dropped since
    # Not before: a start that is cut off here leaves it to the next.
    if not repo.engine.has_doubts:
        lock.forget()
    return notices


def settle_phases(repo: RepoSession, tree: PlanTree) -> list[str]:
    """Brings phases that were cut off to their end, or back, by what the ledger has of them."""
    workflow = repo.work_plans.workflow
    phases = [phase for phase in tree.phases_in_order() if not repo.work_plans.is_dropped(phase)]
    notices = []
    for phase in phases:
        if is_done(workflow, phase):
            notices += _settle_undone(repo, tree, phase)
        elif _is_executing(workflow, phase):
            notices += _settle_executing(repo, tree, phase)
    return notices


def _is_executing(workflow: Workflow, phase: Item) -> bool:
    is_begun = phase.state != workflow.find_type(phase.type).first_state
    return is_begun and len(route_to_done(workflow, phase)) == 1


def _settle_executing(repo: RepoSession, tree: PlanTree, phase: Item) -> list[str]:
    operation = repo.ledger.of_phase(phase.id)
    # A phase that was opened again may have an operation of an earlier execution.
    if operation is not None and operation.number > repo.ledger.last_event("phase_validated", phase.id):
        # The phase is closed last: a start that is cut off before leaves both to the next.
        staging = _stage_written(repo, tree, operation)
        _close_phase(repo, tree, phase)
        notice = (
            f"Phase {phase.title} ({phase.id}) was written by {operation.operation_id} before its"
            f" execution was cut off; it counts as completed.{staging}"
        )
        return [notice]
    target = last_step_back(repo.work_plans.workflow, phase)
    if target is None or repo.engine.has_doubts:
        return []
    operation = repo.ledger.undone_of_phase(phase.id)
    staging = _stage_restored(repo, tree, operation) if operation is not None else ""
    repo.work_plans.transition_many([(phase.id, target)])
    how = "after it was rolled back" if operation is not None else "before anything was written"
    return [f"Phase {phase.title} ({phase.id}) was cut off {how}.{staging}"]


def _settle_undone(repo: RepoSession, tree: PlanTree, phase: Item) -> list[str]:
    operation = repo.ledger.undone_of_phase(phase.id)
    if operation is None or operation.number < repo.ledger.last_event("phase_validated", phase.id):
        return []
    staging = _stage_restored(repo, tree, operation)
    return [f"{_open_again(repo, tree, phase, operation)}{staging}"]


def _stage_written(repo: RepoSession, tree: PlanTree, operation: Operation) -> str:
    """Stages what a phase has written and nobody has changed since; a sentence about it."""
    if not _uses_git(repo, tree):
        return ""
    modified = {one.path for one in repo.tree.git.look().modified}
    paths = [
        one.path
        for one in operation.changes
        if one.path in modified and _digest_in_tree(repo, one.path) == one.after
    ]
    return _stage_at_start(repo, paths) or " What it has written is staged."


def _stage_restored(repo: RepoSession, tree: PlanTree, operation: Operation) -> str:
    """Stages files again that are staged as a phase left them which was taken back; a sentence about it."""
    if not _uses_git(repo, tree):
        return ""
    return _stage_at_start(repo, _restored_paths(repo, operation))


def _uses_git(repo: RepoSession, tree: PlanTree) -> bool:
    """Whether the last execution of a plan has staged what it wrote."""
    events = repo.ledger.events(str(tree.plan.id), limit=1, event="execution_started")
    return bool(events) and events[0].get("backend") == "git"


def _stage_at_start(repo: RepoSession, paths: Sequence[RepoPath]) -> str:
    """Stages files that no call asks for; the reason where that fails: git_status shows the rest."""
    if not paths:
        return ""
    checkout = repo.checkout
    try:
        selection = Selection.of(repo.tree.jail, [str(path) for path in paths])
        rules = repo_staging_rules(repo, lambda: None)
        with repo.engine.alone(lambda: None):
            stage_paths(checkout.repository, checkout.programs, selection, rules)
    except CodePlaneError as error:
        return f" Its files are not staged: {error.message}"
    return ""


def _close_phase(repo: RepoSession, tree: PlanTree, phase: Item) -> None:
    plans = repo.work_plans
    tasks = [
        task
        for task in tree.tasks_in_order(phase.id)
        if task.delta is not None and not is_done(plans.workflow, task) and not plans.is_dropped(task)
    ]
    steps = [
        step
        for task in tasks
        for step in tree.children(task.id)
        if step.delta is not None and not is_done(plans.workflow, step) and not plans.is_dropped(step)
    ]
    items = (*steps, *tasks, phase)
    plans.transition_many(
        [(item.id, state) for item in items for state in route_to_done(plans.workflow, item)]
    )


def undo_phase(call: Call, operation: Operation, undo: Callable[[], Written]) -> Written:
    """Undoes the operation of a phase and opens the phase again, while nobody executes deltas."""
    repo, plan = call.repo, operation.plan or operation.phase or ""
    if not (repo.state.path / "state.db").exists():
        return undo()
    with ExecutionLock(repo.state).held(plan, lambda one: settle_plan(repo, one)):
        result = undo()
        afterwards(call.warn, "its phase is not open again", lambda: reopen_phase(call, operation), None)
    return result


def reopen_phase(call: Call, operation: Operation) -> None:
    """Opens a phase again whose changes were undone, and stages its files as they are now."""
    repo, phase_id = call.repo, operation.phase or ""
    restage(call, [one.path for one in operation.changes], phase_id)
    tree = repo.work_plans.load(phase_id)
    call.warn(_open_again(repo, tree, tree.item(phase_id), operation))


def _open_again(repo: RepoSession, tree: PlanTree, phase: Item, operation: Operation) -> str:
    plans, workflow = repo.work_plans, repo.work_plans.workflow
    tasks = [
        task for task in tree.tasks_in_order(phase.id) if task.delta is not None and is_done(workflow, task)
    ]
    cause = f"{operation.operation_id}, which executed it, was undone."
    values = {str(task.id): stale_fields(task, cause) for task in tasks}
    if values:
        plans.set_derived_many(values)
    items = [one for one in (tree.plan, phase, *tasks) if is_done(workflow, one)]
    moves = [(one.id, back) for one in items if (back := last_step_back(workflow, one)) is not None]
    if moves:
        plans.transition_many(moves)
    return f"Phase {phase.title} ({phase.id}) is open again."


def restage_rolled_back(call: Call, tree: PlanTree) -> None:
    """Stages files again that are staged as a phase left them which was taken back since."""
    workflow = call.repo.work_plans.workflow
    for phase in tree.phases_in_order():
        if not is_done(workflow, phase) and (operation := call.repo.ledger.undone_of_phase(phase.id)):
            restage(call, _restored_paths(call.repo, operation), phase.id)


def _restored_paths(repo: RepoSession, operation: Operation) -> list[RepoPath]:
    """The files of an operation that was taken back which are staged in another state than they have."""
    status = repo.tree.git.look()
    paths = {one.path for one in status.modified} & {one.path for one in status.staged}
    return [
        one.path
        for one in operation.changes
        if one.path in paths and _digest_in_tree(repo, one.path) == one.before
    ]


def _digest_in_tree(repo: RepoSession, path: RepoPath) -> Digest | None:
    data = read_tree_file(repo, path)
    return digest_of(data) if data is not None else None


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
