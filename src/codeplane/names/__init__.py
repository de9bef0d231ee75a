"""What a name means: snapshots of a repository whose definitions and references can be asked for."""

from codeplane.index.view.rows import DefFact, FileFact
from codeplane.names.index import Index
from codeplane.names.references import RefFact
from codeplane.names.snapshot import Found, Snapshot

__all__ = ["DefFact", "FileFact", "Found", "Index", "RefFact", "Snapshot"]
