"""Which segment has the facts of a content: lists in the store, one for each begin of a digest."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from codeplane.core.errors import ArtifactInvalid, FactStoreUnavailable
from codeplane.fact_store.layout import SegmentName, check_version, have_key, is_older, version_line
from codeplane.fact_store.store import FactStore

T = TypeVar("T")
R = TypeVar("R")

_BEGIN: Final = version_line("have") + b"\n"
_LARGEST: Final = 64 << 20
_ROW: Final = 64  # two digests
_TRIES: Final = 12
_AT_ONCE: Final = 8  # requests

Needs = Mapping[str, Iterable[str]]
"""Digests of contents by extractor."""


def find_holdings(
    store: FactStore, needs: Needs, *, is_mended: bool = False
) -> dict[tuple[str, str], SegmentName]:
    """The segments that the lists name for contents, by extractor and digest. A damaged list that is about
    to be mended says nothing."""
    parts = [
        (extractor, prefix, digests)
        for extractor, all_digests in needs.items()
        for prefix, digests in _by_prefix(all_digests).items()
    ]
    holdings: dict[tuple[str, str], SegmentName] = {}
    for (extractor, _, digests), rows in in_parallel(
        lambda part: _read_rows(store, *part[:2], is_mended=is_mended)[0], parts
    ):
        for digest in digests:
            if (segment := rows.get(digest)) is not None:
                holdings[extractor, digest] = SegmentName(extractor, segment)
    return holdings


def add_holdings(store: FactStore, segments: Mapping[SegmentName, Iterable[str]]) -> None:
    """Writes into the lists which contents new segments have; others may write at the same time."""
    rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for segment, digests in segments.items():
        for digest in digests:
            rows[segment.extractor, digest[:2]][digest] = segment.digest
    for _ in in_parallel(lambda place: _merge_rows(store, place, rows[place]), sorted(rows)):
        pass


def in_parallel(work: Callable[[T], R], items: Iterable[T]) -> Iterable[tuple[T, R]]:
    """Does some work for each item, a few at a time; results come in the order of the items."""
    listing = list(items)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from zip(listing, pool.map(work, listing), strict=True)


def _by_prefix(digests: Iterable[str]) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = defaultdict(list)
    for digest in digests:
        parts[digest[:2]].append(digest)
    return parts


def _merge_rows(store: FactStore, place: tuple[str, str], new: Mapping[str, str]) -> None:
    for attempt in range(_TRIES):
        rows, tag = _read_rows(store, *place, is_mended=True)
        if rows.items() >= new.items():
            return
        rows |= new
        data = b"".join(bytes.fromhex(digest + rows[digest]) for digest in sorted(rows))
        if store.swap(have_key(*place), _BEGIN + data, tag):
            return
        time.sleep(random.uniform(0, 0.05 * 2 ** min(attempt, 5)))  # noqa: S311 - only spreads the tries
    raise FactStoreUnavailable(f"{have_key(*place)} of {store.label} is written to by too many others.")


def _read_rows(
    store: FactStore, extractor: str, prefix: str, *, is_mended: bool
) -> tuple[dict[str, str], str | None]:
    key = have_key(extractor, prefix)
    there = store.read(key, _LARGEST)
    if there is None:
        return {}, None
    if is_older(there.data):
        return {}, there.tag
    try:
        return _parse_rows(there.data, key, prefix), there.tag
    except ArtifactInvalid:
        if is_mended:
            return {}, there.tag
        raise


def _parse_rows(data: bytes, key: str, prefix: str) -> dict[str, str]:
    check_version(data, "have", key)
    body = data.partition(b"\n")[2]
    rows = {body[at : at + 32].hex(): body[at + 32 : at + 64].hex() for at in range(0, len(body), _ROW)}
    digests = list(rows)
    if (
        len(body) != len(rows) * _ROW
        or digests != sorted(digests)
        or not all(digest.startswith(prefix) for digest in digests)
    ):
        raise ArtifactInvalid(f"The list {key} is not used: it is damaged.", object=key)
    return rows
