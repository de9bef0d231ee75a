"""The semantic tier: batch indexers, what they write, and the jobs that refresh it."""
