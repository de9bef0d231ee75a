import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Absence, Tier
from codeplane.index import WORKING_VIEW, Workers
from codeplane.index.dump import dump
from codeplane.names import Index
from codeplane.parsing.pack import Packed
from codeplane.parsing.workers import Job, read_job
from tests import zygote
from tests.drive import git, new_repo
from tests.index.conftest import tree_of

SOURCE = """\
import os


class Base:
    limit = 3

    def go(self, count):
        return self.limit + count


def helper():
    thing = Base()
    return thing.go(os.name)
"""


def text_of(index: Index) -> str:
    with index.database.read() as connection:
        return "\n".join(dump(connection, WORKING_VIEW))


def fresh(repo: Path, file: Path, workers: Workers) -> str:
    made = Index.open(file, tree_of(repo), workers)
    made.refresh()
    text = text_of(made)
    made.close()
    return text


def test_facts_are_there_after_a_refresh(index: Index, repo: Path) -> None:
    (repo / "app.py").write_text(SOURCE)
    index.refresh()
    with index.snapshot() as snapshot:
        [go] = snapshot.definitions_named("go", 10).items
        assert (go.path, go.lexical_path, go.kind, go.span.start_line) == ("app.py", "Base.go", "method", 7)
        [limit] = snapshot.references_named("limit", 10).items
        assert (limit.line, limit.tier, limit.receiver) == (8, Tier.PROVEN, "self")
        [used] = snapshot.references_named("go", 10).items
        assert (used.line, used.tier, used.receiver) == (13, Tier.STRONG, "thing")
        assert used.target == (Place(RepoPath("app.py"), go.position),)
        [imported] = snapshot.imports("app.py")
        assert imported.module == "os"


def test_another_process_writes_and_the_next_refresh_sees_it(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("def one(): pass\n")
    first = index.refresh()
    subprocess.run(["sh", "-c", "printf 'def two(): pass\\n' > a.py"], cwd=repo, check=True)
    assert index.refresh() > first
    with index.snapshot() as snapshot:
        assert snapshot.definitions_named("one", 5).items == []
        assert len(snapshot.definitions_named("two", 5).items) == 1


def test_nothing_changed_is_no_new_epoch(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    assert index.refresh() == index.refresh()
    os.utime(repo / "a.py", (1, 1))
    before = index.refresh()
    assert index.refresh() == before


def test_content_that_was_read_once_is_not_read_again(
    index: Index, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "a.py").write_text(SOURCE)
    index.refresh()
    (repo / "a.py").write_text("x = 1\n")
    index.refresh()

    def refuse(_self: Workers, jobs: object) -> list[object]:
        assert list(jobs) == []  # type: ignore[call-overload]
        return []

    monkeypatch.setattr(Workers, "extract", refuse)
    (repo / "a.py").write_text(SOURCE)
    (repo / "copy.py").write_text(SOURCE)
    index.refresh()
    with index.snapshot() as snapshot:
        assert len(snapshot.definitions_named("helper", 5).items) == 2


def test_facts_of_another_version_are_read_again(repo: Path, tmp_path: Path, workers: Workers) -> None:
    (repo / "old.py").write_text("def one(): pass\n")
    (repo / "new.py").write_text("def two(): pass\n")
    (repo / "same.py").write_text("def three(): pass\n")
    made = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    made.refresh()
    with made.database.write() as connection:
        # One was read by another version, the other when there was no such language.
        for table in ("definition", "ref"):
            connection.execute(
                f"DELETE FROM {table} WHERE blob IN (SELECT blob FROM entry WHERE path <> 'same.py')"
            )
        connection.execute(
            "UPDATE blob SET extractor = 'old' WHERE id IN (SELECT blob FROM entry WHERE path = 'old.py')"
        )
        connection.execute(
            "UPDATE blob SET language = '', extractor = 'words-1'"
            " WHERE id IN (SELECT blob FROM entry WHERE path = 'new.py')"
        )
    made.close()
    opened = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    opened.refresh()
    with opened.snapshot() as snapshot:
        found = {name: len(snapshot.definitions_named(name, 5).items) for name in ("one", "two", "three")}
        was, now = snapshot.contents_at(1), snapshot.layout.blobs
        assert sorted(path for path in now if was.get(path) != now[path]) == ["new.py", "old.py"]
    opened.close()
    assert found == {"one": 1, "two": 1, "three": 1}


def test_words_are_found_whole_and_in_parts(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("def getUserName(user_id): pass\n")
    (repo / "notes.txt").write_text("the username of a HTTPServer\n")
    index.refresh()
    with index.snapshot() as snapshot:
        found = {word: [f.path for f in snapshot.files_with_words([word], 9).items] for word in
                 ("getUserName", "user", "user_id", "server", "username", "nothing_like_it")}  # fmt: skip
    assert found == {
        "getUserName": ["a.py"],
        "user": ["a.py"],
        "user_id": ["a.py"],
        "server": ["notes.txt"],
        "username": ["notes.txt"],
        "nothing_like_it": [],
    }


def test_an_empty_answer_says_why(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    (repo / "notes.txt").write_text("only_in_text\n")
    index.refresh()
    with index.snapshot() as snapshot:
        assert snapshot.definitions_named("nowhere", 5).absence is Absence.PROVEN_NONE
        assert snapshot.definitions_named("only_in_text", 5).absence is Absence.LANGUAGE_GAP
        assert snapshot.definitions_in(RepoPath("gone.py"), 5).absence is Absence.NOT_INDEXED
    (repo / "broken.py").write_text("def f(:\n  (((\nlost\n")
    (repo / "said.py").write_text("# only_in_comments\n")
    index.refresh()
    with index.snapshot() as snapshot:
        assert snapshot.definitions_named("lost", 5).absence is Absence.PARSE_PARTIAL
        assert snapshot.definitions_named("nowhere", 5).absence is Absence.PROVEN_NONE
        assert snapshot.definitions_named("only_in_comments", 5).absence is Absence.PROVEN_NONE
        broken = snapshot.file(RepoPath("broken.py"))
        assert broken is not None and broken.state in ("partial", "failed") and broken.reason


def test_an_answer_says_how_much_of_the_view_it_is_from(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    (repo / "broken.py").write_text("def f(:\n  (((\n")
    (repo / "notes.txt").write_text("text\n")
    index.refresh()
    with index.snapshot() as snapshot:
        coverage = snapshot.definitions_named("x", 5).coverage
        assert (coverage.unread, coverage.partial + coverage.failed) == (0, 1)
        assert coverage.unparsed and not coverage.is_whole
    (repo / "broken.py").unlink()
    index.refresh()
    with index.snapshot() as snapshot:
        assert snapshot.coverage == coverage._replace(files=coverage.files - 1, partial=0, failed=0)
        assert snapshot.coverage.is_whole


def test_a_name_is_found_whatever_its_length_and_alphabet(index: Index, repo: Path) -> None:
    names = ["x" * 300, "größe", "ﬁx", "_", "\u2118x", "getUserName"]
    for at, name in enumerate(names):
        (repo / f"f{at}.py").write_text(f"print({name})\n")
    index.refresh()
    with index.snapshot() as snapshot:
        for at, name in enumerate(names):
            assert [used.path for used in snapshot.references_named(name, 10).items] == [f"f{at}.py"], name


def test_answers_are_bounded(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("".join(f"x = {n}\nprint(x)\n" for n in range(50)))
    index.refresh()
    with index.snapshot() as snapshot:
        found = snapshot.references_named("print", 10)
    assert len(found.items) == 10 and found.truncated


def test_a_branch_switch_is_followed(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("def on_main(): pass\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a")
    index.refresh()
    git(repo, "checkout", "-qb", "other")
    (repo / "a.py").write_text("def on_other(): pass\n")
    git(repo, "commit", "-qam", "b")
    index.refresh()
    git(repo, "checkout", "-q", "main")
    index.refresh()
    with index.snapshot() as snapshot:
        assert [f.path for f in snapshot.definitions_named("on_main", 5).items] == ["a.py"]
        assert snapshot.definitions_named("on_other", 5).items == []


def test_two_cold_runs_agree_whatever_the_number_of_workers(tmp_path: Path) -> None:
    files = {f"pkg/m{n}.py": SOURCE.replace("helper", f"helper_{n}") for n in range(260)}
    repo = new_repo(tmp_path / "many", files)
    texts = []
    for count in (1, 3):
        workers = Workers(count)
        texts.append(fresh(repo, tmp_path / f"{count}.db", workers))
        workers.close()
    assert texts[0] == texts[1] and texts[0].count("helper_259") > 1


def test_progress_is_reported_and_reaches_the_end(tmp_path: Path, workers: Workers) -> None:
    repo = new_repo(tmp_path / "many", {f"m{n}.py": f"x{n} = {n}\n" for n in range(250)})
    index = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    seen: list[tuple[int, int]] = []
    index.refresh(lambda done, total, _message: seen.append((done, total)))
    assert seen == sorted(seen) and seen[-1] == (250, 250)
    index.close()


@pytest.mark.parametrize("damage", ["schema", "garbage", "page"])
def test_a_damaged_index_is_made_anew_and_says_so(
    repo: Path, tmp_path: Path, workers: Workers, damage: str
) -> None:
    (repo / "a.py").write_text(SOURCE)
    file = tmp_path / "i.db"
    expected = fresh(repo, file, workers)
    data = file.read_bytes()
    if damage == "schema":
        file.write_bytes(data[:60] + (99).to_bytes(4, "big") + data[64:])
    elif damage == "garbage":
        file.write_bytes(b"garbage" * 1000)
    else:
        file.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
    index = Index.open(file, tree_of(repo), workers)
    assert index.state().rebuilt
    index.refresh()
    assert text_of(index) == expected
    index.close()


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_link_in_the_place_of_the_index_is_not_written_through(
    repo: Path, tmp_path: Path, workers: Workers, suffix: str
) -> None:
    file, aim = tmp_path / "i.db", tmp_path / "elsewhere"
    file.with_name(f"i.db{suffix}").symlink_to(aim)
    index = Index.open(file, tree_of(repo), workers)
    assert index.state().rebuilt == "something else is in its place"
    index.refresh()
    index.close()
    assert not aim.exists() and file.is_file() and not file.is_symlink()


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_index_that_the_repository_brings_along_is_not_believed(
    repo: Path, workers: Workers, version: str
) -> None:
    (repo / "a.py").write_text("def a(): pass\n")
    state = repo / ".codeplane"
    state.mkdir()
    fresh(repo, state / "index.db", workers)
    assert opened_anew(repo, workers) == ""
    (state / "index.da").touch()
    git(repo, "-c", f"index.version={version}", "add", "-f", ".codeplane")
    assert opened_anew(repo, workers) == "git tracks it, and what it says is the repository's word"


def opened_anew(repo: Path, workers: Workers) -> str:
    index = Index.open(repo / ".codeplane" / "index.db", tree_of(repo), workers)
    why = index.state().rebuilt
    index.close()
    return why


def read_or_die(job: Job) -> Packed:
    if job.data == b"poison":
        os.kill(os.getpid(), signal.SIGKILL)
    return read_job(job)


def test_a_worker_that_dies_costs_one_file_its_facts() -> None:
    workers = Workers(1, read_or_die)
    jobs = [Job(n, "python", f"x{n} = {n}\n".encode()) for n in range(5)]
    jobs.insert(2, Job(5, "python", b"poison"))
    done = {d.number: d.packed.state for chunk in workers.extract(jobs) for d in chunk}
    workers.close()
    assert done == {0: "ok", 1: "ok", 2: "ok", 3: "ok", 4: "ok", 5: "failed"}


def test_a_worker_that_cannot_begin_costs_no_file_its_facts(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "a.py").write_text("def a(): pass\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    workers = Workers(1)
    index = Index.open(tmp_path / "i.db", tree_of(repo), workers)
    monkeypatch.setattr("os.getcwd", lambda: str(gone))
    gone.rmdir()
    index.refresh()
    assert index.state().unread == 2
    monkeypatch.undo()
    index.refresh()
    with index.snapshot() as snapshot:
        assert [one.path for one in snapshot.definitions_named("a", 5).items] == ["a.py"]
    index.close()
    workers.close()


def test_workers_that_were_prepared_are_the_ones_that_work() -> None:
    workers = Workers(2)
    assert workers.are_missing
    workers.prepare(["python"])
    assert not workers.are_missing
    workers.prepare(["python"])
    jobs = [Job(n, "python", b"x = 1\n" * 9_000) for n in range(4)]
    states = [done.packed.state for chunk in workers.extract(jobs) for done in chunk]
    assert states == ["ok"] * 4 and not workers.are_missing
    workers.close()
    assert workers.are_missing


def test_idle_workers_live_on_while_somebody_may_need_them() -> None:
    workers = Workers(1)
    list(workers.extract([Job(0, "", b"words")]))
    workers.keep()
    workers._retire_idle()
    assert not workers.are_missing
    workers._used -= 3600
    workers._retire_idle()
    assert workers.are_missing


class Kills:
    """A first pass over 600 files, begun again and again and killed each time."""

    def __init__(self, base: Path) -> None:
        files = {f"p{n % 7}/m{n}.py": SOURCE.replace("helper", f"helper_{n}") for n in range(600)}
        self.repo = new_repo(base / "many", files)
        self.file = base / "i.db"

    def kill(self, wait: Callable[[IO[bytes]], object]) -> None:
        command = [sys.executable, "-m", "tests.index.build", str(self.repo), str(self.file)]
        process = zygote.Popen(command, cwd=zygote.ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        wait(process.stdout)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()

    def check(self, workers: Workers) -> None:
        resumed = fresh(self.repo, self.file, workers)
        assert resumed == fresh(self.repo, self.file.with_name("new.db"), workers)
        assert json.dumps(resumed).count("helper_") > 600


def after_steps(count: int, seconds: float = 0) -> Callable[[IO[bytes]], None]:
    def wait(steps: IO[bytes]) -> None:
        for _ in range(count):
            steps.readline()
        time.sleep(seconds)

    return wait


@pytest.mark.parametrize("round_", range(4))
def test_a_kill_at_any_moment_is_recovered_from(tmp_path: Path, workers: Workers, round_: int) -> None:
    kills = Kills(tmp_path)
    # The first falls into the start and the first publication, the others between and inside batches.
    kills.kill(lambda _: time.sleep(0.05 + 0.08 * round_))
    for number in range(1, 5):
        kills.kill(after_steps(1 + (2 * number + round_) % 8))
    kills.check(workers)


@pytest.mark.soak
@pytest.mark.parametrize("round_", range(20))
def test_two_hundred_kills_are_recovered_from(tmp_path: Path, workers: Workers, round_: int) -> None:
    kills, die = Kills(tmp_path), random.Random(round_)
    for _ in range(10):
        kills.kill(after_steps(die.randint(0, 9), die.random() * 0.3))
    kills.check(workers)


def test_what_a_file_says_by_itself_is_listed(index: Index, repo: Path) -> None:
    source = "import os\nfrom sys import path as p\n\n\ndef f(a):\n    b = getattr(a, 'x')\n    return b\n"
    (repo / "a.py").write_text(source)
    (repo / "notes.txt").write_text("words\n")
    index.refresh()
    path = RepoPath("a.py")
    with index.snapshot() as snapshot:
        facts = snapshot.require_facts(path)
        assert [item.alias for item in facts.imports] == ["os", "p"]
        assert [item.name for item in facts.exports] == ["os", "p", "f"]
        assert [scope.parent for scope in facts.scopes] == [-1, 0]
        assert [bind.name for bind in facts.binds if bind.scope == 1] == ["a", "b"]
        assert facts.binds[facts.bound(1, "b") or 0].line == 6
        assert facts.named(0, "b") is None
        [site] = snapshot.dynamics_in(path, 10).items
        assert (site.pattern, site.literals) == ("getattr", ("x",))
        assert snapshot.definitions_in(RepoPath("notes.txt"), 10).absence is Absence.LANGUAGE_GAP
        assert snapshot.definitions_in(RepoPath("nowhere.py"), 10).absence is Absence.NOT_INDEXED
