"""The indexers: one module each, in the order in which they are preferred."""

from codeplane.semantic.indexers._registry import INDEXERS

__all__ = ["INDEXERS"]
