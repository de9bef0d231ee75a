"""What an operator sees of tasks and operations: with a server, after it was killed, and after the next."""

import os
import signal
from pathlib import Path

from tests.drive import CPL_WITH_TOYS, Cpl, eventually
from tests.zygote import PATIENCE


def test_the_log_tells_what_was_done_whether_or_not_a_server_runs(cpl: Cpl) -> None:
    toys = Cpl(cpl.repo, cpl.env, CPL_WITH_TOYS)
    with toys.mcp("--profile", "full") as client:
        client.open()
        task = client.call("task_open", {"label": "a job"})["result"]["task_id"]
        client.call("toy_mutate", {"path": "src/a.py"})
        running = cpl.run("status").stdout
        assert f'task        {task} "a job" OPEN, 1/200 changes' in running
        assert "~ src/a.py" in running
        told = cpl.json("log")
        assert [one["short_diff"] for one in told["operations"]] == ["~ src/a.py"]
        assert told["tasks"][0]["state"] == "OPEN" and "reason" not in told["tasks"][0]
        os.kill(client.process.pid, signal.SIGKILL)
        client.process.wait(PATIENCE)
    before = contents(cpl.repo)
    assert "OPEN (its server has ended), 1/200 changes" in cpl.run("log").stdout
    assert "Verified up to row" in cpl.run("log", "--verify").stdout
    after = contents(cpl.repo)
    assert {name: after[name] for name in before if not name.endswith("-shm")} == {
        name: data for name, data in before.items() if not name.endswith("-shm")
    }
    with cpl.up():
        [ended] = cpl.json("log", "--task", task)["tasks"]
        assert (ended["state"], ended["reason"]) == ("CLOSED_INTERRUPTED", "the server ended")
        assert "\ntask " not in cpl.run("status").stdout
    assert [path.suffix for path in (cpl.repo / ".codeplane" / "ledger").iterdir()] == [".db"]


def test_a_client_that_goes_leaves_its_task_interrupted(cpl: Cpl) -> None:
    toys = Cpl(cpl.repo, cpl.env, CPL_WITH_TOYS)
    with toys.up():
        with toys.mcp("--profile", "full") as client:
            client.open().call("toy_mutate")
        eventually(lambda: cpl.json("log")["tasks"][0]["state"] == "CLOSED_INTERRUPTED")
        assert cpl.json("log")["tasks"][0]["reason"] == "the client disconnected"


def test_a_ledger_that_was_changed_is_found_out(cpl: Cpl) -> None:
    toys = Cpl(cpl.repo, cpl.env, CPL_WITH_TOYS)
    assert toys.run("call", "toy_mutate", "{}").returncode == 0
    assert cpl.run("doctor").stdout.count("verified up to row") == 1
    segment = cpl.repo / ".codeplane" / "ledger" / "000001.db"
    segment.write_bytes(segment.read_bytes().replace(b"toy_mutate", b"toy_mutant"))
    assert cpl.run("log", "--verify").returncode == 1
    doctor = cpl.run("doctor")
    assert doctor.returncode == 1 and "is not what was written" in doctor.stdout
    assert toys.run("call", "toy_mutate", "{}").returncode == 0
    assert "000001.damaged-1.db was found damaged and set aside" in cpl.run("status").stdout


def contents(repo: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (repo / ".codeplane" / "ledger").iterdir()}
