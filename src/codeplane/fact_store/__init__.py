"""Facts by content in a store that others share: a directory, a bucket, or one file."""

from codeplane.fact_store.archive_store import ArchiveStore, ArchiveWriter
from codeplane.fact_store.commits import find_head, find_manifest, move_head
from codeplane.fact_store.distrust import DistrustRecord
from codeplane.fact_store.identity import check_is_shared, is_behind, repository_ids
from codeplane.fact_store.layout import manifest_key
from codeplane.fact_store.opening import open_fact_store
from codeplane.fact_store.pull import PullReport, pull_facts
from codeplane.fact_store.push import PushReport, push_facts
from codeplane.fact_store.store import FactStore

__all__ = [
    "ArchiveStore",
    "ArchiveWriter",
    "DistrustRecord",
    "FactStore",
    "PullReport",
    "PushReport",
    "check_is_shared",
    "find_head",
    "find_manifest",
    "is_behind",
    "manifest_key",
    "move_head",
    "open_fact_store",
    "pull_facts",
    "push_facts",
    "repository_ids",
]
