"""Refreshes of the semantic tier: which contexts there are, jobs, indexers in scratch trees, their import."""
