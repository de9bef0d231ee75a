"""The fields of a plan as agents write them: canonical names, other names for them, and shapes."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from codeplane.core.suggest import nearest, snake

_LONGEST_TEXT: Final = 20_000
_MOST_ITEMS: Final = 500


class Shape(Enum):
    """What a field holds."""

    TEXT = "a text"
    TEXTS = "a list of texts"
    FLAG = "true or false"
    OBJECT = "an object"
    OBJECTS = "a list of objects"
    CITATIONS = "a list of citations"
    REASONS = "a list of reasons"
    BOUNDARY = "an object with files"
    PAYLOAD = "a text or an object"


class FieldSpec(NamedTuple):
    """One field."""

    name: str
    shape: Shape
    synonyms: str = ""
    short: str = ""  # the name in a skeleton


ENVELOPE: Final = (
    FieldSpec("workId", Shape.TEXT),
    FieldSpec("agentId", Shape.TEXT),
    FieldSpec("runSessionId", Shape.TEXT, "session session_id"),
    FieldSpec("repoSnapshotId", Shape.TEXT, "snapshot snapshot_id"),
    FieldSpec("worktreeRoot", Shape.TEXT, "worktree root"),
    FieldSpec("contextPackRef", Shape.TEXT, "pack pack_ref"),
    FieldSpec("contextPackHash", Shape.TEXT, "pack_hash"),
    FieldSpec("policyVersionSet", Shape.OBJECT, "policy_versions policies"),
    FieldSpec("scopeAllowlistRef", Shape.TEXT, "allowlist scope"),
    FieldSpec("knowledgeStrategyId", Shape.TEXT, "strategy strategy_id"),
    FieldSpec("knowledgeStrategyReasons", Shape.REASONS, "strategy_reasons"),
    FieldSpec("evidencePolicy", Shape.OBJECT),
    FieldSpec("planFingerprint", Shape.TEXT, "fingerprint"),
    FieldSpec("sourceTraceRefs", Shape.TEXTS, "trace_refs"),
    FieldSpec("schemaVersion", Shape.TEXT, "version"),
    FieldSpec("nodes", Shape.OBJECTS, "steps tasks changes plan_nodes"),
    FieldSpec("editIntent", Shape.TEXT, "intent title summary goal description", "intent"),
    FieldSpec("evidence", Shape.CITATIONS, "citations"),
)
"""Of the whole plan; `intent` and `evidence` are those of every node that has none."""

NODE: Final = (
    FieldSpec("nodeId", Shape.TEXT, "id node key", "id"),
    FieldSpec("kind", Shape.TEXT, "type node_kind"),
    FieldSpec("operation", Shape.TEXT, "op action"),
    FieldSpec("targetFile", Shape.TEXT, "file path file_path target", "file"),
    FieldSpec("targetFiles", Shape.TEXTS, "files paths", "files"),
    FieldSpec("targetSymbols", Shape.TEXTS, "symbols symbol target_symbol", "symbols"),
    FieldSpec("newSymbols", Shape.TEXTS, "adds adds_symbols new_symbol"),
    FieldSpec("targetText", Shape.TEXT, "text find find_text anchor_text", "text"),
    FieldSpec("editIntent", Shape.TEXT, "intent description what summary title change", "intent"),
    FieldSpec("whyThisFile", Shape.TEXT, "why reason rationale", "why"),
    FieldSpec("evidence", Shape.CITATIONS, "sources"),
    FieldSpec("citations", Shape.CITATIONS, "citation requirements"),
    FieldSpec("codeEvidence", Shape.CITATIONS),
    FieldSpec("delta", Shape.OBJECT, "code_delta"),
    FieldSpec("edits", Shape.OBJECTS, "edit patches codemod codemods"),
    FieldSpec("allowImports", Shape.FLAG, "allows_imports"),
    FieldSpec("verificationHooks", Shape.TEXTS, "hooks verify verification tests checks", "hooks"),
    FieldSpec("mapsToNodeIds", Shape.TEXTS, "maps_to validates covers", "mapsTo"),
    FieldSpec("successCriteria", Shape.TEXT, "criteria success"),
    FieldSpec("requestedEvidence", Shape.TEXTS, "requests"),
    FieldSpec("blockingReasons", Shape.TEXTS, "reasons blockers"),
    FieldSpec("sideEffectType", Shape.TEXT, "side_effect effect"),
    FieldSpec("sideEffectPayloadRef", Shape.TEXT, "payload_ref message", "message"),
    FieldSpec("payload", Shape.PAYLOAD, "side_effect_payload"),
    FieldSpec("commitGateId", Shape.TEXT, "gate gate_id commit_gate"),
    FieldSpec("dependsOn", Shape.TEXTS, "depends after deps dependencies"),
    FieldSpec("lowEvidenceGuard", Shape.FLAG),
    FieldSpec("uncertaintyNote", Shape.TEXT, "uncertainty"),
    FieldSpec("requiresHumanReview", Shape.FLAG, "human_review"),
    FieldSpec("requiredSteps", Shape.TEXTS),
    FieldSpec("expectedFailureSignatures", Shape.TEXTS, "failure_signatures"),
    FieldSpec("correctionCandidateOnFail", Shape.TEXT, "correction on_fail"),
    FieldSpec("escalateIf", Shape.TEXTS),
    FieldSpec("artifactRefs", Shape.TEXTS, "artifacts"),
    FieldSpec("atomicityBoundary", Shape.BOUNDARY, "boundary atomicity"),
)
"""Of a node of any kind."""


def _index_names(specs: tuple[FieldSpec, ...]) -> dict[str, FieldSpec]:
    names = {synonym: spec for spec in specs for synonym in spec.synonyms.split()}
    return names | {snake(spec.name): spec for spec in specs}


ENVELOPE_NAMES: Final[Mapping[str, FieldSpec]] = _index_names(ENVELOPE)
NODE_NAMES: Final[Mapping[str, FieldSpec]] = _index_names(NODE)


_CANONICAL: Final = frozenset(snake(spec.name) for spec in (*ENVELOPE, *NODE))


class FieldFlaw(NamedTuple):
    """A key that can't be used, and what to send instead."""

    key: str
    sub_code: str
    message: str
    fix: str | None = None


class FieldsRead(NamedTuple):
    """The usable fields of an object under their canonical names, and what is wrong with the others."""

    values: dict[str, Any]
    flaws: list[FieldFlaw]


def read_fields(body: Mapping[str, Any], names: Mapping[str, FieldSpec]) -> FieldsRead:
    """Sorts out the keys of an object; a canonical name goes before another name for it."""
    values: dict[str, Any] = {}
    flaws: list[FieldFlaw] = []
    strangers: list[tuple[str, Any]] = []
    for key, item in sorted(body.items(), key=lambda pair: snake(str(pair[0])) not in _CANONICAL):
        spec = names.get(snake(str(key)))
        if spec is None:
            near = [names[name].name for name in nearest(str(key), names)]
            like = f" Did you mean {near[0]}?" if near else ""
            message = f"There is no field {str(key)[:80]!r}.{like}"
            flaws.append(FieldFlaw(str(key)[:80], "fields.unknown", message, near[0] if near else None))
            strangers += [(near[0], item)] if near else []
        elif item is None or spec.name in values:
            continue
        elif (value := shape_value(item, spec.shape)) is None:
            flaws.append(
                FieldFlaw(spec.name, "fields.type", f"{key} is {spec.shape.value}, not {_name_type(item)}.")
            )
        else:
            values[spec.name] = value
    for name, item in strangers:  # the corrected plan has them under the right name
        value = shape_value(item, names[snake(name)].shape)
        if value is not None:
            values.setdefault(name, value)
    return FieldsRead(values, flaws)


def shape_value(item: object, shape: Shape) -> Any:
    """A value in the shape of its field; None where it has another."""
    match shape:
        case Shape.TEXT:
            return item.strip() if isinstance(item, str) and len(item) <= _LONGEST_TEXT else None
        case Shape.FLAG:
            words = {"true": True, "yes": True, "false": False, "no": False}
            return item if isinstance(item, bool) else words.get(str(item).lower())
        case Shape.OBJECT:
            return item if isinstance(item, dict) else None
        case Shape.BOUNDARY:
            return item
        case Shape.PAYLOAD:
            return item if isinstance(item, dict | str) and item else None
    items = item if isinstance(item, list) else [item]
    item_type = {Shape.TEXTS: str, Shape.OBJECTS: dict}.get(shape, (str, dict))
    if len(items) > _MOST_ITEMS or not all(isinstance(one, item_type) for one in items):
        return None
    if shape is not Shape.TEXTS:
        return list(items)
    return [text for one in items if (text := str(one).strip()) and len(text) <= _LONGEST_TEXT]


def _name_type(item: object) -> str:
    names = {dict: "an object", list: "such a list", str: "this text", bool: "true or false", int: "a number"}
    return names.get(type(item), "this value")
