"""Plan rules and strategy signals that are in force: conditions as data for whoever checks a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codeplane.core.ids import MemoryId
from codeplane.memory.records import ROOT_ANCHOR, Feature, MemoryRecord


@dataclass(frozen=True)
class ActiveRule:
    """A plan rule that is enforced now.

    The condition holds `features` of the run, `files` as globs and `nodeKinds`; what is absent is no
    condition. The folders that the memory is tied to are among its files.
    """

    memory_id: MemoryId
    condition: Mapping[str, Any]
    required_steps: tuple[str, ...]
    deny_code: str

    @classmethod
    def of_record(cls, record: MemoryRecord) -> "ActiveRule":
        rule = record.content.plan_rule
        assert rule is not None, f"BUG: {record.id} has no rule"
        parts = {
            "features": dict(rule.condition.features),
            "files": _scope_globs(rule.condition.files, record.content.domain_anchor_ids),
            "nodeKinds": list(rule.condition.node_kinds),
        }
        condition = {name: value for name, value in parts.items() if value}
        return cls(record.id, condition, rule.required_steps, rule.deny_code)


@dataclass(frozen=True)
class ActiveSignal:
    """A strategy signal that holds now."""

    memory_id: MemoryId
    feature_flag: str
    value: Feature
    reason: str

    @classmethod
    def of_record(cls, record: MemoryRecord) -> "ActiveSignal":
        signal = record.content.strategy_signal
        assert signal is not None, f"BUG: {record.id} has no signal"
        return cls(record.id, signal.feature_flag, signal.value, signal.reason)


def _scope_globs(globs: Sequence[str], anchors: Sequence[str]) -> list[str]:
    """Globs that hold below the anchors only; one that names a folder itself stays as its author wrote it."""
    folders = [anchor for anchor in anchors if anchor != ROOT_ANCHOR]
    if not folders or len(folders) < len(anchors):
        return list(globs)
    if not globs:
        return [f"{folder}/" for folder in folders]
    return [scope for glob in globs for scope in _scope_glob(glob, folders)]


def _scope_glob(glob: str, folders: Sequence[str]) -> list[str]:
    if glob.startswith("!") or "/" in glob.rstrip("/"):
        return [glob]
    return [f"{folder}/**/{glob}" for folder in folders]
