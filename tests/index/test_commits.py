"""Any commit is answered from, without a checkout."""

import hashlib
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from codeplane.core.errors import RevisionNotFound, UnsupportedRepository
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence
from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.index.dump import dump
from codeplane.names import Index
from codeplane.parsing.workers import Job
from codeplane.working_tree import CommitTree, Content, GapKind
from codeplane.working_tree import commit as truth_commit
from tests.drive import git, new_repo
from tests.index.conftest import tree_of
from tests.index.test_index import text_of


def commit(repo: Path, files: Mapping[str, str | bytes]) -> str:
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_bytes(text.encode() if isinstance(text, str) else text)
    git(repo, "add", "-A", "-f")
    git(repo, "commit", "-qm", "step")
    return git(repo, "rev-parse", "HEAD")


def names(index: Index, rev: str) -> dict[str, list[str]]:
    with index.commit_snapshot(rev) as snapshot:
        files = snapshot.files(100).items
        return {f.path: [d.name for d in snapshot.definitions_in(f.path, 99).items] for f in files}


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Job]]:
    """The jobs that workers are given from now on; they are done all the same."""
    seen: list[Job] = []
    real = Workers.extract

    def watch(self: Workers, wanted: Iterator[Job]) -> Iterator[object]:
        def tell() -> Iterator[Job]:
            for job in wanted:
                seen.append(job)
                yield job

        return real(self, tell())

    monkeypatch.setattr(Workers, "extract", watch)
    yield seen


def test_a_commit_is_found_by_branch_tag_id_and_expression(index: Index, repo: Path) -> None:
    first = commit(repo, {"a.py": "def one(): pass\n"})
    git(repo, "tag", "-a", "v1", "-m", "v1")
    git(repo, "branch", "old")
    commit(repo, {"a.py": "def two(): pass\n"})
    for rev in ("old", "v1", first, first[:10], "HEAD~1", "refs/heads/old"):
        assert names(index, rev)["a.py"] == ["one"], rev
    assert names(index, "HEAD")["a.py"] == ["two"]


def test_a_file_on_the_disk_is_not_taken_for_that_of_the_commit(index: Index, repo: Path) -> None:
    commit(repo, {"a.py": "def one(): pass\n", "b.py": "def b(): pass\n", "c.py": "def c(): pass\n"})
    (repo / "a.py").write_text("def two(): pass\n")
    (repo / "b.py").unlink()
    (repo / "b.py").symlink_to("a.py")
    (repo / "c.py").unlink()
    (repo / "c.py").mkdir()
    assert {path: names(index, "HEAD")[path] for path in ("a.py", "b.py", "c.py")} == {
        "a.py": ["one"],
        "b.py": ["b"],
        "c.py": ["c"],
    }


def test_the_working_tree_is_neither_searched_nor_touched(index: Index, repo: Path) -> None:
    commit(repo, {"a.py": "def one(): pass\n", "b.py": "def b(): pass\n"})
    (repo / "a.py").write_text("def dirty(): pass\n")
    (repo / "b.py").unlink()
    index.refresh()
    assert names(index, "HEAD")["b.py"] == ["b"]
    assert (repo / "a.py").read_text() == "def dirty(): pass\n" and not (repo / "b.py").exists()
    with index.snapshot() as snapshot:
        assert snapshot.definitions_named("dirty", 5).items and not snapshot.definitions_named("b", 5).items


def test_a_clean_tree_and_its_commit_have_the_same_facts(index: Index, repo: Path) -> None:
    commit(repo, {"a.py": "def one(): pass\n", "run": "#!/usr/bin/env python3\nx = 1\n", "n/ü.txt": "text\n"})
    index.refresh()
    with index.commit_snapshot("HEAD"), index.database.read() as connection:
        [[key]] = connection.execute("SELECT key FROM view WHERE key LIKE 'commit:%'").fetchall()
        assert "\n".join(dump(connection, key)) == text_of(index)


def test_only_contents_never_seen_are_read(index: Index, repo: Path, jobs: list[Job]) -> None:
    commit(repo, {f"m{n}.py": f"x{n} = {n}\n" for n in range(30)})
    index.refresh()
    assert len(jobs) == 31
    del jobs[:]
    names(index, "HEAD")
    assert not jobs
    commit(repo, {"m3.py": "changed = 1\n"})
    names(index, "HEAD")
    assert [job.data for job in jobs] == [b"changed = 1\n"]


def test_objects_are_hashed_once(index: Index, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, {f"m{n}.py": f"x{n} = {n}\n" for n in range(30)})
    names(index, "HEAD")
    commit(repo, {"m3.py": "changed = 1\n"})
    read: list[str] = []
    real = CommitTree.contents

    def tell(tree: CommitTree, oids: Iterable[str]) -> dict[str, Content | GapKind]:
        read.extend(oids)
        return real(tree, oids)

    monkeypatch.setattr(CommitTree, "contents", tell)
    names(index, "HEAD")
    assert read == [git(repo, "rev-parse", "HEAD:m3.py")]


def test_what_is_kept_back_today_is_not_read_from_an_old_commit(index: Index, repo: Path) -> None:
    commit(
        repo,
        {
            ".env": "KEY=1\n",
            "gen/x.py": "x = 1\n",
            "a.pyc": b"\0",
            "node_modules/own.js": "",
            "a.py": "y = 1\n",
        },
    )
    assert set(names(index, "HEAD")) == {"README.md", "gen/x.py", "node_modules/own.js", "a.py"}
    (repo / ".cplignore").write_text("gen/\n")
    assert set(names(index, "HEAD")) == {"README.md", "node_modules/own.js", "a.py"}


@pytest.mark.parametrize(
    "rev", ["nope", "HEAD~9", "f" * 40, "-x", "", "a..b", "HEAD^{tree}", "x" * 999, "HEAD\0"]
)
def test_a_commit_that_is_not_there_is_named(index: Index, rev: str) -> None:
    with pytest.raises(RevisionNotFound), index.commit_snapshot(rev):
        pass


def test_a_shallow_clone_says_that_it_is_one(repo: Path, tmp_path: Path, workers: Workers) -> None:
    commit(repo, {"a.py": "x = 1\n"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    index = Index.open(tmp_path / "s.db", tree_of(tmp_path / "shallow"), workers)
    assert "a.py" in names(index, "HEAD")
    with pytest.raises(RevisionNotFound, match="shallow") as caught, index.commit_snapshot("HEAD~1"):
        pass
    assert "git fetch --unshallow" in caught.value.hints
    index.close()


def test_links_and_submodules_are_told_and_hide_nothing(index: Index, repo: Path) -> None:
    (repo / "link.py").symlink_to("a.py")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{git(repo, 'rev-parse', 'HEAD')},sub")
    (repo / "a.py").write_text("x = 1\n")
    git(repo, "add", "a.py", "link.py")
    git(repo, "commit", "-qm", "both")
    with index.commit_snapshot("HEAD") as snapshot:
        told = {str(gap.path): (gap.kind, gap.detail) for gap in snapshot.gaps(9).items}
        assert told["link.py"] == (GapKind.LINK, "a.py")
        assert told["sub"][0] is GapKind.SUBMODULE
        assert not any(kind.hides_content for kind, _ in told.values())
        assert snapshot.definitions_named("nowhere", 5).absence is Absence.PROVEN_NONE


def test_an_lfs_pointer_stands_for_content_when_that_has_been_seen(index: Index, repo: Path) -> None:
    real = b"def from_the_store(): pass\n"
    oid = hashlib.sha256(real).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(real)}\n"
    commit(repo, {"big.py": pointer})
    with index.commit_snapshot("HEAD") as snapshot:
        [gap] = snapshot.gaps(9).items
        assert (gap.path, gap.kind) == ("big.py", GapKind.POINTER) and gap.kind.hides_content
        assert snapshot.definitions_named("from_the_store", 5).absence is Absence.NOT_INDEXED
    (repo / "big.py").write_bytes(real)
    index.refresh()
    assert names(index, "HEAD")["big.py"] == ["from_the_store"]


def test_a_missing_object_costs_its_file_alone(index: Index, repo: Path) -> None:
    commit(repo, {"a.py": "def a(): pass\n", "lost.py": "def lost(): pass\n", "d/x.py": "x = 1\n"})
    for rev in ("HEAD:lost.py", "HEAD:d"):
        oid = git(repo, "rev-parse", rev)
        (repo / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with index.commit_snapshot("HEAD") as snapshot:
        gaps = snapshot.gaps(9).items
        assert [gap.path for gap in gaps] == ["d", "lost.py"]
        assert all(gap.kind.hides_content for gap in gaps)
        assert snapshot.definitions_named("a", 5).items
        assert snapshot.definitions_named("lost", 5).absence is Absence.NOT_INDEXED


def hash_tree(repo: Path, entries: bytes) -> str:
    made = subprocess.run(
        ["git", "hash-object", "-t", "tree", "--literally", "-w", "--stdin"],
        cwd=repo, input=entries, capture_output=True, check=True,
    )  # fmt: skip
    return made.stdout.decode().strip()


def commit_tree(repo: Path, tree: str) -> str:
    return git(repo, "commit-tree", tree, "-m", "hostile")


def test_hostile_names_are_left_out(index: Index, repo: Path) -> None:
    blob = bytes.fromhex(git(repo, "rev-parse", "HEAD:README.md"))
    bad = [b"..", b".", b".git", b".GIT", b".codeplane", b"a/b", b"../../x"]
    tree = hash_tree(repo, b"".join(b"100644 " + name + b"\0" + blob for name in [*bad, b"ok.txt"]))
    try:
        found = names(index, commit_tree(repo, tree))
    except RevisionNotFound:
        return
    assert set(found) <= {"ok.txt"}


def test_a_tree_that_names_itself_over_and_over_has_an_end(
    index: Index, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth_commit, "_MOST_ENTRIES", 50_000)
    oid = bytes.fromhex(git(repo, "rev-parse", "HEAD:README.md"))
    mode = b"100644"
    for _ in range(9):
        entries = b"".join(mode + b" f%02d" % n + b"\0" + oid for n in range(40))
        oid, mode = bytes.fromhex(hash_tree(repo, entries)), b"40000"
    with pytest.raises(UnsupportedRepository), index.commit_snapshot(commit_tree(repo, oid.hex())):
        pass


def test_a_repository_of_another_object_format_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "other")
    with pytest.raises(UnsupportedRepository, match="sha256"):
        open_repository(tmp_path / "other", trusted=False)


def test_a_large_commit_is_read_in_parts_and_found_whole(tmp_path: Path, workers: Workers) -> None:
    repo = new_repo(tmp_path / "many", {f"m{n}.py": f"def f{n}(): pass\n" for n in range(450)})
    index = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    with index.commit_snapshot("HEAD") as snapshot:
        assert snapshot.coverage.unread == 0
        assert snapshot.file(RepoPath("m449.py"))
        assert all(snapshot.definitions_named(f"f{n}", 5).items for n in range(450))
    assert index.state().files == 0
    index.close()
