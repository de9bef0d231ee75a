"""Best guesses at what a plan is about, for skeletons: a file, its symbols, a node."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from codeplane.controller.evidence.citation import parse_citation
from codeplane.controller.evidence.symbols import MODULE, SymbolMatch, match_symbol
from codeplane.controller.evidence.verification import Flaw, Support, is_slip
from codeplane.controller.plan_graph.draft import NodeDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[A-Za-z0-9_]")
_MOST_WORDS: Final = 60
_MOST_SYMBOLS: Final = 3


def is_nameable(path: str) -> bool:
    """Whether a path can be written in a plan: names that are not UTF-8 can't."""
    return path.isascii() or path == path.encode("utf-8", "replace").decode()


def meant_file(text: str, lookup: PlanLookup, symbols: Sequence[str] = ()) -> RepoPath | None:
    """The file that a wrong path can only mean: where a link leads, the one of that name, a slip in the name.

    A path that merely looks like another means nothing: its edits would be made in a file that nobody named.
    """
    path = lookup.path_of(text)
    if path is not None:
        target = lookup.facts.link_target(path)
        if target is not None and lookup.facts.snapshot.exists(target):
            return target
        if lookup.facts.why_absent(path) is not None:
            return None  # it is there and closed, so it is no slip
    name = text.rstrip("/").rpartition("/")[2]
    namesakes = [one for one in lookup.facts.snapshot.paths_named(name) if is_nameable(one)]
    if len(namesakes) == 1:
        return namesakes[0]
    blobs = lookup.facts.snapshot.layout.blobs
    candidates = namesakes or [RepoPath(one) for one in blobs if is_nameable(one) and is_slip(name, one)]
    names = [symbol for symbol in symbols if symbol != MODULE]
    holders = [one for one in candidates if _has_symbols(one, names, lookup)] if names else candidates
    return holders[0] if len(holders) == 1 else None


def _has_symbols(path: RepoPath, names: Sequence[str], lookup: PlanLookup) -> bool:
    return all(match_symbol(lookup.facts.snapshot, path, name) for name in names)


def guess_symbols(node: NodeDraft, path: RepoPath, lookup: PlanLookup) -> list[str]:
    """The symbols of a file that the edits are in, else those that the intent names or the evidence shows.

    Without any, it is `<module>`.
    """
    symbols = lookup.symbols(path)
    if names := _edited_symbols(node, path, lookup):
        return names
    words = set(_WORD.findall(f"{node.text('editIntent')} {lookup.facts.prompt}"))
    by_word = [one for one in symbols if one.name in words or one.name.rpartition(".")[2] in words]
    candidates = by_word or [one for one in symbols if _is_cited(one, path, node, lookup)]
    inner = [one for one in candidates if not any(_is_inside(other, one) for other in candidates)]
    return [one.name for one in inner[:_MOST_SYMBOLS]] or [MODULE]


def _edited_symbols(node: NodeDraft, path: RepoPath, lookup: PlanLookup) -> list[str]:
    """The innermost definitions around the texts that the edits of a node replace."""
    text = lookup.text(path)
    content = "\n".join(text.lines) if text is not None else ""
    names: dict[str, None] = {}
    for edit in node.body.get("edits") or []:
        old = str(edit.get("oldText", "")).strip()
        if not old or content.count(old) != 1:
            return []
        line = content[: content.index(old)].count("\n") + 1
        around = [one for one in lookup.symbols(path) if one.first_line <= line <= one.last_line]
        names[max(around, key=lambda one: one.first_line).name if around else MODULE] = None
    return list(names)


def _is_inside(inner: SymbolMatch, outer: SymbolMatch) -> bool:
    return inner is not outer and outer.first_line <= inner.first_line and inner.last_line <= outer.last_line


def _is_cited(symbol: SymbolMatch, path: RepoPath, node: NodeDraft, lookup: PlanLookup) -> bool:
    for value in node.citations():
        support = lookup.check_citation(value)
        if isinstance(support, Support) and support.source == path:
            return support.first_line <= symbol.first_line and symbol.last_line <= support.last_line
    return False


def find_by_symbols(node: NodeDraft, lookup: PlanLookup) -> tuple[RepoPath, list[str]] | None:
    """The file of the first symbol that only one file has, and the symbols that are in it."""
    snapshot = lookup.facts.snapshot
    for symbol in node.texts("targetSymbols"):
        try:
            path = snapshot.symbol(symbol).path
        except CodePlaneError:
            continue
        return path, [name for name in node.texts("targetSymbols") if match_symbol(snapshot, path, name)]
    return None


def guess_target(node: NodeDraft, lookup: PlanLookup) -> tuple[RepoPath, list[str]] | None:
    """The file and symbols that a node without a file means, by its symbols, its evidence or its intent."""
    if (target := find_by_symbols(node, lookup)) is not None:
        return target
    for value in node.citations():
        support = lookup.check_citation(value)
        citation = parse_citation(value)
        source = support.source if isinstance(support, Support) else citation.source if citation else ""
        instead = support.instead.source if isinstance(support, Flaw) and support.instead else source
        if (path := lookup.existing_path(instead)) is not None:
            return path, guess_symbols(node, path, lookup)
    return next(_named_targets(f"{node.text('editIntent')} {lookup.facts.prompt}", lookup), None)


def _named_targets(text: str, lookup: PlanLookup) -> Iterator[tuple[RepoPath, list[str]]]:
    """Files that a text names, by path or by the name of the one definition that they have."""
    snapshot = lookup.facts.snapshot
    for word in list(dict.fromkeys(re.findall(r"[\w./-]+\.\w+", text)))[:_MOST_WORDS]:
        if (path := lookup.existing_path(word.strip("."))) is not None:
            yield path, guess_symbols(NodeDraft({"editIntent": text}), path, lookup)
    for word in list(dict.fromkeys(_WORD.findall(text)))[:_MOST_WORDS]:
        matches = snapshot.definitions_named(word.rpartition(".")[2], 5).items
        places = {(one.path, one.lexical_path) for one in matches}
        if len(places) == 1:
            (path, name) = next(iter(places))
            yield path, [name]


def guess_nodes(lookup: PlanLookup) -> list[dict[str, Any]]:
    """A change for a plan without any: of what the prompt names, else of what was read last."""
    target = next(_named_targets(lookup.facts.prompt, lookup), None)
    if target is None:
        for record in reversed(lookup.handles()):
            if (path := lookup.existing_path(record.source)) is not None:
                node = NodeDraft({"evidence": [record.handle]})
                target = path, guess_symbols(node, path, lookup)
                break
    if target is None:
        return []
    return [{"targetFile": target[0], "targetSymbols": target[1]}]
