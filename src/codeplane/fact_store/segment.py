"""Segments: facts of many contents in one object, of which any part can be read and proven on its own.

    cpl-segment 1.0 \\n | frames, compressed | footer | length of the footer, mark

The footer names each frame by its sha256 and each content by its digest and place. The name of a segment is
the sha256 of its footer, so that whoever reads a range knows whether it is the right one.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from codeplane.core.errors import ArtifactInvalid
from codeplane.fact_store.layout import SegmentName, check_version, is_older, version_line
from codeplane.fact_store.store import FactStore

LARGEST_SEGMENT: Final = 1 << 30
LARGEST_RECORD: Final = 48 << 20
"""Facts that take more are not shared."""
_BEGIN: Final = version_line("segment") + b"\n"
_MARK: Final = b"cplfacts"
_END: Final = struct.Struct("<I8s")
_FOOTER: Final = struct.Struct("<HII")
_FRAME: Final = struct.Struct("<II32s")
_CONTENT: Final = struct.Struct("<32sII")
_FRAME_BYTES: Final = 1 << 18
_FULL_BYTES: Final = 8 << 20
_FULL_CONTENTS: Final = 4_000
_LARGEST_FOOTER: Final = 16 << 20
_READ_BYTES: Final = 4 << 20  # of neighbouring frames in one request
_LEVEL: Final = 6


class _Frame(NamedTuple):
    start: int
    length: int
    raw: int
    digest: bytes


class _Place(NamedTuple):
    frame: int
    start: int
    length: int


class SegmentBuilder:
    """A segment in the making; contents come in the order of their digests."""

    def __init__(self, extractor: str) -> None:
        self._extractor = extractor
        self._out = bytearray(_BEGIN)
        self._frames: list[bytes] = []
        self._contents: list[tuple[str, int, int]] = []
        self._open = bytearray()

    def add(self, digest: str, record: bytes) -> None:
        assert record, "BUG: facts are never empty"
        assert not self._contents or digest > self._contents[-1][0], "BUG: contents out of order"
        if self._open and len(self._open) + len(record) > _FRAME_BYTES:
            self._close_frame()
        self._contents.append((digest, len(self._frames), len(record)))
        self._open += record

    @property
    def digests(self) -> list[str]:
        return [digest for digest, _, _ in self._contents]

    @property
    def is_full(self) -> bool:
        return len(self._out) >= _FULL_BYTES or len(self._contents) >= _FULL_CONTENTS

    def finish(self) -> tuple[SegmentName, bytes]:
        """The name of the segment and its bytes."""
        self._close_frame()
        extractor = self._extractor.encode()
        footer = b"".join(
            (
                _FOOTER.pack(len(extractor), len(self._frames), len(self._contents)),
                extractor,
                *self._frames,
                *[_CONTENT.pack(bytes.fromhex(d), frame, length) for d, frame, length in self._contents],
            )
        )
        name = SegmentName(self._extractor, hashlib.sha256(footer).hexdigest())
        return name, bytes(self._out + footer + _END.pack(len(footer), _MARK))

    def _close_frame(self) -> None:
        if not self._open:
            return
        data = zlib.compress(bytes(self._open), _LEVEL)
        self._frames.append(_FRAME.pack(len(data), len(self._open), hashlib.sha256(data).digest()))
        self._out += data
        self._open.clear()


class Segment:
    """A segment of a store, opened by its footer."""

    def __init__(
        self, store: FactStore, name: SegmentName, frames: list[_Frame], places: Mapping[str, _Place]
    ) -> None:
        self._store, self.name = store, name
        self._frames, self._places = frames, places

    @classmethod
    def open(cls, store: FactStore, name: SegmentName) -> "Segment | None":
        """Reads and checks the footer; None where the store has it no more, or in an older
        format."""
        size = store.size(name.key)
        if size is None:
            return None
        if not len(_BEGIN) + _FOOTER.size + _END.size <= size <= LARGEST_SEGMENT:
            raise _invalid_error(name, f"its size is {size} bytes")
        begin = store.read_range(name.key, 0, len(_BEGIN))
        if is_older(begin):
            return None
        check_version(begin, "segment", name.key)
        length, mark = _END.unpack(store.read_range(name.key, size - _END.size, _END.size))
        if mark != _MARK or not _FOOTER.size <= length <= min(_LARGEST_FOOTER, size - len(_BEGIN)):
            raise _invalid_error(name, "it has no end")
        footer = store.read_range(name.key, size - _END.size - length, length)
        if hashlib.sha256(footer).hexdigest() != name.digest:
            raise _invalid_error(name, "its footer has another digest")
        frames, places = _parse_footer(name, footer, size - _END.size - length)
        return cls(store, name, frames, places)

    def __contains__(self, digest: str) -> bool:
        return digest in self._places

    def records(self, caps: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
        """The facts of some contents, each of at most so many bytes."""
        digests_by_frame: dict[int, list[str]] = {}
        for digest, cap in sorted(caps.items()):
            place = self._places[digest]
            if place.length > min(cap, LARGEST_RECORD):
                raise _invalid_error(self.name, f"it has {place.length} bytes for the content {digest[:12]}")
            digests_by_frame.setdefault(place.frame, []).append(digest)
        for run in _frame_runs(sorted(digests_by_frame), self._frames):
            first, last = self._frames[run[0]], self._frames[run[-1]]
            data = self._store.read_range(self.name.key, first.start, last.start + last.length - first.start)
            for number in run:
                frame = self._frames[number]
                start = frame.start - first.start
                raw = self._unpack_frame(frame, data[start : start + frame.length])
                for digest in digests_by_frame[number]:
                    place = self._places[digest]
                    yield digest, raw[place.start : place.start + place.length]

    def _unpack_frame(self, frame: _Frame, data: bytes) -> bytes:
        if hashlib.sha256(data).digest() != frame.digest:
            raise _invalid_error(self.name, "a frame has another digest")
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(data, frame.raw + 1)
        except zlib.error as error:
            raise _invalid_error(self.name, "a frame can't be unpacked") from error
        if len(raw) != frame.raw or not unpacker.eof or unpacker.unused_data:
            raise _invalid_error(self.name, "a frame has another length")
        return raw


def _frame_runs(numbers: Iterable[int], frames: list[_Frame]) -> Iterator[list[int]]:
    """Neighbouring frames that are read in one go."""
    run: list[int] = []
    for number in numbers:
        is_next = run and number == run[-1] + 1
        if run and (
            not is_next or frames[number].start + frames[number].length - frames[run[0]].start > _READ_BYTES
        ):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _parse_footer(name: SegmentName, footer: bytes, end: int) -> tuple[list[_Frame], dict[str, _Place]]:
    """The frames and the places of contents; whatever the footer says has to fit the bytes that are there."""
    letters, frame_count, content_count = _FOOTER.unpack_from(footer)
    size = _FOOTER.size + letters + frame_count * _FRAME.size + content_count * _CONTENT.size
    if size != len(footer):
        raise _invalid_error(name, "its footer counts wrong")
    at = _FOOTER.size + letters
    if footer[_FOOTER.size : at] != name.extractor.encode():
        raise _invalid_error(name, "it is of another extractor")
    frames, start = [], len(_BEGIN)
    for length, raw, digest in _FRAME.iter_unpack(footer[at : at + frame_count * _FRAME.size]):
        frames.append(_Frame(start, length, raw, digest))
        start += length
    if start != end:
        raise _invalid_error(name, "its frames don't fill it")
    places = _parse_places(name, footer[at + frame_count * _FRAME.size :], frames)
    return frames, places


def _parse_places(name: SegmentName, data: bytes, frames: list[_Frame]) -> dict[str, _Place]:
    places: dict[str, _Place] = {}
    sizes = [0] * len(frames)
    counts = [0] * len(frames)
    last = ""
    for raw, frame, length in _CONTENT.iter_unpack(data):
        digest = raw.hex()
        if digest <= last or frame >= len(frames):
            raise _invalid_error(name, "its contents are in disorder")
        places[digest] = _Place(frame, sizes[frame], length)
        sizes[frame] += length
        counts[frame] += 1
        last = digest
    for frame_bytes, count, entry in zip(sizes, counts, frames, strict=True):
        # A frame is small unless it holds the facts of one large file alone.
        if frame_bytes != entry.raw or (count > 1 and entry.raw > _FRAME_BYTES) or entry.raw > LARGEST_RECORD:
            raise _invalid_error(name, "a frame has another length than its contents")
    return places


def _invalid_error(name: SegmentName, reason: str) -> ArtifactInvalid:
    return ArtifactInvalid(
        f"The segment {name.key} is not used: {reason}.", segment=name.digest, extractor=name.extractor
    )
