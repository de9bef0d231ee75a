"""Nodes of an accepted plan as execution needs them, whichever model they came from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, cast

from pydantic import BaseModel

from codeplane.core.suggest import snake

IMPORTS_SYMBOL: Final = "<imports>"
"""The import statements of a file, in the place of a symbol."""

NodeKind = Literal["change", "validate", "escalate", "side_effect"]
FileOperation = Literal["create", "modify", "delete", "move"]
HookKind = Literal["parse", "lint", "tests", "named_tests", "review"]

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
    "move": "move",
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
    "review": "review",
}
# Names that other tools give to the two texts of an edit.
_OLD_NAMES: Final = (
    "old_text",
    "expected_content",
    "old_string",
    "old_str",
    "old_content",
    "old",
    "find",
    "search",
)
_NEW_NAMES: Final = (
    "new_text",
    "new_content",
    "new_string",
    "new_str",
    "replacement",
    "new",
    "replace",
    "content",
)


_EDIT_PARTS: Final = frozenset((*_OLD_NAMES, *_NEW_NAMES, "codemod_id", "codemod", "symbol", "params"))
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
    symbol: str = ""  # the definition that is replaced, or that the text is beside
    action: str = ""  # `insert_before_symbol`, `insert_after_symbol`

    def to_json(self) -> dict[str, str]:
        """The edit as a call has it."""
        place = {"symbol": self.symbol, "action": self.action}
        place_names = {name: text for name, text in place.items() if text}
        return {"oldText": self.old_text, "newText": self.new_text, **place_names}


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
    move_to: str = ""
    edits: tuple[TextChange, ...] = ()
    codemods: tuple[CodemodUse, ...] = ()  # after the edits, in order
    delta: Mapping[str, Any] | None = None
    hooks: tuple[Hook, ...] = ()
    maps_to: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why evidence is asked for
    side_effect_type: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    commit_gate_id: str = ""

    @property
    def has_content(self) -> bool:
        """Whether the node itself says what is to be written."""
        is_written = bool(self.edits) or bool(self.codemods) or self.delta is not None
        return is_written or self.operation in ("delete", "move")

    @property
    def edit_documents(self) -> list[dict[str, Any]]:
        """Its edits and codemods as a call has them."""
        return [*(one.to_json() for one in self.edits), *(one.to_json() for one in self.codemods)]

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
            "move_to": self.move_to,
            "edits": self.edit_documents,
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
    edits, codemods = read_edits(values.find("edits") or ())
    own_delta = delta if delta is not None else values.find("delta")
    return PlanNode(
        node_id=str(values.find("node_id") or ""),
        kind=cast("NodeKind", str(_plain(values.find("kind")))),
        depends_on=values.texts("depends_on"),
        intent=str(values.find("intent") or values.find("edit_intent") or ""),
        target_file=str(values.find("target_file") or ""),
        target_symbols=_symbols_of(values),
        operation=_OPERATIONS.get(str(_plain(values.find("operation")) or "modify").lower(), "modify"),
        move_to=str(values.find("move_to") or ""),
        edits=edits,
        codemods=codemods,
        delta=_plain(own_delta) if own_delta is not None else None,
        hooks=read_hooks(values.find("hooks") or values.find("verification_hooks") or ()),
        maps_to=values.texts("maps_to", "maps_to_node_ids"),
        reasons=values.texts("reasons", "blocking_reasons"),
        side_effect_type=str(_plain(values.find("side_effect_type")) or ""),
        payload=_payload_of(values),
        commit_gate_id=str(values.find("commit_gate_id") or ""),
    )


def _symbols_of(values: "_Values") -> tuple[str, ...]:
    """The symbols that a node may change: those that it names or adds, and imports if it says so."""
    imports = (IMPORTS_SYMBOL,) if values.find("allow_imports") else ()
    return (*values.texts("target_symbols"), *values.texts("new_symbols"), *imports)


def is_edit_part(name: str) -> bool:
    """Whether an argument is a part of an edit: its old or new text, or its codemod."""
    return snake(name) in _EDIT_PARTS


def read_edits(values: Iterable[Any]) -> tuple[tuple[TextChange, ...], tuple[CodemodUse, ...]]:
    """Edits from models or documents: those that replace a text, and those that name a codemod."""
    edits, codemods = list[TextChange](), list[CodemodUse]()
    for value in values:
        fields = _Values(value)
        name = fields.find("codemod_id") or fields.find("codemod")
        if name:
            params = fields.find("params") or fields.find("parameters") or fields.find("args") or {}
            codemods.append(CodemodUse(str(name), dict(_plain(params))))
            continue
        old = next((text for key in _OLD_NAMES if isinstance(text := fields.find(key), str)), "")
        new = next((text for key in _NEW_NAMES if isinstance(text := fields.find(key), str)), "")
        edits.append(TextChange(old, new, str(fields.find("symbol") or ""), str(fields.find("action") or "")))
    return tuple(edits), tuple(codemods)


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
    if isinstance(payload, Mapping):
        return dict(payload)
    text = payload or values.find("side_effect_payload_ref")
    return {"text": str(text)} if text else {}


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
