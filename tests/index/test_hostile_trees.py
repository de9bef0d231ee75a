"""Trees that no friendly program makes: the pass ends, and says of each file what became of it."""

import os
import random
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence, Tier
from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.names import FileFact, Index
from codeplane.working_tree import WorkingTree
from tests.drive import dig, git
from tests.index.conftest import tree_of

MEGABYTE = 1 << 20


def file_of(index: Index, path: str) -> FileFact | None:
    with index.snapshot() as snapshot:
        return snapshot.file(RepoPath(path))


def told(index: Index, path: str) -> str:
    """The state of a file and the reason for it."""
    found = file_of(index, path)
    return f"{found.state} {found.reason}".strip() if found else "absent"


def places(index: Index, name: str) -> list[tuple[str, int, int]]:
    with index.snapshot() as snapshot:
        return [(d.path, d.name_line, d.name_column) for d in snapshot.definitions_named(name, 20).items]


def absence(index: Index, name: str) -> Absence | None:
    with index.snapshot() as snapshot:
        return snapshot.definitions_named(name, 5).absence


def write(repo: Path, name: str | bytes, data: bytes) -> None:
    path = os.path.join(os.fsencode(repo), os.fsencode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def test_an_empty_repository_has_an_empty_index(tmp_path: Path, workers: Workers) -> None:
    repo = tmp_path / "empty"
    repo.mkdir()
    git(repo, "init", "-q")
    index = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    index.refresh()
    assert index.state().files == 0
    index.close()


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("nul.py", b"def f(): pass\n\0", "skipped binary"),
        ("large.py", b"x = 1\n" * MEGABYTE, "skipped larger than 5 MB"),
        ("line.py", b"x" * (50 * MEGABYTE), "skipped larger than 5 MB"),
        ("notes.unknown", b"word\n" * 1_000_000, "skipped no grammar for this kind of file"),
        ("utf16.py", "def f(): pass\n".encode("utf-16"), "skipped binary"),
        ("empty.py", b"", "ok"),
    ],
)
def test_odd_content_is_reported(index: Index, repo: Path, name: str, data: bytes, expected: str) -> None:
    write(repo, name, data)
    write(repo, "good.py", b"def good(): pass\n")
    index.refresh()
    assert told(index, name) == expected
    assert places(index, "good") == [("good.py", 1, 4)]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["lines.py", "lines.md", "lines.json", "lines.css"])
def test_a_million_lines_are_done_with(index: Index, repo: Path, name: str) -> None:
    write(repo, name, b"x=1\n" * 1_000_000)
    index.refresh()
    found = file_of(index, name)
    assert found is not None and (found.lines == 1_000_000 or found.reason)


@pytest.mark.soak
def test_a_line_of_50_mb_with_many_words_is_searched_by_words(index: Index, repo: Path) -> None:
    write(repo, "line.json", b"[" + b" ".join(b"w%dx" % n for n in range(5 * MEGABYTE)) + b"]")
    index.refresh()
    with index.snapshot() as snapshot:
        assert [file.path for file in snapshot.files_with_words(["w4000000x"], 5).items] == ["line.json"]


@pytest.mark.soak
def test_a_minified_script_of_4_mb_is_done_with(index: Index, repo: Path) -> None:
    write(repo, "app.min.js", b"!function(e,t){var n=e[t],r=n&&n.x?n.x(e):{a:1};return r}(this,0);" * 64_000)
    index.refresh()
    assert told(index, "app.min.js") != "absent"


def test_aliases_that_are_made_of_each_other_are_done_with(index: Index, repo: Path) -> None:
    draw = random.Random(1)
    parts = [" & ".join(f"A{other}" for other in draw.sample(range(40), 3)) for _ in range(40)]
    lines = [f"export type A{at} = {part} & {{ x: 1 }};\n" for at, part in enumerate(parts)]
    write(repo, "ring.ts", "".join([*lines, "export function f(a: A0) { a.x; }\n"]).encode())
    began = time.process_time()
    index.refresh()
    with index.snapshot() as snapshot:
        [found] = [ref for ref in snapshot.references_in(RepoPath("ring.ts")) if ref.receiver == "a"]
    assert found.tier is Tier.ANCHORED
    assert time.process_time() - began < 20


def test_more_keys_than_are_kept_are_reported(index: Index, repo: Path) -> None:
    write(repo, "data.json", b'{"first": 1' + b"".join(b',"k%d":{}' % n for n in range(20_000)) + b"}")
    index.refresh()
    assert told(index, "data.json") == "partial more than 10000 definitions"
    assert places(index, "first") == [("data.json", 1, 2)]
    assert places(index, "k9998") and not places(index, "k9999")


def test_content_that_is_not_utf8_keeps_its_places(index: Index, repo: Path) -> None:
    write(repo, "latin.py", b"# gr\xf6\xdfe\ngr\xf6\xdfe = 1\ndef after(): pass\n")
    index.refresh()
    assert places(index, "after") == [("latin.py", 3, 4)]


def test_lines_end_with_line_feeds_alone(index: Index, repo: Path) -> None:
    write(repo, "mixed.py", b"a = 1\r\ndef one(): pass\n# old\rb = 2\r\n\tdef two(): pass\r\n")
    index.refresh()
    assert places(index, "one") == [("mixed.py", 2, 4)]
    assert places(index, "two") == [("mixed.py", 4, 5)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.py", b"first = 1\nsecond = 2\n"),
        ("m.toml", b"first = 1\nsecond = 2\n"),
        ("m.yml", b"first: 1\nsecond: 2\n"),
    ],
)
def test_a_byte_order_mark_counts_as_bytes(index: Index, repo: Path, name: str, text: bytes) -> None:
    write(repo, name, b"\xef\xbb\xbf" + text)
    index.refresh()
    assert told(index, name) == "ok"
    assert places(index, "first") == [(name, 1, 3)] and places(index, "second") == [(name, 2, 0)]


ODD_NAMES = [
    b"new\nline.py",
    b"-rf.py",
    b"--help.py",
    b"trailing .py ",
    b" leading.py",
    b"quo\"te'.py",
    b"back\\slash.py",
    b"bell\x07.py",
    b"lat\xecn.py",
    b"cut\xe2\x82.py",
    "\u202ertl.py".encode(),
    b"*.py",
    b"[a].py",
    b"!not.py",
    b"#hash.py",
    b"a" * 250 + b".py",
]


def test_odd_names_are_kept_byte_by_byte(index: Index, repo: Path) -> None:
    for at, name in enumerate(ODD_NAMES):
        write(repo, name, b"def odd%d(): pass\n" % at)
    index.refresh()
    with index.snapshot() as snapshot:
        seen = {os.fsencode(fact.path) for fact in snapshot.files(100).items} - {b"README.md"}
    assert seen == set(ODD_NAMES)
    for at, name in enumerate(ODD_NAMES):
        if name.endswith(b".py"):
            assert [os.fsencode(path) for path, *_ in places(index, f"odd{at}")] == [name]


def test_names_that_differ_by_case_are_two_files(index: Index, repo: Path) -> None:
    write(repo, "Case.py", b"def upper(): pass\n")
    write(repo, "case.py", b"def lower(): pass\n")
    if len(list(repo.glob("*.py"))) == 1:
        pytest.skip("this file system does not tell them apart")
    index.refresh()
    assert (places(index, "upper"), places(index, "lower")) == ([("Case.py", 1, 4)], [("case.py", 1, 4)])


def test_links_are_not_followed_and_say_where_they_lead(repo: Path, tmp_path: Path, index: Index) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    write(outside, "secret.py", b"def secret(): pass\n")
    write(repo, "real.py", b"def real(): pass\n")
    for name, target in {
        "self": "self",
        "a": "b",
        "b": "a",
        "loop": ".",
        "up": "..",
        "out": str(outside),
        "out.py": str(outside / "secret.py"),
        "gone.py": "nowhere.py",
        "in.py": "real.py",
        "device.py": "/dev/zero",
    }.items():
        (repo / name).symlink_to(target)
    index.refresh()
    assert places(index, "secret") == [] and places(index, "real") == [("real.py", 1, 4)]
    delta = tree_of(repo).reconcile({})
    assert delta.links[RepoPath("in.py")] == "real.py"
    assert {"self", "a", "b", "out", "out.py", "up", "gone.py", "device.py"} <= set(delta.refused)


def test_what_is_no_file_is_refused_with_its_kind(
    repo: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(repo / "pipe.py")
    monkeypatch.chdir(repo)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.py")
    expected = {"pipe.py": "It is a FIFO.", "socket.py": "It is a socket."}
    if os.geteuid() == 0:
        try:
            os.mknod("device.py", stat.S_IFCHR | 0o600, os.makedev(1, 5))
            expected["device.py"] = "It is a device."
        except OSError:
            pass  # containers may not
    index.refresh()
    tree = tree_of(repo)
    assert {name: tree.why_absent(RepoPath(name)) for name in expected} == expected
    assert index.state().files == 1


def test_files_that_cannot_be_read_are_reported(repo: Path, tmp_path: Path, workers: Workers) -> None:
    write(repo, "large.bin", b"x" * 2000)
    write(repo, "closed.py", b"def closed(): pass\n")
    write(repo, "locked/inner.py", b"def inner(): pass\n")
    (repo / "closed.py").chmod(0)
    (repo / "locked").chmod(0)
    tree = WorkingTree(repo, open_repository(repo, trusted=False), largest=1000)
    index = Index.open(tmp_path / "i.db", tree, workers)
    index.refresh()
    assert "the most is 1000" in (tree.why_absent(RepoPath("large.bin")) or "")
    if os.geteuid() != 0:
        assert told(index, "closed.py") == "absent" and tree.why_absent(RepoPath("closed.py"))
        assert tree.why_absent(RepoPath("locked"))
    (repo / "locked").chmod(0o700)
    write(repo, "large.bin", b"x")
    index.refresh()
    assert tree.why_absent(RepoPath("large.bin")) is None
    index.close()


def test_what_cannot_be_read_is_no_proof_that_a_name_is_nowhere(
    repo: Path, tmp_path: Path, workers: Workers
) -> None:
    tree = WorkingTree(repo, open_repository(repo, trusted=False), largest=1000)
    index = Index.open(tmp_path / "i.db", tree, workers)
    write(repo, "large.bin", b"x\0" * 1000)
    index.refresh()
    assert absence(index, "lost") == Absence.PROVEN_NONE and tree.problems() == []
    write(repo, "large.py", b"def lost(): pass\n" * 100)
    index.refresh()
    assert absence(index, "lost") == Absence.NOT_INDEXED
    assert tree.problems() == ["large.py has 1700 bytes; the most is 1000."]
    write(repo, "large.py", b"def found(): pass\n")
    index.refresh()
    assert absence(index, "lost") == Absence.PROVEN_NONE and tree.problems() == []
    index.close()


@pytest.mark.parametrize("data", [b"def lost(): pass\n\0", "def lost(): pass\n".encode("utf-16")])
def test_code_that_is_not_read_is_no_proof_that_a_name_is_nowhere(
    repo: Path, index: Index, data: bytes
) -> None:
    write(repo, "odd.py", data)
    index.refresh()
    assert told(index, "odd.py") == "skipped binary"
    assert absence(index, "lost") == Absence.LANGUAGE_GAP
    assert absence(index, "nowhere") == Absence.PROVEN_NONE


def test_a_directory_that_is_too_deep_to_enter_is_told(repo: Path, index: Index) -> None:
    os.close(dig(repo, 25))
    index.refresh()
    assert absence(index, "lost") == Absence.NOT_INDEXED


def test_very_deep_directories_end(repo: Path, index: Index) -> None:
    """A path may be longer than the system takes in one piece."""
    write(repo, "/".join(["d"] * 300) + "/deep.py", b"def deep(): pass\n")
    here = dig(repo, 40)
    os.close(os.open("lost.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    index.refresh()
    assert [path.count("/") for path, *_ in places(index, "deep")] == [300]
    index.refresh()


@pytest.fixture
def churned(repo: Path) -> Iterator[Path]:
    """A repository in which a directory turns into a file and back all the time."""
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            write(repo, "thing/inner.py", b"def inner(): pass\n")
            time.sleep(0.001)
            (repo / "thing/inner.py").unlink()
            (repo / "thing").rmdir()
            (repo / "thing").write_bytes(b"def thing(): pass\n")
            time.sleep(0.001)
            (repo / "thing").unlink()

    worker = threading.Thread(target=churn)
    worker.start()
    yield repo
    stop.set()
    worker.join()


def test_a_directory_that_turns_into_a_file_stops_nothing(churned: Path, index: Index) -> None:
    write(churned, "good.py", b"def good(): pass\n")
    for _ in range(100):
        index.refresh()
    assert places(index, "good") == [("good.py", 1, 4)]
