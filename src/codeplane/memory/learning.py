"""What friction teaches: equal rejections that were resolved become one example."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codeplane.memory.anchors import common_anchor
from codeplane.memory.records import Enforcement, FewShot, MemoryContent, Phase, Trigger

_LONGEST_EXAMPLE: Final = 1_500
# What the server fills in by itself teaches nothing.
_OWN_KEYS: Final = frozenset(("nodeId", "id", "kind", "dependsOn"))
_FILE_KEYS: Final = ("targetFile", "file", "target_file", "path")
_ID_KEYS: Final = ("nodeId", "id", "node_id", "planNodeId")


@dataclass(frozen=True)
class Example:
    """The parts in which a refused node and the accepted one differ, as JSON."""

    before: str
    after: str
    fields: tuple[str, ...]
    message: str
    file: str = ""

    @classmethod
    def of_nodes(cls, before: Mapping[str, Any], after: Mapping[str, Any], message: str) -> "Example":
        keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        fields = tuple(key for key in keys if key not in _OWN_KEYS)
        return cls(
            _render_fields(before, fields), _render_fields(after, fields), fields, message, node_file(after)
        )


@dataclass(frozen=True)
class Pattern:
    """Resolved rejections with one code, in one folder, under one strategy, that no memory counts yet."""

    code: str
    anchor: str
    strategy: str
    entries: tuple[int, ...]
    example: Example | None
    phase: Phase
    trace_ref: str

    @property
    def count(self) -> int:
        return len(self.entries)

    @property
    def key(self) -> str:
        """What a memory of this pattern is known by, so that there is only one."""
        return json.dumps(["friction", self.code, self.anchor, self.strategy])

    def to_content(self, trigger: Trigger, phase: Phase, digests: Mapping[str, str]) -> MemoryContent:
        """The example as a memory that rests on the file that it is about."""
        example = self.example
        assert example is not None, "BUG: a pattern without an example teaches nothing"
        fields = ", ".join(example.fields[:6])
        place = "" if self.anchor == "." else f" below {self.anchor}"
        digest = digests.get(example.file)
        return MemoryContent(
            trigger=trigger,
            phase=phase,
            domain_anchor_ids=(self.anchor,),
            enforcement_type=Enforcement.FEW_SHOT,
            few_shot=FewShot(
                instruction=f"Plans{place} were refused with {self.code}. Give {fields} as in the example.",
                before=example.before,
                after=example.after,
                anti_pattern=fields,
                why_wrong=example.message or self.code,
            ),
            rejection_codes=(self.code,),
            origin_strategy_id=self.strategy,
            digests={example.file: digest} if digest is not None else {},
        )


def node_file(node: Mapping[str, Any]) -> str:
    """The file that a node names, under whichever of the keys that a plan may use."""
    return next((value for key in _FILE_KEYS if isinstance(value := node.get(key), str)), "")


def node_id(node: Mapping[str, Any]) -> str:
    """The id that a node has, if its author gave it one."""
    return next((value for key in _ID_KEYS if isinstance(value := node.get(key), str)), "")


def wide_patterns(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Patterns of one code and strategy in several folders, joined at the folder that contains them all."""
    groups: dict[tuple[str, str], list[Pattern]] = {}
    for pattern in patterns:
        groups.setdefault((pattern.code, pattern.strategy), []).append(pattern)
    return [_join_patterns(members) for members in groups.values() if len(members) > 1]


def _join_patterns(patterns: Sequence[Pattern]) -> Pattern:
    newest = max(patterns, key=lambda pattern: (pattern.example is not None, pattern.entries[-1:]))
    return replace(
        newest,
        anchor=common_anchor(pattern.anchor for pattern in patterns),
        entries=tuple(sorted(number for pattern in patterns for number in pattern.entries)),
    )


def _render_fields(node: Mapping[str, Any], fields: Sequence[str]) -> str:
    text = json.dumps({key: node[key] for key in fields if key in node}, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_EXAMPLE else text[:_LONGEST_EXAMPLE] + "…"
