"""What helps where git refuses, in git's own words; whoever offers tools says it in theirs."""

from enum import StrEnum


class Fix(StrEnum):
    """A way out. Names in braces are filled in by the remedy."""

    CONTINUE_MERGE = "git merge --continue"
    ABORT_MERGE = "git merge --abort"
    MERGE_WITH_COMMIT = "git merge without --ff-only"
    CONTINUE_REBASE = "git rebase --continue"
    ABORT_REBASE = "git rebase --abort"
    START_REBASE = "git rebase main"
    REBASE = "git rebase"
    REBASE_ONTO = "git rebase {upstream}"
    CONTINUE_OR_RESOLVE = "git merge continues or aborts; git add marks a file as resolved."
    STAGE_RESOLVED = "Resolve them, then git add them."
    STAGE_FIRST = "git add it first."
    STAGE_NEW_FILE = "git add stages it first."
    STAGE_OR_STASH = "git add what belongs to the commit, git stash the rest, then continue."
    STAGE_IGNORED = "git add --force stages it anyway."
    STAGE_WITH_MARKERS = "Resolve them, or git add --force the files as they are."
    ADD_SUBMODULE = "git submodule add"
    COMMIT = "git commit"
    COMMIT_EVERYTHING = "git commit without paths and --amend"
    COMMIT_FILES = "git commit --all stages and commits files."
    UNDO_COMMIT = "To undo the commit: git reset HEAD~1. To keep it empty: git commit --allow-empty."
    CHECK_LOG = "Check git log, then try again."
    SHOW_LOG = "git log"
    SHOW_STATUS = "git status"
    COMMIT_WORK = "commit it (git commit --all)"
    STASH_WORK = "stash it: git stash push"
    DISCARD_WORK = "discard it: the same with --force; it is saved first"
    STASH_UNTRACKED = "git stash push --include-untracked"
    INCLUDE_UNTRACKED = "Untracked files: git stash push --include-untracked"
    LIST_STASHES = "git stash list"
    CHECK_OUT = "git checkout {ref}"
    CHECK_OUT_NEW = "git checkout -b {ref} {start}"
    CHECK_OUT_ANOTHER = "Check out another branch first (git checkout)."
    RESET_KEEP = "git reset --keep {ref}"
    LIST_BRANCHES = "git branch lists branches."
    DELETE_BRANCH = "git branch -D {name}"
    LIST_TAGS = "git tag --list"
    MOVE_TAG = "Choose another name, or move it with git tag --force."
    NAME_BRANCH = "git pull {remote} main"
    FETCH_ONLY = "git fetch {remote}"
    PUSH_TO = "git push {remote} {branch}:{to}"
    FETCH = "git fetch"
    PULL_FIRST = "git pull, then push again; or git push --force-with-lease to overwrite it."
    FETCH_FIRST = "git fetch, look at the new commits, then push again."
    REPLACE_TAG = "git push --force replaces it."
    ADD_REMOTE = "git remote add creates one."
    SET_URL = "git remote set-url changes its address."
    CHECK_ADDRESS = (
        "Check the address (git remote) and the network; git.remote_timeout_sec is the time it gets."
    )


class Remedy(str):
    """A fix for one case, such as a branch: its text, and what others need to say it in their words."""

    __slots__ = ("fix", "values")

    fix: Fix
    values: dict[str, str]

    def __new__(cls, fix: Fix, **values: str) -> "Remedy":
        remedy = super().__new__(cls, fix.value.format(**values) if values else fix.value)
        remedy.fix, remedy.values = fix, values
        return remedy
