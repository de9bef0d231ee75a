"""Git through libgit2."""

from codeplane.git.repository import Head, Repository, locate, open_repository

__all__ = ["Head", "Repository", "locate", "open_repository"]
