"""Facts by content, views of them, epochs, and bounded questions."""

from codeplane.index.coverage import Coverage
from codeplane.index.index import WORKING_VIEW, Index, IndexState
from codeplane.index.opening import check_index, contexts_on_record, drop_index
from codeplane.index.purpose import Purpose
from codeplane.index.query import DefFact, FileFact, Found, Snapshot
from codeplane.index.record import IndexRecord, index_bytes, index_on_record, index_version
from codeplane.index.references import RefFact
from codeplane.index.work import Progress
from codeplane.reading.workers import Workers

__all__ = [
    "WORKING_VIEW",
    "Coverage",
    "DefFact",
    "FileFact",
    "Found",
    "Index",
    "IndexRecord",
    "IndexState",
    "Progress",
    "Purpose",
    "RefFact",
    "Snapshot",
    "Workers",
    "check_index",
    "contexts_on_record",
    "drop_index",
    "index_bytes",
    "index_on_record",
    "index_version",
]
