"""Memory in a run: what it is shown, what its denials teach, and what people wrote for it."""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from codeplane.controller.catalogue import ALLOWED, Verb
from codeplane.controller.contract import RunState
from codeplane.controller.runs import Run
from codeplane.controller.verb import Denied
from codeplane.core.paths import RepoPath
from codeplane.memory import (
    ActiveRule,
    ActiveSignal,
    DigestOf,
    Enforcement,
    FrictionEvent,
    MemoryRecord,
    MemoryStore,
    Phase,
    Resolution,
    Trigger,
    anchors_of_files,
    injectable,
    pack_entry,
    render_memory,
)
from codeplane.memory.learning import node_file, node_id
from codeplane.session import Call, RepoSession

SHOWN: Final = "memoriesShown"
"""Where a run keeps which memories it was shown: by id, the first turn and its moment."""
MADE: Final = "memoriesMade"
"""Where a run keeps the ids of memories that its friction has made."""
BROKEN_RULES: Final = "memoryRulesBroken"
"""Where a run keeps the ids of plan rules that have denied one of its plans."""
PLANNED: Final = "hasPlanned"
"""Where a run keeps whether one of its plans was accepted."""
_OPEN: Final = "openFriction"

_EXECUTES: Final = ALLOWED[RunState.PLAN_ACCEPTED] - ALLOWED[RunState.PLAN_REQUIRED]
_PLACE: Final = re.compile(r"nodes\[(\d{1,4})\]")
_WRAPPERS: Final = ("planGraph", "plan_graph", "plan", "graph")
_LISTS: Final = ("nodes", "steps", "tasks", "changes")
_RULE: Final = "policy.rule"


def memory_store(repo: RepoSession) -> MemoryStore:
    """The memories of an open repository, by the settings that hold now."""
    settings = repo.checkout.settings.controller.memory
    store = repo.keep(MemoryStore, lambda: MemoryStore(lambda: repo.state_db, settings))
    if store.settings != settings:
        store.configure(settings)
    return store


@contextmanager
def digest_reader(call: Call) -> Iterator[DigestOf]:
    """What tells the digest that a file had when the repository was last looked at."""
    with call.seen() as snapshot:

        def digest_of(path: str) -> str | None:
            file = snapshot.file(RepoPath(path))
            return file.digest if file is not None else None

        yield digest_of


def import_overrides(call: Call) -> None:
    """Takes in the override files of a trusted repository; what is wrong with one is a warning."""
    repo = call.repo
    folder = repo.state.path / "memory" / "overrides"
    report = memory_store(repo).import_overrides(folder if repo.checkout.trusted else None)
    for problem in report.problems:
        call.warn(problem.message)
    _warn_of_anchors(call, report.additions)
    if not repo.checkout.trusted and folder.is_dir():
        call.warn(f"{folder} is ignored: this repository is not trusted (cpl trust).")


def _warn_of_anchors(call: Call, records: Sequence[MemoryRecord]) -> None:
    """Says which folders of new memories are no anchors: no file is below them, or too deep."""
    if not any(record.content.domain_anchor_ids for record in records):
        return
    with call.seen() as snapshot:
        anchors = {one.id for one in memory_store(call.repo).anchors.seed_anchors(snapshot.digests())}
    for record in records:
        for folder in record.content.domain_anchor_ids:
            if folder not in anchors:
                call.warn(
                    f"{record.source}: {folder} is no domain anchor here, so {record.id} does not apply."
                )


def select_memories(
    call: Call, kinds: Collection[Enforcement], files: Sequence[str], without: Collection[str] = ()
) -> list[MemoryRecord]:
    """Memories to show for some files: few, enforced, and about files that are as they were."""
    store = memory_store(call.repo)
    anchors = anchors_of_files(store.anchors, files)
    with digest_reader(call) as digest_of:
        return injectable(store, kinds, anchors, digest_of, without=without)


def trace_examples(call: Call, run: Run, files: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Examples for the answer of `trace_symbol_graph`, as data and as text, each once a run."""
    records = select_memories(call, (Enforcement.FEW_SHOT,), files, run.body.extra.get(SHOWN, ()))
    mark_shown(run, [record.id for record in records])
    return [pack_entry(record) for record in records], "\n".join(map(render_memory, records))


def pack_memories(call: Call, files: Sequence[str]) -> list[dict[str, Any]]:
    """The active memories of a context pack. Those that the pack has room for are marked when it is shown."""
    return [pack_entry(record) for record in select_memories(call, tuple(Enforcement), files)]


def plan_rules(call: Call, files: Sequence[str]) -> tuple[ActiveRule, ...]:
    """Plan rules that are in force for the files of a plan."""
    store = memory_store(call.repo)
    with digest_reader(call) as digest_of:
        return store.rules(anchors_of_files(store.anchors, files), digest_of)


def strategy_signals(call: Call, files: Sequence[str]) -> tuple[ActiveSignal, ...]:
    """Strategy signals that hold for the files of a task, the most specific first."""
    store = memory_store(call.repo)
    with digest_reader(call) as digest_of:
        return store.signals(anchors_of_files(store.anchors, files), digest_of)


def expired_memories(call: Call, memory_ids: Sequence[str]) -> list[str]:
    """Which of these memories were provisional and have expired."""
    return [record.id for record in memory_store(call.repo).expired_among(memory_ids)]


def mark_shown(run: Run, memory_ids: Iterable[str]) -> None:
    """Notes which memories a run was shown, and when first: the retrospective asks what came after."""
    now = time.time_ns() // 1_000_000
    for memory_id in memory_ids:
        run.body.extra.setdefault(SHOWN, {}).setdefault(memory_id, {"turn": run.turns, "atMs": now})


def note_denial(
    run: Run, verb: str, arguments: Mapping[str, Any], denial: Denied, store: MemoryStore
) -> None:
    """Records a denial as friction: one entry for each code and node of a plan."""
    rule_results = denial.result.get("memoryRuleResults", ())
    broken = [result["memoryId"] for result in rule_results if not result.get("satisfied", True)]
    if broken:
        run.body.extra[BROKEN_RULES] = sorted({*run.body.extra.get(BROKEN_RULES, ()), *broken})
    for event in denial_events(run, verb, arguments, denial, store):
        store.record_friction(event)
    waiting = run.body.extra.setdefault(_OPEN, [])
    if verb in set(Verb) and verb not in waiting:
        waiting.append(verb)


def note_success(
    run: Run, verb: str, arguments: Mapping[str, Any], result: Mapping[str, Any], call: Call
) -> None:
    """Resolves the friction of a verb that has now been carried out, and makes memories of what recurs."""
    pack = result.get("contextPack")
    if isinstance(pack, Mapping):
        mark_shown(run, [memory["id"] for memory in pack.get("activeMemories") or ()])
    waiting: list[str] = run.body.extra.get(_OPEN, [])
    if verb == Verb.SUBMIT_EXECUTION_PLAN:
        if not result.get("accepted"):
            return  # a draft
        run.body.extra[PLANNED] = True
    if verb not in waiting:
        return
    waiting.remove(verb)
    nodes = _sent_nodes(verb, arguments)
    with digest_reader(call) as digest_of:
        digests = {path: digest_of(path) for node in nodes if (path := node_file(node))}
    records = memory_store(call.repo).resolve_friction(
        Resolution(
            work_id=run.work_id,
            verb=verb,
            nodes=nodes,
            digests={path: digest for path, digest in digests.items() if digest is not None},
        )
    )
    if records:
        run.body.extra.setdefault(MADE, []).extend(record.id for record in records)


def denial_events(
    run: Run, verb: str, arguments: Mapping[str, Any], denial: Denied, store: MemoryStore
) -> list[FrictionEvent]:
    """The friction of one denial, without repetitions of a code at a node."""
    nodes = _sent_nodes(verb, arguments)
    problems: Sequence[Mapping[str, Any]] = denial.result.get("problems") or [
        {"code": code, "message": denial.message} for code in denial.codes
    ]
    events: dict[tuple[str, str], FrictionEvent] = {}
    for problem in problems:
        node = _problem_node(problem, nodes)
        file = node_file(node) if node is not None else ""
        is_rule = problem.get("subCode") == _RULE
        event = FrictionEvent(
            work_id=run.work_id,
            codes=(str(problem["code"]),),
            session_id=run.run_session_id,
            strategy=run.body.strategy_id,
            anchors=store.anchors.anchors_of_file(file) if file else (),
            trigger=Trigger.RULE_VIOLATION if is_rule else _trigger_of(verb),
            phase=_phase_of(verb),
            node=node,
            field=str(problem.get("field") or ""),
            message=str(problem.get("message") or ""),
            verb=verb,
        )
        events.setdefault((str(problem["code"]), file), event)
    return list(events.values())


def _sent_nodes(verb: str, arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes of a plan as they were sent; of a verb that executes a node, its own arguments."""
    if verb in _EXECUTES:
        return [arguments]
    return _list_nodes(arguments) if verb == Verb.SUBMIT_EXECUTION_PLAN else []


def _list_nodes(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for key in _WRAPPERS:
        inner = document.get(key)
        if isinstance(inner, Mapping):
            return _list_nodes(inner)
        if isinstance(inner, list):
            document = {"nodes": inner}
    for key in _LISTS:
        members = document.get(key)
        if isinstance(members, list):
            return [member for member in members if isinstance(member, Mapping)]
    return [document] if node_file(document) else []


def _problem_node(problem: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The node that a problem is about: by its place among the nodes, by its id, or the only one."""
    place = _PLACE.match(str(problem.get("field") or ""))
    if place is not None and int(place[1]) < len(nodes):
        return nodes[int(place[1])]
    wanted = problem.get("nodeId")
    if wanted:
        return next((node for node in nodes if node_id(node) == wanted), None)
    return nodes[0] if len(nodes) == 1 else None


def _trigger_of(verb: str) -> Trigger:
    is_plan = verb == Verb.SUBMIT_EXECUTION_PLAN or verb in _EXECUTES
    return Trigger.REJECTION_PATTERN if is_plan else Trigger.FRICTION_SIGNAL


def _phase_of(verb: str) -> Phase:
    if verb == Verb.SUBMIT_EXECUTION_PLAN:
        return Phase.PLANNING
    return Phase.EXECUTION if verb in _EXECUTES else Phase.EXPLORATION
