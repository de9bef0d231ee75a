"""What validation has found out about the deltas of a plan, as the plan keeps it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from codeplane.delta.simulation import Problem, TaskOutcome
from codeplane.delta.validators import ValidatorRun
from codeplane.jail import shown
from codeplane.plans import Item
from codeplane.working_tree import digest_of

Status = Literal["pending", "green", "red", "stale"]
Confidence = Literal["structural", "validated", "tested"]
LEVELS: Final[Sequence[Confidence]] = ("structural", "validated", "tested")
LONGEST_VALID_MS: Final = 60 * 60 * 1000
_MOST_PROBLEMS: Final = 50
_MOST_DETAILS: Final = 30


@dataclass
class Verdict:
    """One task or step with a delta, and what has come of validating it."""

    item: Item
    phase: Item
    status: Status = "pending"
    confidence: Confidence | None = None
    outcome: TaskOutcome | None = None  # None where nothing was simulated
    problems: list[Problem] = field(default_factory=list)
    validators: list[ValidatorRun] = field(default_factory=list)
    cause: str | None = None  # why it is stale
    detail: Mapping[str, Any] = field(default_factory=dict)  # as stored by an earlier validation

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """The hashes of the files that it changes, before and after."""
        if self.outcome is None:
            files_before = self.detail.get("files")
            return files_before if isinstance(files_before, dict) else {}
        files: dict[str, dict[str, str]] = {}
        for element in self.outcome.elements:
            first = files.get(element.path, {}).get("pre_hash")
            files[element.path] = {
                "pre_hash": first or f"sha256:{digest_of(element.before)}",
                "post_hash": f"sha256:{digest_of(element.after)}",
            }
        return files

    def to_derived(self, tree_state: str, toolchain: str) -> dict[str, Any]:
        """The derived fields of the task."""
        values: dict[str, Any] = {"delta_status": self.status}
        if self.confidence is not None:
            values["delta_confidence"] = self.confidence
        values["delta_detail"] = {
            "validated_at_ms": int(time.time() * 1000),
            "digest": (self.item.delta or {}).get("digest", ""),
            "tree": tree_state,
            "toolchain": toolchain,
            "files": self.files,
            **(
                {"problems": [_problem_json(one) for one in self.problems[:_MOST_PROBLEMS]]}
                if self.problems
                else {}
            ),
            **({"validators": [_run_json(one) for one in self.validators]} if self.validators else {}),
            **({"cause": self.cause} if self.cause else {}),
        }
        return values


def stale_fields(item: Item, cause: str) -> dict[str, Any]:
    """The derived fields of a task that has become stale; what was seen before is kept."""
    detail = item.derived.get("delta_detail")
    old = detail if isinstance(detail, Mapping) else {}
    return {**item.derived, "delta_status": "stale", "delta_detail": {**old, "cause": cause}}


def _problem_json(problem: Problem) -> dict[str, Any]:
    details = list(problem.details[:_MOST_DETAILS])
    document = {"kind": problem.kind, "path": shown(problem.path), "text": problem.text}
    return {**document, **({"details": details} if details else {})}


def _run_json(run: ValidatorRun) -> dict[str, Any]:
    document: dict[str, Any] = {"name": run.name, "passed": run.is_passed, "duration_ms": run.duration_ms}
    optional = {
        "path": shown(run.path) if run.path is not None else None,
        "required": None if run.is_required else False,
        "exit_code": run.exit_code,
        "missing": True if run.is_missing else None,
        "changed": [shown(path) for path in run.changed_paths[:_MOST_DETAILS]] or None,
        "output": run.output or None,
        "diagnostics": [f"{shown(one.path)}:{one.told}" for one in run.diagnostics[:_MOST_DETAILS]] or None,
    }
    return {**document, **{name: value for name, value in optional.items() if value is not None}}
