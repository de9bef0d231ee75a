"""The files that a task may change, where it has said which."""

from collections.abc import Iterable

from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.git.repo.pathspec import Selection
from codeplane.jail import shown
from codeplane.mutation.checks import ON_WORKING_SET
from codeplane.mutation.problems import Problems
from codeplane.session.call import Call
from codeplane.working_tree.status.comparison import changes


def check_working_set(call: Call, paths: Iterable[str]) -> None:
    """Refuses to change files outside of the task's working set; every one of them is named."""
    if not call.task.working_set:
        return
    globs, problems = Globs(call.task.working_set), Problems()
    for path in sorted(set(paths)):
        if not globs.holds(path):
            problems.refuse(RepoPath(path), f"{shown(path)} is outside the working set.", ON_WORKING_SET)
    problems.raise_worst()


def check_restored(call: Call, selection: Selection, ref: str | None) -> None:
    """Refuses to restore files outside of the working set from a commit, or from the index."""
    if not call.task.working_set:
        return
    with call.repo.checkout.repository.opened() as handle:
        differences = changes(call.repo.tree, handle, ref, None, staged=False)
        paths = [path for one in differences for path in (one.path, one.old_path) if path is not None]
    check_working_set(call, (path for path in paths if path in selection))
