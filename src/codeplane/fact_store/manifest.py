"""Manifests: which files a commit has, what they hold, and which segments have the facts of it.

A manifest is a line with the sha256 of the rest, and compressed lines of JSON. Whoever reads one has the
commit itself: its files are checked and counted, but not kept.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from codeplane.core.documents import decode_json
from codeplane.core.errors import ArtifactInvalid
from codeplane.fact_store.layout import (
    SegmentName,
    check_version,
    is_commit,
    is_digest,
    is_extractor,
    version_line,
)

LARGEST_MANIFEST: Final = 64 << 20
_LARGEST_RAW: Final = 256 << 20
_LONGEST_LINE: Final = 8 << 20
_LONGEST_PATH: Final = 4096
_MOST_LINES: Final = 2_000_000
_MOST_SEGMENTS: Final = 100_000
_CHUNK: Final = 1 << 16


class FileRow(NamedTuple):
    """One file of a commit: which of the contents it has."""

    path: str
    content: int
    mode: int


@dataclass
class Manifest:
    """A commit in a store."""

    repository: str
    commit: str
    made_by: str  # the version of CodePlane
    contents: list[tuple[str, str]] = field(default_factory=list)  # digest and language, by number
    segments: dict[SegmentName, list[int]] = field(default_factory=dict)  # the numbers of their contents
    files: list[FileRow] = field(default_factory=list)
    gaps: list[tuple[str, str]] = field(default_factory=list)  # path and kind


@dataclass
class Listing:
    """What a reader keeps of a manifest."""

    repository: str
    commit: str
    made_by: str
    digests: list[str] = field(default_factory=list)  # of contents, by number
    segments: dict[SegmentName, list[int]] = field(default_factory=dict)
    files: int = 0
    gaps: int = 0

    def places(self) -> Iterator[tuple[str, SegmentName]]:
        """Each content with a segment that has facts of it."""
        for segment, numbers in self.segments.items():
            for number in numbers:
                yield self.digests[number], segment


def dump_manifest(manifest: Manifest) -> bytes:
    """The bytes of a manifest; equal ones give equal bytes."""
    body = b"".join(_compress_lines(_lines_of(manifest)))
    digest = hashlib.sha256(body).hexdigest().encode()
    return version_line("manifest") + b" " + digest + b"\n" + body


def _lines_of(manifest: Manifest) -> Iterator[Sequence[object]]:
    counts = [len(manifest.contents), len(manifest.segments), len(manifest.files), len(manifest.gaps)]
    yield ["m", manifest.repository, manifest.commit, manifest.made_by, counts]
    yield from (["c", digest, language] for digest, language in manifest.contents)
    for segment in sorted(manifest.segments):
        yield ["s", segment.extractor, segment.digest, sorted(manifest.segments[segment])]
    yield from (["p", *row] for row in sorted(manifest.files))
    yield from (["g", path, kind] for path, kind in sorted(manifest.gaps))


def _compress_lines(lines: Iterable[Sequence[object]]) -> Iterator[bytes]:
    packer = zlib.compressobj(6)
    for line in lines:
        yield packer.compress(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    yield packer.flush()


def read_manifest(data: bytes, name: str) -> Listing:
    """Reads and checks a manifest; nothing of one that is damaged in any place is used."""
    check_version(data, "manifest", name)
    head, newline, body = data.partition(b"\n")
    words = head.split(b" ")
    if not newline or len(words) != 3 or hashlib.sha256(body).hexdigest().encode() != words[2]:
        raise _invalid_error(name, "it has another digest")
    try:
        return _parse_lines(_unpack_lines(body))
    except (ValueError, TypeError, LookupError, zlib.error) as error:
        raise _invalid_error(name, str(error) or "it can't be read") from error


def _unpack_lines(body: bytes) -> Iterator[Any]:
    unpacker, rest, total, count = zlib.decompressobj(), b"", 0, 0
    data = body
    while not unpacker.eof:
        chunk = unpacker.decompress(data, _CHUNK)
        data = unpacker.unconsumed_tail
        total += len(chunk)
        if (not chunk and not data) or total > _LARGEST_RAW:
            raise ValueError("it is cut off or too large")
        *lines, rest = (rest + chunk).split(b"\n")
        count += len(lines)
        if len(rest) > _LONGEST_LINE or count > _MOST_LINES:
            raise ValueError("it has lines too long or too many")
        yield from map(decode_json, lines)
    if rest or unpacker.unused_data:
        raise ValueError("something follows its last line")


def _parse_lines(lines: Iterator[Any]) -> Listing:
    mark, repository, commit, made_by, counts = next(lines, [""] * 5)
    if mark != "m" or not is_commit(commit) or not isinstance(made_by, str) or len(made_by) > 64:
        raise ValueError("it has no beginning")
    listing = Listing(str(repository)[:64], commit, made_by)
    for kind, *row in lines:
        _PARSERS[kind](listing, row)
    if counts != [len(listing.digests), len(listing.segments), listing.files, listing.gaps]:
        raise ValueError("its counts are others")
    return listing


def _take_content(listing: Listing, row: Sequence[Any]) -> None:
    digest, language = row
    if not is_digest(digest) or not isinstance(language, str) or len(language) > 32:
        raise ValueError("a content is none")
    listing.digests.append(digest)


def _take_segment(listing: Listing, row: Sequence[Any]) -> None:
    extractor, digest, numbers = row
    if not is_extractor(extractor) or not is_digest(digest) or len(listing.segments) >= _MOST_SEGMENTS:
        raise ValueError("a segment is none")
    if not all(type(number) is int and 0 <= number < len(listing.digests) for number in numbers):
        raise ValueError("a segment has facts of no content")
    listing.segments[SegmentName(extractor, digest)] = numbers


def _take_file(listing: Listing, row: Sequence[Any]) -> None:
    path, content, mode = row
    _check_path(path)
    if type(content) is not int or not 0 <= content < len(listing.digests) or type(mode) is not int:
        raise ValueError("a file has no content")
    listing.files += 1


def _take_gap(listing: Listing, row: Sequence[Any]) -> None:
    path, kind = row
    _check_path(path)
    if not isinstance(kind, str) or len(kind) > 32:
        raise ValueError("a gap is none")
    listing.gaps += 1


_PARSERS: Final[Mapping[str, Any]] = {
    "c": _take_content,
    "s": _take_segment,
    "p": _take_file,
    "g": _take_gap,
}


def _check_path(path: Any) -> None:
    if not isinstance(path, str) or not path or len(path) > _LONGEST_PATH or "\0" in path:
        raise ValueError("a path is none")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError("a path leads out of the repository")


def _invalid_error(name: str, reason: str) -> ArtifactInvalid:
    return ArtifactInvalid(f"The manifest {name} is not used: {reason}.", object=name)
