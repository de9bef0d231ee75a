"""Builds the context pack of a run: lanes, rules, tests and gaps, fitted to the budget, with a hash."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codeplane.controller.catalogue import allowed_verbs
from codeplane.controller.pack.excerpts import anchors_of, choose_files, policies_of
from codeplane.controller.pack.fitting import canonical_json, fit_pack
from codeplane.controller.pack.gaps import (
    Gap,
    broken_chain,
    insufficiency_of,
    no_code,
    no_contract,
    no_prompt,
    not_indexed,
)
from codeplane.controller.pack.pack_text import render_pack
from codeplane.controller.pack.prompt_facts import addresses_in, constraints_of, ticket_keys
from codeplane.controller.pack.providers import (
    PackProviders,
    TaskStrategy,
    chain_section,
    lane_sources,
    providers_of,
)
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
from codeplane.controller.plan_sources import POLICY_VERSIONS
from codeplane.controller.run_memory import mark_shown
from codeplane.controller.turn import Turn
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.candidates import Lane, LaneQuery
from codeplane.recon.fusion import RankedFile, fuse
from codeplane.recon.lanes import policy
from codeplane.recon.retrieval import Retrieval, retrieve

_PLACEHOLDER: Final = "ev_000000000000"  # as long as a handle; what is shown gets a real one at the end
_SPEC_FILE: Final = re.compile(r"(?:^|/)[\w.-]*(?:openapi|swagger)[\w.-]*\.(?:json|ya?ml)$", re.IGNORECASE)
_FINDING_LANES: Final = (Lane.LEXICAL, Lane.SYMBOL, Lane.ARTIFACT, Lane.EPISODIC)
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
    references = _named_targets(turn, snapshot, targets)
    answer, files = _run_lanes(turn, snapshot, providers, references, more_words)
    anchors = list(anchors_of(snapshot, files, answer.weigh))
    paths = [file.path for file in files]
    validation = validation_section(snapshot, answer, files)
    strategy = providers.strategy(snapshot, paths, validation.confidence)
    gaps = [*references.gaps, *_other_gaps(turn, snapshot, anchors, strategy)]
    content = PackContent(
        header=_header(turn),
        task=_task_section(turn, references),
        policies=[
            rule.model_copy(update={"evidence": _PLACEHOLDER if rule.text else ""})
            for rule in policies_of(snapshot, answer.policies)
        ],
        strategy=strategy.section,
        anchors=AnchorSection(
            anchors=[
                anchor.model_copy(update={"evidence": _PLACEHOLDER if anchor.text else ""})
                for anchor in anchors
            ],
            proof_chains=[chain_section(chain) for chain in strategy.chains],
        ),
        allowed=AllowedSection(
            files=[shown(path) for path in paths],
            capabilities=[verb.value for verb in allowed_verbs(turn.run.state)],
        ),
        validation=validation,
        missing=MissingSection(
            missing=[gap.to_line() for gap in gaps],
            conflicts=[*_uncommitted(turn, paths), *providers.reservations(paths)],
        ),
        active_memories=[dict(memory) for memory in providers.memories(paths)],
    )
    return Draft(content, tuple(gaps))


def _other_gaps(
    turn: Turn, snapshot: Snapshot, anchors: Sequence[Anchor], strategy: TaskStrategy
) -> Iterator[Gap]:
    """What the run itself, the lanes, the index and the strategy lack."""
    prompt, strategy_id = turn.run.body.prompt, strategy.section.strategy_id
    if not prompt.strip():
        yield no_prompt()
    elif not anchors:
        yield no_code(prompt)
    if unread := snapshot.coverage.unread:
        yield not_indexed(unread)
    for chain in strategy.chains:
        if chain.broken_at is not None:
            yield broken_chain(chain.chain_id, chain.broken_at, chain.mend, strategy_id)
    kinds = {str(record.get("kind", "")) for record in turn.run.body.artifacts.values()}
    if strategy.needs_contract and not any(kind.startswith("api_operation") for kind in kinds):
        spec = next((shown(path) for path in sorted(snapshot.layout.blobs) if _SPEC_FILE.search(path)), "")
        yield no_contract(strategy_id, spec)


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
    mark_shown(turn.run, [str(memory["id"]) for memory in content.active_memories])
    body.extra[POLICY_VERSIONS] = {rule.source: rule.digest[:12] for rule in content.policies}
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
        rule.model_copy(update={"evidence": cite("policy", rule.source, _lines_of(rule), rule.digest)})
        if rule.text
        else rule
        for rule in content.policies
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
) -> tuple[Retrieval, list[RankedFile]]:
    """What the lanes find, and the files that are shown of it; rules are those that hold for these files."""
    body = turn.run.body
    attachments = [text for text in body.attachments if not ticket_keys(text) and not addresses_in(text)]
    query = LaneQuery(
        body.prompt,
        (*body.lexemes, *more_words),
        tuple(attachments),
        tuple(dict.fromkeys(one.path for one in named.candidates)),
    )
    sources = lane_sources(turn, snapshot, providers)
    answer = retrieve(query, sources, _FINDING_LANES)
    candidates = (*named.candidates, *answer.by_lane.get(Lane.ARTIFACT, ()))
    ranking = fuse({**answer.by_lane, Lane.ARTIFACT: candidates})
    files = choose_files(snapshot, ranking)
    rules = policy.find(replace(query, paths=tuple(file.path for file in files)), sources)
    return replace(answer, files=tuple(ranking), policies=tuple(rules)), files


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
