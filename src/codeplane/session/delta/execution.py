"""Executes a plan phase by phase: each is validated whole and written as one operation, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.core.errors import (
    CodePlaneError,
    DeltaNotReady,
    EditInDoubt,
    PhaseRolledBack,
    RollbackFailed,
)
from codeplane.core.ids import OperationId
from codeplane.core.paths import Digest, RepoPath
from codeplane.delta.toolchain import Validator
from codeplane.delta.validators import ValidatorRun
from codeplane.git.commit.commit import CommitRequest, commit
from codeplane.git.repo.pathspec import Selection
from codeplane.jail import shown
from codeplane.plans import Item, Level, PlanTree, check_graph
from codeplane.session.call import Call
from codeplane.session.delta.lock import ExecutionLock
from codeplane.session.delta.routes import is_done, route_to_done
from codeplane.session.delta.settlement import (
    restage,
    restage_rolled_back,
    settle_phases,
    settle_plan,
    stage_files,
)
from codeplane.session.delta.snapshots import FileSnapshots, GitSnapshots, Handle, is_git_usable
from codeplane.session.delta.validation import (
    Events,
    PhaseReport,
    PlanReport,
    remaining_phases,
    validate_plan,
)
from codeplane.session.delta.verdicts import LEVELS, Confidence, Verdict, stale_fields
from codeplane.session.delta.workbench import read_tree_file
from codeplane.session.operation.aftermath import afterwards
from codeplane.session.operation.edits import Intent, Written, write
from codeplane.session.operation.envelope import refresh_index
from codeplane.session.operation.git import change
from codeplane.session.staging import staging_rules
from codeplane.working_tree import digest_of

OP_TYPE: Final = "delta_phase"
_MOST_NAMED: Final = 5
_LONGEST_OUTPUT: Final = 500


@dataclass(frozen=True)
class Options:
    """How a plan is executed."""

    phase: str | None = None  # only this one
    confidence: Confidence = "tested"  # what every task has to have
    auto_commit: bool = False
    allow_dirty: bool = False  # untracked files are no hindrance
    no_git: bool = False  # copies instead of git; nothing is staged


@dataclass
class PhaseResult:
    """A phase that was executed."""

    phase: Item
    operation: OperationId | None  # None where nothing had to be changed
    paths: list[RepoPath] = field(default_factory=list)
    commit: str | None = None
    is_staged: bool = False


@dataclass
class ExecutionReport:
    """What an execution has done."""

    tree: PlanTree
    results: list[PhaseResult]
    remaining: int  # phases that are still to be executed
    notices: list[str] = field(default_factory=list)  # what an earlier one had left


def execute_plan(call: Call, plan: str, options: Options) -> ExecutionReport:
    """Executes the phases that remain, in order; stops at the first that can't be completed."""
    lock = ExecutionLock(call.repo.state)
    plan = call.repo.work_plans.load(plan).plan.id
    with lock.held(plan, lambda one: settle_plan(call.repo, one)):
        return _Execution(call, plan, options, lock).run()


@dataclass
class _Execution:
    call: Call
    plan: str
    options: Options
    lock: ExecutionLock
    results: list[PhaseResult] = field(default_factory=list)

    def run(self) -> ExecutionReport:
        tree = self.call.repo.work_plans.load(self.plan)
        check_graph(tree)
        notices = settle_phases(self.call.repo, tree)
        tree = self.call.repo.work_plans.load(self.plan)
        phases = remaining_phases(self.call, tree, self.options.phase)
        if not phases:
            raise DeltaNotReady(
                "Every phase of the plan is done.", hints=[f'plan_show {{"plan": "{self.plan}"}}']
            )
        backend = self._backend(tree)
        self._begin(backend)
        report: PlanReport | None = None
        for number, phase in enumerate(phases):
            self.lock.check()
            self.call.progress(number, len(phases), f"executing {phase.title}")
            if number:
                self._backend(tree)  # refuses what somebody has changed meanwhile
            if report is None or not self._still_holds(report, phase):
                report = self._validated()
                self._refuse_changes(report, phase)
            self._execute_phase(backend, _phase_of(report, phase), phases[number + 1 :])
        return self._completed(notices)

    def _backend(self, tree: PlanTree) -> FileSnapshots:
        if self.options.no_git or not is_git_usable(self.call):
            return FileSnapshots(self.call)
        backend = GitSnapshots(
            self.call, allows_untracked=self.options.allow_dirty, left_behind=_left_behind(self.call, tree)
        )
        restage_rolled_back(self.call, tree)
        backend.check_clean()
        return backend

    def _begin(self, backend: FileSnapshots) -> None:
        head = self.call.repo.checkout.repository.head() if is_git_usable(self.call) else None
        self._note(
            "execution_started",
            actor=self.call.session.session_id,
            baseline_sha=head.commit if head is not None else None,
            branch=head.branch if head is not None else None,
            toolchain_hash=self.call.repo.checkout.toolchain_digest or None,
            backend=backend.name,
        )

    def _validated(self) -> PlanReport:
        """Validates what remains; nothing of a phase is written while one of its tasks is red."""
        events = Events(self._on_validator_start, self._on_validator_end)
        report = validate_plan(self.call, self.plan, phase=self.options.phase, events=events)
        for warning in report.warnings:
            self.call.warn(warning)
        return report

    def _still_holds(self, report: PlanReport, phase: Item) -> bool:
        """Whether the files are as the validation foresaw them: then it need not be made again."""
        refresh_index(self.call)
        states = [report.tree_state, *(one.tree_state for one in report.phases)]
        position = [one.phase.id for one in report.phases].index(phase.id)
        return self.call.repo.states.now().hex() == states[position]

    def _refuse_changes(self, report: PlanReport, phase: Item) -> None:
        """Validators have judged the files as they were when the validation began."""
        if not self._still_holds(report, phase):
            raise DeltaNotReady(
                f"Files were changed while phase {phase.title} was validated; nothing of it was written.",
                hints=["git_status {}", f'execute_deltas {{"plan": "{self.plan}"}}'],
                phases_committed=len(self.results),
            )

    def _execute_phase(self, backend: FileSnapshots, report: PhaseReport, later: Sequence[Item]) -> None:
        hashes = {shown(path): f"sha256:{digest_of(data)}" for path, data in report.before.items()}
        self._note(
            "phase_validated",
            phase_id=report.phase.id,
            result="green" if report.is_green else "red",
            confidence=report.confidence,
            file_hashes=hashes,
        )
        self._refuse_unready(report, later)
        self._open_gates(report)
        handle = backend.create(sorted(report.contents))
        try:
            outcome = self._write(report)
        except EditInDoubt:
            raise
        except CodePlaneError as error:
            self._rolled_back(report, later, error, [])
            raise
        result = PhaseResult(report.phase, outcome.operation_id if outcome else None, sorted(report.contents))
        try:
            self._note_files(report)
            self._check_written(report)
            self._land(report, result)
        except CodePlaneError as error:
            paths = self._restore_files(backend, handle, result, error)
            self._rolled_back(report, later, error, paths)
            raise PhaseRolledBack(
                f"Phase {report.phase.title} was rolled back: {error.message}",
                hints=error.hints,
                phase=report.phase.id,
                cause=error.name(),
            ) from error
        backend.discard(handle)
        self.results.append(result)

    def _restore_files(
        self, backend: FileSnapshots, handle: Handle, result: PhaseResult, cause: CodePlaneError
    ) -> list[RepoPath]:
        """Takes a phase back that was written; where that fails it stays, and counts as executed."""
        phase = result.phase
        try:
            paths = backend.restore(handle, result.operation)
        except EditInDoubt:
            raise
        except CodePlaneError as error:
            raise RollbackFailed(
                f"Phase {phase.title} was written, but could not be completed ({cause.message})"
                f" nor rolled back ({error.message}).",
                hints=[*error.hints, f'undo {{"operation": "{result.operation}"}}'],
                phase=phase.id,
                cause=cause.name(),
            ) from error
        afterwards(self.call.warn, "git's index has it as before", lambda: self._restage(paths, phase), None)
        return paths

    def _restage(self, paths: Sequence[RepoPath], phase: Item) -> None:
        restage(self.call, paths, phase.id)

    def _refuse_unready(self, report: PhaseReport, later: Sequence[Item]) -> None:
        bad = [one for one in report.verdicts if one.status != "green"]
        if bad:
            self._mark_stale(later, f"Phase {report.phase.title} is not green.")
            raise DeltaNotReady(
                f"{len(bad)} of {len(report.verdicts)} tasks of phase {report.phase.title} are not green;"
                " nothing of it was written.",
                hints=[f"cpl delta why {bad[0].item.id}"],
                tasks=[_reason(one) for one in bad[:_MOST_NAMED]],
                phases_committed=len(self.results),
            )
        least = LEVELS.index(self.options.confidence)
        weak = [one for one in report.verdicts if LEVELS.index(one.confidence or "structural") < least]
        if weak:
            raise DeltaNotReady(
                f"{len(weak)} of {len(report.verdicts)} tasks of phase {report.phase.title} are only"
                f" {weak[0].confidence}: no validator has confirmed them.",
                hints=[
                    "Name validators of toolchain.toml in validate_with (cpl delta toolchain proposes some),",
                    f'or execute_deltas {{"plan": "{self.plan}", "confidence": "{weak[0].confidence}"}}',
                ],
                tasks=[one.item.id for one in weak[:_MOST_NAMED]],
            )

    def _open_gates(self, report: PhaseReport) -> None:
        """Moves tasks and phase as far as they go before their end; a closed gate stops before a byte."""
        plans = self.call.repo.work_plans
        tree, workflow = plans.load(self.plan), plans.workflow
        moves = [
            (item.id, state)
            for item in (tree.plan, *_items_of(tree, report), report.phase)
            if not is_done(workflow, tree.item(item.id))
            for state in route_to_done(workflow, tree.item(item.id))[:-1]
        ]
        if moves:
            for warning in plans.transition_many(moves).warnings:
                self.call.warn(warning)

    def _write(self, report: PhaseReport) -> Written | None:
        if not report.contents:
            return None

        def make() -> Intent:
            self.lock.check()
            return Intent(OP_TYPE, report.change, plan=self.plan, phase=report.phase.id)

        return write(self.call, make, wants_effects=False)

    def _note_files(self, report: PhaseReport) -> None:
        """The files that were written, in one transaction of the ledger."""
        counts, tasks = _edit_counts(report.verdicts), _first_tasks(report.verdicts)
        events = [
            self._event(
                "file_written",
                phase_id=report.phase.id,
                task_id=tasks.get(path),
                file_path=shown(path),
                edit_count=counts.get(path, 0),
            )
            for path in sorted(report.contents)
        ]
        self.call.repo.tasks.record_event(self.call.task, *events)

    def _check_written(self, report: PhaseReport) -> None:
        for path, data in report.contents.items():
            if read_tree_file(self.call.repo, path) != data:
                raise DeltaNotReady(f"{shown(path)} was changed by somebody else right after it was written.")

    def _land(self, report: PhaseReport, result: PhaseResult) -> None:
        """Stages or commits what was written, then closes the tasks and the phase."""
        if report.contents and not self.options.no_git and is_git_usable(self.call):
            paths = [str(path) for path in sorted(report.contents)]
            stage_files(self.call, paths, report.phase.id)
            result.is_staged = True
            if self.options.auto_commit:
                result.commit = self._commit(report.phase, paths)
        plans = self.call.repo.work_plans
        tree, workflow = plans.load(self.plan), plans.workflow
        items = (*_items_of(tree, report), report.phase)
        moves = [
            (item.id, state)
            for item in items
            if not is_done(workflow, tree.item(item.id))
            for state in route_to_done(workflow, tree.item(item.id))
        ]
        if moves:
            plans.transition_many(moves)
        self._note(
            "phase_committed",
            phase_id=report.phase.id,
            commit_sha=result.commit,
            operation_id=result.operation,
        )

    def _commit(self, phase: Item, paths: Sequence[str]) -> str | None:
        checkout = self.call.repo.checkout
        only = Selection.of(self.call.repo.tree.jail, list(paths))
        request = CommitRequest(f"codeplane: {phase.title}")
        result = change(
            self.call,
            "git_commit",
            lambda: commit(checkout.repository, checkout.programs, request, staging_rules(self.call), only),
            phase=phase.id,
        )
        return result.after.commit

    def _rolled_back(
        self, report: PhaseReport, later: Sequence[Item], error: CodePlaneError, paths: Sequence[RepoPath]
    ) -> None:
        """Has plan and ledger say that a phase was not completed; its files are as before it."""
        what = "the plan does not say so yet"
        afterwards(self.call.warn, what, lambda: self._note_rollback(report, later, error, paths), None)

    def _note_rollback(
        self, report: PhaseReport, later: Sequence[Item], error: CodePlaneError, paths: Sequence[RepoPath]
    ) -> None:
        settle_plan(self.call.repo, self.plan)
        reason = f"Phase {report.phase.title} was not completed: {error.message}"
        self._mark_stale((report.phase, *later), reason)
        self._note(
            "phase_rolled_back",
            phase_id=report.phase.id,
            reason=error.message[:_LONGEST_OUTPUT],
            files_restored=[shown(path) for path in paths],
        )
        self._note("execution_completed", phases_committed=len(self.results), phases_failed=1)

    def _mark_stale(self, phases: Sequence[Item], cause: str) -> None:
        plans = self.call.repo.work_plans
        tree, workflow = plans.load(self.plan), plans.workflow
        values = {
            str(task.id): stale_fields(task, cause)
            for phase in phases
            for task in tree.tasks_in_order(phase.id)
            if task.delta is not None and not is_done(workflow, task) and not plans.is_dropped(task)
        }
        if values:
            plans.set_derived_many(values)

    def _completed(self, notices: list[str]) -> ExecutionReport:
        plans = self.call.repo.work_plans
        tree = plans.load(self.plan)
        remaining = len(remaining_phases(self.call, tree))
        if not remaining and not is_done(plans.workflow, tree.plan):
            moves = [(tree.plan.id, state) for state in route_to_done(plans.workflow, tree.plan)]
            tree = plans.transition_many(moves).tree
        self._note("execution_completed", phases_committed=len(self.results), phases_failed=0)
        return ExecutionReport(tree, self.results, remaining, notices)

    def _on_validator_start(self, validator: Validator, path: RepoPath | None) -> None:
        self.lock.check()
        target = {"file_path": shown(path)} if path is not None else {}
        self._note("validator_started", validator_name=validator.name, scope=validator.scope, **target)

    def _on_validator_end(self, run: ValidatorRun) -> None:
        if run.is_passed:
            self._note("validator_passed", validator_name=run.name, duration_ms=run.duration_ms)
        else:
            snippet = run.output[-_LONGEST_OUTPUT:]
            self._note(
                "validator_failed", validator_name=run.name, exit_code=run.exit_code, output_snippet=snippet
            )

    def _note(self, event: str, **values: Any) -> None:
        self.call.repo.tasks.record_event(self.call.task, self._event(event, **values))

    def _event(self, event: str, **values: Any) -> dict[str, Any]:
        body = {key: value for key, value in values.items() if value is not None}
        return {"event": event, "plan_id": self.plan, **body}


def _phase_of(report: PlanReport, phase: Item) -> PhaseReport:
    return next(one for one in report.phases if one.phase.id == phase.id)


def _items_of(tree: PlanTree, report: PhaseReport) -> list[Item]:
    """The tasks and steps that a phase has executed, steps first: a task ends after its steps."""
    items = [tree.item(verdict.item.id) for verdict in report.verdicts]
    return sorted(items, key=lambda item: item.level is not Level.STEP)


def _edit_counts(verdicts: Sequence[Verdict]) -> dict[RepoPath, int]:
    counts: dict[RepoPath, int] = {}
    for verdict in verdicts:
        for element in verdict.outcome.elements if verdict.outcome is not None else ():
            counts[element.path] = counts.get(element.path, 0) + element.edit_count
    return counts


def _first_tasks(verdicts: Sequence[Verdict]) -> dict[RepoPath, str]:
    """The first task or step that each file is changed by."""
    tasks: dict[RepoPath, str] = {}
    for verdict in verdicts:
        for element in verdict.outcome.elements if verdict.outcome is not None else ():
            tasks.setdefault(element.path, verdict.item.id)
    return tasks


def _reason(verdict: Verdict) -> str:
    text = verdict.problems[0].text if verdict.problems else verdict.cause or verdict.status
    return f"{verdict.item.id} {verdict.item.title}: {verdict.status}: {text}"


def _left_behind(call: Call, tree: PlanTree) -> dict[RepoPath, Digest | None]:
    """The digests of files as phases of the plan that were executed have left them."""
    operations = [call.repo.ledger.of_phase(phase.id) for phase in tree.phases_in_order()]
    in_order = sorted((one for one in operations if one is not None), key=lambda one: one.number)
    return {one.path: one.after for operation in in_order for one in operation.changes}
