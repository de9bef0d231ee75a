"""Validates the deltas of a plan against the files as they are: simulated, then tried by validators."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.config.places import user_variables
from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import DeltaInvalid, ToolchainInvalid
from codeplane.core.fingerprint import Fingerprint
from codeplane.core.paths import RepoPath
from codeplane.delta.digest import digest_of as delta_digest
from codeplane.delta.document import read_delta
from codeplane.delta.model import Delta
from codeplane.delta.simulation import Problem, Simulation
from codeplane.delta.toolchain import Toolchain, Validator
from codeplane.delta.validators import Bench, ValidatorRun, run_validators
from codeplane.plans import Item, PlanTree, check_graph
from codeplane.session.call import Call
from codeplane.session.delta.routes import is_done
from codeplane.session.delta.verdicts import LEVELS, Confidence, Verdict
from codeplane.session.delta.workbench import (
    authoring_of,
    read_tree_file,
    require_toolchain_trust,
    simulation_for,
    toolchain_of,
)
from codeplane.session.operation.envelope import refresh_index
from codeplane.testrun.run import Watch
from codeplane.verify.trial import Original, Trial, trial
from codeplane.working_tree import digest_of

_PREFIX: Final = "sha256:"


@dataclass
class PhaseReport:
    """What has come of one phase."""

    phase: Item
    verdicts: list[Verdict]
    contents: dict[RepoPath, bytes] = field(default_factory=dict)  # that the phase changes, afterwards
    before: dict[RepoPath, bytes] = field(default_factory=dict)  # and before it
    tree_state: str = ""  # fingerprint of all files with the phase
    runs: list[ValidatorRun] = field(default_factory=list)
    is_reused: bool = False  # whether an earlier validation still holds

    @property
    def is_green(self) -> bool:
        """Whether every task of it is."""
        return all(verdict.status == "green" for verdict in self.verdicts)

    @property
    def confidence(self) -> Confidence:
        """That of the task which is known least well."""
        levels = [LEVELS.index(one.confidence or "structural") for one in self.verdicts]
        return LEVELS[min(levels, default=len(LEVELS) - 1)]

    @property
    def change(self) -> Change:
        """The phase as one change of files."""
        edits = tuple(
            FileEdit(path, digest_of(self.before[path]), data) for path, data in sorted(self.contents.items())
        )
        return Change(EditSet(edits), self.before)


@dataclass
class PlanReport:
    """What has come of the phases of a plan that are still to be executed."""

    tree: PlanTree
    phases: list[PhaseReport]
    toolchain: Toolchain
    tree_state: str  # fingerprint of all files before the first phase
    warnings: list[str] = field(default_factory=list)

    @property
    def verdicts(self) -> list[Verdict]:
        return [verdict for phase in self.phases for verdict in phase.verdicts]


@dataclass(frozen=True)
class Events:
    """Who is told while validators run."""

    on_start: Callable[[Validator, RepoPath | None], None] = lambda _validator, _path: None
    on_end: Callable[[ValidatorRun], None] = lambda _run: None


def units_of(call: Call, tree: PlanTree, phase: Item) -> Iterator[Item]:
    """The tasks and steps of a phase that have a delta and are still to be done, in order."""
    plans = call.repo.work_plans
    for task in tree.tasks_in_order(phase.id):
        if plans.is_dropped(task) or is_done(plans.workflow, task):
            continue
        for item in (task, *tree.children(task.id)):
            if item.delta is not None and not plans.is_dropped(item):
                yield item


def remaining_phases(call: Call, tree: PlanTree, only: str | None = None) -> list[Item]:
    """The phases that are still to be executed, in order; or the one that is named."""
    if only is not None:
        return [tree.find_item(only)]
    plans = call.repo.work_plans
    workflow = plans.workflow
    return [one for one in tree.phases_in_order() if not plans.is_dropped(one) and not is_done(workflow, one)]


def validate_plan(
    call: Call,
    plan: str,
    *,
    phase: str | None = None,
    level: Confidence = "tested",
    events: Events | None = None,
) -> PlanReport:
    """Validates the phases that remain, and has the plan keep what was found."""
    refresh_index(call)
    tree = call.repo.work_plans.load(plan)
    check_graph(tree)
    phases = remaining_phases(call, tree, phase)
    validation = _Validation(call, tree, level, events or Events(), _paths_in(call, tree, phases))
    for number, item in enumerate(phases):
        call.progress(number, None, f"simulating {item.title}")
        validation.simulate_phase(item)
    validation.run_validators()
    return validation.stored_report()


@dataclass
class _Validation:
    call: Call
    tree: PlanTree
    level: Confidence
    events: Events
    expected: Sequence[RepoPath]  # the files that deltas name
    phases: list[PhaseReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.simulation: Simulation = simulation_for(self.call, self.expected)
        self.toolchain = toolchain_of(self.call.repo)
        self.state: Fingerprint = self.call.repo.states.now()
        self.first_state = self.state.hex()
        self._red: set[str] = set()

    def simulate_phase(self, phase: Item) -> None:
        before = dict(self.simulation.contents)
        verdicts = [self._verdict(phase, item) for item in units_of(self.call, self.tree, phase)]
        report = PhaseReport(phase, verdicts)
        for path, data in self.simulation.contents.items():
            was = before[path] if path in before else read_tree_file(self.call.repo, path) or b""
            if data != was:
                report.contents[path], report.before[path] = data, was
                self.state = self.state.changed(path, digest_of(was), digest_of(data))
        report.tree_state = self.state.hex()
        self.phases.append(report)

    def _verdict(self, phase: Item, item: Item) -> Verdict:
        self.call.check()
        detail = item.derived.get("delta_detail")
        verdict = Verdict(item, phase, detail=detail if isinstance(detail, dict) else {})
        try:
            delta = read_delta(item.delta, authoring_of(self.call.repo))
        except DeltaInvalid as error:
            verdict.problems.append(Problem("argument", RepoPath(""), error.message))
            return self._ended(verdict)
        if delta_digest(delta) != (item.delta or {}).get("digest"):
            verdict.status, verdict.cause = "stale", "The stored delta is not the one its digest names."
            return self._ended(verdict)
        blockers = [self.tree.item(one) for one in self.tree.blockers_of(item.id) if one in self._red]
        if blockers:
            text = f"It comes after {', '.join(one.title for one in blockers)}, which is not green."
            verdict.problems.append(Problem("blocked", RepoPath(""), text))
        verdict.problems += self._unknown_validators(delta)
        if not verdict.problems:
            verdict.outcome = self.simulation.run(delta)
            verdict.problems += verdict.outcome.problems
        return self._ended(verdict)

    def _ended(self, verdict: Verdict) -> Verdict:
        if verdict.status != "stale":
            verdict.status = "red" if verdict.problems else "green"
        if verdict.status == "green" and verdict.outcome is not None:
            verdict.confidence = "structural" if verdict.outcome.is_already else "validated"
        else:
            self._red.add(verdict.item.id)
        return verdict

    def _unknown_validators(self, delta: Delta) -> list[Problem]:
        return [
            Problem("validator", element.path, self.toolchain.unknown_text(name))
            for element in delta.elements
            for name in element.validate_with
            if self.toolchain.find(name) is None
        ]

    def run_validators(self) -> None:
        """Validators start only where a phase and all before it are structurally green, once a phase."""
        if self.level != "tested" or not any(self._requests(phase) for phase in self.phases):
            return
        try:
            require_toolchain_trust(self.call.repo, self.toolchain)
        except ToolchainInvalid as error:
            self.warnings.append(f"{error.message} ({', '.join(error.hints)})")
            return
        with ExitStack() as stack:
            copy: Trial | None = None
            for phase in self.phases:
                if not phase.is_green:
                    break
                requests = self._requests(phase)
                if not requests or self._is_tested(phase):
                    continue
                copy = copy or self._copy(stack)
                self._test_phase(phase, copy, requests)

    def _requests(self, phase: PhaseReport) -> dict[Validator, list[RepoPath]]:
        """Which validators a phase names, with the files that its tasks change."""
        requests: dict[Validator, list[RepoPath]] = {}
        for verdict in phase.verdicts:
            for element in (verdict.item.delta or {}).get("elements", ()):
                for name in element.get("validate_with", ()):
                    validator = self.toolchain.find(name)
                    if validator is not None:
                        requests.setdefault(validator, []).append(RepoPath(element["path"]))
        return requests

    def _is_tested(self, phase: PhaseReport) -> bool:
        """Whether an earlier validation ran them on the same files, with the same toolchain."""
        details = [verdict.detail for verdict in phase.verdicts]
        same = all(
            one.get("tree") == phase.tree_state and one.get("toolchain") == self.toolchain.digest
            for one in details
        )
        passing = [
            verdict for verdict in phase.verdicts if verdict.item.derived.get("delta_confidence") == "tested"
        ]
        checkable = [verdict for verdict in phase.verdicts if _names_validators(verdict)]
        if not same or not all(verdict in passing for verdict in checkable):
            return False
        for verdict in checkable:
            verdict.confidence = "tested"
        phase.is_reused = True
        return True

    def _copy(self, stack: ExitStack) -> Trial:
        repo = self.call.repo
        paths = self.call.ask(lambda snapshot: sorted(map(RepoPath, snapshot.lookup.paths)))
        original = Original(repo.tree, repo.checkout.repository, paths, repo.checkout.scratch)
        watch = Watch(self.call.check, self.call.progress)
        return stack.enter_context(trial(original, Change(), watch))

    def _test_phase(
        self, phase: PhaseReport, copy: Trial, requests: Mapping[Validator, Sequence[RepoPath]]
    ) -> None:
        contents: dict[RepoPath, bytes] = {}
        for earlier in self.phases[: self.phases.index(phase) + 1]:
            contents |= earlier.contents
        edits = tuple(FileEdit(path, None, data) for path, data in contents.items())
        replace(copy, change=Change(EditSet(edits)), is_edited=False).edit()
        bench = Bench(
            replace(copy, change=Change(EditSet(edits)), is_edited=True),
            self.call.repo.checkout.programs,
            user_variables,
            self.call.check,
            self._on_start,
            self.events.on_end,
        )
        phase.runs = run_validators(bench, requests)
        for verdict in phase.verdicts:
            self._judge(verdict, phase.runs)

    def _on_start(self, validator: Validator, path: RepoPath | None) -> None:
        self.call.progress(0, None, f"running {validator.name}{f' on {path}' if path else ''}")
        self.events.on_start(validator, path)

    def _judge(self, verdict: Verdict, runs: Sequence[ValidatorRun]) -> None:
        """A task is tested where each validator that it names has run and passed."""
        names = {
            (name, element["path"])
            for element in (verdict.item.delta or {}).get("elements", ())
            for name in element.get("validate_with", ())
        }
        if not names:
            return
        own = [
            run for run in runs if any(run.name == name and run.path in (None, path) for name, path in names)
        ]
        verdict.validators = own
        for run in own:
            if run.blocks:
                verdict.problems.append(_validator_problem(run))
        if verdict.problems:
            verdict.status, verdict.confidence = "red", None
        elif all(run.is_passed and not run.is_missing for run in own if run.is_required) and own:
            verdict.confidence = "tested"

    def stored_report(self) -> PlanReport:
        plans = self.call.repo.work_plans
        values = {
            str(verdict.item.id): verdict.to_derived(phase.tree_state, self.toolchain.digest)
            for phase in self.phases
            for verdict in phase.verdicts
        }
        tree = plans.set_derived_many(values) if values else self.tree
        return PlanReport(tree, self.phases, self.toolchain, self.first_state, self.warnings)


def _paths_in(call: Call, tree: PlanTree, phases: Sequence[Item]) -> list[RepoPath]:
    units = (item for phase in phases for item in units_of(call, tree, phase))
    paths = (element["path"] for item in units for element in (item.delta or {}).get("elements", ()))
    return list(map(RepoPath, dict.fromkeys(paths)))


def _names_validators(verdict: Verdict) -> bool:
    return any(element.get("validate_with") for element in (verdict.item.delta or {}).get("elements", ()))


def _validator_problem(run: ValidatorRun) -> Problem:
    code = f"exit code {run.exit_code}" if run.exit_code is not None else "no result"
    text = f"{run.title} failed ({code})."
    lines = [f"{one.path}:{one.told}" for one in run.diagnostics] or run.output.splitlines()[-20:]
    return Problem("validator", run.path or RepoPath(""), text, tuple(lines))
