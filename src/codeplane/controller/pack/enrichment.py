"""A pack grows: what a blocked run asks for is added, and only what is new is told."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.pack.build import ContextPack, build_pack, cite_shown, draft_pack, issue_pack
from codeplane.controller.pack.fitting import fit_pack
from codeplane.controller.pack.gaps import Gap
from codeplane.controller.pack.pack_text import render_findings
from codeplane.controller.pack.providers import providers_of
from codeplane.controller.pack.sections import Anchor, PackContent
from codeplane.controller.pack.storage import load_pack
from codeplane.controller.turn import Turn
from codeplane.recon.lanes.lexical import is_content
from codeplane.recon.mentions import mentioned_names
from codeplane.search.terms import content_words

_CODE: Final = re.compile(r"\b(?:PLAN|EXEC|PACK|MEMORY)(?:_[A-Z]+)+\b")
_LEAST_WEIGHT: Final = 0.5
_MOST_WORDS: Final = 20


@dataclass(frozen=True)
class PackDelta:
    """What a pack got in addition: the sections with new items alone, as data and as text."""

    pack: ContextPack
    sections: dict[str, Any]
    text: str
    gaps: tuple[Gap, ...]


def enrich_pack(turn: Turn, reasons: Sequence[str], targets: Sequence[str]) -> PackDelta:
    """Adds what the reasons and targets lead to. Nothing that the pack had is taken away."""
    former = load_pack(turn.call, turn.run, turn.run.body.pack_ref)
    if former is None:
        pack = build_pack(turn, targets)
        return PackDelta(pack, pack.to_dict(), pack.text, pack.gaps)
    words = reason_words(reasons)
    providers = providers_of(turn)
    draft = turn.call.ask(lambda snapshot: draft_pack(turn, snapshot, providers, targets, words))
    tokens = turn.call.repo.checkout.settings.controller.pack_tokens
    delta = fit_pack(new_items(former.content, draft.content), tokens)
    if not _has_items(delta):
        pack = ContextPack(former.content, former.text, None, draft.gaps)
        return PackDelta(pack, {}, "", draft.gaps)
    delta = cite_shown(turn, delta)
    pack = issue_pack(turn, joined(former.content, delta), draft.gaps, former.text)
    return PackDelta(pack, _added(delta), "\n".join(render_findings(delta)), draft.gaps)


def reason_words(reasons: Sequence[str]) -> list[str]:
    """The names and words of blocking reasons; codes say nothing about code."""
    text = _CODE.sub(" ", "\n".join(reasons))
    names = [mention.name for mention in mentioned_names(text) if mention.weight >= _LEAST_WEIGHT]
    words = [word for word in content_words(text)[0] if is_content(word)]
    return list(dict.fromkeys([*names, *words]))[:_MOST_WORDS]


def rejection_codes(reasons: Sequence[str]) -> list[str]:
    """The rejection codes that blocking reasons name."""
    return list(dict.fromkeys(code for reason in reasons for code in _CODE.findall(reason)))


def new_items(old: PackContent, new: PackContent) -> PackContent:
    """What the new pack has and the old one has not; an anchor that is shown now and was not is new."""
    anchors = [one for one in new.anchors.anchors if not _is_covered(one, old.anchors.anchors)]
    rules = {(one.source, one.first_line, one.last_line) for one in old.policies}
    memories = {str(one.get("id")) for one in old.active_memories}
    policies = [one for one in new.policies if (one.source, one.first_line, one.last_line) not in rules]
    chains = [one for one in new.anchors.proof_chains if one not in old.anchors.proof_chains]
    return new.model_copy(
        update={
            "policies": policies,
            "anchors": new.anchors.model_copy(update={"anchors": anchors, "proof_chains": chains}),
            "allowed": new.allowed.model_copy(
                update={"files": _beyond(old.allowed.files, new.allowed.files)}
            ),
            "validation": new.validation.model_copy(
                update={
                    "tests": _beyond(old.validation.tests, new.validation.tests),
                    "linters": _beyond(old.validation.linters, new.validation.linters),
                }
            ),
            "missing": new.missing.model_copy(
                update={
                    "missing": _beyond(old.missing.missing, new.missing.missing),
                    "conflicts": _beyond(old.missing.conflicts, new.missing.conflicts),
                }
            ),
            "active_memories": [one for one in new.active_memories if str(one.get("id")) not in memories],
        }
    )


def joined(old: PackContent, delta: PackContent) -> PackContent:
    """The old pack with the new items behind its own; an anchor that is shown now takes its old place."""
    excerpts = {_place(one): one for one in delta.anchors.anchors}
    anchors = [excerpts.pop(_place(one), one) if not one.evidence else one for one in old.anchors.anchors]
    sections: dict[str, Any] = {
        "header": delta.header,
        "policies": [*old.policies, *delta.policies],
        "anchors": old.anchors.model_copy(
            update={
                "anchors": [*anchors, *excerpts.values()],
                "proof_chains": [*old.anchors.proof_chains, *delta.anchors.proof_chains],
            }
        ),
        "strategy": delta.strategy,
        "active_memories": [*old.active_memories, *delta.active_memories],
    }
    for name, keys in (
        ("allowed", ("files",)),
        ("validation", ("tests", "linters")),
        ("missing", ("missing", "conflicts")),
    ):
        section, more = getattr(old, name), getattr(delta, name)
        update = {key: [*getattr(section, key), *getattr(more, key)] for key in keys}
        sections[name] = section.model_copy(update=update)
    return old.model_copy(update=sections)


def _place(anchor: Anchor) -> tuple[str, int, int]:
    return anchor.path, anchor.first_line, anchor.last_line


def _is_covered(anchor: Anchor, anchors: Sequence[Anchor]) -> bool:
    """Whether its lines are shown already, unchanged; one without text only has to be listed."""
    return any(
        one.path == anchor.path
        and one.digest == anchor.digest
        and one.first_line <= anchor.first_line
        and anchor.last_line <= one.last_line
        and (bool(one.evidence) or not anchor.text)
        for one in anchors
    )


def _beyond(old: Sequence[str], new: Sequence[str]) -> list[str]:
    return [item for item in new if item not in old]


def _has_items(delta: PackContent) -> bool:
    return bool(
        delta.anchors.anchors
        or delta.anchors.proof_chains
        or delta.policies
        or delta.validation.tests
        or delta.active_memories
        or delta.missing.missing
    )


def _added(delta: PackContent) -> dict[str, Any]:
    """The sections that got something, without the others."""
    document = delta.model_dump(
        mode="json", include={"policies", "anchors", "validation", "missing", "active_memories"}
    )
    return {name: section for name, section in document.items() if section}
