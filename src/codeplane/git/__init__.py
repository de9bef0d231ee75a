"""Git through libgit2."""

from codeplane.git.repo.objects import Commit, TreeEntry
from codeplane.git.repo.repository import Head, Repository, locate, open_repository

__all__ = ["Commit", "Head", "Repository", "TreeEntry", "locate", "open_repository"]
