"""Linters in a repository: only where it is trusted, and what they fix is a write like any other."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import (
    CodePlaneError,
    EditConflict,
    InvalidArgument,
    StateUnsupported,
)
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.git.history.hunks import diff_hunks
from codeplane.jail import shown
from codeplane.lint import (
    Diagnostic,
    Inventory,
    LintReport,
    Place,
    Proposed,
    Wanted,
    Watch,
    Where,
    check,
    fixes,
    inventory,
)
from codeplane.lint.plan import Ranges
from codeplane.names import Snapshot
from codeplane.process.toolbox import Toolbox
from codeplane.search.missing_file import existing, no_match
from codeplane.session.call import Call
from codeplane.session.changed_lines import changed_lines
from codeplane.session.operation.edits import Intent, Written, write
from codeplane.session.trust import require_trust
from codeplane.storage import private_dir
from codeplane.working_tree import StatePaths, WorkingTree, digest_of

_LARGEST_TEXT: Final = 1 << 20
_WILD: Final = re.compile(r"[*?\[{!]")
_OP_TYPE: Final = "lint_check"


@dataclass(frozen=True)
class Asked:
    """What a client wants to be checked."""

    paths: Sequence[str] = ()  # files, directories, patterns; none for all
    tools: tuple[str, ...] = ()
    base: str | None = None  # only lines that differ from this commit


@dataclass(frozen=True)
class Fixed:
    """What a fixing run has done, or would do; nothing was written where there was nothing to fix."""

    result: Written | None
    tools: tuple[str, ...]
    report: LintReport  # of what is left


class WorkingFiles:
    """The files that a snapshot knows, as they are on disk now."""

    def __init__(self, snapshot: Snapshot, tree: WorkingTree) -> None:
        self._paths = sorted(map(RepoPath, snapshot.lookup.paths))
        self._tree = tree
        self._texts: dict[RepoPath, str | None] = {}

    def paths(self) -> Sequence[RepoPath]:
        return self._paths

    def data(self, path: RepoPath) -> bytes | None:
        try:
            return self._tree.read(path)
        except CodePlaneError:
            return None

    def text(self, path: RepoPath) -> str | None:
        """Read once: it is configuration that is read as text, by several linters."""
        if path not in self._texts:
            self._texts[path] = _decoded_text(self.data(path))
        return self._texts[path]


def lint(call: Call, request: Asked) -> LintReport:
    """What the linters of the repository find."""
    _require_trust(call)
    if not (call.reading.is_default and call.is_on_disk):
        return _lint_copy(call, request)
    files, wish = _files_and_wish(call, request)
    return check(files, where(call), wish, _lint_watch(call))


def _lint_copy(call: Call, request: Asked) -> LintReport:
    """What linters find in a state that is not on the disk."""
    from codeplane.session.state_copy import copied_state  # few calls copy the tree

    checkout = call.repo.checkout
    wish = _wish_in_state(call, request)
    with copied_state(call) as copy:
        place = Place(copy.root, Toolbox(checkout.programs, copy.root), copy.reports / "lint")
        return check(copy, Where(place, checkout.settings.lint), wish, _lint_watch(call))


def _wish_in_state(call: Call, request: Asked) -> Wanted:
    base = request.base
    bases = [base] if base is not None and _has_commits(call, base) else []

    def find(snapshots: tuple[Snapshot, Mapping[str, Snapshot]]) -> Wanted:
        snapshot, commits = snapshots
        paths = _chosen_paths(snapshot, snapshot.paths, request.paths) if request.paths else None
        if base is None:
            return Wanted(paths, request.tools)
        ranges = dict(_ranges_between(commits.get(base), snapshot))
        every = sorted(map(RepoPath, snapshot.lookup.paths)) if paths is None else paths
        return Wanted([path for path in every if path in ranges], request.tools, ranges)

    return call.ask_with(bases, find)


def _ranges_between(then: Snapshot | None, now: Snapshot) -> Iterator[tuple[RepoPath, Ranges | None]]:
    """The lines of each file that differ from a commit; None for all of a file that it does not have."""
    before = then.digests() if then is not None else {}
    for path, digest in now.digests().items():
        if then is None or path not in before:
            yield path, None
        elif before[path] != digest:
            hunks = diff_hunks(then.source(path), now.source(path))
            yield path, [(one.new + 1, one.new_end + 1) for one in hunks if one.new < one.new_end]


def _has_commits(call: Call, base: str) -> bool:
    return base != "HEAD" or call.repo.checkout.repository.head().commit is not None


def fix(call: Call, request: Asked, *, dry_run: bool = False) -> Fixed:
    """What the linters fix, through the engine: with a row, to be undone, or only shown."""
    if not (call.reading.is_default and call.is_on_disk):
        raise StateUnsupported(
            "Linters fix what is on the disk; anything else is only checked.",
            hints=["Leave fix out, or make the edits in a worktree: workspace_create {}"],
        )
    _require_trust(call)
    if request.base is not None:
        raise InvalidArgument(
            "Linters fix files, not lines.", hints=["Omit changed_lines and base, and name the paths."]
        )
    files, wish = _files_and_wish(call, request)
    proposal = fixes(files, where(call), wish, _lint_watch(call))
    if not proposal.change.edits.edits:
        return Fixed(None, (), proposal.report)
    result = write(call, _intent_once(call, proposal), dry_run=dry_run)
    if dry_run:
        return Fixed(result, proposal.tools, _report_of_rest(proposal))
    files, wish = _files_and_wish(call, request)
    left = check(files, where(call), wish, _lint_watch(call))
    return Fixed(result, proposal.tools, _told_both(proposal.report, left))


def used_linters(call: Call) -> Inventory:
    """Which linters the repository uses. No program is started where it is not trusted."""
    with call.snapshot() as snapshot:
        files = WorkingFiles(snapshot, call.repo.tree)
    return inventory(files, where(call), _lint_watch(call), trusted=call.repo.checkout.trusted)


def where(call: Call) -> Where:
    """The repository itself, with what linters remember in its state directory."""
    checkout = call.repo.checkout
    toolbox = Toolbox(checkout.programs, checkout.root)
    cache = call.repo.state.path / "lint"
    if checkout.trusted:
        private_dir(cache)
    return Where(Place(checkout.root, toolbox, cache), checkout.settings.lint)


def _require_trust(call: Call) -> None:
    require_trust(call.repo.checkout, "Linters run what the repository configures")


def _lint_watch(call: Call) -> Watch:
    return Watch(call.check, call.progress)


def _files_and_wish(call: Call, request: Asked) -> tuple[WorkingFiles, Wanted]:
    with call.snapshot() as snapshot:
        files = WorkingFiles(snapshot, call.repo.tree)
        paths = _chosen_paths(snapshot, snapshot.paths, request.paths) if request.paths else None
    if request.base is None:
        return files, Wanted(paths, request.tools)
    ranges = _changed_ranges(call, request.base, files)
    selection = [path for path in (files.paths() if paths is None else paths) if path in ranges]
    return files, Wanted(selection, request.tools, ranges)


def _chosen_paths(snapshot: Snapshot, tree: StatePaths, texts: Sequence[str]) -> list[RepoPath] | None:
    """The files that paths and patterns name; None where that is the whole repository."""
    patterns = [text for text in texts if _WILD.search(text)]
    plain_paths = [existing(snapshot, tree, text) for text in texts if text not in patterns]
    if RepoPath("") in plain_paths:
        return None
    if patterns and not plain_paths and (error := no_match(snapshot, tree, patterns)):
        raise error
    holds: Callable[[str], bool] = Globs(patterns).holds if patterns else lambda _: False
    return [
        path
        for path in sorted(map(RepoPath, snapshot.lookup.paths))
        if holds(path) or any(path == one or path.startswith(f"{one}/") for one in plain_paths)
    ]


def _changed_ranges(call: Call, base: str, files: WorkingFiles) -> Mapping[RepoPath, Ranges | None]:
    """The lines of each file that differ from a commit; None for all of a file that it does not have."""
    if not _has_commits(call, base):
        return dict.fromkeys(files.paths())
    ranges: dict[RepoPath, Ranges | None] = {
        path: lines and [(first, end) for first, end in lines if first < end]
        for path, lines in changed_lines(call, base)
    }
    for name in call.repo.tree.git.look().untracked:
        below = name.endswith("/")
        ranges.update(dict.fromkeys(p for p in files.paths() if p == name or (below and p.startswith(name))))
    return ranges


def _intent_once(call: Call, proposal: Proposed) -> Callable[[], Intent]:
    """The edits as the tools have made them: for other contents they would have to run again."""
    intents: list[Intent] = []

    def make() -> Intent:
        if intents:
            raise _overtaken_error(call, proposal)
        intents.append(Intent(_OP_TYPE, proposal.change))
        return intents[0]

    return make


def _overtaken_error(call: Call, proposal: Proposed) -> EditConflict:
    tree = call.repo.tree
    stale_paths = [
        edit.path for edit in proposal.change.edits.edits if _digest_of_file(tree, edit.path) != edit.before
    ]
    names = ", ".join(map(shown, stale_paths)) or "A file"
    return EditConflict(
        f"{names} changed while the linters ran; nothing was written.", hints=["Send the call again."]
    )


def _digest_of_file(tree: WorkingTree, path: RepoPath) -> str | None:
    try:
        return digest_of(tree.read(path))
    except CodePlaneError:
        return None


def _report_of_rest(proposal: Proposed) -> LintReport:
    """What a preview can say of what is left: the problems that no tool fixes."""
    left: tuple[Diagnostic, ...] = proposal.left
    before = proposal.report
    return LintReport(left, before.ran, before.missing, before.notes, before.outside)


def _told_both(before: LintReport, after: LintReport) -> LintReport:
    notes = tuple(dict.fromkeys((*before.notes, *after.notes)))
    return LintReport(after.diagnostics, after.ran, after.missing, notes, after.outside)


def _decoded_text(data: bytes | None) -> str | None:
    if data is None or len(data) > _LARGEST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
