"""Refreshes with real programs: what they store, and that no program, however bad, does harm."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from codeplane.names import Freshness
from codeplane.semantic.jobs import Job, Jobs, JobStatus, Request
from codeplane.session.semantic.background import BackgroundRefresh
from tests.drive import Cpl, git, user_env
from tests.programs import from_pypi
from tests.tools.repo import Repo, trust

TOY = Path(__file__).parent / "toys" / "indexer.py"
LIB = "def helper():\n    pass\n"
APP = "from lib import helper\n\n\ndef run():\n    helper()\n"


class Made:
    """A trusted repository whose user has configured the toy indexer."""

    def __init__(self, base: Path) -> None:
        self.base = base
        files = {"pyproject.toml": "", "lib.py": LIB, "app.py": APP}
        self.repo = Repo(base, files)
        trust(self.repo.root, base)
        self.home = base / "home"

    def use(self, mode: str, argument: str = "", settings: Mapping[str, object] = {}) -> None:
        """Has the toy behave in a certain way from the next start on."""
        arguments = [str(TOY), mode, "{output}", *([argument] if argument else [])]
        cmd = [f"'{part}'" for part in (Path(sys.executable).name, *arguments)]
        lines = [f"  {key}: {value}" for key, value in settings.items()]
        entry = f"name: toy, languages: [python], inputs: [toy.cfg, 'toy*.ini'], cmd: [{', '.join(cmd)}]"
        custom = f"  custom: [{{{entry}}}]"
        config = self.home / ".config" / "codeplane" / "config.yaml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("\n".join(["semantic:", custom, *lines]) + "\n")
        self.reopen()

    def reopen(self) -> None:
        self.repo.session.close()
        self.repo = Repo.at(self.repo.root, self.base)

    @property
    def jobs(self) -> list[Job]:
        session = self.repo.session
        return Jobs(session.index.database, session.checkout.view_key).recent(20)

    def state(self, path: str) -> Freshness:
        self.repo.session.refresh()
        with self.repo.session.index.snapshot() as snapshot:
            return snapshot.semantic_states.state(path).freshness  # type: ignore[arg-type]

    def facts(self) -> int:
        with self.repo.session.index.database.read() as connection:
            return int(connection.execute("SELECT count(*) FROM semantic_fact").fetchone()[0])

    def scratch(self) -> list[Path]:
        home = self.repo.session.checkout.scratch
        return list(home.iterdir()) if home.exists() else []

    def tree(self) -> dict[str, bytes]:
        root = self.repo.root
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and path.relative_to(root).parts[0] not in (".git", ".codeplane")
        }


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    made = Made(tmp_path)
    yield made
    made.repo.session.close()


def test_a_refresh_stores_what_the_indexer_says(made: Made) -> None:
    made.use("good")
    result = made.repo.result("semantic_refresh")
    [context] = result["contexts"]
    assert (context["status"], context["indexed"], context["files"]) == ("completed", 2, 2)
    assert context["occurrences"]["inside"] == 4 and "absent" not in context
    assert made.state("app.py") is Freshness.CLEAN and made.facts() == 2
    [job] = made.jobs
    assert job.status is JobStatus.COMPLETED and job.run and job.output_hash and job.head
    assert made.scratch() == []


def test_a_second_refresh_replaces_the_first_and_an_edit_makes_facts_dirty(made: Made) -> None:
    made.use("good")
    made.repo.result("semantic_refresh")
    made.repo.write("app.py", APP + "\n\nrun()\n")
    assert made.state("app.py") is Freshness.DIRTY and made.state("lib.py") is Freshness.CLEAN
    made.repo.result("semantic_refresh", files=["app.py"])
    assert made.state("app.py") is Freshness.CLEAN
    assert [job.status for job in made.jobs] == ["completed", "completed"]
    assert made.jobs[0].scope is not None and made.jobs[0].scope.files == {"app.py"}


def test_facts_of_another_branch_are_still_there_on_the_way_back(made: Made) -> None:
    made.use("good")
    made.repo.result("semantic_refresh")
    git(made.repo.root, "checkout", "-qb", "other")
    made.repo.write("app.py", APP + "\n\nrun()\n")
    git(made.repo.root, "commit", "-qam", "other")
    made.repo.result("semantic_refresh")
    git(made.repo.root, "checkout", "-q", "main")
    assert made.state("app.py") is Freshness.CLEAN


@pytest.mark.parametrize("name", ["toy.cfg", "toy-2.ini"])
def test_a_change_of_the_configuration_makes_facts_stale(made: Made, name: str) -> None:
    made.repo.write("toy-2.ini", "[toy]\n")
    made.use("good")
    made.repo.result("semantic_refresh")
    assert made.state("app.py") is Freshness.CLEAN
    made.repo.write(name, "[toy]\nstrict = true\n")
    assert made.state("app.py") is Freshness.STALE
    made.repo.result("semantic_refresh")
    assert made.state("app.py") is Freshness.CLEAN


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """A repository that ty-scip can index; git ignores its environment."""
    monkeypatch.setenv("PATH", f"{from_pypi('ty-scip', '0.1.0')}{os.pathsep}{os.environ['PATH']}")
    made = Made(tmp_path)
    made.repo.write(".gitignore", ".venv\n")
    made.reopen()
    yield made
    made.repo.session.close()


def test_a_package_that_is_installed_afterwards_makes_facts_stale(checked: Made) -> None:
    packages = checked.repo.root / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "one-1.0.dist-info").mkdir(parents=True)
    checked.repo.result("semantic_refresh")
    assert checked.state("app.py") is Freshness.CLEAN
    (packages / "one-1.0.dist-info").rename(packages / "one-2.0.dist-info")
    assert checked.state("app.py") is Freshness.STALE
    [context] = checked.repo.result("semantic_status")["contexts"]
    assert context["states"] == {"stale": 2}
    (packages / "one-2.0.dist-info").rename(packages / "one-1.0.dist-info")
    assert checked.state("app.py") is Freshness.CLEAN, "it is as it was"


def test_an_environment_that_is_made_afterwards_makes_facts_stale(checked: Made) -> None:
    checked.repo.result("semantic_refresh")
    assert checked.state("app.py") is Freshness.CLEAN
    (checked.repo.root / ".venv").mkdir()
    assert checked.state("app.py") is Freshness.STALE


def test_contexts_yaml_adds_to_the_environment_of_an_indexer(made: Made) -> None:
    (made.repo.root / ".codeplane" / "contexts.yaml").write_text(
        "version: 1\ncontexts: [{family: python, root_path: ., status: valid, env: {TOY_SAYS: hello}}]\n"
    )
    made.use("environment")
    assert "TOY_SAYS is hello, at 10" in made.repo.error("semantic_refresh")["message"]


def test_an_untrusted_repository_runs_nothing(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {"pyproject.toml": "", "a.py": LIB})
    assert repo.error("semantic_refresh")["name"] == "NOT_TRUSTED"
    assert "versions are unknown" in repo.ask("semantic_status").text
    repo.session.close()


def test_the_tier_can_be_switched_off_and_what_is_known_no_longer_counts(made: Made) -> None:
    made.use("good")
    made.repo.result("semantic_refresh")
    made.use("good", settings={"enabled": "false"})
    assert made.repo.error("semantic_refresh")["name"] == "INVALID_ARGUMENT"
    assert made.state("app.py") is Freshness.UNINDEXED and made.facts() == 2
    made.use("good")
    assert made.state("app.py") is Freshness.CLEAN


BAD: list[tuple[str, dict[str, object], str, str]] = [
    ("hang", {"timeout_sec": 1}, "COMPILATION_FAILED", "took too long"),
    ("memory", {"memory_mb": 200}, "COMPILATION_FAILED", "too much memory"),
    ("die", {}, "COMPILATION_FAILED", "signal 6: …"),
    ("code", {}, "COMPILATION_FAILED", "failed with code 1: cannot resolve the project"),
    ("silent", {}, "COMPILATION_FAILED", "has left no index"),
    ("truncated", {}, "SCIP_ERROR", "cut short"),
    ("garbage", {}, "SCIP_ERROR", "cannot be read"),
    ("large", {"output_mb": 5}, "COMPILATION_FAILED", "too large an index"),
    ("fifo", {}, "COMPILATION_FAILED", "has left no index"),
    ("sparse", {"output_mb": 400}, "COMPILATION_FAILED", "larger than 400 MB|too large an index"),
    ("text", {}, "SCIP_ERROR", "a message of"),
    ("huge_symbol", {}, "SCIP_ERROR", "a text of"),
    ("bomb", {"timeout_sec": 60}, "COMPILATION_FAILED", "too many processes"),
]


@pytest.mark.parametrize(("mode", "settings", "name", "message"), BAD, ids=[one[0] for one in BAD])
def test_a_bad_indexer_fails_in_bounds_and_leaves_no_trace(
    made: Made, mode: str, settings: dict[str, object], name: str, message: str
) -> None:
    made.use("good")
    made.repo.result("semantic_refresh")
    before = made.tree()
    made.use(mode, settings=settings)
    error = made.repo.error("semantic_refresh")
    assert error["name"] == name and len(error["message"]) < 1000
    assert any(one in error["message"] for one in message.split("|")), error["message"]
    job = made.jobs[0]
    assert job.status is JobStatus.FAILED and error["message"] in (job.error or "") and job.finished_ms
    assert made.tree() == before and made.scratch() == []
    assert made.state("app.py") is Freshness.CLEAN, "what an earlier run said still holds"
    assert not [one for one in psutil.process_iter(["cmdline"]) if "sleep(97)" in str(one.info["cmdline"])]


@pytest.mark.parametrize("mode", ["link", "swapped"])
def test_an_output_that_leads_elsewhere_is_not_followed(made: Made, tmp_path: Path, mode: str) -> None:
    secret = tmp_path / "secret"
    target = secret / "index.scip" if mode == "link" else secret
    secret.mkdir()
    (secret / "index.scip").write_bytes(b"")
    made.use(mode, str(target))
    assert "has left no index" in made.repo.error("semantic_refresh")["message"]
    assert made.jobs[0].status is JobStatus.FAILED and made.facts() == 0
    assert secret.exists(), "cleaning up follows no link either"


def test_half_an_index_is_stored_and_says_what_is_missing(made: Made) -> None:
    made.use("half")
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert (context["indexed"], context["files"], context["absent"]) == (1, 2, ["lib.py"])
    assert made.state("lib.py") is Freshness.UNINDEXED


def test_paths_that_are_no_files_of_the_repository_are_counted_and_left_out(
    made: Made, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "lib.py").write_text(LIB)
    (made.repo.root / "link.py").symlink_to(tmp_path / "secret" / "lib.py")
    (made.repo.root / "folder").symlink_to(tmp_path / "secret")
    made.use("outside")
    before = made.tree()
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert context["status"] == "completed" and context["indexed"] == 2, context
    assert context["outside"] >= 11 and made.facts() == 2
    assert made.tree() == before and made.state("lib.py") is Freshness.CLEAN


@pytest.mark.parametrize("mode", ["newer", "skipped", "many_symbols"])
def test_an_index_with_more_than_is_known_is_read_as_far_as_it_is(made: Made, mode: str) -> None:
    made.use(mode)
    before = made.tree()
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert (context["status"], context["indexed"]) == ("completed", 2), context
    assert made.tree() == before and made.scratch() == []
    assert made.state("lib.py") is Freshness.CLEAN


def test_an_index_of_half_a_gigabyte_is_refused_before_it_is_read(made: Made) -> None:
    made.use("good", settings={"output_mb": 400})
    index = made.base / "index.scip"
    with index.open("wb") as stream:
        stream.truncate(500 << 20)
    error = made.repo.error("semantic_refresh", action="import", index=str(index))
    assert error["name"] == "INVALID_ARGUMENT" and "larger than 400 MB" in error["message"]
    assert made.jobs[0].status is JobStatus.FAILED and made.facts() == 0


def test_an_indexer_that_writes_into_the_repository_is_told_of(made: Made) -> None:
    made.use("writes", str(made.repo.root))
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert any("app.py, left.py changed in the working tree" in note for note in context["notes"])
    assert context["changed"] == 1 and made.state("app.py") is Freshness.UNINDEXED
    assert made.state("lib.py") is not Freshness.DIRTY


def test_a_file_that_the_indexer_changes_in_its_copy_gains_nothing(made: Made) -> None:
    made.use("scratch")
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert context["changed"] == 1 and made.state("lib.py") is Freshness.UNINDEXED
    assert (made.repo.root / "lib.py").read_text() == LIB


class Waiting:
    """A refresh that stands still while something else happens."""

    def __init__(self, made: Made, gate: Path) -> None:
        made.use("wait", str(gate))
        self.answers: list[Any] = []
        self._made, self._gate = made, gate
        self._thread = threading.Thread(
            target=lambda: self.answers.append(made.repo.ask("semantic_refresh")), daemon=True
        )
        self._thread.start()
        wait_for(Path(f"{gate}.ready").exists)

    def end(self) -> dict[str, Any]:
        Path(f"{self._gate}.go").touch()
        self._thread.join(60)
        [answer] = self.answers
        [context] = answer.body["result"]["contexts"]
        return dict(context)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_what_changes_during_a_run_is_left_out_and_the_rest_is_stored(made: Made, tmp_path: Path) -> None:
    waiting = Waiting(made, tmp_path / "gate")
    made.repo.write("app.py", APP + "\n\nrun()\n")
    context = waiting.end()
    assert (context["status"], context["indexed"], context["changed"]) == ("completed", 1, 1)
    assert made.state("lib.py") is Freshness.CLEAN and made.state("app.py") is Freshness.UNINDEXED


def test_a_head_that_moves_keeps_what_is_still_there_and_supersedes_the_job(
    made: Made, tmp_path: Path
) -> None:
    waiting = Waiting(made, tmp_path / "gate")
    made.repo.write("app.py", APP + "\n\nrun()\n")
    git(made.repo.root, "commit", "-qam", "moved")
    context = waiting.end()
    assert (context["status"], context["superseded_reason"]) == ("superseded", "head_changed_during_run")
    assert context["indexed"] == 1 and made.state("lib.py") is Freshness.CLEAN
    assert made.jobs[0].run is not None


def test_a_commit_of_what_was_indexed_loses_nothing(made: Made, tmp_path: Path) -> None:
    made.repo.write("app.py", APP + "\n\nrun()\n")
    waiting = Waiting(made, tmp_path / "gate")
    git(made.repo.root, "commit", "-qam", "the same")
    assert waiting.end()["status"] == "completed"


def test_a_clear_during_a_run_keeps_it_from_storing(made: Made, tmp_path: Path) -> None:
    waiting = Waiting(made, tmp_path / "gate")
    assert made.repo.result("semantic_refresh", action="clear")["summary"] == "Facts of 0 files forgotten."
    context = waiting.end()
    assert (context["status"], context["superseded_reason"]) == ("superseded", "cleared")
    assert made.facts() == 0


def test_a_request_during_a_run_waits_for_its_follow_up(made: Made, tmp_path: Path) -> None:
    waiting = Waiting(made, tmp_path / "gate")
    made.repo.write("app.py", APP + "\n\nrun()\n")
    answers: list[Any] = []
    second = threading.Thread(
        target=lambda: answers.append(made.repo.ask("semantic_refresh", files=["app.py"]))
    )
    second.start()
    wait_for(lambda: len(made.jobs) == 2)
    waiting.end()
    second.join(60)
    newest, oldest = made.jobs
    assert (newest.status, newest.scope, oldest.follow_up) == (JobStatus.COMPLETED, None, newest.id)
    assert made.state("app.py") is Freshness.CLEAN


def test_clear_forgets(made: Made) -> None:
    made.use("good")
    made.repo.result("semantic_refresh")
    assert made.repo.result("semantic_refresh", action="clear")["summary"] == "Facts of 2 files forgotten."
    assert made.facts() == 0 and made.state("app.py") is Freshness.UNINDEXED


def test_a_job_whose_process_was_killed_is_interrupted_at_the_next_start(made: Made, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    made.use("wait", str(gate))
    env = {**os.environ, "HOME": str(made.home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    made.repo.session.close()
    argv = [sys.executable, "-m", "codeplane", "semantic", "refresh", "--root", str(made.repo.root)]
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(Path(f"{gate}.ready").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    Path(f"{gate}.go").touch()
    made.repo = Repo.at(made.repo.root, made.base)
    [job] = made.jobs
    assert job.status is JobStatus.INTERRUPTED and job.finished_ms and made.facts() == 0
    assert made.scratch() == [], "what it left behind is swept"


def test_an_indexer_and_what_it_has_started_end_with_a_server_that_is_killed(made: Made) -> None:
    made.use("hang", "96", {"timeout_sec": 90})
    made.repo.session.close()

    def processes() -> list[str]:
        lines = (" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))
        return [line for line in lines if f"{made.base}/" in line or "sleep(96)" in line]

    with Cpl(made.repo.root, user_env(made.home)).mcp("--profile", "full") as client:
        client.open().ask("tools/call", {"name": "semantic_refresh", "arguments": {}})
        wait_for(lambda: len(processes()) == 2)
        client.process.send_signal(signal.SIGKILL)
        client.process.wait()
    wait_for(lambda: not processes(), 20)
    made.repo = Repo.at(made.repo.root, made.base)
    assert [job.status for job in made.jobs] == [JobStatus.INTERRUPTED]


def test_linked_worktrees_have_jobs_of_their_own_and_share_the_facts(made: Made, tmp_path: Path) -> None:
    made.use("good")
    made.repo.result("semantic_refresh")
    git(made.repo.root, "worktree", "add", "-qb", "side", str(tmp_path / "side"))
    trust(tmp_path / "side", made.base)
    side = Repo.at(tmp_path / "side", made.base)
    side.write("app.py", APP + "\n\nrun()\n")
    git(side.root, "commit", "-qam", "side")
    assert [one["states"] for one in side.result("semantic_status")["contexts"]] == [{"clean": 1, "dirty": 1}]
    [context] = side.result("semantic_refresh")["contexts"]
    assert (context["status"], context["job"]) == ("completed", 2)
    assert made.state("app.py") is Freshness.CLEAN and [job.id for job in made.jobs] == [1]
    assert [one["states"] for one in side.result("semantic_status")["contexts"]] == [{"clean": 2}]
    side.session.close()


def test_a_job_of_another_worker_that_runs_is_left_alone(made: Made, tmp_path: Path) -> None:
    waiting = Waiting(made, tmp_path / "gate")
    beside = Repo.at(made.repo.root, made.base)
    assert made.jobs[0].status is JobStatus.RUNNING
    beside.session.close()
    assert waiting.end()["status"] == "completed"


def test_queued_jobs_survive_a_restart(made: Made) -> None:
    made.use("good")
    session = made.repo.session
    head = session.checkout.repository.head().commit or ""
    Jobs(session.index.database, session.checkout.view_key).enqueue(Request("python:", head, "requested"))
    made.reopen()
    assert made.jobs[0].status is JobStatus.QUEUED
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert context["status"] == "completed" and len(made.jobs) == 1


def test_status_tells_of_indexers_runs_and_states(made: Made) -> None:
    made.use("good")
    [context] = made.repo.result("semantic_status")["contexts"]
    assert context["states"] == {"unindexed": 2} and context["indexers"][0].startswith("toy ")
    made.repo.result("semantic_refresh")
    made.repo.write("app.py", APP + "\n\nrun()\n")
    [context] = made.repo.result("semantic_status")["contexts"]
    assert context["states"] == {"clean": 1, "dirty": 1}
    assert context["run"].startswith("toy ") and "completed (requested)" in context["job"]


def test_contexts_yaml_can_switch_an_indexer_off_or_name_one_that_is_none(made: Made) -> None:
    file = made.repo.root / ".codeplane" / "contexts.yaml"
    entry = "version: 1\ncontexts: [{{family: python, root_path: ., status: valid, indexer: '{}'}}]\n"
    file.write_text(entry.format("off"))
    made.use("good")
    assert made.repo.error("semantic_refresh")["name"] == "NOT_FOUND"
    error = made.repo.error("semantic_refresh", contexts=["python"])
    assert "contexts.yaml has switched it off" in error["message"]
    file.write_text(entry.format("toys"))
    made.reopen()
    assert "did you mean toy?" in made.repo.error("semantic_refresh")["message"]


def test_contexts_may_be_indexed_at_once_where_the_user_says_so(made: Made, tmp_path: Path) -> None:
    made.repo.write("inner/pyproject.toml", "")
    made.repo.write("inner/other.py", LIB)
    (made.repo.root / ".codeplane" / "contexts.yaml").write_text(
        "version: 1\ndefaults: {max_parallel_contexts: 2}\n"
    )
    gate = tmp_path / "gate"
    # Each waits for the other: one after the other they would wait for ever.
    made.use("meet", str(gate), {"timeout_sec": 60})
    result = made.repo.result("semantic_refresh")
    assert [one["status"] for one in result["contexts"]] == ["completed", "completed"]
    assert made.state("inner/other.py") is Freshness.CLEAN


def test_unknown_contexts_are_refused_with_the_nearest(made: Made) -> None:
    made.use("good")
    assert "did you mean python:.?" in made.repo.error("semantic_refresh", contexts=["pyton:."])["message"]


def test_an_index_made_elsewhere_is_imported_for_files_that_are_as_in_its_commit(made: Made) -> None:
    made.use("good")
    index = made.base / "index.scip"
    subprocess.run([sys.executable, TOY, "good", index], cwd=made.repo.root, check=True)
    made.repo.write("app.py", APP + "\n\nrun()\n")
    [context] = made.repo.result("semantic_refresh", action="import", index=str(index))["contexts"]
    assert (context["status"], context["indexed"], context["changed"]) == ("completed", 1, 1)
    assert context["indexer"] == "toy 1.0" and made.state("lib.py") is Freshness.CLEAN
    assert made.jobs[0].trigger == "import"
    git(made.repo.root, "checkout", "-q", "app.py")
    for name in ("app.py", "lib.py"):
        made.repo.write(name, "# a line more\n" + (made.repo.root / name).read_text())
    git(made.repo.root, "commit", "-qam", "shifted")
    error = made.repo.error("semantic_refresh", action="import", index=str(index))
    assert "does not fit" in error["message"] and made.jobs[0].status is JobStatus.FAILED
    index.write_bytes(b"garbage")
    assert made.repo.error("semantic_refresh", action="import", index=str(index))["name"] == "SCIP_ERROR"
    assert made.jobs[0].status is JobStatus.FAILED


def test_on_idle_a_burst_of_changes_is_one_job(made: Made) -> None:
    made.use("good", settings={"refresh_on_idle": "true", "idle_sec": 1})
    session = made.repo.session
    session.refresh()
    background = BackgroundRefresh(session)
    background.start()
    session.background = background
    wait_for(lambda: made.jobs and made.jobs[0].status is JobStatus.COMPLETED)
    assert made.jobs[0].trigger == "new_file"
    for number in range(5):
        made.repo.write("app.py", f"{APP}\n\nVALUE = {number}\n")
        session.refresh()
    wait_for(lambda: len(made.jobs) == 2 and made.jobs[0].status is JobStatus.COMPLETED)
    assert made.jobs[0].trigger == "file_dirty" and made.state("app.py") is Freshness.CLEAN
    time.sleep(2.5)
    assert len(made.jobs) == 2, "nothing has changed since"


def test_nothing_is_refreshed_on_idle_unless_the_user_has_switched_it_on(made: Made) -> None:
    made.use("good", settings={"idle_sec": 1})
    session = made.repo.session
    session.refresh()
    session.background = BackgroundRefresh(session)
    session.background.start()
    time.sleep(2.5)
    assert made.jobs == []


def test_a_server_refreshes_in_the_background_and_stops_while_it_does(made: Made, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    made.use("wait", str(gate))
    assert "Only a running server" in made.repo.error("semantic_refresh", wait=False)["message"]
    made.repo.session.upkeep.start(None)
    assert made.repo.result("semantic_refresh", wait=False)["summary"] == "Queued: job 1."
    wait_for(Path(f"{gate}.ready").exists)
    assert [job.status for job in made.jobs] == ["running"]
    made.reopen()
    assert [job.status for job in made.jobs] == ["interrupted"] and made.scratch() == []
