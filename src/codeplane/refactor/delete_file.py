"""Deleting a file or a directory: nothing that is left leads there, or somebody takes that upon himself."""

import posixpath
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.references import Reference
from codeplane.names import Index, Snapshot
from codeplane.names.meaning import known
from codeplane.refactor import delete_symbol
from codeplane.refactor.mentions import words
from codeplane.refactor.moves.file_uses import files_of, uses_of_files
from codeplane.refactor.moves.removal import apart
from codeplane.refactor.plan import Group, Plan, Problem, Site, Verdict
from codeplane.refactor.proof.comparison import Part, around
from codeplane.refactor.proof.moved import Effects, Moved
from codeplane.refactor.proof.trial import trial
from codeplane.refactor.rename import concerned, shown_lines
from codeplane.refactor.text import Lines
from codeplane.working_tree import digest_of

KIND: Final = "discard"
TOOL: Final = "refactor_delete"


def draft(snapshot: Snapshot, path: RepoPath) -> Plan:
    """What the removal of files comes to by the facts; `proven` decides whether it holds."""
    files = files_of(snapshot, path)
    name = posixpath.basename(path).partition(".")[0] or posixpath.basename(path)
    plan = Plan(KIND, path, "", name, "", Verdict.OK, words=(name,), epoch=snapshot.epoch)
    if declarations := list(_declared(snapshot, files)):
        return replace(plan, verdict=Verdict.UNSUPPORTED, problems=tuple(declarations))
    before = {one: snapshot.source(one) for one in files}
    edits = tuple(FileEdit(one, digest_of(data), None) for one, data in before.items())
    groups = list(_groups(snapshot, uses_of_files(snapshot, files), path, name))
    obstacles = (
        [Problem("not_indexed", f"{unread} files have not been read yet.")]
        if (unread := snapshot.coverage.unread)
        else []
    )
    plan = replace(
        plan,
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        problems=tuple(obstacles),
        change=Change(EditSet(edits), before),
        verdict=Verdict.BLOCKED if obstacles else Verdict.NEEDS_DECISION if groups else Verdict.OK,
    )
    return replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with the uses that somebody accepts to leave without a definition: all of them, or none."""
    return delete_symbol.with_groups(snapshot, plan, selected)


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: what other files mean besides the uses that are told stays what it is."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED):
        return plan
    deletions = frozenset(edit.path for edit in plan.change.edits.edits)
    with trial(index, plan, {}, deletions) as (snapshot, after):
        left: dict[RepoPath, list[Site]] = {}
        for group in plan.groups:
            for site in group.sites:
                left.setdefault(site.path, []).append(site)
        paths = {*snapshot.importing(frozenset(plan.words)), *left} - deletions
        parts = []
        for path in paths:
            lines = Lines(snapshot.source(path))
            parts.append(Part(path, path, *around(lines, apart(left.get(path, []), lines))))
        lost_imports = {(path, name) for path in left for name in _brought(snapshot, path, deletions)}
        breaches = Moved(snapshot, after, (), Effects(lost_imports=lost_imports)).breaches(parts)
    if not breaches:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *breaches))


def _brought(snapshot: Snapshot, path: RepoPath, deletions: frozenset[RepoPath]) -> Iterator[str]:
    """Local names that files bring."""
    for at, item in enumerate(snapshot.imports(path)):
        places = {*known(snapshot.imported(path, at)), *snapshot.module(path, item.module)}
        if any(place.path in deletions or place.path.endswith("/") for place in places):
            yield item.alias
            yield "*"


def _groups(snapshot: Snapshot, uses: Sequence[Reference], path: RepoPath, name: str) -> Iterator[Group]:
    if uses:
        sites = tuple(Site(one.path, one.line, one.column, "", "", one.tier, one.kind.value) for one in uses)
        about = f"{name} where it is used"
        yield Group("", about, sites, "high", ("still_used",), "scope_resolution")
    inside = f"{path}/"
    strings = [
        replace(word.site, tier=Tier.UNKNOWN)
        for word in words.words(snapshot, name, name)
        if word.where in ("string", "data") and word.path_text and not word.site.path.startswith(inside)
    ]
    strings = [site for site in strings if site.path != path]
    if strings:
        about = f"{name} in strings that may name it by its path"
        yield Group("", about, tuple(strings), "low", ("path_in_string",), "scope_resolution")


def _declared(snapshot: Snapshot, files: Sequence[RepoPath]) -> Iterator[Problem]:
    """Modules that another file declares: the declaration would be left."""
    for path in files:
        facts = snapshot.facts(path)
        if facts is not None and facts.spec.scopes.module_keywords:
            text = f"What declares modules of {facts.language} cannot be taken out with them."
            yield Problem("language", text, path)
            return
