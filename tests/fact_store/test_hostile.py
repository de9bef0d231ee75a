"""Stores and files that lie: refused or read here instead, never believed."""

import hashlib
import io
import json
import random
import struct
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.core.errors import (
    ArtifactForeign,
    ArtifactInvalid,
    ArtifactTooNew,
    CodePlaneError,
    FactStoreError,
    StoreDistrusted,
)
from codeplane.fact_store import pull
from codeplane.fact_store.layout import SegmentName
from codeplane.fact_store.manifest import FileRow, Manifest, dump_manifest, read_manifest
from codeplane.fact_store.record import make_record, read_record
from codeplane.index import check_index
from tests.drive import git
from tests.fact_store.conftest import Machine, commit
from tests.fact_store.forgery import (
    forge_facts,
    manifests,
    put_segment,
    records_of,
    segment_names,
    set_version,
)


@pytest.fixture
def pushed(author: Machine, store: Path) -> Path:
    author.push(store)
    return store


def assert_nothing_taken(reader: Machine, error: type[CodePlaneError], run: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        run()
    assert reader.blobs() == 0 and check_index(reader.file) == []
    return caught.value.message


def renamed(record: bytes, old: str, new: str) -> bytes:
    facts = read_record(record)
    definitions = [(new if row[0] == old else row[0], *row[1:]) for row in facts.definitions]
    return make_record(facts._replace(definitions=definitions), facts.words)


def test_wrong_facts_are_noticed_before_any_is_used(author: Machine, reader: Machine, pushed: Path) -> None:
    forge_facts(pushed, lambda _, record: renamed(record, "Cart", "Cert"))
    message = assert_nothing_taken(reader, StoreDistrusted, lambda: reader.pull(pushed))
    [python] = [name for name in segment_names(pushed) if name.extractor.startswith("python")]
    assert python.key in message and "untrusted" in message
    # It is not asked again, even when it is mended, until the user says so.
    author.push(pushed)
    assert "not used" in assert_nothing_taken(reader, StoreDistrusted, lambda: reader.pull(pushed))
    assert reader.facts() == author.facts()


def test_a_store_that_was_mended_is_used_again_when_the_user_says_so(
    author: Machine, reader: Machine, pushed: Path
) -> None:
    forge_facts(pushed, lambda _, record: renamed(record, "Cart", "Cert"))
    assert_nothing_taken(reader, StoreDistrusted, lambda: reader.pull(pushed))
    assert_nothing_taken(reader, StoreDistrusted, lambda: reader.pull(pushed, again=True))
    forge_facts(pushed, lambda _, record: renamed(record, "Cert", "Cart"))
    assert reader.pull(pushed, again=True).from_store == 8
    assert reader.facts() == author.facts()
    assert reader.pull(pushed).missing == 0


def test_missing_words_are_noticed_too(reader: Machine, pushed: Path) -> None:
    forge_facts(pushed, lambda _, record: make_record(facts := read_record(record), facts.words[1:]))
    assert_nothing_taken(reader, StoreDistrusted, lambda: reader.pull(pushed))


def test_a_hundredth_and_at_least_twenty_are_compared() -> None:
    assert [len(pull.choose_sample(count)) for count in (0, 7, 20, 1999, 3000)] == [0, 7, 20, 20, 30]
    assert len({tuple(pull.choose_sample(1000)) for _ in range(20)}) > 1
    assert all(len(set(pull.choose_sample(500))) == 20 for _ in range(20))


def test_facts_are_taken_for_contents_that_are_here_and_for_no_other(
    author: Machine, reader: Machine, store: Path
) -> None:
    """A store that says more of its contents than anybody asked brings nothing more in."""
    commit(author.repo, {"theirs.py": "theirs = 1\n", "shop/cart.py": "class Other: ...\n"})
    author.push(store)
    pulled = reader.pull(store)
    assert (pulled.missing, pulled.from_store) == (8, 7)
    assert reader.blobs() == 7


def test_facts_under_the_digest_of_another_content_are_noticed(reader: Machine, pushed: Path) -> None:
    [python] = [name for name in segment_names(pushed) if name.extractor.startswith("python")]
    records = records_of(pushed, python)
    swapped = dict(zip(records, reversed(records.values()), strict=True))
    forge_facts(pushed, lambda digest, record: swapped.get(digest, record))
    assert_nothing_taken(reader, FactStoreError, lambda: reader.pull(pushed))


FORMS: dict[str, Callable[[dict[int, object]], object]] = {
    "a parent that is not there": lambda head: _row(head, 6)[0].__setitem__(2, 99),
    "a definition in itself": lambda head: _row(head, 6)[0].__setitem__(2, 0),
    "a scope that is not there": lambda head: _row(head, 6)[0].__setitem__(3, 99),
    "a text for a number": lambda head: _row(head, 6)[0].__setitem__(4, "x"),
    "a number for a text": lambda head: _row(head, 6)[0].__setitem__(0, 1),
    "a float": lambda head: _row(head, 6)[0].__setitem__(4, 1.5),
    "a number of many digits": lambda head: _row(head, 6)[0].__setitem__(9, 10**30),
    "a column less": lambda head: _row(head, 6)[0].pop(),
    "a kind that is none": lambda head: _row(head, 6)[0].__setitem__(1, "spell"),
    "NUL in a name": lambda head: _row(head, 6)[0].__setitem__(0, "a\0b"),
    "a state that is none": lambda head: head.__setitem__(1, "fine"),
    "more lines than bytes": lambda head: head.__setitem__(0, 10**9),
    "no table": lambda head: head.__setitem__(10, None),
    "an import in no scope": lambda head: head.__setitem__(
        7, [[77, "python_import", "m", "", "m", 1, 0, 1, 0]]
    ),
}


def _row(head: dict[int, object], table: int) -> list[list[object]]:
    rows = head[table]
    assert isinstance(rows, list)
    return rows


@pytest.mark.parametrize("form", FORMS)
def test_facts_of_another_form_are_refused(
    reader: Machine, pushed: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the comparison would miss them, nothing gets in that later code could stumble over."""
    monkeypatch.setattr(pull, "choose_sample", lambda _count: [])

    def change(_: str, record: bytes) -> bytes:
        lengths = struct.unpack_from("<6I", record)
        head = json.loads(record[24 : 24 + lengths[0]])
        if not head[6]:
            return record
        parts = dict(enumerate(head))
        FORMS[form](parts)
        data = json.dumps(list(parts.values())).encode()
        return struct.pack("<6I", len(data), *lengths[1:]) + data + record[24 + lengths[0] :]

    forge_facts(pushed, change)
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))


@pytest.mark.parametrize("part", [1, 2, 3, 4])
def test_packed_columns_with_any_byte_changed_are_refused_or_can_be_unpacked(
    author: Machine, reader: Machine, pushed: Path, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull, "choose_sample", lambda _count: [])
    dice = random.Random(part)

    def change(_: str, record: bytes) -> bytes:
        lengths = struct.unpack_from("<6I", record)
        start = 24 + sum(lengths[:part])
        if not lengths[part]:
            return record
        at = start + dice.randrange(lengths[part])
        return record[:at] + bytes([dice.randrange(256)]) + record[at + 1 :]

    originals = {name: records_of(pushed, name) for name in segment_names(pushed)}
    for _ in range(12):
        forge_facts(pushed, change)
        try:
            reader.pull(pushed)
        except ArtifactInvalid:
            assert reader.blobs() == 0
        else:
            reader.facts()
            reader.file.unlink()
        flat = {digest: record for records in originals.values() for digest, record in records.items()}
        forge_facts(pushed, lambda digest, _, flat=flat: flat[digest])  # type: ignore[misc]


def forge_footer(
    name: SegmentName, digests: list[str], packed: bytes, raw: int, **lies: int
) -> tuple[SegmentName, bytes]:
    """A segment of one frame whose footer says what it is told to; its name is right."""
    extractor = name.extractor.encode()
    sizes = [raw - 10 * (len(digests) - 1), *[10] * (len(digests) - 1)]
    contents = [
        struct.pack("<32sII", bytes.fromhex(digest), lies.get("frame", 0), lies.get("size", size))
        for digest, size in zip(digests, sizes, strict=True)
    ]
    frames = struct.pack("<II32s", lies.get("length", len(packed)), raw, hashlib.sha256(packed).digest())
    counts = (len(extractor), lies.get("frames", 1), lies.get("contents", len(digests)))
    footer = struct.pack("<HII", *counts) + extractor + frames + b"".join(contents)
    end = struct.pack("<I8s", lies.get("footer", len(footer)), b"cplfacts")
    name = SegmentName(name.extractor, hashlib.sha256(footer).hexdigest())
    return name, b"cpl-segment 1.0\n" + packed + footer + end


FOOTERS: dict[str, dict[str, int]] = {
    "a bomb that says what it is": {"raw": 64 << 20},
    "a bomb that says less": {"raw": 300},
    "a frame that is not there": {"raw": 300, "frame": 7},
    "a longer frame": {"raw": 300, "length": 1 << 31},
    "four billion frames": {"raw": 300, "frames": 0xFFFFFFFF},
    "four billion contents": {"raw": 300, "contents": 0xFFFFFFFF},
    "contents larger than the frame": {"raw": 300, "size": 0xFFFFFFFF},
    "a footer larger than the file": {"raw": 300, "footer": 0xFFFFFFFF},
    "a shorter footer": {"raw": 300, "footer": 100},
    "no footer": {"raw": 300, "footer": 0},
}


@pytest.mark.parametrize("lie", FOOTERS)
def test_a_footer_that_lies_is_refused(
    reader: Machine, pushed: Path, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [python] = [name for name in segment_names(pushed) if name.extractor.startswith("python")]
    lies = dict(FOOTERS[lie])
    frame = zlib.compress(bytes(64 << 20), 9)
    put_segment(
        pushed,
        python,
        *forge_footer(python, sorted(records_of(pushed, python)), frame, lies.pop("raw"), **lies),
    )
    longest = 0
    real = zlib.decompressobj

    class Watched:
        def __init__(self) -> None:
            self._real = real()

        def decompress(self, data: bytes, most: int = 0) -> bytes:
            nonlocal longest
            raw = self._real.decompress(data, most)
            longest = max(longest, len(raw))
            return raw

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)

    monkeypatch.setattr(zlib, "decompressobj", Watched)
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))
    assert longest < 1 << 20


def test_a_bomb_in_the_columns_of_facts_is_not_unpacked(
    reader: Machine, pushed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull, "choose_sample", lambda _count: [])
    bomb = zlib.compress(bytes(4 << 20), 9)  # as much as the facts of so small a file may take

    def change(_: str, record: bytes) -> bytes:
        facts = read_record(record)
        return make_record(facts._replace(occurrences=bomb), facts.words) if facts.names else record

    forge_facts(pushed, change)
    message = assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))
    assert "too long or cut off" in message


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("damage", ["cut", "flipped", "longer", "random"])
def test_a_damaged_object_is_never_believed(
    author: Machine, reader: Machine, pushed: Path, damage: str, seed: int
) -> None:
    dice = random.Random(f"{damage} {seed}")
    files = [path for path in sorted(pushed.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    for path in dice.sample(files, 3):
        data = path.read_bytes()
        at = dice.randrange(len(data))
        path.write_bytes(
            {
                "cut": data[:at],
                "flipped": data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :],
                "longer": data + dice.randbytes(9),
                "random": dice.randbytes(len(data)),
            }[damage]
        )
    try:
        reader.pull(pushed)
    except (ArtifactInvalid, ArtifactTooNew):
        assert reader.blobs() == 0
    assert reader.facts() == author.facts()


@pytest.mark.parametrize("cut", [0, 1, 100, 511, 512, 600, -1024, -1025, -1])
def test_a_file_that_is_cut_off_is_refused(
    author: Machine, reader: Machine, tmp_path: Path, cut: int
) -> None:
    file = tmp_path / "facts.tar"
    author.export(file)
    data = file.read_bytes()
    end = len(data.rstrip(b"\0"))
    file.write_bytes(data[:cut] if cut >= 0 else data[: end + cut + 1024 - 512])
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.take(file))


@pytest.mark.parametrize("seed", range(2))
def test_random_bytes_are_no_file_of_facts(reader: Machine, tmp_path: Path, seed: int) -> None:
    file = tmp_path / "facts.tar"
    file.write_bytes(random.Random(seed).randbytes(5000))
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.take(file))


def _link(entry: tarfile.TarInfo) -> None:
    entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc/passwd", 0


def _device(entry: tarfile.TarInfo) -> None:
    entry.type, entry.size = tarfile.CHRTYPE, 0


ENTRIES: dict[str, Callable[[tarfile.TarInfo], None]] = {
    "an absolute path": lambda entry: setattr(entry, "name", "/etc/cron.d/x"),
    "a path that climbs": lambda entry: setattr(entry, "name", "facts/../../../x"),
    "a name that no object has": lambda entry: setattr(entry, "name", "facts/python/aa/x"),
    "a head of another repository": lambda entry: setattr(entry, "name", f"repo/{'0' * 32}/HEAD"),
    "a link": _link,
    "a device": _device,
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_file_with_anything_else_in_it_is_refused(
    author: Machine, reader: Machine, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "facts.tar"
    author.export(file)
    entry = tarfile.TarInfo("x")
    entry.size = 3
    ENTRIES[kind](entry)
    with tarfile.open(file, "a", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(entry, io.BytesIO(b"abc") if entry.size else None)
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.take(file))


def test_an_object_twice_in_a_file_is_refused(author: Machine, reader: Machine, tmp_path: Path) -> None:
    file = tmp_path / "facts.tar"
    author.export(file)
    with tarfile.open(file, "a", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(
            next(one for one in archive.getmembers() if one.name.endswith("HEAD")), io.BytesIO(bytes(99))
        )
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.take(file))


def test_a_file_that_is_a_link_or_a_directory_is_not_read(
    author: Machine, reader: Machine, tmp_path: Path
) -> None:
    author.export(tmp_path / "facts.tar")
    (tmp_path / "link.tar").symlink_to("facts.tar")
    for name in ("link.tar", ".", "nowhere.tar"):
        assert_nothing_taken(reader, FactStoreError, lambda name=name: reader.take(tmp_path / name))  # type: ignore[misc]


PATHS = ["/etc/passwd", "../x", "a/../../x", "./x", "a//b", "", "a\0b", "x" * 5000, ".."]


@pytest.mark.parametrize("path", PATHS)
def test_a_manifest_with_a_path_that_leads_out_is_refused(reader: Machine, pushed: Path, path: str) -> None:
    [file] = manifests(pushed)
    listing = read_manifest(file.read_bytes(), "m")
    contents = [(digest, "") for digest in listing.digests]
    forged = Manifest(listing.repository, listing.commit, "1", contents, listing.segments)
    forged.files = [FileRow(path, 0, 0o100644)]
    file.write_bytes(dump_manifest(forged))
    assert "leads out" in assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed)) or (
        not path or "\0" in path or len(path) > 4096
    )


ROWS: dict[str, bytes] = {
    "no JSON": b"{",
    "a kind that is none": b'["z"]\n',
    "no row": b"7\n",
    "a content that is none": b'["c","xyz","python"]\n',
    "a segment of contents that are not there": b'["s","python-0000000000000000","'
    + b"0" * 64
    + b'",[999]]\n',
    "a deep row": b"[" * 100_000,
    "an endless line": b" " * (9 << 20),
    "counts that are others": b"",
}


@pytest.mark.parametrize("kind", ROWS)
def test_a_manifest_of_another_form_is_refused(reader: Machine, pushed: Path, kind: str) -> None:
    [file] = manifests(pushed)
    head = json.dumps(["m", file.parent.name, file.name, "1", [9**9] * 4]).encode() + b"\n"
    write_manifest(file, head + ROWS[kind])
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))


def write_manifest(file: Path, text: bytes) -> None:
    body = zlib.compress(text)
    file.write_bytes(b"cpl-manifest 1.0 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_a_manifest_that_unpacks_to_gigabytes_is_refused(reader: Machine, pushed: Path) -> None:
    [file] = manifests(pushed)
    packer = zlib.compressobj(9)
    row = b'["c","' + b"0" * 64 + b'",""]\n'
    body = b"".join(packer.compress(row * 10_000) for _ in range(400)) + packer.flush()
    file.write_bytes(b"cpl-manifest 1.0 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))


def test_a_manifest_of_another_commit_is_refused(author: Machine, reader: Machine, pushed: Path) -> None:
    [file] = manifests(pushed)
    step = commit(author.repo, {"a.py": "a = 1\n"})
    git(reader.repo, "pull", "-q")
    file.rename(file.with_name(step))
    assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))


def test_a_newer_major_format_is_refused_and_a_newer_minor_one_is_read(reader: Machine, pushed: Path) -> None:
    [file] = manifests(pushed)
    data = file.read_bytes()
    file.write_bytes(set_version(data, "manifest", "2.0"))
    message = assert_nothing_taken(reader, ArtifactTooNew, lambda: reader.pull(pushed))
    assert "format 2.0" in message
    file.write_bytes(set_version(data, "manifest", "1.9"))
    assert reader.pull(pushed).from_store == 8


@pytest.mark.parametrize("place", ["facts", "have", "repo"])
def test_a_link_in_a_store_is_not_followed(
    author: Machine, reader: Machine, pushed: Path, place: str, tmp_path: Path
) -> None:
    (pushed / place).rename(tmp_path / "away")
    (pushed / place).symlink_to(tmp_path / "away")
    if place != "have":  # lists are asked for what a manifest doesn't say
        assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))
    before = sorted((tmp_path / "away").rglob("*"))
    commit(author.repo, {"new.py": "x = 1\n"})
    with pytest.raises(ArtifactInvalid):
        author.push(pushed)
    assert sorted((tmp_path / "away").rglob("*")) == before


def test_a_link_in_the_place_of_an_object_is_not_followed(
    reader: Machine, pushed: Path, tmp_path: Path
) -> None:
    for path in [*pushed.glob("facts/*/*/*"), *manifests(pushed)]:
        path.rename(tmp_path / "object")
        path.symlink_to(tmp_path / "object")
        assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))
        path.unlink()
        (tmp_path / "object").rename(path)
    assert reader.pull(pushed).from_store == 8


def test_a_segment_of_another_extractor_is_refused(reader: Machine, pushed: Path) -> None:
    """Facts read by one language's rules, offered as those of another."""
    python, words = (
        next(name for name in segment_names(pushed) if name.extractor.startswith(start))
        for start in ("python", "words")
    )
    data = (pushed / words.key).read_bytes()
    put_segment(pushed, python, SegmentName(python.extractor, words.digest), data)
    assert "another extractor" in assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))


def test_a_segment_under_the_name_of_another_is_refused(reader: Machine, pushed: Path) -> None:
    first, second = segment_names(pushed)[:2]
    (pushed / first.key).write_bytes((pushed / second.key).read_bytes())
    assert "another digest" in assert_nothing_taken(reader, ArtifactInvalid, lambda: reader.pull(pushed))


def test_a_file_about_another_repository_is_refused(author: Machine, reader: Machine, tmp_path: Path) -> None:
    author.export(tmp_path / "facts.tar")
    git(reader.repo, "checkout", "-q", "--orphan", "own")
    git(reader.repo, "rm", "-rqf", ".")
    commit(reader.repo, {"own.py": "x = 1\n"})
    for name in ("master", "main", "refs/remotes/origin/HEAD", "refs/remotes/origin/master"):
        git(reader.repo, "for-each-ref", name)
    git(reader.repo, "remote", "remove", "origin")
    git(reader.repo, "for-each-ref", "--format=delete %(refname)", "refs/heads", "--no-contains=HEAD")
    (reader.repo / ".git" / "packed-refs").unlink(missing_ok=True)
    git(reader.repo, "reflog", "expire", "--expire=now", "--all")
    git(reader.repo, "branch", "-D", *[
        name for name in git(reader.repo, "branch", "--format=%(refname:short)").split() if name != "own"
    ])  # fmt: skip
    git(reader.repo, "gc", "-q", "--prune=now")
    assert_nothing_taken(reader, ArtifactForeign, lambda: reader.take(tmp_path / "facts.tar"))


def test_a_file_of_a_commit_that_was_not_fetched_serves_the_one_that_is_here(
    author: Machine, reader: Machine, tmp_path: Path
) -> None:
    commit(author.repo, {"later.py": "later = 1\n"})
    author.export(tmp_path / "facts.tar")
    taken = reader.take(tmp_path / "facts.tar")
    assert (taken.commit, taken.from_store) == (git(reader.repo, "rev-parse", "HEAD"), 8)
