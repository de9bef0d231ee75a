"""Runs snippets of Python without files, network or the host, within limits."""
