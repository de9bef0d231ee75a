"""Which test targets a call means: all, those that a change concerns, those of a name, single tests."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from codeplane.core.errors import NotFound
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.graph.import_links import links_of
from codeplane.graph.tests.impact import Impact, Known, affected_tests
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.names.snapshot_tree import SnapshotTree
from codeplane.session.call import Call
from codeplane.session.changed_lines import changed_since_head
from codeplane.testrun.costs import Costs
from codeplane.testrun.discover import Discovery, discover
from codeplane.testrun.runner import Narrowing
from codeplane.testrun.target import Target

_MOST_NAMES = 300  # tests of one file that a command names one by one
_MOST_STRANGERS = 3
CHANGES = "changes"
"""In place of paths: what differs from HEAD."""


@dataclass(frozen=True)
class Chosen:
    """The targets of a call, and how they were found."""

    discovery: Discovery
    targets: Sequence[Target]
    impact: Impact | None = None
    paths: Sequence[RepoPath] = ()
    notes: list[str] = field(default_factory=list)
    source_roots: Sequence[str] = ()  # directories of what the targets import


def discovered(call: Call, snapshot: Snapshot) -> Discovery:
    """The test targets of the repository."""
    return discover(SnapshotTree(snapshot), call.repo.checkout.settings.tests)


def changed_paths(call: Call, snapshot: Snapshot, request: str | Sequence[str]) -> list[RepoPath]:
    """The paths of a call as files; `changes` stands for what differs from HEAD."""
    if isinstance(request, str) and request != CHANGES:
        request = [request]
    if not isinstance(request, str):
        requests = [call.repo.tree.jail.enter(text) for text in request]
        _warn_of_strangers(call, snapshot, requests)
        return sorted({file for path in requests for file in _files_below(snapshot, path)})
    paths = _changed_on_disk(call, snapshot) if call.is_on_disk else set[RepoPath]()
    for path, file in call.overlay().items():
        is_changed = call.committed(path) != (file.read() if file is not None else None)
        paths = paths | {path} if is_changed else paths - {path}
    return sorted(paths)


def _changed_on_disk(call: Call, snapshot: Snapshot) -> set[RepoPath]:
    """What differs from HEAD in the working tree."""
    status = call.repo.tree.git.look()
    texts = {one.path for one in (*status.staged, *status.modified)}
    texts |= {one.path for one in status.conflicts}
    paths = {RepoPath(path) for path in texts}
    for path in status.untracked:
        # A directory that the index has nothing of is kept back by the rules: `.venv/`, `__pycache__/`.
        if not path.endswith("/") or snapshot.is_directory(RepoPath(path.rstrip("/"))):
            paths |= set(_files_below(snapshot, RepoPath(path.rstrip("/"))))
    return paths


def _warn_of_strangers(call: Call, snapshot: Snapshot, paths: Sequence[RepoPath]) -> None:
    """A file that is gone may be asked about; one that was never there is a slip."""
    there = snapshot.layout.blobs
    missing = [path for path in paths if path not in there and not snapshot.is_directory(path)]
    if missing and call.is_on_disk:
        status = call.repo.tree.git.look()
        status_paths = {one.path for one in (*status.staged, *status.modified)}
        for path in [path for path in missing if path not in status_paths][:_MOST_STRANGERS]:
            near = nearest(path, list(there))
            like = f"; did you mean {shown(RepoPath(near[0]))}?" if near else "."
            call.warn(f"{shown(path)} is not a file of the repository{like}")


def _files_below(snapshot: Snapshot, path: RepoPath) -> Iterator[RepoPath]:
    """A file, or those below a directory; what is not there any more stands for itself."""
    if not snapshot.is_directory(path):
        yield path
        return
    prefix = f"{path}/" if path else ""
    yield from (RepoPath(one) for one in snapshot.lookup.paths if one.startswith(prefix))


def choose(
    call: Call,
    snapshot: Snapshot,
    affected_by: str | Sequence[str] | None = None,
    target_filter: Sequence[str] = (),
    tests: Sequence[str] = (),
) -> Chosen:
    """The targets that are meant; NotFound where a name means none."""
    discovery = discovered(call, snapshot)
    targets: Sequence[Target] = discovery.targets
    notes = list(discovery.notes)
    impact, paths = None, []
    if affected_by is not None:
        paths = changed_paths(call, snapshot, affected_by)
        impact = impact_of(call, snapshot, paths)
        targets = list(_affected_targets(discovery, impact, paths, notes))
    if target_filter:
        targets = _filter_targets(targets, target_filter, discovery.targets)
    if tests:
        targets = _single_tests(targets, tests, discovery, notes)
    targets = Costs(call.repo.state_db).applied(targets)
    return Chosen(discovery, targets, impact, paths, notes, _source_roots(snapshot, targets))


def impact_of(call: Call, snapshot: Snapshot, paths: Sequence[RepoPath]) -> Impact:
    """The tests that changed files concern, by all that is known of the change and of earlier runs."""
    changes = changed_since_head(call, snapshot, paths)
    knowledge = Known(
        changes.definitions,
        call.repo.learnt if call.is_on_disk else None,
        is_confined=changes.is_confined,
        new_definitions=changes.new_definitions,
        import_changes=changes.import_changes,
    )
    return affected_tests(snapshot, paths, knowledge)


def _affected_targets(
    discovery: Discovery, impact: Impact, changed: Sequence[RepoPath], notes: list[str]
) -> Iterator[Target]:
    targets = discovery.targets
    # What a runner runs is its own test, also where the file says nothing of tests.
    paths = {one.path for one in impact.tests}
    paths |= {path for path in changed if any(target.runs(path) for target in targets)}
    names = {one.path: one.names for one in impact.tests if 0 < len(one.names) <= _MOST_NAMES}
    run: set[str] = set()
    for target in targets:
        mine = {path for path in paths if target.runs(path)}
        run |= mine
        runner = discovery.runners[target.runner]
        if target.path in names and isinstance(runner, Narrowing):
            yield runner.narrowed(target, [f"{target.path}::{name}" for name in names[target.path]])
        elif mine:
            yield target
    if stray := sorted(paths - run):
        more = f" and {len(stray) - 1} more" if len(stray) > 1 else ""
        notes.append(f"No runner runs {shown(stray[0])}{more}, which may be affected.")


def _filter_targets(targets: Sequence[Target], texts: Sequence[str], every: Sequence[Target]) -> list[Target]:
    """The targets that one of several texts means; each has to mean one at least, chosen or not."""
    for text in texts:
        if not any(_is_meant(one, text) for one in every):
            raise NotFound(f"No test target is named {text[:100]!r}.", hints=_nearest_targets(text, every))
    return [one for one in targets if any(_is_meant(one, text) for text in texts)]


def _is_meant(target: Target, text: str) -> bool:
    if any(sign in text for sign in "*?[{"):
        globs = Globs([text])
        return any(map(globs.holds, (target.id, target.path, *target.files)))
    return text in target.id or text in target.path or text == target.runner or text in target.files


def _nearest_targets(text: str, targets: Sequence[Target]) -> list[str]:
    """Calls for the targets with the nearest names; without one, for some of those that there are."""
    near = nearest(text, [one.id for one in targets]) or [one.id for one in targets]
    return [f'{{"target_filter": "{name}"}}' for name in near[:3]]


def _single_tests(
    targets: Sequence[Target], tests: Sequence[str], discovery: Discovery, notes: list[str]
) -> list[Target]:
    """Single tests, by the ids that results have; a runner that cannot run one alone runs its whole file."""
    names_by_target: dict[str, list[str]] = {}
    for test in tests:
        owner = test.partition("::")[0]
        by_name = [
            one for one in targets if owner == one.id or one.runs(owner) or test.startswith(f"{one.id}::")
        ]
        if not by_name:
            raise NotFound(
                f"No test target has {test[:200]!r}.", hints=_nearest_targets(owner, discovery.targets)
            )
        names_by_target.setdefault(by_name[0].id, []).append(test)
    selection = []
    for target in targets:
        names = [
            name for name in names_by_target.get(target.id, ()) if name != target.id and not target.runs(name)
        ]
        if len(names) < len(names_by_target.get(target.id, ())):
            names = []  # the whole of it is wanted too
        runner = discovery.runners[target.runner]
        if target.id not in names_by_target:
            continue
        if names and isinstance(runner, Narrowing):
            selection.append(runner.narrowed(target, names))
        else:
            if names:
                notes.append(f"{runner.name} runs whole targets only: all of {target.id} runs.")
            selection.append(target)
    return selection


def _source_roots(snapshot: Snapshot, targets: Collection[Target]) -> list[str]:
    """The uppermost directories of the files that tests import, tests left out."""
    links, tests = links_of(snapshot), snapshot.tests()
    run = {path for target in targets for path in (target.path, *target.files)}
    sources = {file for path in run for file in links.imports.get(path, ())} - tests
    places = sorted({file.rpartition("/")[0] for file in sources})
    return [
        place
        for place in places
        if not any(place != other and (not other or place.startswith(f"{other}/")) for other in places)
    ]
