"""Remotes: refspecs, credentials, fetching and pushing."""
