"""Rejections and resolutions as a run would have them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codeplane.memory import FrictionEvent, MemoryRecord, MemoryStore, Resolution

REFUSED: dict[str, Any] = {
    "nodeId": "n1",
    "kind": "change",
    "targetFile": "src/app/a.py",
    "verificationHooks": [],
    "editIntent": "rename x",
}
ACCEPTED: dict[str, Any] = {**REFUSED, "verificationHooks": ["tests/test_a.py"]}
CODE = "PLAN_VERIFICATION_WEAK"

FEW_SHOT: dict[str, Any] = {
    "enforcementType": "few_shot",
    "domainAnchorIds": ["src/app"],
    "fewShot": {"instruction": "Name a test.", "before": "[]", "after": '["tests/test_a.py"]'},
}
PLAN_RULE: dict[str, Any] = {
    "enforcementType": "plan_rule",
    "planRule": {
        "condition": {"files": ["src/api/**"], "nodeKinds": ["change"]},
        "requiredSteps": ["test:tests/api"],
        "denyCode": "PLAN_POLICY_VIOLATION",
    },
}
SIGNAL: dict[str, Any] = {
    "enforcementType": "strategy_signal",
    "domainAnchorIds": ["src/ui"],
    "strategySignal": {"featureFlag": "mentionsAgGrid", "value": True, "reason": "grids live here"},
}
NOTE: dict[str, Any] = {"enforcementType": "informational", "note": "Generated files are in src/gen."}


def reject(
    store: MemoryStore,
    times: int = 1,
    *,
    work_id: str = "w1",
    code: str = CODE,
    anchors: tuple[str, ...] = ("src/app", "src", "."),
    node: Mapping[str, Any] | None = REFUSED,
    strategy: str = "debug_symptom_trace",
) -> None:
    for _ in range(times):
        store.record_friction(
            FrictionEvent(
                work_id=work_id,
                codes=(code,),
                anchors=anchors,
                strategy=strategy,
                session_id="s1",
                node=node,
                message="No test reaches the change.",
            )
        )


def accept(
    store: MemoryStore, *, work_id: str = "w1", node: Mapping[str, Any] = ACCEPTED
) -> list[MemoryRecord]:
    return store.resolve_friction(
        Resolution(work_id=work_id, nodes=[node], digests={str(node["targetFile"]): "d1"})
    )


def taught(store: MemoryStore) -> MemoryRecord:
    """A pending example, made of three rejections that were resolved."""
    reject(store, 3)
    [record] = accept(store)
    return record


def write_override(folder: Path, name: str, value: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
