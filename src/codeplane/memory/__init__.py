"""What runs are taught by friction: records, their lifecycle, and the friction itself."""

from codeplane.memory.anchors import AnchorRules, DomainAnchor, anchors_of_files
from codeplane.memory.friction import FrictionEntry, FrictionEvent, FrictionLedger, Resolution
from codeplane.memory.injection import (
    MOST_INJECTED,
    cited_memories,
    expired_citations,
    injectable,
    pack_entry,
    render_memory,
)
from codeplane.memory.overrides import OverrideReport
from codeplane.memory.records import (
    Enforcement,
    MemoryChange,
    MemoryContent,
    MemoryRecord,
    MemoryState,
    Phase,
    Trigger,
)
from codeplane.memory.rules import ActiveRule, ActiveSignal
from codeplane.memory.store import DigestOf, MemoryStore

__all__ = [
    "MOST_INJECTED",
    "ActiveRule",
    "ActiveSignal",
    "AnchorRules",
    "DigestOf",
    "DomainAnchor",
    "Enforcement",
    "FrictionEntry",
    "FrictionEvent",
    "FrictionLedger",
    "MemoryChange",
    "MemoryContent",
    "MemoryRecord",
    "MemoryState",
    "MemoryStore",
    "OverrideReport",
    "Phase",
    "Resolution",
    "Trigger",
    "anchors_of_files",
    "cited_memories",
    "expired_citations",
    "injectable",
    "pack_entry",
    "render_memory",
]
