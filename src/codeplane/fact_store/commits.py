"""The commits of a store: their manifests, and the pointer to the last of them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from codeplane.core.errors import ArtifactInvalid, FactStoreUnavailable
from codeplane.fact_store.layout import (
    check_version,
    head_key,
    is_commit,
    is_older,
    manifest_key,
    version_line,
)
from codeplane.fact_store.manifest import (
    LARGEST_MANIFEST,
    Listing,
    Manifest,
    dump_manifest,
    read_manifest,
)
from codeplane.fact_store.store import FactStore

_LARGEST_HEAD: Final = 4096
_TRIES: Final = 12


def write_manifest(store: FactStore, manifest: Manifest) -> None:
    """Makes the manifest of a commit; one by another version of CodePlane keeps what only it says."""
    key = manifest_key(manifest.repository, manifest.commit)
    for _ in range(_TRIES):
        there = store.read(key, LARGEST_MANIFEST)
        if there is not None:
            with suppress(ArtifactInvalid):  # what is damaged or older is replaced
                _keep_segments(manifest, read_manifest(there.data, key))
        data = dump_manifest(manifest)
        if there is not None and there.data == data:
            return
        if store.create(key, data) if there is None else store.swap(key, data, there.tag):
            return
    raise FactStoreUnavailable(f"{key} of {store.label} is written to by too many others.")


def _keep_segments(manifest: Manifest, there: Listing) -> None:
    """Takes over the segments of extractors that this version doesn't have."""
    extractors = {segment.extractor for segment in manifest.segments}
    numbers = {digest: number for number, (digest, _) in enumerate(manifest.contents)}
    for segment, contents in there.segments.items():
        if segment.extractor not in extractors:
            digests = [there.digests[number] for number in contents]
            manifest.segments[segment] = sorted(numbers[d] for d in digests if d in numbers)


def find_manifest(store: FactStore, repository: str, commit: str) -> Listing | None:
    """The manifest of a commit; None where the store has none."""
    key = manifest_key(repository, commit)
    there = store.read(key, LARGEST_MANIFEST)
    if there is None:
        return None
    if is_older(there.data):
        return Listing(repository, commit, "an older format")
    listing = read_manifest(there.data, key)
    if listing.commit != commit or listing.repository != repository:
        raise ArtifactInvalid(f"The manifest {key} is not used: it is of another commit.", object=key)
    return listing


def find_head(store: FactStore, repository: str) -> str | None:
    """The commit that the pointer of a repository names."""
    return _read_head(store, repository)[0]


def move_head(store: FactStore, repository: str, commit: str, is_newer: Callable[[str, str], bool]) -> bool:
    """Has the pointer name a commit if that comes after the one it names; tells whether it names it now."""
    for _ in range(_TRIES):
        old, tag = _read_head(store, repository, is_mended=True)
        if old == commit:
            return True
        if old is not None and not is_newer(old, commit):
            return False
        if store.swap(head_key(repository), version_line("head") + f" {commit}\n".encode(), tag):
            return True
    raise FactStoreUnavailable(f"The pointer of {store.label} is written to by too many others.")


def _read_head(
    store: FactStore, repository: str, *, is_mended: bool = False
) -> tuple[str | None, str | None]:
    key = head_key(repository)
    there = store.read(key, _LARGEST_HEAD)
    if there is None:
        return None, None
    if is_older(there.data):
        return None, there.tag
    try:
        check_version(there.data, "head", key)
        commit = there.data.decode("ascii", "replace").strip().rpartition(" ")[2]
        if not is_commit(commit):
            raise ArtifactInvalid(f"The pointer {key} is damaged.", object=key)
    except ArtifactInvalid:
        if is_mended:
            return None, there.tag
        raise
    return commit, there.tag
