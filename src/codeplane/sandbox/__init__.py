"""Runs snippets of Python without files, network or the host, within limits."""

from codeplane.sandbox.snippet import SnippetOutcome, run_snippet

__all__ = ["SnippetOutcome", "run_snippet"]
