"""Remotes: addresses of references, credentials, fetching and pushing."""
