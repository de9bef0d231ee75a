"""A plan as it was sent, under canonical names: what checks look at and repairs change."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.edits import read_edit
from codeplane.controller.plan_graph.fields import (
    ENVELOPE_NAMES,
    NODE,
    NODE_NAMES,
    FieldFlaw,
    FieldSpec,
    read_fields,
)
from codeplane.controller.plan_graph.problems import Problem
from codeplane.core.suggest import snake

NODE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,59}")
MOST_NODES: Final = 200
_PREFIXES: Final = {"change": "n", "validate": "v", "escalate": "e", "side_effect": "s"}
_EVIDENCE_KEYS: Final = ("evidence", "citations", "codeEvidence")
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys("change edit modify patch create delete move code".split(), "change"),
    **dict.fromkeys("validate validation verify test check".split(), "validate"),
    **dict.fromkeys("escalate escalation request_evidence".split(), "escalate"),
    **dict.fromkeys("side_effect sideeffect effect commit push branch".split(), "side_effect"),
}


@dataclass
class NodeDraft:
    """One node; `body` has its fields under canonical names."""

    body: dict[str, Any]

    @property
    def node_id(self) -> str:
        return str(self.body["nodeId"])

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @property
    def is_change(self) -> bool:
        return self.kind == "change"

    def text(self, key: str) -> str:
        """A field that is a text; empty where it is missing."""
        value = self.body.get(key)
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> list[str]:
        """A field that is a list of texts."""
        value = self.body.get(key)
        return list(value) if isinstance(value, list | tuple) else []

    def citations(self) -> list[Any]:
        """Everything that the node cites."""
        return list(self.body.get("evidence") or [])


@dataclass
class PlanDraft:
    """A plan that may still be wrong."""

    envelope: dict[str, Any] = field(default_factory=dict)
    nodes: list[NodeDraft] = field(default_factory=list)

    def copy(self) -> "PlanDraft":
        """A plan that can be changed on its own."""
        return deepcopy(self)

    def node(self, node_id: str) -> NodeDraft | None:
        """The node with an id."""
        return next((node for node in self.nodes if node.node_id == node_id), None)

    def changes(self) -> Iterator[NodeDraft]:
        """The nodes that change files."""
        return (node for node in self.nodes if node.is_change)

    def free_id(self, kind: str) -> str:
        """An id that no node of the plan has."""
        prefix, ids = _PREFIXES[kind], {node.body.get("nodeId") for node in self.nodes}
        return next(name for number in range(1, len(ids) + 2) if (name := f"{prefix}{number}") not in ids)

    def add_node(self, kind: str, **body: Any) -> NodeDraft:
        """Appends a node with an id of its own."""
        node = NodeDraft({"nodeId": self.free_id(kind), "kind": kind, **body})
        self.nodes.append(node)
        return node

    def drop_node(self, node: NodeDraft, successors: Sequence[str] = ()) -> None:
        """Removes a node; whoever named it names its successors."""
        self.nodes.remove(node)
        for other in self.nodes:
            for key in ("dependsOn", "mapsToNodeIds"):
                if node.node_id in other.texts(key):
                    names = [name for name in other.texts(key) if name != node.node_id]
                    other.body[key] = [*names, *(name for name in successors if name not in names)]

    def to_skeleton(self) -> dict[str, Any]:
        """The plan in its shortest form: what the server fills in is left out."""
        return {"nodes": [_short_form(node) for node in self.nodes]}


def _short_form(node: NodeDraft) -> dict[str, Any]:
    body = node.body
    return {
        spec.short or spec.name: body[spec.name]
        for spec in NODE
        if spec.name in body
        and body[spec.name] not in (None, "", [], {})
        and not (spec.name == "kind" and node.is_change)
    }


def read_draft(document: Mapping[str, Any]) -> tuple[PlanDraft, list[Problem]]:
    """The plan that a document means, and what in it could not be used."""
    envelope, flaws = read_fields(_unwrap(_as_unicode(document)), ENVELOPE_NAMES)
    problems = [_flaw_problem(flaw, None, flaw.key) for flaw in flaws]
    items = envelope.pop("nodes", [])
    common: dict[str, Any] = {key: envelope.pop(key) for key in ("editIntent", "evidence") if key in envelope}
    draft = PlanDraft(envelope)
    for number, item in enumerate(items[:MOST_NODES]):
        body, flaws = read_fields(item, NODE_NAMES)
        is_change = _KINDS.get(str(body.get("kind") or _guess_kind(body)).lower()) == "change"
        body = _join_evidence({**common, **body} if is_change else body)
        if isinstance(body.get("payload"), str):
            body.setdefault("sideEffectPayloadRef", body.pop("payload"))
        if "edits" in body:
            body["edits"] = [read_edit(edit) or edit for edit in body["edits"]]
        problems += _place_node(draft, body, f"nodes[{number}]")
        node = draft.nodes[-1]
        problems += [_flaw_problem(flaw, node.node_id, f"nodes[{number}].{flaw.key}") for flaw in flaws]
    return draft, problems


def _as_unicode(value: Any) -> Any:
    """A document in which half characters are question marks: models and databases refuse them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_as_unicode(item) for item in value]
    if isinstance(value, Mapping):
        return {_as_unicode(key): _as_unicode(item) for key, item in value.items()}
    return value


def _unwrap(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """`{"planGraph": {…}}` is what is inside; a single node is a plan of one."""
    for key in ("planGraph", "plan_graph", "plan", "graph"):
        if isinstance(inner := document.get(key), dict) and len(document) == 1:
            return _unwrap(inner)
        if isinstance(inner, list) and len(document) == 1:
            return {"nodes": inner}
    names = {spec.name for key in document if (spec := NODE_NAMES.get(snake(str(key)))) is not None}
    return {"nodes": [dict(document)]} if "targetFile" in names and "nodes" not in document else document


def _join_evidence(body: dict[str, Any]) -> dict[str, Any]:
    """Citations count by what they point to, whichever list they are in."""
    items: list[Any] = []
    for key in _EVIDENCE_KEYS:
        items += [one for one in body.pop(key, []) if one not in items]
    return {**body, "evidence": items} if items else body


def _place_node(draft: PlanDraft, body: dict[str, Any], where: str) -> Iterator[Problem]:
    """Appends a node with a kind and an id that can be used."""
    kind_text = str(body.get("kind") or _guess_kind(body)).lower().replace("-", "_")
    kind = _KINDS.get(kind_text, "")
    node_id = str(body.get("nodeId") or "")
    is_free = bool(NODE_ID.fullmatch(node_id)) and draft.node(node_id) is None
    name = node_id if is_free else draft.free_id(kind or "change")
    draft.nodes.append(NodeDraft({**body, "nodeId": name, "kind": kind or _guess_kind(body)}))
    if not kind:
        message = f"There is no kind {kind_text[:60]!r}: change, validate, escalate, side_effect."
        yield _flaw_problem(
            FieldFlaw("kind", "fields.kind", message, _guess_kind(body)), name, f"{where}.kind"
        )
    if node_id and not is_free:
        reason = (
            "is the id of another node"
            if draft.node(node_id)
            else "is no short name of letters, digits and _.:-"
        )
        message = f"{node_id[:60]!r} {reason}."
        yield _flaw_problem(FieldFlaw("nodeId", "fields.node_id", message, name), name, f"{where}.nodeId")


def _guess_kind(body: Mapping[str, Any]) -> str:
    if "sideEffectType" in body:
        return "side_effect"
    if "requestedEvidence" in body or ("blockingReasons" in body and "targetFile" not in body):
        return "escalate"
    return "validate" if "mapsToNodeIds" in body and "targetFile" not in body else "change"


def _flaw_problem(flaw: FieldFlaw, node_id: str | None, where: str) -> Problem:
    """A key that was not used: the plan goes on without it, so there is nothing to repair."""
    code = RejectionCode.PLAN_MISSING_REQUIRED_FIELDS
    return Problem(code, flaw.sub_code, node_id, where, flaw.message, flaw.fix)


def spec_name(spec: FieldSpec) -> str:
    """The name of a field in a skeleton."""
    return spec.short or spec.name
