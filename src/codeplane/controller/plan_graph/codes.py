"""Every code that a controlled run may be refused with: what it means, who raises it, and its sub codes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class RejectionCode(StrEnum):
    """The codes of `denyReasons`."""

    PLAN_MISSING_REQUIRED_FIELDS = "PLAN_MISSING_REQUIRED_FIELDS"
    PLAN_SCOPE_VIOLATION = "PLAN_SCOPE_VIOLATION"
    PLAN_EVIDENCE_INSUFFICIENT = "PLAN_EVIDENCE_INSUFFICIENT"
    PLAN_NOT_ATOMIC = "PLAN_NOT_ATOMIC"
    PLAN_VERIFICATION_WEAK = "PLAN_VERIFICATION_WEAK"
    PLAN_STRATEGY_MISMATCH = "PLAN_STRATEGY_MISMATCH"
    PLAN_WEAK_MODEL_AMBIGUOUS = "PLAN_WEAK_MODEL_AMBIGUOUS"
    PLAN_FEDERATION_PROOF_MISSING = "PLAN_FEDERATION_PROOF_MISSING"
    PLAN_ORIGIN_UNKNOWN = "PLAN_ORIGIN_UNKNOWN"
    PLAN_POLICY_VIOLATION = "PLAN_POLICY_VIOLATION"
    PLAN_MISSING_CONTRACT_ANCHOR = "PLAN_MISSING_CONTRACT_ANCHOR"
    PLAN_VALIDATION_CONFIDENCE_TOO_LOW = "PLAN_VALIDATION_CONFIDENCE_TOO_LOW"
    EXEC_SIDE_EFFECT_COLLISION = "EXEC_SIDE_EFFECT_COLLISION"
    EXEC_UNGATED_SIDE_EFFECT = "EXEC_UNGATED_SIDE_EFFECT"
    MEMORY_PROVISIONAL_EXPIRED = "MEMORY_PROVISIONAL_EXPIRED"
    PACK_INSUFFICIENT = "PACK_INSUFFICIENT"
    PACK_REQUIRED_ANCHOR_UNRESOLVED = "PACK_REQUIRED_ANCHOR_UNRESOLVED"


class CodeEntry(NamedTuple):
    """One row of the table of codes."""

    meaning: str
    raised_by: str
    sub_codes: Mapping[str, str] = {}


_VALIDATOR: Final = "plan validation"

CODES: Final[Mapping[RejectionCode, CodeEntry]] = {
    RejectionCode.PLAN_MISSING_REQUIRED_FIELDS: CodeEntry(
        "The plan lacks something that only its author knows, or has a field that means nothing.",
        _VALIDATOR,
        {
            "fields.no_nodes": "The plan has no nodes.",
            "fields.missing": "A required field is missing or empty.",
            "fields.type": "A field has a value of the wrong type.",
            "fields.invalid": "An argument of a verb has a wrong value.",
            "fields.unknown": "No such field.",
            "fields.kind": "No such kind of node, operation or side effect.",
            "fields.node_id": "Two nodes have one id, or an id is not a short name.",
            "fields.delta": "The code delta can't be read.",
            "fields.edits": "An edit is unreadable, or its text is not in the file once.",
            "fields.version": "The plan is written for another version of the schema.",
        },
    ),
    RejectionCode.PLAN_SCOPE_VIOLATION: CodeEntry(
        "The plan reaches beyond what this run may touch, or belongs to another run or state of the files.",
        f"{_VALIDATOR}; verbs that name a path or a node outside the accepted plan",
        {
            "scope.path": "The path is outside the repository, private to git or CodePlane, or no path.",
            "scope.closed": "The file is ignored, in another repository, binary, or kept out by a rule.",
            "scope.file": "There is no such file, or there is one and the operation is `create`.",
            "scope.allowlist": "The file is not among those that the run may change.",
            "scope.symbol": "The file has no such symbol.",
            "scope.wildcard": "A symbol is a pattern instead of a name.",
            "scope.session": "An id of the plan is not that of this run.",
            "scope.worktree": "The plan is for another working tree.",
            "scope.snapshot": "The plan rests on another state of the files.",
            "scope.pack_hash": "The plan rests on another context pack.",
            "scope.fingerprint": "The fingerprint is not that of the plan.",
            "scope.verb": "There is no such verb.",
            "scope.argument": "The verb has no such argument.",
            "scope.state": "The verb is not allowed in this state.",
            "scope.node": "The verb names a node, file or symbol that the accepted plan does not have.",
            "scope.scratch": "The name of a scratch file leads out of the scratch folder.",
            "scope.observations": "The run has parked as many findings as it may.",
            "scope.open_nodes": "The run is to end, and nodes of its plan are open.",
        },
    ),
    RejectionCode.PLAN_EVIDENCE_INSUFFICIENT: CodeEntry(
        "A citation does not hold, or a change has too few sources of a category.",
        _VALIDATOR,
        {
            "evidence.requirement": "Too few sources of what is asked for: prompt, ticket, API operation.",
            "evidence.code": "Too few source files.",
            "evidence.policy": "Too few policy files.",
            "evidence.single_source": "All evidence is of one source, and the guard is not complete.",
            "evidence.form": "The citation can't be read.",
            "evidence.unknown_handle": "This run was given no such handle.",
            "evidence.no_file": "The cited file does not exist.",
            "evidence.closed": "The cited file is private to CodePlane or git, such as scratch files.",
            "evidence.lines": "The file has no such lines, or they are blank.",
            "evidence.symbol": "The cited symbol is not there.",
            "evidence.quote": "The quoted text is not there.",
            "evidence.stale": "The file has changed since it was read.",
            "evidence.unread": "This run has not read these lines, and nothing is quoted of them.",
            "evidence.not_fetched": "This run has not fetched the ticket or API operation.",
        },
    ),
    RejectionCode.PLAN_NOT_ATOMIC: CodeEntry(
        "Nodes can't be carried out and undone one by one, each with files of its own, in an order.",
        _VALIDATOR,
        {
            "atomicity.many_files": "One change names several files without a delta.",
            "atomicity.shared_file": "Two changes write one file.",
            "atomicity.edits": "An edit is of another file than its node.",
            "atomicity.depends_unknown": "A node depends on one that is not there.",
            "atomicity.cycle": "Nodes depend on each other.",
        },
    ),
    RejectionCode.PLAN_VERIFICATION_WEAK: CodeEntry(
        "The hooks can't show whether a change works.",
        _VALIDATOR,
        {
            "verification.hook": "No such hook.",
            "verification.test": "The hook names a test file that does not exist.",
            "verification.reach": "Tests reach the change, and no hook runs one.",
            "verification.maps_to": "A validate node is of no change, or of nodes that are not there.",
        },
    ),
    RejectionCode.PLAN_STRATEGY_MISMATCH: CodeEntry(
        "The plan follows another strategy than the one that the run's features call for.",
        _VALIDATOR,
        {
            "strategy.id": "The strategy is another one.",
            "strategy.reason": "A reason is none of those that the strategy was chosen for.",
        },
    ),
    RejectionCode.PLAN_WEAK_MODEL_AMBIGUOUS: CodeEntry(
        "A change without delta or edits can be read in more than one way.",
        _VALIDATOR,
        {
            "ambiguous.symbol": "The symbol means several definitions of the file.",
            "ambiguous.text": "The text occurs several times in the file.",
            "ambiguous.no_text": "The text does not occur in the file.",
        },
    ),
    RejectionCode.PLAN_FEDERATION_PROOF_MISSING: CodeEntry(
        "The chain from the host's route to the component of the remote is broken.",
        _VALIDATOR,
        {"chain.broken": "A hop has no evidence.", "chain.not_run": "The chain has not been traced."},
    ),
    RejectionCode.PLAN_ORIGIN_UNKNOWN: CodeEntry(
        "The chain from a table to the definition behind it is broken.",
        _VALIDATOR,
        {"chain.broken": "A hop has no evidence.", "chain.not_run": "The chain has not been traced."},
    ),
    RejectionCode.PLAN_POLICY_VIOLATION: CodeEntry(
        "The plan breaks a rule that a person has approved, or weakens the policy that it is checked by.",
        _VALIDATOR,
        {
            "policy.rule": "A rule from memory refuses the plan, or misses a step.",
            "policy.version": "The plan names other versions of the policies.",
            "policy.weakened": "The evidence policy of the plan asks for less than the server's.",
        },
    ),
    RejectionCode.PLAN_MISSING_CONTRACT_ANCHOR: CodeEntry(
        "The strategy rests on a contract, and no operation of it has been fetched.",
        _VALIDATOR,
        {"contract.not_fetched": "No API operation has been fetched in this run."},
    ),
    RejectionCode.PLAN_VALIDATION_CONFIDENCE_TOO_LOW: CodeEntry(
        "No test reaches the target, and the hooks only parse or lint.",
        _VALIDATOR,
        {"confidence.no_test": "Nothing runs the changed code."},
    ),
    RejectionCode.EXEC_SIDE_EFFECT_COLLISION: CodeEntry(
        "Another run has reserved the file, symbol, graph node or side effect.", "the collision guard"
    ),
    RejectionCode.EXEC_UNGATED_SIDE_EFFECT: CodeEntry(
        "A side effect has no commit gate, or its gate is not open.", "execute_gated_side_effect"
    ),
    RejectionCode.MEMORY_PROVISIONAL_EXPIRED: CodeEntry(
        "A memory that the plan rests on has expired without approval.",
        _VALIDATOR,
        {"memory.expired": "The plan names a memory that was provisional and has expired."},
    ),
    RejectionCode.PACK_INSUFFICIENT: CodeEntry(
        "The context pack lacks what the task needs.", "context packs"
    ),
    RejectionCode.PACK_REQUIRED_ANCHOR_UNRESOLVED: CodeEntry(
        "A file, symbol or artefact that the pack has to contain was not found.", "context packs"
    ),
}
"""The one table of codes; `docs/reference/rejections.md` is written from it."""
