"""The format of git's index file: reading entries and extensions, renaming entries."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

_FIXED = 62
_EXTENDED = 0x4000
_STAGE = 0x3000
_NAME_MASK = 0x0FFF
# Stat fields: zeros make git compare the content next time.
_STAT = slice(0, 24)
_OWNER_AND_SIZE = slice(28, 40)
_SIZE = slice(36, 40)
_CHECKSUM = 20
_SECOND = 1_000_000_000
# Extensions to keep; git rebuilds the others.
_KEPT = (b"REUC",)


def entries(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The name and the fixed fields of each entry; a damaged index may give fewer, or none."""
    if data[:4] != b"DIRC" or len(data) < 12:
        return
    for name, fields, _ in _walk_entries(data):
        if name:
            yield name, fields


def is_whole(data: bytes) -> bool:
    """Whether an index is intact, from its first entry to its checksum."""
    if data[:4] != b"DIRC" or len(data) < 12 + _CHECKSUM or not _is_sound(data):
        return False
    # A matching checksum proves that nothing is missing; git may be configured to omit it.
    return any(data[-_CHECKSUM:]) or sum(1 for _ in _walk_entries(data)) == int.from_bytes(data[8:12])


def oid_of(fields: bytes) -> str:
    return fields[40:60].hex()


def mode_of(fields: bytes) -> int:
    return int.from_bytes(fields[24:28])


def is_merged(fields: bytes) -> bool:
    """Whether the entry is not one side of a conflict."""
    return not int.from_bytes(fields[60:62]) & _STAGE


def stage_of(fields: bytes) -> int:
    """0, or which side of a conflict the entry is: 1 the ancestor, 2 ours, 3 theirs."""
    return (int.from_bytes(fields[60:62]) & _STAGE) >> 12


def is_assumed(fields: bytes) -> bool:
    """Whether the entry is marked assume-unchanged."""
    return bool(fields[60] & 0x80)


def is_skipped(fields: bytes) -> bool:
    """Whether the entry is marked skip-worktree."""
    return len(fields) > _FIXED and bool(fields[62] & 0x40)


def is_intended(fields: bytes) -> bool:
    """Whether the entry is only intended (`git add --intent-to-add`)."""
    return len(fields) > _FIXED and bool(fields[62] & 0x20)


def extensions(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The name and the content of each extension."""
    at = _end_of_entries(data)
    while at + 8 <= len(data) - _CHECKSUM:
        size = int.from_bytes(data[at + 4 : at + 8])
        yield data[at : at + 4], data[at + 8 : at + 8 + size]
        at += 8 + size


@lru_cache(maxsize=2)
def _end_of_entries(data: bytes) -> int:
    """Where the extensions begin; asked several times of the same index."""
    *_, at = (12, *(end for _, _, end in _walk_entries(data)))
    return at


def cached_trees(data: bytes) -> dict[str, str]:
    """The cached trees of directories, by path, from the TREE extension."""
    body = next((content for name, content in extensions(data) if name == b"TREE"), b"")
    trees: dict[str, str] = {}
    ahead, at = [("", 1)], 0  # a directory and how many of its subdirectories are still to come
    while ahead and at < len(body):
        above, siblings = ahead.pop()
        if siblings > 1:
            ahead.append((above, siblings - 1))
        end = body.find(b"\0", at)
        line = body.find(b"\n", end)
        if end < 0 or line < 0:
            return {}
        name = os.fsdecode(body[at:end])
        path = f"{above}/{name}" if above else name
        count, _, below = body[end + 1 : line].partition(b" ")
        at = line + 1
        if not count.startswith(b"-"):
            trees[path] = body[at : at + 20].hex()
            at += 20
        if below.isdigit() and int(below):
            ahead.append((path, int(below)))
    return trees


def rename_entries(data: bytes, moves: Mapping[bytes, bytes], changed_ns: int) -> bytes | None:
    """The index with entries under new names, as `git mv` leaves it; None when that cannot be done safely.

    `changed_ns` is the time stamp of the index: an entry as young as that must not look settled afterwards.
    """
    version, after = int.from_bytes(data[4:8]), _read_index(data)
    if after is None or version not in (2, 3, 4):
        return None
    items, extensions = after
    for old, new in moves.items():
        fields = items.pop((old, 0), None)
        if fields is None or (new, 0) in items:
            return None
        items[new, 0] = _unsettle(fields, new)
    names = {name for name, _ in items}
    if any(above in names for new in moves.values() for above in _parent_names(new)) or _is_above(
        moves, names
    ):
        return None
    body = bytearray(data[:12])
    before = b""
    for (name, _), fields in sorted(items.items()):
        entry = _smudge(fields, changed_ns)
        body += _pack_entry(entry, name, before) if version == 4 else _pad_entry(entry, name)
        before = name
    body += extensions
    return bytes(body) + hashlib.sha1(body, usedforsecurity=False).digest()


def smudge_entries(data: bytes, changed_ns: int, is_same: Callable[[bytes, bytes], bool]) -> bytes:
    """An index whose file has the time stamp `changed_ns`, rewritten for a file with a later one.

    Entries as young as that lose their size unless their file, by name and fixed part, has their content: no
    time stamp can say whether it has changed since.
    """
    if not data or not _is_sound(data):
        return data
    result = bytearray(data)
    for at, name, fields in _young_entries(data, changed_ns):
        if not is_same(name, fields):
            result[at + _SIZE.start : at + _SIZE.stop] = bytes(4)
    if any(data[-_CHECKSUM:]):
        result[-_CHECKSUM:] = hashlib.sha1(result[:-_CHECKSUM], usedforsecurity=False).digest()
    return bytes(result)


def _young_entries(data: bytes, changed_ns: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Entries as young as the index: their offsets, names and fixed fields."""
    if int.from_bytes(data[4:8]) == 4:
        at = 12
        for name, fields, end in _walk_entries(data):
            if _is_young(fields, changed_ns):
                yield at, name, fields
            at = end
        return
    # This runs over all entries at each change, so it does as little as possible for each.
    limit, find, at = (changed_ns // _SECOND).to_bytes(4), data.find, 12
    for _ in range(int.from_bytes(data[8:12])):
        start = at + (64 if data[at + 60] & 0x40 else 62)
        end = find(b"\0", start)
        if data[at + 8 : at + 12] >= limit:
            yield at, data[start:end], data[at:start]
        at += ((end - at) // 8 + 1) * 8


def _is_sound(data: bytes) -> bool:
    """Git may be told to leave the checksum out."""
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    return checksum == bytes(_CHECKSUM) or hashlib.sha1(body, usedforsecurity=False).digest() == checksum


def _read_index(data: bytes) -> tuple[dict[tuple[bytes, int], bytes], bytes] | None:
    """Entries by name and stage, and the extensions to keep; None for what is damaged or not understood."""
    body = data[:-_CHECKSUM]
    if data[:4] != b"DIRC" or len(data) < 12 + _CHECKSUM or not _is_sound(data):
        return None
    items: dict[tuple[bytes, int], bytes] = {}
    at = 12
    for name, fields, end in _walk_entries(data):
        items[name, int.from_bytes(fields[60:62]) & _STAGE] = fields
        at = end
    if len(items) != int.from_bytes(data[8:12]):
        return None
    extensions = b""
    while at < len(body):
        size = int.from_bytes(body[at + 4 : at + 8])
        if not body[at : at + 1].isupper():
            return None  # a lower-case extension, as of a split or sparse index, must be understood
        if body[at : at + 4] in _KEPT:
            extensions += body[at : at + 8 + size]
        at += 8 + size
    return (items, extensions) if at == len(body) else None


def _walk_entries(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    version, at, name = int.from_bytes(data[4:8]), 12, b""
    for _ in range(int.from_bytes(data[8:12])):
        if at + _FIXED > len(data):
            return
        start = at + _FIXED + (2 if int.from_bytes(data[at + 60 : at + 62]) & _EXTENDED else 0)
        fields = data[at:start]
        if version == 4:
            cut, start = _read_varint(data, start)
            end = data.find(b"\0", start)
            name, at = name[: len(name) - cut] + data[start:end], end + 1
        else:
            end = data.find(b"\0", start)
            name, at = data[start:end], at + ((end - at) // 8 + 1) * 8
        if end < 0:
            return
        yield name, fields, at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    if at >= len(data):
        return 0, at
    value = data[at] & 127
    while data[at] & 128 and at + 1 < len(data):
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1


def _write_varint(value: int) -> bytes:
    out = bytes([value & 127])
    while value := value >> 7:
        value -= 1
        out = bytes([0x80 | (value & 127)]) + out
    return out


def _unsettle(fields: bytes, name: bytes) -> bytes:
    result = bytearray(fields)
    result[_STAT] = bytes(24)
    result[_OWNER_AND_SIZE] = bytes(12)
    flags = int.from_bytes(fields[60:62]) & _EXTENDED | min(len(name), _NAME_MASK)
    result[60:62] = flags.to_bytes(2)
    return bytes(result)


def _smudge(fields: bytes, changed_ns: int) -> bytes:
    if not _is_young(fields, changed_ns):
        return fields
    result = bytearray(fields)
    result[_SIZE] = bytes(4)
    return bytes(result)


def _is_young(fields: bytes, changed_ns: int) -> bool:
    """By seconds: git itself compares no more of a time stamp, unless it was built to."""
    return int.from_bytes(fields[8:12]) >= changed_ns // _SECOND


def _pad_entry(fields: bytes, name: bytes) -> bytes:
    size = len(fields) + len(name)
    return fields + name + bytes(8 - size % 8)


def _pack_entry(fields: bytes, name: bytes, before: bytes) -> bytes:
    same = 0
    while same < min(len(name), len(before)) and name[same] == before[same]:
        same += 1
    return fields + _write_varint(len(before) - same) + name[same:] + b"\0"


def _parent_names(name: bytes) -> Iterator[bytes]:
    while b"/" in name:
        name = name.rpartition(b"/")[0]
        yield name


def _is_above(moves: Mapping[bytes, bytes], names: set[bytes]) -> bool:
    places = {new + b"/" for new in moves.values()}
    return any(name.startswith(place) for place in places for name in names)
