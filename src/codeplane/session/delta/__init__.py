"""Code deltas of a repository: validated against its files, executed phase by phase."""
