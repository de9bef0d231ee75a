"""Merges, cherry-picks, reverts and rebases, and going on with one that has stopped."""
