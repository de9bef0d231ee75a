"""Ways out of what git refuses, said by the tools that take them."""

import json
from typing import Final

from codeplane.git.repo.remedies import Fix, Remedy

_CALLS: Final = {
    Fix.CONTINUE_MERGE: 'git_merge {"action": "continue"}',
    Fix.ABORT_MERGE: 'git_merge {"action": "abort"}',
    Fix.MERGE_WITH_COMMIT: "git_merge without ff_only",
    Fix.CONTINUE_REBASE: 'git_rebase {"action": "continue"}',
    Fix.ABORT_REBASE: 'git_rebase {"action": "abort"}',
    Fix.START_REBASE: 'git_rebase {"action": "start", "upstream": "main"}',
    Fix.REBASE: "git_rebase",
    Fix.REBASE_ONTO: 'git_rebase {"upstream": <upstream>}',
    Fix.CONTINUE_OR_RESOLVE: "git_merge continues or aborts; git_stage marks a file as resolved.",
    Fix.STAGE_RESOLVED: "Resolve them, then git_stage them.",
    Fix.STAGE_FIRST: "git_stage it first.",
    Fix.STAGE_NEW_FILE: "git_stage_and_commit stages it first.",
    Fix.STAGE_OR_STASH: "git_stage what belongs to the commit, git_stash the rest, then continue.",
    Fix.STAGE_IGNORED: 'Send "force": true to stage it anyway.',
    Fix.STAGE_WITH_MARKERS: 'Resolve them, or send "force": true to stage the files as they are.',
    Fix.ADD_SUBMODULE: "git_submodule adds it.",
    Fix.COMMIT: "git_commit",
    Fix.COMMIT_EVERYTHING: "git_commit without paths and amend",
    Fix.COMMIT_FILES: "git_stage_and_commit stages and commits files.",
    Fix.UNDO_COMMIT: (
        "To undo the commit: git_reset to HEAD~1. To keep it empty: git_commit with allow_empty."
    ),
    Fix.CHECK_LOG: "Check git_log, then try again.",
    Fix.SHOW_LOG: "git_log {}",
    Fix.SHOW_STATUS: "git_status",
    Fix.COMMIT_WORK: "commit it (git_stage_and_commit)",
    Fix.STASH_WORK: 'stash it: git_stash {"action": "push"}',
    Fix.DISCARD_WORK: 'discard it: the same call with "force": true; it is saved first',
    Fix.STASH_UNTRACKED: 'git_stash {"action": "push", "include_untracked": true}',
    Fix.INCLUDE_UNTRACKED: 'Untracked files: git_stash {"action": "push", "include_untracked": true}',
    Fix.LIST_STASHES: 'git_stash {"action": "list"}',
    Fix.CHECK_OUT: 'git_checkout {"ref": <ref>}',
    Fix.CHECK_OUT_NEW: 'git_checkout {"ref": <ref>, "create": true, "start": <start>}',
    Fix.CHECK_OUT_ANOTHER: "Check out another branch first (git_checkout).",
    Fix.RESET_KEEP: 'git_reset {"ref": <ref>, "mode": "keep"}',
    Fix.LIST_BRANCHES: "git_branch lists branches.",
    Fix.DELETE_BRANCH: 'git_branch {"action": "delete", "name": <name>, "force": true}',
    Fix.LIST_TAGS: 'git_inspect {"what": "tags"}',
    Fix.MOVE_TAG: 'Choose another name, or send "force": true to move it.',
    Fix.NAME_BRANCH: 'git_pull {"remote": <remote>, "branch": "main"}',
    Fix.FETCH_ONLY: 'git_pull {"remote": <remote>, "fetch_only": true}',
    Fix.PUSH_TO: 'git_push {"remote": <remote>, "branch": <branch>, "to": <to>}',
    Fix.FETCH: 'git_pull {"fetch_only": true}',
    Fix.PULL_FIRST: 'git_pull, then push again; or force "with_lease" to overwrite it.',
    Fix.FETCH_FIRST: "git_pull with fetch_only, look at the new commits, then push again.",
    Fix.REPLACE_TAG: "force: true replaces it.",
    Fix.ADD_REMOTE: "git_remote with action add creates one.",
    Fix.SET_URL: "The action set_url changes its address.",
    Fix.CHECK_ADDRESS: (
        "Check the address (git_remote) and the network; git.remote_timeout_sec is the time it gets."
    ),
}


def tool_hint(hint: str) -> str:
    """The call that a hint of git's stands for; any other hint as it is."""
    if not isinstance(hint, Remedy):
        return hint
    text = _CALLS[hint.fix]
    for name, value in hint.values.items():
        text = text.replace(f"<{name}>", json.dumps(value, ensure_ascii=False))
    return text
