"""What of a task the predicates may look at, as plain values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

LEVELS: Final = ("none", "low", "medium", "high")
_MOST_FILES: Final = 100
_MANY_TESTS: Final = 3
_LARGEST_FILE: Final = 1 << 20
_TICKET: Final = re.compile(r"(?:jira:)?[A-Z][A-Z0-9]{1,9}-\d{1,7}")
_OPERATION: Final = re.compile(
    r"(?:operation:|(?:GET|PUT|POST|PATCH|DELETE|HEAD|OPTIONS|TRACE)\s)", re.IGNORECASE
)


@dataclass(frozen=True)
class TaskView:
    """A task: its prompt, what was fetched for it, the files that it is about, and how tests reach them."""

    prompt: str = ""
    artifacts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    imports: Mapping[str, Sequence[str]] = field(default_factory=dict)  # modules by file
    contents: Mapping[str, str] = field(default_factory=dict)
    test_confidence: str = "none"

    @cached_property
    def words(self) -> str:
        """The prompt in lower case, with single blanks for blanks, hyphens and underscores."""
        return fold_words(self.prompt)

    @cached_property
    def artifact_kinds(self) -> Mapping[str, str]:
        """An artefact of each kind: `jira`, `api`, `operation`."""
        kinds: dict[str, str] = {}
        for name, record in self.artifacts.items():
            for kind in _kinds_of(name, record):
                kinds.setdefault(kind, name)
        return kinds


def fold_words(text: str) -> str:
    """A text as phrases are looked for in it: `AG-Grid` and `ag_grid` are `ag grid`."""
    return f" {' '.join(re.findall('[a-z0-9]+', text.lower()))} "


def rate_confidence(test_counts: Sequence[int]) -> str:
    """The level of test confidence, by how many tests reach each file of a task."""
    if not any(test_counts):
        return LEVELS[0]
    if not all(test_counts):
        return LEVELS[1]
    return LEVELS[3] if min(test_counts) >= _MANY_TESTS else LEVELS[2]


def view_task(
    prompt: str,
    artifacts: Mapping[str, Mapping[str, Any]],
    snapshot: Snapshot,
    files: Sequence[str],
    test_confidence: str,
) -> TaskView:
    """Reads what predicates may ask about the files of a task from a snapshot."""
    imports: dict[str, list[str]] = {}
    contents: dict[str, str] = {}
    present = [path for path in files if snapshot.exists(path)][:_MOST_FILES]
    for path in present:
        facts = snapshot.facts(path)
        imports[path] = sorted({item.module for item in facts.imports}) if facts is not None else []
        source = snapshot.source(RepoPath(path))
        contents[path] = source[:_LARGEST_FILE].decode("utf-8", "replace")
    return TaskView(prompt, artifacts, tuple(present), imports, contents, test_confidence)


def _kinds_of(name: str, record: Mapping[str, Any]) -> list[str]:
    text = f"{record.get('kind', '')} {record.get('source', '')}".lower()
    kinds = []
    if "jira" in text or _TICKET.fullmatch(name):
        kinds.append("jira")
    is_operation = "operation" in text or bool(record.get("operation")) or _OPERATION.match(name) is not None
    if is_operation:
        kinds.append("operation")
    if is_operation or any(word in text for word in ("openapi", "swagger", "api_spec", "api spec")):
        kinds.append("api")
    return kinds
