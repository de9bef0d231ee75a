"""What a name means: snapshots of a repository whose definitions and references can be asked for."""

from codeplane.index.overlay_views import Files, OverlayFile
from codeplane.index.store import Change
from codeplane.index.view.files import FileFacts
from codeplane.index.view.lookup import Lookup, Outline
from codeplane.index.view.overview import FileSize, Imported
from codeplane.index.view.rows import DefFact, FileFact
from codeplane.names.codebase import Codebase
from codeplane.names.definition import Def
from codeplane.names.freshness import Freshness
from codeplane.names.implementations import Implementer
from codeplane.names.index import Index
from codeplane.names.meaning import Meaning
from codeplane.names.references import References, RefFact
from codeplane.names.snapshot import MOST, Found, Snapshot
from codeplane.names.state import WORKING_TREE, Overlay, StateRef

__all__ = [
    "MOST",
    "WORKING_TREE",
    "Change",
    "Codebase",
    "Def",
    "DefFact",
    "FileFact",
    "FileFacts",
    "FileSize",
    "Files",
    "Found",
    "Freshness",
    "Implementer",
    "Imported",
    "Index",
    "Lookup",
    "Meaning",
    "Outline",
    "Overlay",
    "OverlayFile",
    "RefFact",
    "References",
    "Snapshot",
    "StateRef",
]
