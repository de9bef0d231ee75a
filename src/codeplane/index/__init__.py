"""The database of facts: by content, in views, one epoch at a time."""

from codeplane.index.coverage import Coverage
from codeplane.index.database import IndexDatabase, IndexState
from codeplane.index.kept_sites import keep_sites
from codeplane.index.open_file import check_index, contexts_on_record, drop_index
from codeplane.index.record import IndexRecord, index_bytes, index_on_record, index_version
from codeplane.index.store import Parsed
from codeplane.index.view.purpose import Purpose, purpose_by_path
from codeplane.index.work import Progress
from codeplane.index.worktree_views import (
    WORKING_VIEW,
    OwnPart,
    count_definitions,
    drop_view,
    epoch_of,
    has_semantic_facts,
    linked_view,
    orphaned_views,
    own_part,
)
from codeplane.parsing.workers import Workers

__all__ = [
    "WORKING_VIEW",
    "Coverage",
    "IndexDatabase",
    "IndexRecord",
    "IndexState",
    "OwnPart",
    "Parsed",
    "Progress",
    "Purpose",
    "Workers",
    "check_index",
    "contexts_on_record",
    "count_definitions",
    "drop_index",
    "drop_view",
    "epoch_of",
    "has_semantic_facts",
    "index_bytes",
    "index_on_record",
    "index_version",
    "keep_sites",
    "linked_view",
    "orphaned_views",
    "own_part",
    "purpose_by_path",
]
