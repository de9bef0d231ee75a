"""Operations that users know by name: branch, checkout, reset, stash, tag, worktree, submodule, pull."""
