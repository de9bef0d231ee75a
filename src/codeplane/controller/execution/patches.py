"""From an accepted change node to exact edits, and their way through the one writer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.controller.execution.accepted import AcceptedNode
from codeplane.controller.execution.bounds import check_bounds, find_symbols, outline_of
from codeplane.controller.execution.codemods import find_codemod
from codeplane.controller.execution.nodes import CodemodUse, TextChange
from codeplane.controller.execution.plan_rows import begin_attempt
from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import (
    CodePlaneError,
    EditConflict,
    EditNotPlaced,
    InvalidArgument,
    PatchOutOfBounds,
)
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.mutation.placement.locate import SpanEdit
from codeplane.mutation.placement.requests import Action, Asked, Planner
from codeplane.session import Call
from codeplane.session.delta.workbench import authoring_of, simulation_for
from codeplane.session.operation.edits import Intent, Written, write
from codeplane.working_tree import digest_of

OP_TYPE: Final = "apply_code_patch"
_ACTIONS: Final = {
    "insert_before_symbol": Action.INSERT_BEFORE,
    "insert_after_symbol": Action.INSERT_AFTER,
    "replace_symbol": Action.REPLACE_SYMBOL,
}


@dataclass(frozen=True)
class Content:
    """What a call wants to be written; empty for what the node carries itself."""

    edits: tuple[TextChange, ...] = ()
    codemods: tuple[CodemodUse, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.edits and not self.codemods


@dataclass(frozen=True)
class DraftPatch:
    """Exactly what a node would do to the files, and what to tell of it."""

    change: Change
    notes: tuple[str, ...] = ()

    @property
    def is_already(self) -> bool:
        """Whether the files are as the node wants them."""
        return not self.change.edits.edits


@dataclass(frozen=True)
class AppliedPatch:
    """A patch that was written, or that had nothing to write."""

    draft: DraftPatch
    written: Written | None
    outcome: dict[str, Any] = field(default_factory=dict)


def draft_patch(call: Call, one: AcceptedNode, content: Content) -> DraftPatch:
    """The edits of a node on the files as they are; a typed error where they can't be made."""
    node = one.node
    path = call.repo.tree.jail.enter(node.target_file)
    if node.operation == "delete":
        return DraftPatch(_planned(call, [Asked(Action.DELETE, path, SpanEdit(""), _base(one))]))
    if node.operation == "move":
        to = call.repo.tree.jail.enter(node.move_to)
        return DraftPatch(_planned(call, [Asked(Action.MOVE, path, SpanEdit(""), _base(one), to=to)]))
    if node.operation == "create":
        return _draft_creation(call, one, path, content)
    return _draft_update(call, one, path, content)


def _base(one: AcceptedNode) -> Digest | None:
    return Digest(one.base) if one.base else None


def _draft_creation(call: Call, one: AcceptedNode, path: RepoPath, content: Content) -> DraftPatch:
    edits = content.edits or one.node.edits
    if len(edits) != 1 or content.codemods:
        raise InvalidArgument(
            f"{shown(path)} is to be created: send one edit with its text.",
            hints=['edits: [{"oldText": "", "newText": "the whole file"}]'],
        )
    text = edits[0].new_text
    if _read_file(call, path) == text.encode("utf-8", "replace"):
        return DraftPatch(Change(), (f"{shown(path)} is there with this text.",))
    return DraftPatch(_planned(call, [Asked(Action.CREATE, path, SpanEdit(text))]))


def _draft_update(call: Call, one: AcceptedNode, path: RepoPath, content: Content) -> DraftPatch:
    before = call.repo.tree.read(path)
    notes = _staleness_notes(one, path, before)
    node, is_own = one.node, content.is_empty
    edits, codemods = (node.edits, node.codemods) if is_own else (content.edits, content.codemods)
    if is_own and node.delta is not None:
        after, own_notes = _run_delta(call, one, path)
        return _draft_of(path, before, after, (*notes, *own_notes))
    after = before
    if edits:
        after = _replace_texts(call, one, path, before, edits)
        check_bounds(path, before, after, node.target_symbols)
    for use in codemods:
        rewrite = find_codemod(call.repo, use.codemod_id).rewrite(path, after, use.params)
        if use not in node.codemods:
            # One that the plan names was accepted with all that it does to the file.
            check_bounds(path, after, rewrite.data, node.target_symbols)
        after, notes = rewrite.data, [*notes, *rewrite.notes]
    if not edits and not codemods:
        raise InvalidArgument(
            f"Node {node.node_id} does not say what to write in {shown(path)}.",
            hints=['edits: [{"oldText": "text of the file", "newText": "what takes its place"}]'],
        )
    return _draft_of(path, before, after, notes)


def _draft_of(path: RepoPath, before: bytes, after: bytes, notes: Sequence[str]) -> DraftPatch:
    if before == after:
        return DraftPatch(Change(), (*notes, f"{shown(path)} already is as it should be."))
    edit = FileEdit(path, digest_of(before), after)
    return DraftPatch(Change(EditSet((edit,)), {path: before}), tuple(notes))


def _staleness_notes(one: AcceptedNode, path: RepoPath, now: bytes) -> list[str]:
    if not one.base or str(digest_of(now)) == one.base:
        return []
    return [f"{shown(path)} has changed since the plan was accepted; the patch is made for it as it is now."]


def _planned(call: Call, requests: Sequence[Asked]) -> Change:
    return Planner(call.repo.tree.read, call.repo.earlier).plan(requests).change


def _replace_texts(
    call: Call, one: AcceptedNode, path: RepoPath, before: bytes, edits: Sequence[TextChange]
) -> bytes:
    """The file after texts were replaced, each of which has to be there exactly once."""
    requests = [_request_of(one, path, before, edit) for edit in edits]
    plan = Planner(lambda _: before, call.repo.earlier).plan(requests)
    corrections = plan.corrections.get(path, [])
    if corrections:
        first, last = corrections[0].target
        text = "\n".join(before.decode("utf-8", "replace").split("\n")[first - 1 : last])
        raise EditNotPlaced(
            f"{shown(path)} has the text only nearly: {corrections[0].why} at lines {first} to {last}.",
            hints=["Send oldText exactly as the file has it."],
            found=text[:2000],
        )
    return plan.change.contents.get(path, before)


def _request_of(one: AcceptedNode, path: RepoPath, before: bytes, edit: TextChange) -> Asked:
    if edit.symbol and (not edit.old_text or edit.action in _ACTIONS):
        spans = find_symbols(outline_of(path, before), path, edit.symbol)
        if len(spans) != 1:
            names = ", ".join(map(str, spans)) or "none"
            raise EditNotPlaced(
                f"{edit.symbol[:80]} means {len(spans)} definitions of {shown(path)}: {names}."
            )
        action = _ACTIONS.get(edit.action, Action.REPLACE_SYMBOL)
        return Asked(action, path, SpanEdit(edit.new_text), lines=(spans[0].first, spans[0].last))
    if not edit.old_text:
        raise InvalidArgument(
            f"An edit of {shown(path)} has no oldText.", hints=["Send the text that is to be replaced."]
        )
    span = SpanEdit(edit.new_text, edit.old_text, within=_place_within(one, path, before, edit))
    return Asked(Action.UPDATE, path, span)


def _place_within(
    one: AcceptedNode, path: RepoPath, before: bytes, edit: TextChange
) -> tuple[int, int] | None:
    """The lines of the one target symbol that has the text, where the file has it several times."""
    old = edit.old_text.replace("\r\n", "\n")
    text = before.decode("utf-8", "replace").replace("\r\n", "\n")
    if text.count(old) <= 1:
        return None
    outline = outline_of(path, before)
    names = [edit.symbol] if edit.symbol else one.node.target_symbols
    spans = [span for name in names for span in find_symbols(outline, path, name)]
    lines = text.split("\n")
    homes = [span for span in spans if "\n".join(lines[span.first - 1 : span.last]).count(old) == 1]
    return (homes[0].first, homes[0].last) if len(homes) == 1 else None


def _run_delta(call: Call, one: AcceptedNode, path: RepoPath) -> tuple[bytes, list[str]]:
    """The file after the delta of a node; nothing of other files."""
    from codeplane.delta.document import read_delta  # it loads the operations of all languages

    delta = read_delta(dict(one.node.delta or {}), authoring_of(call.repo))
    outcome = simulation_for(call, [path]).run(delta)
    if outcome.problems:
        first = outcome.problems[0]
        raise EditNotPlaced(
            f"The delta of {one.node_id} can't be carried out: {first.text}",
            hints=list(first.details[:10]),
            problems=[problem.text for problem in outcome.problems[:20]],
        )
    others = [element.path for element in outcome.elements if element.path != path]
    if others:
        raise PatchOutOfBounds(
            f"The delta of {one.node_id} also changes {', '.join(map(shown, others[:5]))}; the node names"
            f" {shown(path)} alone.",
            hints=["Plan a node for each file."],
        )
    [element] = outcome.elements
    return element.after, list(element.notes)


def apply_patch(call: Call, one: AcceptedNode, content: Content) -> AppliedPatch:
    """Writes the patch of a node with its ledger row; the node's attempt says what is being written."""
    drafts: list[DraftPatch] = [draft_patch(call, one, content)]
    if drafts[0].is_already:
        return AppliedPatch(drafts[0], None, {"operation": "", "after": _digest_after(call, one)})

    def make() -> Intent:
        # Made anew where a file has changed at the last moment.
        if len(drafts) > 1 or not _still_holds(call, drafts[0]):
            drafts.append(draft_patch(call, one, content))
        else:
            drafts.append(drafts[0])
        change = drafts[-1].change
        begin_attempt(call.repo, one, _attempt_of(one, change))
        return Intent(OP_TYPE, change, plan=one.item_id)

    written = write(call, make)
    draft = drafts[-1]
    outcome = {
        **_attempt_of(one, draft.change),
        "operation": str(written.operation_id or ""),
        "insertions": written.insertions,
        "deletions": written.deletions,
        "notes": list(draft.notes),
    }
    return AppliedPatch(draft, written, outcome)


def _still_holds(call: Call, draft: DraftPatch) -> bool:
    return all(_read_file(call, path) == data for path, data in draft.change.before.items())


def _attempt_of(one: AcceptedNode, change: Change) -> dict[str, Any]:
    """Digests of the node's file before and after; "" where there is none."""
    edits = {edit.path: edit for edit in change.edits.edits}
    own = edits.get(RepoPath(one.node.target_file)) or next(iter(change.edits.edits))
    return {
        "before": str(own.before or ""),
        "after": str(digest_of(own.after)) if own.after is not None else "",
        "files": [shown(path) for path in edits],
    }


def _digest_after(call: Call, one: AcceptedNode) -> str:
    data = _read_file(call, call.repo.tree.jail.enter(one.node.target_file))
    return str(digest_of(data)) if data is not None else ""


def _read_file(call: Call, path: RepoPath) -> bytes | None:
    try:
        return call.repo.tree.read(path)
    except CodePlaneError as error:
        if isinstance(error, EditConflict):
            raise
        return None
