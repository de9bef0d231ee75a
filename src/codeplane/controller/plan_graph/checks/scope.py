"""A plan stays in its run, its working tree, its allowlist, and names what is there."""

from collections.abc import Iterator
from typing import Final

from codeplane.controller.evidence.symbols import MODULE, match_pattern, match_symbol
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.filling import file_set
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Repair
from codeplane.controller.plan_graph.repairs import (
    Flag,
    drop_envelope,
    escalate_instead,
    node_problem,
    set_field,
    update_fields,
)
from codeplane.controller.plan_graph.targets import find_by_symbols, guess_symbols, meant_file
from codeplane.core.errors import CodePlaneError
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.jail import shown

_CODE: Final = RejectionCode.PLAN_SCOPE_VIOLATION
_WILDCARDS: Final = frozenset("*?[]")
_EVERYTHING: Final = frozenset(("all", "any", "everything", "...", "…"))
_MOST_EXPANDED: Final = 12


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """What belongs to another run, or is not there."""
    yield from _foreign_identity(plan, lookup)
    for node in plan.changes():
        if node.text("targetFile"):
            yield from _file_problems(plan, node, lookup)


def _foreign_identity(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Ids and hashes that the plan states and that are not the server's."""
    identity = lookup.facts.identity
    own_values = {
        "workId": ("scope.session", identity.work_id),
        "agentId": ("scope.session", identity.agent_id),
        "runSessionId": ("scope.session", identity.run_session_id),
        "repoSnapshotId": ("scope.snapshot", identity.repo_snapshot_id),
        "worktreeRoot": ("scope.worktree", identity.worktree_root),
        "contextPackRef": ("scope.pack_hash", identity.context_pack_ref),
        "contextPackHash": ("scope.pack_hash", identity.context_pack_hash),
        "scopeAllowlistRef": ("scope.allowlist", identity.scope_allowlist_ref),
    }
    for key, (sub_code, value) in own_values.items():
        text = plan.envelope.get(key)
        if text and text.rstrip("/") != value.rstrip("/"):
            message = f"{key} is {value or 'empty'} here, not {text[:80]}; it may be left out."
            yield Problem(_CODE, sub_code, None, key, message, value, drop_envelope(key))


def _file_problems(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    for text in file_set(node):
        if _WILDCARDS & set(text) and (path := lookup.path_of(text)) is not None and _is_glob(path, lookup):
            yield _glob_instead_of_file(plan, node, text, path, lookup)
            return
        try:
            path = lookup.enter(text)
        except CodePlaneError as error:
            yield _refused_path(plan, node, text, error.message, lookup)
            return
        if reason := _why_no_file(path, lookup):
            yield _refused_path(plan, node, text, reason, lookup)
            return
        if not lookup.facts.allows(path):
            message = f"{shown(path)} is not in the allowlist {lookup.facts.identity.scope_allowlist_ref}."
            repair = escalate_instead(node.node_id, message)
            yield node_problem(
                plan, node, "targetFile", Flag(_CODE, "scope.allowlist"), message, None, repair
            )
            return
    path = lookup.enter(node.text("targetFile"))
    is_there = lookup.facts.snapshot.exists(path)
    if node.text("operation") == "create":
        if is_there:
            message = f"{shown(path)} is there already: operation modify."
            yield node_problem(plan, node, "operation", Flag(_CODE, "scope.file"), message, "modify")
        elif (rule := lookup.facts.why_absent(path)) is not None:
            yield _closed_file(plan, node, f"{shown(path)} is closed to plans: {rule}")
        return
    if not is_there:
        yield _missing_file(plan, node, path, lookup)
        return
    if node.text("operation") != "delete" and _is_binary(path, lookup):
        yield _closed_file(plan, node, f"{shown(path)} is binary, and a plan changes text.")
        return
    yield from _symbol_problems(plan, node, path, lookup)


def _why_no_file(path: RepoPath, lookup: PlanLookup) -> str:
    """Why nothing can be written at a path: it is a directory, or something below a file."""
    snapshot = lookup.facts.snapshot
    if snapshot.is_directory(path):
        return f"{shown(path)} is a directory; a change names a file."
    parents = ["/".join(path.split("/")[:count]) for count in range(1, path.count("/") + 1)]
    above = next((parent for parent in parents if snapshot.exists(parent)), None)
    return f"{shown(path)} would be below the file {shown(above)}." if above is not None else ""


def _refused_path(plan: PlanDraft, node: NodeDraft, text: str, reason: str, lookup: PlanLookup) -> Problem:
    target = find_by_symbols(node, lookup)
    fix = meant_file(text, lookup, node.texts("targetSymbols")) or (target[0] if target is not None else None)
    repair = set_field(node.node_id, "targetFile", fix) if fix else escalate_instead(node.node_id, reason)
    return node_problem(plan, node, "targetFile", Flag(_CODE, "scope.path"), reason, fix, repair)


def _missing_file(plan: PlanDraft, node: NodeDraft, path: RepoPath, lookup: PlanLookup) -> Problem:
    target = meant_file(path, lookup, node.texts("targetSymbols"))
    flag = Flag(_CODE, "scope.file")
    if target is not None:
        is_link = lookup.facts.link_target(path) is not None
        message = (
            f"{shown(path)} is a link to {shown(target)}, which is what changes."
            if is_link
            else f"There is no file {shown(path)}; {shown(target)} is there. A new file has operation create."
        )
        return node_problem(plan, node, "targetFile", flag, message, target)
    if (reason := lookup.facts.why_absent(path)) is not None:
        return _closed_file(plan, node, f"{shown(path)} is closed to plans: {reason}")
    message = f"There is no file {shown(path)}. A new file has operation create."
    names = [name for name in node.texts("targetSymbols") if name != MODULE]
    repair = update_fields(
        node.node_id,
        operation="create",
        targetSymbols=None,
        newSymbols=[*names, *node.texts("newSymbols")] or None,
    )
    return node_problem(plan, node, "operation", flag, message, "create", repair)


def _is_glob(path: RepoPath, lookup: PlanLookup) -> bool:
    """Whether a path with wildcards is a pattern: no file has that very name, and some match."""
    return not lookup.facts.snapshot.exists(path) and bool(_files_matching(path, lookup))


def _files_matching(path: RepoPath, lookup: PlanLookup) -> list[RepoPath]:
    globs = Globs([path])
    return [RepoPath(one) for one in lookup.facts.snapshot.layout.ordered if globs.holds(one)]


def _glob_instead_of_file(
    plan: PlanDraft, node: NodeDraft, text: str, path: RepoPath, lookup: PlanLookup
) -> Problem:
    matches = _files_matching(path, lookup)
    names = ", ".join(map(shown, matches[:_MOST_EXPANDED]))
    message = f"{text[:80]!r} is a pattern; a node names one file. It holds {names}."
    fix = matches[0] if len(matches) == 1 else None
    repair = set_field(node.node_id, "targetFile", fix) if fix else escalate_instead(node.node_id, message)
    return node_problem(plan, node, "targetFile", Flag(_CODE, "scope.wildcard"), message, fix, repair)


def _closed_file(plan: PlanDraft, node: NodeDraft, message: str) -> Problem:
    """No other file takes its place: its author has to say what is to be done instead."""
    repair = escalate_instead(node.node_id, message)
    return node_problem(plan, node, "targetFile", Flag(_CODE, "scope.closed"), message, None, repair)


def _symbol_problems(
    plan: PlanDraft, node: NodeDraft, path: RepoPath, lookup: PlanLookup
) -> Iterator[Problem]:
    symbols = node.texts("targetSymbols")
    for number, symbol in enumerate(symbols):
        where = f"targetSymbols[{number}]"
        if _is_wildcard(symbol):
            matches = [one.name for one in match_pattern(lookup.facts.snapshot, path, symbol)]
            guess = guess_symbols(node, path, lookup)
            is_vague = guess == [MODULE] or not set(guess) <= set(matches)
            names = matches if is_vague and 0 < len(matches) <= _MOST_EXPANDED else guess
            message = f"{symbol[:60]!r} is a pattern; a plan names each symbol."
            yield node_problem(
                plan, node, where, Flag(_CODE, "scope.wildcard"), message, names, _swap(node, symbol, names)
            )
        elif symbol != MODULE and not match_symbol(lookup.facts.snapshot, path, symbol):
            yield _unknown_symbol(plan, node, where, symbol, lookup.symbols_by_name(path))


def _unknown_symbol(plan: PlanDraft, node: NodeDraft, where: str, symbol: str, names: list[str]) -> Problem:
    ends = {name.rpartition(".")[2]: name for name in reversed(names)}
    near = nearest(symbol, names) or [ends[name] for name in nearest(symbol, ends)]
    flag = Flag(_CODE, "scope.symbol")
    there = ", ".join(near or names[:8]) or "no definitions"
    message = (
        f"{node.text('targetFile')} has no symbol {symbol[:80]!r}; it has {there}."
        " One that is to be added goes to newSymbols."
    )
    if near:
        return node_problem(plan, node, where, flag, message, near[0], _swap(node, symbol, [near[0]]))
    rest = [name for name in node.texts("targetSymbols") if name != symbol] or [MODULE]
    repair = update_fields(node.node_id, targetSymbols=rest, newSymbols=[*node.texts("newSymbols"), symbol])
    return node_problem(plan, node, where, flag, message, {"newSymbols": [symbol]}, repair)


def _swap(node: NodeDraft, symbol: str, names: list[str]) -> Repair:
    """Puts other names in the place of a symbol."""

    def apply_to(plan: PlanDraft) -> None:
        if (target := plan.node(node.node_id)) is not None:
            symbols = target.texts("targetSymbols") or node.texts("targetSymbols")
            names_now = [name for one in symbols for name in (names if one == symbol else [one])]
            target.body["targetSymbols"] = list(dict.fromkeys(names_now))

    return apply_to


def _is_binary(path: RepoPath, lookup: PlanLookup) -> bool:
    """Whether a file can't be read as text."""
    text = lookup.text(path)
    return text is None or any("\0" in line for line in text.lines)


def _is_wildcard(symbol: str) -> bool:
    return bool(_WILDCARDS & set(symbol)) or symbol.lower() in _EVERYTHING
