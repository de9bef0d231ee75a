"""Nodes of an accepted plan as execution needs them, whichever model they came from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, cast

from pydantic import BaseModel

NodeKind = Literal["change", "validate", "escalate", "side_effect"]
FileOperation = Literal["create", "modify", "delete"]
HookKind = Literal["parse", "lint", "tests", "named_tests"]

_OPERATIONS: Final[Mapping[str, FileOperation]] = {
    "create": "create",
    "add": "create",
    "new": "create",
    "modify": "modify",
    "update": "modify",
    "edit": "modify",
    "change": "modify",
    "delete": "delete",
    "remove": "delete",
}
_HOOKS: Final[Mapping[str, HookKind]] = {
    "parse": "parse",
    "syntax": "parse",
    "lint": "lint",
    "tests": "tests",
    "test": "tests",
    "tests_reaching": "tests",
    "impacted_tests": "tests",
    "affected_tests": "tests",
    "named_tests": "named_tests",
}


_ALL_REACHING: Final = ("", "reaching", "affected", "impacted")


class SourceNode(Protocol):
    """What every node model has; the rest is read by name where a kind has it."""

    @property
    def node_id(self) -> str: ...

    @property
    def kind(self) -> Any: ...


class SourcePlan(Protocol):
    """What is stored: the nodes, in the order in which the author gave them."""

    @property
    def nodes(self) -> Sequence[SourceNode]: ...


@dataclass(frozen=True)
class TextChange:
    """A text of the file and what takes its place; no old text stands for the whole of a new file."""

    old_text: str
    new_text: str

    def to_json(self) -> dict[str, str]:
        """The edit as a call has it."""
        return {"oldText": self.old_text, "newText": self.new_text}


@dataclass(frozen=True)
class CodemodUse:
    """A codemod by its id, and its parameters."""

    codemod_id: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The codemod as a call has it."""
        return {"codemodId": self.codemod_id, "params": dict(self.params)}


@dataclass(frozen=True)
class Hook:
    """One check of a validate node."""

    kind: HookKind
    tests: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The hook in one word, or the tests that it names."""
        return self.kind if not self.tests else f"tests {', '.join(self.tests)}"


@dataclass(frozen=True)
class PlanNode:
    """One node. Fields of other kinds than its own are empty."""

    node_id: str
    kind: NodeKind
    depends_on: tuple[str, ...] = ()
    intent: str = ""
    target_file: str = ""
    target_symbols: tuple[str, ...] = ()
    operation: FileOperation = "modify"
    allow_imports: bool = False
    edits: tuple[TextChange, ...] = ()
    delta: Mapping[str, Any] | None = None
    codemod: CodemodUse | None = None
    hooks: tuple[Hook, ...] = ()
    maps_to: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why evidence is asked for
    side_effect_type: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    commit_gate_id: str = ""

    @property
    def has_content(self) -> bool:
        """Whether the node itself says what is to be written."""
        is_told = bool(self.edits) or self.delta is not None or self.codemod is not None
        return is_told or self.operation == "delete"

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The nodes that have to be done before it."""
        return tuple(dict.fromkeys((*self.depends_on, *self.maps_to)))

    def to_json(self) -> dict[str, Any]:
        """The node as its task keeps it; its delta stands beside it."""
        values: dict[str, Any] = {
            "depends_on": list(self.depends_on),
            "intent": self.intent,
            "target_file": self.target_file,
            "target_symbols": list(self.target_symbols),
            "operation": self.operation,
            "allow_imports": self.allow_imports,
            "edits": [one.to_json() for one in self.edits],
            "codemod": self.codemod.to_json() if self.codemod is not None else None,
            "hooks": [{"kind": hook.kind, "tests": list(hook.tests)} for hook in self.hooks],
            "maps_to": list(self.maps_to),
            "reasons": list(self.reasons),
            "side_effect_type": self.side_effect_type,
            "payload": dict(self.payload),
            "commit_gate_id": self.commit_gate_id,
        }
        present = {name: value for name, value in values.items() if value not in ("", [], {}, None, False)}
        return {"node_id": self.node_id, "kind": self.kind, **present}


def read_node(source: SourceNode | Mapping[str, Any], delta: Mapping[str, Any] | None = None) -> PlanNode:
    """A node from a model or from its document, in camel case or not."""
    values = _Values(source)
    codemod = values.find("codemod")
    own_delta = delta if delta is not None else values.find("delta")
    return PlanNode(
        node_id=str(values.find("node_id") or ""),
        kind=cast("NodeKind", str(_plain(values.find("kind")))),
        depends_on=values.texts("depends_on"),
        intent=str(values.find("intent") or values.find("edit_intent") or ""),
        target_file=str(values.find("target_file") or ""),
        target_symbols=values.texts("target_symbols"),
        operation=_OPERATIONS.get(str(_plain(values.find("operation")) or "modify").lower(), "modify"),
        allow_imports=bool(values.find("allow_imports") or values.find("allows_imports")),
        edits=read_edits(values.find("edits") or ()),
        delta=_plain(own_delta) if own_delta is not None else None,
        codemod=read_codemod(codemod) if codemod is not None else None,
        hooks=read_hooks(values.find("hooks") or values.find("verification_hooks") or ()),
        maps_to=values.texts("maps_to", "maps_to_node_ids"),
        reasons=values.texts("reasons", "blocking_reasons"),
        side_effect_type=str(_plain(values.find("side_effect_type")) or ""),
        payload=_payload_of(values),
        commit_gate_id=str(values.find("commit_gate_id") or ""),
    )


def read_edits(values: Iterable[Any]) -> tuple[TextChange, ...]:
    """Edits from models or documents."""
    edits = []
    for value in values:
        if isinstance(value, TextChange):
            edits.append(value)
            continue
        fields = _Values(value)
        edits.append(TextChange(str(fields.find("old_text") or ""), str(fields.find("new_text") or "")))
    return tuple(edits)


def read_codemod(value: Any) -> CodemodUse:
    """A codemod from a model or a document."""
    if isinstance(value, CodemodUse):
        return value
    fields = _Values(value)
    name = fields.find("codemod_id") or fields.find("id") or fields.find("name") or ""
    params = fields.find("params") or fields.find("parameters") or fields.find("args") or {}
    return CodemodUse(str(name), dict(_plain(params)))


def read_hooks(values: Iterable[Any]) -> tuple[Hook, ...]:
    """Hooks as plans write them: `parse`, `lint`, `tests`, ids of tests, or objects of these."""
    hooks: list[Hook] = []
    names: list[str] = []
    for value in values:
        hook = value if isinstance(value, Hook) else _read_hook(value)
        if hook.kind == "named_tests":
            names += hook.tests
        elif hook not in hooks:
            hooks.append(hook)
    return (*hooks, *([Hook("named_tests", tuple(dict.fromkeys(names)))] if names else []))


def _read_hook(value: Any) -> Hook:
    if isinstance(value, str):
        word, _, rest = value.partition(":")
        kind = _HOOKS.get(word.strip().lower().replace(" ", "_").replace("-", "_"))
        if kind is None:
            return Hook("named_tests", (value.strip(),))
        rest = rest.strip()
        is_named = kind in ("tests", "named_tests") and rest not in _ALL_REACHING
        return Hook("named_tests", (rest,)) if is_named else Hook(kind)
    fields = _Values(value)
    tests = fields.texts("tests", "targets", "target", "test")
    kind = _HOOKS.get(str(_plain(fields.find("kind") or fields.find("type")) or "tests").lower(), "tests")
    return Hook("named_tests", tests) if tests and kind in ("tests", "named_tests") else Hook(kind)


def _payload_of(values: "_Values") -> dict[str, Any]:
    payload = _plain(values.find("payload"))
    return dict(payload) if isinstance(payload, Mapping) else {}


class _Values:
    """The fields of a model or of a document, by their names in snake case."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def find(self, name: str) -> Any:
        if not isinstance(self._source, Mapping):
            return getattr(self._source, name, None)
        first, *rest = name.split("_")
        camel = first + "".join(part.capitalize() for part in rest)
        return self._source.get(name, self._source.get(camel))

    def texts(self, *names: str) -> tuple[str, ...]:
        for name in names:
            value = self.find(name)
            if value:
                return (value,) if isinstance(value, str) else tuple(map(str, value))
        return ()


def _plain(value: Any) -> Any:
    """Plain data of a model or an enumeration."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return getattr(value, "value", value)
