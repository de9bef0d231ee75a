"""The steps of a run under its accepted plan: one node at a time, held by leases, checked by the server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.answers.change import told
from codeplane.controller.contract import RunState
from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
from codeplane.controller.execution.bounds import MODULE_SYMBOL
from codeplane.controller.execution.bundles import Bundle, Bundles
from codeplane.controller.execution.collisions import (
    Holder,
    Reservations,
    Resource,
    file_resource,
    symbol_resource,
)
from codeplane.controller.execution.hook_checks import ChangedFile, ValidationReport, run_hooks
from codeplane.controller.execution.next_actions import next_action
from codeplane.controller.execution.patches import AppliedPatch, Content, apply_patch, draft_patch
from codeplane.controller.execution.plan_rows import begin_attempt, reopen_node
from codeplane.controller.execution.plan_store import finish_node, load_plan
from codeplane.controller.execution.side_effects import (
    EffectResult,
    check_gate,
    effect_attempt,
    effect_resources,
    effect_type,
    run_effect,
)
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbResult
from codeplane.core.errors import (
    CodePlaneError,
    ExecSideEffectCollision,
    NodeNotReady,
    PatchOutOfBounds,
)
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.mutation.diff_preview import preview

_MOST_DIFF_LINES: Final = 200


@dataclass
class Steps:
    """Carries out nodes of the plan that a turn's run has accepted."""

    turn: Turn
    leases: Reservations = field(init=False)
    bundles: Bundles = field(init=False)

    def __post_init__(self) -> None:
        repo = self.turn.call.repo
        self.leases = Reservations(lambda: repo.state_db)
        self.bundles = Bundles(repo.state, self.turn.run.work_id)

    @property
    def holder(self) -> Holder:
        """Who the leases of this turn belong to."""
        return Holder(self.turn.run.work_id, self.turn.request.agent_id or self.turn.run.agent_id)

    def load(self) -> AcceptedPlan:
        """The plan as it stands; loading it is the heartbeat of the run's leases."""
        self.leases.renew(self.turn.run.work_id)
        return load_plan(self.turn.call.repo, self.turn.run)

    def apply_change(self, node_id: str, target_file: str, content: Content) -> VerbResult:
        """Writes the patch of a change node, then runs the validations that it was the last to wait for."""
        plan = self.load()
        one = plan.node(node_id)
        self.check_change(plan, one, target_file)
        self.leases.reserve(self.holder, node_id, self._resources_of(plan, one, content))
        is_correction = one.state != "pending"
        patch = self._write_patch(plan, one, content)
        plan = finish_node(self.turn.call.repo, one, "done", patch.outcome)
        ref = self._bundle_patch(one, patch)
        if is_correction:
            for other in plan.validations_of(one):
                plan = reopen_node(self.turn.call.repo, other) if other.state != "pending" else plan
        plan, reports = self.run_ready_validations(plan)
        self._release_done(plan)
        return self._patch_result(plan, one, patch, ref, reports)

    def rehearse_change(self, plan: AcceptedPlan, one: AcceptedNode, content: Content | None = None) -> None:
        """Refuses what `apply_change` would refuse, of the node's own content or another; writes nothing."""
        content = content or Content()
        self.check_change(plan, one, one.node.target_file)
        self.leases.check(self.holder, self._resources_of(plan, one, content))
        draft_patch(self.turn.call, one, content)

    def check_change(self, plan: AcceptedPlan, one: AcceptedNode, target_file: str) -> None:
        """Refuses a node of another kind, one that is not due, and another file than the node's."""
        node = one.node
        if node.kind != "change":
            raise NodeNotReady(f"Node {node.node_id} is a {node.kind} node; only change nodes take patches.")
        path = self.turn.call.repo.tree.jail.enter(target_file)
        if path != self.turn.call.repo.tree.jail.enter(node.target_file):
            raise PatchOutOfBounds(
                f"Node {node.node_id} is for {node.target_file}, not {shown(path)}.",
                allowed=[node.target_file],
            )
        if one.state == "dropped" or (one.state == "done" and not plan.may_be_corrected(one)):
            raise NodeNotReady(f"Node {node.node_id} is {one.state}.")
        if waiting := plan.open_requirements(one):
            names = ", ".join(f"{other.node_id} ({other.state})" for other in waiting)
            raise NodeNotReady(f"Node {node.node_id} comes after {names}.")

    def _resources_of(self, plan: AcceptedPlan, one: AcceptedNode, content: Content) -> list[Resource]:
        node = one.node
        is_whole = node.operation != "modify" or node.delta is not None or node.codemods or content.codemods
        symbols = [name for name in node.target_symbols if name != MODULE_SYMBOL]
        if is_whole or len(symbols) < len(node.target_symbols) or not symbols:
            files = [node.target_file, *([node.move_to] if node.move_to else [])]
            resources = [file_resource(name) for name in files]
        else:
            resources = [symbol_resource(node.target_file, name) for name in symbols]
        return [*resources, Resource("node", f"{plan.plan_id}:{node.node_id}")]

    def _write_patch(self, plan: AcceptedPlan, one: AcceptedNode, content: Content) -> AppliedPatch:
        call = self.turn.call
        try:
            if one.state != "pending":
                draft_patch(call, one, content)  # refused before the node is opened again
                plan = reopen_node(call.repo, one)
                one = plan.node(one.node_id)
            return apply_patch(call, one, content)
        except CodePlaneError:
            self.leases.release(self.turn.run.work_id, one.node_id)
            raise

    def _bundle_patch(self, one: AcceptedNode, patch: AppliedPatch) -> str:
        call, change = self.turn.call, patch.draft.change
        files = [
            {
                "path": shown(edit.path),
                "before": str(edit.before or ""),
                "diff": preview(shown(edit.path), change.before.get(edit.path), edit.after, _MOST_DIFF_LINES),
            }
            for edit in change.edits.edits
        ]
        counts = {name: patch.outcome.get(name, 0) for name in ("insertions", "deletions")}
        operation = str(patch.outcome.get("operation") or "")
        bundle = Bundle(
            result={"nodeId": one.node_id, "state": "done", **patch.outcome},
            log=[f"apply_code_patch {one.node_id} {one.node.target_file} {operation or 'nothing to do'}"],
            trace_refs=[str(call.request_id), *([operation] if operation else [])],
            diff_summary={"files": files, **counts},
        )
        return self.bundles.write(one.node_id, bundle)

    def run_ready_validations(self, plan: AcceptedPlan) -> tuple[AcceptedPlan, list[ValidationReport]]:
        """Runs every validate node whose changes are done; one that fails stays for a correction."""
        reports = []
        while ready := plan.ready_validations():
            plan, report = self.run_validation(plan, ready[0])
            reports.append(report)
        return plan, reports

    def run_validation(self, plan: AcceptedPlan, one: AcceptedNode) -> tuple[AcceptedPlan, ValidationReport]:
        """Runs the hooks of a validate node; what they say decides its state."""
        call = self.turn.call
        changes = [plan.node(name) for name in one.node.maps_to]
        report = run_hooks(call, one.node_id, one.node.hooks, _changed_files(changes))
        state: Any = "done" if report.has_passed else "failed"
        plan = finish_node(call.repo, one, state, {"signature": report.signature, **report.to_json()})
        lines = report.render().splitlines()
        bundle = Bundle(
            {"nodeId": one.node_id, "state": state}, lines, [str(call.request_id)], None, report.to_json()
        )
        self.bundles.write(one.node_id, bundle)
        for change in changes:
            self.bundles.write(change.node_id, Bundle(log=lines, validation=report.to_json()))
        return plan, report

    def _release_done(self, plan: AcceptedPlan) -> None:
        """Ends the leases of changes that are done and checked; those of others last until they end."""
        for one in plan.of_kind("change"):
            if one.state == "done" and all(other.is_over for other in plan.validations_of(one)):
                self.leases.release(self.turn.run.work_id, one.node_id)

    def _patch_result(
        self,
        plan: AcceptedPlan,
        one: AcceptedNode,
        patch: AppliedPatch,
        ref: str,
        reports: Sequence[ValidationReport],
    ) -> VerbResult:
        outcome, written = patch.outcome, patch.written
        head = f"{one.node_id} done: {one.node.target_file}"
        text = told(self.turn.call, written).render() if written is not None else "nothing to change"
        notes = [f"note: {note}" for note in patch.draft.notes]
        lines = [head, text, *notes, *(report.render() for report in reports)]
        result = {
            "planNodeId": one.node_id,
            "nodeState": plan.node(one.node_id).state,
            "operation": outcome.get("operation") or None,
            "files": list(outcome.get("files", ())),
            "notes": list(patch.draft.notes),
            "artifactBundleRef": ref,
            "diffSummaryRef": self.bundles.diff_ref_of(one.node_id),
            "validations": [report.to_json() for report in reports],
            **self.plan_fields(plan),
        }
        return VerbResult(result, "\n".join(lines), state=RunState.EXECUTION_ENABLED)

    def plan_fields(self, plan: AcceptedPlan) -> dict[str, Any]:
        """Progress and the next call, as every answer of a step has them."""
        action = next_action(plan, self.turn.run)
        return {"progress": plan.progress(), "next": action.model_dump(mode="json", by_alias=True)}

    def run_side_effect(self, node_id: str, effect: str, gate: str | None) -> VerbResult:
        """Has git act for a side effect node whose gate is open."""
        call = self.turn.call
        plan, reports = self.run_ready_validations(self.load())
        one = plan.node(node_id)
        check_gate(plan, one, effect, gate)
        if one.is_over:
            raise NodeNotReady(f"Node {node_id} is {one.state}.")
        self._check_switch(one)
        self.leases.reserve(self.holder, node_id, effect_resources(one.node))
        try:
            begin_attempt(call.repo, one, effect_attempt(call, one.node))
            result = run_effect(call, plan, one)
        except CodePlaneError as error:
            finish_node(call.repo, one, "failed", {"error": error.name(), "message": error.message})
            raise
        finally:
            self.leases.release(self.turn.run.work_id, node_id)
        plan = finish_node(
            call.repo,
            one,
            "done",
            {"operation": result.operation, "summary": result.summary, **result.details},
        )
        return self._effect_result(plan, one, result, reports)

    def _check_switch(self, one: AcceptedNode) -> None:
        """Refuses to move HEAD to another branch while other runs are at work on files."""
        if (
            effect_type(one.node.side_effect_type) != "git_branch"
            or one.node.payload.get("checkout") is False
        ):
            return
        others = [
            lease
            for lease in self.leases.active()
            if lease.holder.work_id != self.turn.run.work_id and lease.resource.kind in ("file", "symbol")
        ]
        if others:
            raise ExecSideEffectCollision(
                f"{others[0].holder.work_id} works on {others[0].resource.path} until {others[0].ends_at};"
                " a switch of branches would move its work.",
                holders=[lease.to_json() for lease in others[:10]],
            )

    def _effect_result(
        self,
        plan: AcceptedPlan,
        one: AcceptedNode,
        result: EffectResult,
        reports: Sequence[ValidationReport],
    ) -> VerbResult:
        bundle = Bundle(
            result={"nodeId": one.node_id, "state": "done", "summary": result.summary, **result.details},
            log=[f"{one.node.side_effect_type} {one.node_id}: {result.summary}"],
            trace_refs=[str(self.turn.call.request_id), *([result.operation] if result.operation else [])],
        )
        ref = self.bundles.write(one.node_id, bundle)
        fields = {
            "planNodeId": one.node_id,
            "nodeState": "done",
            "summary": result.summary,
            "operation": result.operation or None,
            **result.details,
            "artifactBundleRef": ref,
            **self.plan_fields(plan),
        }
        lines = [*(report.render() for report in reports), f"{one.node_id} done: {result.summary}"]
        return VerbResult(fields, "\n".join(lines), state=RunState.EXECUTION_ENABLED)


def _changed_files(changes: Sequence[AcceptedNode]) -> list[ChangedFile]:
    bases = {str(one.node.target_file): one.base for one in reversed(changes)}
    names = [str(name) for one in changes for name in one.outcome.get("files", ()) or [one.node.target_file]]
    return [ChangedFile(RepoPath(name), bases.get(name, "")) for name in dict.fromkeys(names)]
