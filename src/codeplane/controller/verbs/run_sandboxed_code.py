import json
from typing import Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.execution.bundles import Bundle, Bundles
from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.strategy.run_strategy import note_failure
from codeplane.controller.turn import Turn
from codeplane.controller.verb import SCOPE_VIOLATION, Denied, Problem, VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.errors import NotFound, SandboxError
from codeplane.sandbox import SnippetOutcome, run_snippet
from codeplane.sandbox.snippet import LONGEST_SEC, MOST_MEMORY_MB

DESCRIPTOR = VerbDescriptor(
    "Runs a snippet of Python that has nothing but its inputs; the value of its last line is the answer.",
    "When something is to be computed from what you have read: counted, grouped, compared, generated.",
)
_LONGEST_SHOWN: Final = 4_000
_REHEARSAL_SEC: Final = 1.0


class Args(VerbArgs):
    plan_node_id: str = Field(min_length=1, max_length=200)
    code: str = Field(min_length=1)
    inputs: dict[str, Any] = Field(default_factory=dict)
    timeout_sec: float = Field(default=5.0, gt=0, le=LONGEST_SEC)
    memory_mb: int = Field(default=64, ge=1, le=MOST_MEMORY_MB)
    return_shape: dict[str, Any] | str | None = None


def example(turn: Turn) -> dict[str, Any]:
    plan = load_plan(turn.call.repo, turn.run)
    node = plan.next_node() or plan.nodes[0]
    inputs = {"names": ["a", "b", "a"]}
    shape = {"type": "array", "items": "string"}
    return {"planNodeId": node.node_id, "code": "sorted(set(names))", "inputs": inputs, "returnShape": shape}


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The snippet for a node of the plan, where it runs."""
    if not (code := str(values.get("code", ""))):
        return None
    nodes = {one.node_id: one for one in load_plan(turn.call.repo, turn.run).nodes if one.state != "dropped"}
    node_id = values.get("plan_node_id")
    node_id = node_id if node_id in nodes else next(iter(nodes), None)
    inputs = values.get("inputs", {})
    run_snippet(code, inputs, timeout_sec=_REHEARSAL_SEC, memory_mb=64, return_shape=None)
    args = {"planNodeId": node_id, "code": code, **({"inputs": inputs} if inputs else {})}
    return SuggestedAction(verb=Verb.RUN_SANDBOXED_CODE, reason="For a node of the plan.", args=args)


def run(turn: Turn, args: Args) -> VerbResult:
    _check_node(turn, args.plan_node_id)
    try:
        outcome = run_snippet(
            args.code,
            args.inputs,
            timeout_sec=args.timeout_sec,
            memory_mb=args.memory_mb,
            return_shape=args.return_shape,
        )
    except SandboxError as error:
        note_failure(turn.run, f"{error.name()}: {error.message}")
        raise
    result = {
        "planNodeId": args.plan_node_id,
        "value": outcome.value,
        "output": outcome.output,
        "outputCut": outcome.is_output_cut,
        "artifactBundleRef": _write_bundle(turn, args, outcome),
    }
    return VerbResult(result, _render_outcome(outcome))


def _check_node(turn: Turn, node_id: str) -> None:
    """Code runs for a node of the accepted plan, as everything does that comes after it."""
    try:
        node = load_plan(turn.call.repo, turn.run).node(node_id)
        message = f"The node {node_id} was dropped." if node.state == "dropped" else ""
    except NotFound as error:
        message = error.message
    if message:
        problem = Problem(SCOPE_VIOLATION, "scope.node", "planNodeId", message)
        raise Denied([SCOPE_VIOLATION], message, result={"problems": [problem.to_wire()]})


def _write_bundle(turn: Turn, args: Args, outcome: SnippetOutcome) -> str:
    """What was run and what came of it, beside the node's own bundle: a computation is no change."""
    bundles = Bundles(turn.call.repo.state, turn.run.work_id)
    result = {"code": args.code, "value": outcome.value, "output": outcome.output}
    line = f"{turn.call.request_id} ran {len(args.code)} characters of code"
    return bundles.write(f"{args.plan_node_id}.sandbox", Bundle(result, [line], [turn.call.request_id]))


def _render_outcome(outcome: SnippetOutcome) -> str:
    value = json.dumps(outcome.value, ensure_ascii=False)
    lines = [value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}… (cut)"]
    if outcome.output:
        output = outcome.output.rstrip("\n")
        is_cut = outcome.is_output_cut or len(output) > _LONGEST_SHOWN
        lines += ["printed:", output[:_LONGEST_SHOWN] + ("… (cut)" if is_cut else "")]
    return "\n".join(lines)
