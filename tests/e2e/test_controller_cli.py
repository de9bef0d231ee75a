"""Controlled runs from the shell: turns, the list of runs, and a person who lets a run go on."""

import json

from tests.drive import Cpl


def turn(cpl: Cpl, verb: str, work: str = "w1", **arguments: object) -> tuple[int, str]:
    finished = cpl.run("controller", "turn", verb, json.dumps(arguments), "--work", work)
    return finished.returncode, finished.stdout


def test_turns_are_taken_and_a_failed_run_is_released_by_a_person(cpl: Cpl) -> None:
    (cpl.repo / "pager.py").write_text("def page_count(total, size):\n    return total // size\n")
    assert cpl.run("init").returncode == 0
    assert cpl.run("controller", "runs").stdout == "No runs.\n"
    with cpl.up("--set", "server.port=0"):
        code, text = turn(cpl, "initialize_work", originalPrompt="page_count must round up.")
        assert code == 0 and "pager.py:1-2 page_count" in text
        code, text = turn(cpl, "apply_code_patch", planNodeId="n1", targetFile="pager.py", edits=[])
        assert code == 1 and "instead: {" in text
        answer = cpl.json("controller", "turn", "get_original_prompt", "--work", "w1")
        assert answer["result"]["workId"] == "w1" and answer["result"]["denyReasons"] == []
        nodes = [{"file": "pager.py", "symbols": ["page_count"], "intent": "Round up."}]
        for _ in range(6):
            code, text = turn(cpl, "submit_execution_plan", nodes=nodes)
        assert code == 1 and text.startswith("FAILED w1")
        assert turn(cpl, "read_file_lines", targetFile="pager.py")[0] == 1
        [run] = cpl.json("controller", "runs")["runs"]
        assert (run["state"], run["denials"]) == ("FAILED", 8)
        assert "goes on in PLAN_REQUIRED" in cpl.run("controller", "release", "w1").stdout
        assert turn(cpl, "read_file_lines", targetFile="pager.py")[0] == 0
        again = cpl.run("controller", "release", "w1")
        assert again.returncode == 2 and "there is nothing to release" in again.stderr
        assert turn(cpl, "get_original_prompt", work="w2")[1].startswith("PLAN_REQUIRED w2")


def test_what_is_no_turn_is_refused_with_its_usage(cpl: Cpl) -> None:
    assert cpl.run("init").returncode == 0
    for arguments in (
        ["turn"],
        ["turn", "observe", "[]"],
        ["turn", "observe", "{"],
        ["runs", "x"],
        ["release"],
    ):
        refusal = cpl.run("controller", *arguments)
        assert refusal.returncode in (1, 2) and "cpl controller" in refusal.stderr, refusal
    unknown = cpl.run("controller", "release", "../w1")
    assert unknown.returncode == 1 and "no runs" in unknown.stderr
