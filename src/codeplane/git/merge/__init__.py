"""Merges, cherry-picks, reverts and rebases, and resuming one that has stopped."""
