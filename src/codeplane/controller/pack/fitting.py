"""Makes a pack fit its budget: what a call brings back goes first, what nothing else says goes last.

The order: excerpts of anchors from the last to the second, texts of rules, memories, tests and linters
beyond three, further anchors of one file, anchors from the last, rules from the last, files of the
allowlist, gaps, reasons, constraints, and the excerpt of the first anchor.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from codeplane.controller.pack.pack_text import render_pack
from codeplane.controller.pack.sections import PackContent

CHARACTERS_A_TOKEN: Final = 4
_FEW: Final = 3

Step = Callable[[PackContent], PackContent | None]
"""Leaves one thing out; None where there is nothing of its kind left."""


def canonical_json(document: Mapping[str, Any]) -> str:
    """The one text of a document: keys in order, no spaces."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fit_pack(content: PackContent, tokens: int) -> PackContent:
    """The pack with as much as fits, both as text and as data; what was left out is counted in it."""
    room = tokens * CHARACTERS_A_TOKEN
    if _fits(content, room):
        return content
    for name, step in _steps():
        while (smaller := step(content)) is not None:
            content = _count_dropped(smaller, name)
            if _fits(content, room):
                return content
    return content


def _fits(content: PackContent, room: int) -> bool:
    if len(render_pack(content)) > room:
        return False
    return len(canonical_json(content.model_dump(mode="json"))) <= room


def _count_dropped(content: PackContent, name: str) -> PackContent:
    counts = dict(content.missing.dropped)
    counts[name] = counts.get(name, 0) + 1
    return content.model_copy(update={"missing": content.missing.model_copy(update={"dropped": counts})})


def _steps() -> Iterator[tuple[str, Step]]:
    yield "excerpts", lambda content: _drop_excerpt(content, least=1)
    yield "texts of rules", _drop_policy_text
    yield "memories", lambda content: _drop_last(content, ("active_memories",))
    yield "tests", lambda content: _drop_last(content, ("validation", "tests"), _FEW)
    yield "linters", lambda content: _drop_last(content, ("validation", "linters"), _FEW)
    yield "anchors", _drop_further_anchor
    yield "anchors", lambda content: _drop_last(content, ("anchors", "anchors"), 1)
    yield "rules", lambda content: _drop_last(content, ("policies",), 1)
    yield "files", lambda content: _drop_last(content, ("allowed", "files"), 1)
    yield "gaps", lambda content: _drop_last(content, ("missing", "missing"), 1)
    yield "conflicts", lambda content: _drop_last(content, ("missing", "conflicts"))
    yield "conflicts", lambda content: _drop_last(content, ("task", "conflicts"))
    yield "reasons", lambda content: _drop_last(content, ("strategy", "reasons"))
    yield "attachments", lambda content: _drop_last(content, ("task", "attachments"))
    yield "lexemes", lambda content: _drop_last(content, ("task", "lexemes"))
    yield "constraints", lambda content: _drop_last(content, ("task", "constraints"))
    yield "excerpts", lambda content: _drop_excerpt(content, least=0)
    yield "proof chains", lambda content: _drop_last(content, ("anchors", "proof_chains"))
    yield "tests", lambda content: _drop_last(content, ("validation", "tests"))
    yield "linters", lambda content: _drop_last(content, ("validation", "linters"))
    yield "rules", lambda content: _drop_last(content, ("policies",))
    yield "files", lambda content: _drop_last(content, ("allowed", "files"))
    yield "gaps", lambda content: _drop_last(content, ("missing", "missing"))
    yield "anchors", lambda content: _drop_last(content, ("anchors", "anchors"))
    yield "features", _drop_signature
    yield "verbs", lambda content: _drop_last(content, ("allowed", "capabilities"))


def _drop_last(content: PackContent, keys: tuple[str, ...], least: int = 0) -> PackContent | None:
    """The pack without the last item of a list, where it has more than `least`."""
    section = content if len(keys) == 1 else getattr(content, keys[0])
    items = getattr(section, keys[-1])
    if len(items) <= least:
        return None
    update: dict[str, Any] = {keys[-1]: items[:-1]}
    if len(keys) == 1:
        return content.model_copy(update=update)
    return content.model_copy(update={keys[0]: section.model_copy(update=update)})


def _drop_excerpt(content: PackContent, least: int) -> PackContent | None:
    """The last excerpt goes; its handle goes with it, because what is not shown can't be cited."""
    anchors = list(content.anchors.anchors)
    for number in range(len(anchors) - 1, least - 1, -1):
        if anchors[number].text:
            anchors[number] = anchors[number].model_copy(update={"text": "", "evidence": ""})
            section = content.anchors.model_copy(update={"anchors": anchors})
            return content.model_copy(update={"anchors": section})
    return None


def _drop_policy_text(content: PackContent) -> PackContent | None:
    policies = list(content.policies)
    for number in range(len(policies) - 1, -1, -1):
        if policies[number].text:
            policies[number] = policies[number].model_copy(update={"text": "", "evidence": ""})
            return content.model_copy(update={"policies": policies})
    return None


def _drop_further_anchor(content: PackContent) -> PackContent | None:
    """The last anchor of a file that has an earlier one."""
    anchors = list(content.anchors.anchors)
    for number in range(len(anchors) - 1, 0, -1):
        if any(one.path == anchors[number].path for one in anchors[:number]):
            del anchors[number]
            section = content.anchors.model_copy(update={"anchors": anchors})
            return content.model_copy(update={"anchors": section})
    return None


def _drop_signature(content: PackContent) -> PackContent | None:
    if not content.strategy.context_signature:
        return None
    strategy = content.strategy.model_copy(update={"context_signature": {}})
    return content.model_copy(update={"strategy": strategy})
