"""From what a user names to a store: a directory, or the address of a bucket."""

from pathlib import Path

from codeplane.core.errors import InvalidArgument
from codeplane.fact_store.bucket_store import SCHEMES, BucketStore
from codeplane.fact_store.directory_store import DirectoryStore
from codeplane.fact_store.store import FactStore


def open_fact_store(where: str, *, is_made: bool = False) -> FactStore:
    """The store at a path or an address such as `s3://bucket/folder`; with `is_made`, a directory is made
    where there is none."""
    scheme, separator, rest = where.partition("://")
    if separator and scheme in SCHEMES:
        return BucketStore(where)
    if separator and scheme == "file":
        where = rest
    elif separator:
        raise InvalidArgument(
            f"{where[:80]!r} is no store.",
            hints=[f"A store is a directory or an address that begins with {'://, '.join(SCHEMES)}://."],
        )
    if not where.strip() or "\0" in where:
        raise InvalidArgument("A store is a directory or an address.")
    return DirectoryStore.open(Path(where).expanduser(), is_made=is_made)
