"""Moving a file or a directory: every import that leads to it follows, or the reason why not."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from codeplane.core.edits import Change, EditSet, FileEdit, TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.modules import module_rules
from codeplane.languages.moving import Moving, Stuck, move_rules
from codeplane.languages.ordering import entries_of, in_order
from codeplane.names import Index, Snapshot
from codeplane.refactor.delete_symbol import OUTWARD
from codeplane.refactor.mentions.path_mentions import forms, open_places
from codeplane.refactor.moves.import_cycles import circles_through_packages
from codeplane.refactor.moves.neighbours import companions, near_files, own_name, unread, words_of
from codeplane.refactor.moves.private_to_parent import left_behind
from codeplane.refactor.moves.route import Route, against, moved_view, moves_of, moving_of
from codeplane.refactor.plan import Plan, Problem, Site, Verdict, by_path
from codeplane.refactor.proof.comparison import Part, around
from codeplane.refactor.proof.moved import Effects, Moved, carried_by
from codeplane.refactor.proof.trial import trial
from codeplane.refactor.rename import Sweep, concerned, shown_lines
from codeplane.refactor.text import Lines
from codeplane.working_tree import digest_of

KIND: Final = "move"
TOOL: Final = "refactor_move"


def draft(snapshot: Snapshot, route: Route, sweep: Sweep) -> Plan:
    """What a move comes to by the facts; `proven` decides whether it holds."""
    moves = moves_of(snapshot, route)
    old, new = (own_name(path) for path in (route.old, route.new))
    plan = Plan(KIND, route.old, "", old, new, Verdict.OK, moves=moves, epoch=snapshot.epoch)
    if wrong := list(against(snapshot, route, moves)):
        return replace(plan, problems=tuple(wrong), verdict=Verdict.REFUSED)
    after = moved_view(snapshot, moves)
    moving = moving_of(snapshot, after, moves)
    plan = replace(plan, words=tuple(sorted(words_of(route, moves))))
    near = near_files(snapshot, plan)
    sites, stuck = _followed(snapshot, moving, near)
    groups, mentions = open_places(snapshot, moving, forms(moving, after, route.old, route.new), sites)
    decisions = tuple(replace(one, is_taken=sweep.takes(one)) for one in mentions)
    doubts = [*(one for one in stuck if one.kind == "doubt"), *circles_through_packages(snapshot, moves)]
    notes = dict.fromkeys(Problem("note", one.text) for one in stuck if one.kind == "note")
    problems = [one for one in stuck if one.kind not in ("doubt", "note")]
    problems += left_behind(snapshot, moves)
    obstacles = list(unread(snapshot, near))
    plan = replace(
        plan,
        sites=tuple(sites),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=decisions,
        problems=(*problems, *obstacles),
        notes=(*doubts, *notes, *companions(snapshot, route, moves)),
    )
    verdict = Verdict.NEEDS_DECISION if groups or doubts else Verdict.OK
    verdict = Verdict.BLOCKED if obstacles else verdict
    plan = replace(plan, verdict=Verdict.UNSUPPORTED if problems else verdict)
    return written(snapshot, plan, [*sites, *(one.site for one in decisions if one.is_taken)])


def written(snapshot: Snapshot, plan: Plan, sites: Collection[Site]) -> Plan:
    """The files as they would be, those that move at their new paths."""
    sites_in = by_path(sites)
    before, edits = {}, []
    lost: list[Site] = []
    for path in sorted({*sites_in, *plan.moves}):
        lines = Lines(snapshot.source(path))
        some = sites_in.get(path, [])
        lost += [site for site in some if not lines.holds(site)]
        before[path] = lines.data
        data = lines.replaced(site for site in some if lines.holds(site))
        digest = digest_of(lines.data)
        if path in plan.moves:
            edits += [FileEdit(path, digest, None), FileEdit(plan.moves[path], None, data, moved_from=path)]
        else:
            edits.append(FileEdit(path, digest, data))
    plan = replace(plan, change=Change(EditSet(tuple(edits)), before))
    plan = replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))
    if not lost:
        return plan
    problems = tuple(
        Problem("unwritten", f"`{one.old}` is not written so.", one.path, one.line) for one in lost
    )
    return replace(plan, problems=(*plan.problems, *problems), verdict=Verdict.REFUSED)


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with groups of open places taken along, on the state that it was made on."""
    choice = plan.choosing(selected, snapshot.epoch)
    return written(snapshot, choice, choice.taken)


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: a move after which names mean something else is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.change.edits.edits:
        return plan
    contents = plan.change.contents
    with trial(index, plan, contents, frozenset(plan.moves) - contents.keys()) as (snapshot, after):
        moving = moving_of(snapshot, after, plan.moves)
        sites_in = by_path(plan.taken)
        carry = carried_by(plan.moves, lambda path: moving.place(Place(RepoPath(path))).path)
        parts = []
        for path in {*near_files(snapshot, plan), *sites_in}:
            spans = around(Lines(plan.change.before[path]), sites_in[path]) if path in sites_in else ()
            parts.append(Part(path, plan.moves.get(path, path), *spans))
        come = {plan.moves.get(site.path, site.path) for site in plan.sites if not site.old}
        effects = Effects(carry, own=plan.moves, come=come)
        breaches = Moved(snapshot, after, plan.words, effects).breaches(parts)
    if not breaches:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *breaches))


def _followed(
    snapshot: Snapshot, moving: Moving, near: Collection[RepoPath]
) -> tuple[list[Site], list[Problem]]:
    sites, stuck = [], []
    for path in near:
        facts = snapshot.facts(path)
        language = move_rules(facts.language) if facts is not None else None
        if facts is None or language is None:
            if facts is not None and path in moving.moves and (facts.imports or module_rules(facts.language)):
                text = f"How a move changes imports in {facts.language} is unknown."
                stuck.append(Problem("language", text, path))
            continue
        changes: list[TextEdit] = []
        for one in language.follow(moving, path):
            if isinstance(one, Stuck):
                stuck.append(Problem(one.weight, one.text, path, one.line))
            elif one not in changes:
                changes.append(one)
        # What a package shows may have to be imported in the order that it is in.
        is_plain = bool(changes) and not path.rpartition("/")[2].startswith(OUTWARD)
        if entries := entries_of(facts.language) if is_plain else None:
            changes = in_order(moving.read(path), changes, entries)
        sites += [Site(path, *one, Tier.PROVEN, "import") for one in changes]
    return sorted(set(sites)), stuck
