"""Who calls, and what the server remembers of each."""

from codeplane.session.clients.sessions import ClientSession, Sessions

__all__ = ["ClientSession", "Sessions"]
