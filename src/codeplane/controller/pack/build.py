"""Builds the context pack of a run: lanes, rules, tests and gaps, fitted to the budget, with a hash."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codeplane.controller.catalogue import allowed_verbs
from codeplane.controller.pack.excerpts import anchors_of, choose_files, policies_of
from codeplane.controller.pack.fitting import canonical_json, fit_pack
from codeplane.controller.pack.gaps import Gap, insufficiency_of, no_code, no_prompt, not_indexed
from codeplane.controller.pack.pack_text import render_pack
from codeplane.controller.pack.prompt_facts import addresses_in, constraints_of, ticket_keys
from codeplane.controller.pack.providers import PackProviders, lane_sources, providers_of
from codeplane.controller.pack.sections import (
    AllowedSection,
    Anchor,
    AnchorSection,
    Header,
    Insufficiency,
    MissingSection,
    PackContent,
    PolicyEntry,
    TaskSection,
)
from codeplane.controller.pack.storage import store_pack
from codeplane.controller.pack.targets import NamedTargets, TargetReader
from codeplane.controller.pack.validation import validation_section
from codeplane.controller.run_memory import mark_shown
from codeplane.controller.turn import Turn
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.candidates import Lane, LaneQuery
from codeplane.recon.fusion import fuse
from codeplane.recon.retrieval import Retrieval, retrieve

POLICY_VERSIONS: Final = "policyVersions"
"""Where a run keeps the rules of its pack, each with the beginning of its digest."""
_PLACEHOLDER: Final = "ev_000000000000"  # as long as a handle; what is shown gets a real one at the end
_SHOWN_PROMPT: Final = 400


@dataclass(frozen=True)
class ContextPack:
    """A pack that has been given out: its sections, its text, and what it lacks."""

    content: PackContent
    text: str
    insufficiency: Insufficiency | None
    gaps: tuple[Gap, ...] = ()

    @property
    def ref(self) -> str:
        return self.content.header.context_pack_ref

    @property
    def hash(self) -> str:
        return self.content.header.context_pack_hash

    def to_dict(self) -> dict[str, Any]:
        """The nine sections as data, under the names of the wire."""
        return self.content.model_dump(mode="json")


@dataclass(frozen=True)
class Draft:
    """A pack before it is fitted, and the gaps that were found on the way."""

    content: PackContent
    gaps: tuple[Gap, ...]


def build_pack(turn: Turn, targets: Sequence[str] = ()) -> ContextPack:
    """Builds the pack of a run, keeps it, and notes its reference in the run."""
    providers = providers_of(turn)
    draft = turn.call.ask(lambda snapshot: draft_pack(turn, snapshot, providers, targets))
    tokens = turn.call.repo.checkout.settings.controller.pack_tokens
    return issue_pack(turn, fit_pack(draft.content, tokens), draft.gaps)


def draft_pack(
    turn: Turn,
    snapshot: Snapshot,
    providers: PackProviders,
    targets: Sequence[str] = (),
    more_words: Sequence[str] = (),
) -> Draft:
    """The nine sections with everything that was found."""
    body = turn.run.body
    references = _named_targets(turn, snapshot, targets)
    answer = _run_lanes(turn, snapshot, providers, references, more_words)
    files = choose_files(snapshot, answer.files)
    anchors = list(anchors_of(snapshot, files, answer.weigh))
    paths = [file.path for file in files]
    gaps = [*references.gaps, *([] if body.prompt.strip() else [no_prompt()])]
    if body.prompt.strip() and not anchors:
        gaps.append(no_code(body.prompt))
    if unread := snapshot.coverage.unread:
        gaps.append(not_indexed(unread))
    content = PackContent(
        header=_header(turn),
        task=_task_section(turn, references),
        policies=[
            policy.model_copy(update={"evidence": _PLACEHOLDER if policy.text else ""})
            for policy in policies_of(snapshot, answer.policies)
        ],
        strategy=providers.strategy(snapshot, paths),
        anchors=AnchorSection(
            anchors=[
                anchor.model_copy(update={"evidence": _PLACEHOLDER if anchor.text else ""})
                for anchor in anchors
            ],
            proof_chains=list(providers.chains(snapshot)),
        ),
        allowed=AllowedSection(
            files=[shown(path) for path in paths],
            capabilities=[verb.value for verb in allowed_verbs(turn.run.state)],
        ),
        validation=validation_section(snapshot, answer, files),
        missing=MissingSection(missing=[gap.to_line() for gap in gaps], conflicts=_uncommitted(turn, paths)),
        active_memories=[dict(memory) for memory in providers.memories(paths)],
    )
    return Draft(content, tuple(gaps))


def issue_pack(turn: Turn, content: PackContent, gaps: Sequence[Gap], former_text: str = "") -> ContextPack:
    """Gives out a pack: handles for what it shows, hash and reference, kept with the run.

    The texts of a pack that it grew from stand before its own.
    """
    content = sealed(cite_shown(turn, content))
    text = "\n".join(filter(None, (former_text, render_pack(content))))
    store_pack(turn.call, turn.run, content, text)
    body, header = turn.run.body, content.header
    body.pack_ref, body.pack_hash = header.context_pack_ref, header.context_pack_hash
    body.snapshot_id = header.repo_snapshot_id
    body.strategy_id, body.strategy_reasons = content.strategy.strategy_id, content.strategy.reasons
    body.features = content.strategy.context_signature or body.features
    mark_shown(turn.run, [str(memory["id"]) for memory in content.active_memories])
    body.extra[POLICY_VERSIONS] = {policy.source: policy.digest[:12] for policy in content.policies}
    return ContextPack(content, text, insufficiency_of(gaps, turn.run.state), tuple(gaps))


def sealed(content: PackContent) -> PackContent:
    """The pack with its hash, over everything but hash and reference, and the reference made of it."""
    blank = content.header.model_copy(update={"context_pack_ref": "", "context_pack_hash": ""})
    document = content.model_copy(update={"header": blank}).model_dump(mode="json")
    digest = hashlib.sha256(canonical_json(document).encode("utf-8", "surrogatepass")).hexdigest()
    header = blank.model_copy(update={"context_pack_ref": f"pack_{digest[:16]}", "context_pack_hash": digest})
    return content.model_copy(update={"header": header})


def cite_shown(turn: Turn, content: PackContent) -> PackContent:
    """Handles in the place of placeholders: for the prompt, and for lines whose text is shown."""
    prompt_digest = content.header.prompt_digest
    task = content.task
    if turn.run.body.prompt.strip():
        handle = turn.add_evidence("requirement", "prompt", 0, 0, prompt_digest)
        task = task.model_copy(update={"evidence": handle})

    def cite(category: str, source: str, lines: tuple[int, int], digest: str, symbol: str = "") -> str:
        _note_shown(turn, RepoPath(source), digest)
        return turn.add_evidence(category, source, *lines, digest, symbol)

    anchors = [
        anchor.model_copy(
            update={"evidence": cite("code", anchor.path, _lines_of(anchor), anchor.digest, anchor.symbol)}
        )
        if anchor.text
        else anchor
        for anchor in content.anchors.anchors
    ]
    policies = [
        policy.model_copy(
            update={"evidence": cite("policy", policy.source, _lines_of(policy), policy.digest)}
        )
        if policy.text
        else policy
        for policy in content.policies
    ]
    section = content.anchors.model_copy(update={"anchors": anchors})
    return content.model_copy(update={"task": task, "anchors": section, "policies": policies})


def _lines_of(span: Anchor | PolicyEntry) -> tuple[int, int]:
    return span.first_line, span.last_line


def _note_shown(turn: Turn, path: RepoPath, digest: str) -> None:
    """The agent has seen numbered lines of a file, so it may edit by them."""
    with turn.call.seen() as snapshot:
        file = snapshot.file(path)
        if file is not None and file.digest == digest:
            turn.call.showed_of(snapshot, path)


def _named_targets(turn: Turn, snapshot: Snapshot, targets: Sequence[str]) -> NamedTargets:
    body = turn.run.body
    has_connectors = bool(turn.call.repo.checkout.settings.connectors.hosts)
    reader = TargetReader(snapshot, turn.call.repo.tree, frozenset(body.artifacts), has_connectors)
    targets_of_call = reader.read_targets(tuple(targets), "the call")
    attachments = reader.read_targets(tuple(body.attachments), "an attachment")
    prompt = reader.read_prompt(body.prompt)
    return NamedTargets(
        [*targets_of_call.candidates, *attachments.candidates],
        [*targets_of_call.gaps, *attachments.gaps, *prompt.gaps],
        [*targets_of_call.conflicts, *attachments.conflicts, *prompt.conflicts],
    )


def _run_lanes(
    turn: Turn, snapshot: Snapshot, providers: PackProviders, named: NamedTargets, more_words: Sequence[str]
) -> Retrieval:
    body = turn.run.body
    files = [text for text in body.attachments if not ticket_keys(text) and not addresses_in(text)]
    query = LaneQuery(
        body.prompt,
        (*body.lexemes, *more_words),
        tuple(files),
        tuple(dict.fromkeys(one.path for one in named.candidates)),
    )
    answer = retrieve(query, lane_sources(turn, snapshot, providers))
    if not named.candidates:
        return answer
    by_lane = {**answer.by_lane, Lane.POLICY: ()}
    by_lane[Lane.ARTIFACT] = (*named.candidates, *answer.by_lane.get(Lane.ARTIFACT, ()))
    return replace(answer, files=tuple(fuse(by_lane)))


def _header(turn: Turn) -> Header:
    run, call = turn.run, turn.call
    return Header(
        context_pack_ref=f"pack_{'0' * 16}",
        context_pack_hash="0" * 64,
        work_id=run.work_id,
        agent_id=run.agent_id,
        run_session_id=run.run_session_id,
        repo_snapshot_id=snapshot_id(turn),
        head_commit=call.repo.checkout.repository.head().commit,
        prompt_digest=hashlib.sha256(run.body.prompt.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def snapshot_id(turn: Turn) -> str:
    """The name of the state of all files: equal states have equal names."""
    return f"snap_{turn.call.repo.index.fingerprint().hex()[:16]}"


def _task_section(turn: Turn, named: NamedTargets) -> TaskSection:
    body = turn.run.body
    return TaskSection(
        prompt=body.prompt[:_SHOWN_PROMPT],
        evidence=_PLACEHOLDER if body.prompt.strip() else "",
        lexemes=body.lexemes,
        attachments=body.attachments,
        constraints=constraints_of(body.prompt),
        conflicts=named.conflicts,
    )


def _uncommitted(turn: Turn, paths: Sequence[RepoPath]) -> list[str]:
    """Candidate files with changes that no commit has: a plan would build on them."""
    status = turn.call.repo.tree.git.look()
    dirty = {one.path for one in (*status.staged, *status.modified)} | {one.path for one in status.conflicts}
    return [f"{shown(path)} has uncommitted changes" for path in paths if path in dirty]
