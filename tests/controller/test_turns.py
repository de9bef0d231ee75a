"""A turn: who it belongs to, what it costs, and how its arguments are read."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.controller.contract import RunState
from codeplane.controller.evidence.store import EvidenceStore
from codeplane.controller.runs import Run, RunStore, run_store
from codeplane.server.pipeline import Pipeline, Request
from codeplane.storage.state_db import open_state_db
from codeplane.tools import all_tools
from tests.controller.lab import open_desk


def test_the_first_answer_describes_the_verbs_and_later_ones_do_not(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        first = desk.turn("list_directory_contents", targetDir=".")
        second = desk.turn("list_directory_contents", targetDir=".")
        verbose = desk.turn("list_directory_contents", targetDir=".", traceMeta={"verbose": True})
        assert "verbDescriptions" in first.result
        assert "verbDescriptions" not in second.result
        assert "verbDescriptions" in verbose.result
        assert len(second.text) < len(first.text) / 3
        assert first.result["workId"] == second.result["workId"]


def test_arguments_are_read_flat_nested_and_in_either_case(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        calls: list[dict[str, Any]] = [
            {"verb": "read_file_lines", "targetFile": "pager.py", "startLine": 4, "endLine": 5},
            {"verb": "read_file_lines", "args": {"targetFile": "pager.py", "startLine": 4, "endLine": 5}},
            {"verb": "read_file_lines", "args": {"target_file": "pager.py", "start_line": 4}, "endLine": 5},
            {"verb": "read_file_lines", "path": "pager.py", "from_line": 4, "to_line": 5},
        ]
        answers = [desk.send(call) for call in calls]
        assert {answer.result["result"]["text"] for answer in answers} == {
            "4: def page_count(total: int, size: int) -> int:\n5:     return total // size"
        }
        assert len({answer.result["result"]["evidence"] for answer in answers}) == 1


def test_an_unknown_argument_is_refused_by_name_with_the_nearest(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        answer = desk.turn("read_file_lines", targetFile="pager.py", startLin=4)
        assert answer.codes == ["PLAN_SCOPE_VIOLATION"]
        assert answer.sub_codes == ["scope.argument"]
        assert "did you mean startLine?" in answer.text


def test_all_that_is_wrong_with_arguments_comes_at_once(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        answer = desk.turn("write_scratch_file", colour="red")
        assert sorted(answer.sub_codes) == ["fields.missing", "fields.missing", "scope.argument"]
        assert desk.send(answer.suggestion).codes == []


@pytest.mark.parametrize("verb", ["", "aply_code_patch", "DROP TABLE", "x" * 190])
def test_a_verb_that_is_none_is_denied_with_a_call_that_works(tmp_path: Path, verb: str) -> None:
    with open_desk(tmp_path) as desk:
        answer = desk.turn(verb)
        assert answer.codes == ["PLAN_SCOPE_VIOLATION"]
        assert answer.sub_codes == ["scope.verb"]
        assert desk.send(answer.suggestion).codes == []


def test_what_a_tool_refuses_is_a_denial_under_its_name(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        for path in ("no/such/file.py", "../outside.py", "/etc/passwd", ".git/config"):
            answer = desk.turn("read_file_lines", targetFile=path)
            assert answer.codes in (["NOT_FOUND"], ["PATH_REFUSED"]), answer.text
            assert desk.send(answer.suggestion).codes == []


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "", "a\x00b", "x\\y", "."])
def test_scratch_files_stay_in_the_scratch_folder(tmp_path: Path, name: str) -> None:
    with open_desk(tmp_path) as desk:
        before = sorted(tmp_path.rglob("*"))
        answer = desk.turn("write_scratch_file", relativePath=name, content="x")
        assert answer.codes
        scratch = desk.session.state.path / "work"
        outside = [path for path in sorted(tmp_path.rglob("*")) if scratch not in path.parents]
        assert {path for path in outside if path.name in ("x", "a\\b")} <= set(before)


def test_two_runs_do_not_share_scratch_files_or_prompts(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.turn("write_scratch_file", workId="one", relativePath="n.md", content="1", originalPrompt="a")
        desk.turn("write_scratch_file", workId="two", relativePath="n.md", content="2", originalPrompt="b")
        work = desk.session.state.path / "work"
        assert (work / "one/scratch/n.md").read_text() == "1"
        assert (work / "two/scratch/n.md").read_text() == "2"
        prompts = [desk.turn("get_original_prompt", workId=one).result["result"] for one in ("one", "two")]
        assert prompts == [{"originalPrompt": "a"}, {"originalPrompt": "b"}]


def test_a_run_survives_a_restart(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.turn("list_scoped_files", workId="long", originalPrompt="Fix the pager")
        tokens = desk.run_of("long").tokens
    with open_desk(tmp_path) as desk:
        answer = desk.turn("get_original_prompt", workId="long")
        assert answer.result["result"]["originalPrompt"] == "Fix the pager"
        assert answer.result["budgetStatus"]["usedTokens"] > tokens > 0


def test_a_turn_of_another_session_is_refused(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.turn("list_scoped_files", workId="mine", runSessionId="s1")
        answer = desk.turn("list_scoped_files", workId="mine", runSessionId="s2")
        assert answer.sub_codes == ["scope.session"]


@pytest.mark.parametrize("work", ["../up", "a/b", ".hidden", "x" * 65, "", "a b"])
def test_a_work_id_is_a_plain_name(tmp_path: Path, work: str) -> None:
    with open_desk(tmp_path) as desk:
        body = desk.turn("list_scoped_files", workId=work).body
        assert body["error"]["name"] == "INVALID_ARGUMENT"


def test_tokens_are_counted_in_both_directions_and_block_only_on_request(tmp_path: Path) -> None:
    small: dict[str, Any] = {"controller__budget__max_tokens": 1000, "controller__budget__threshold": 0.1}
    with open_desk(tmp_path, **small) as desk:
        for _ in range(3):
            answer = desk.turn("read_file_lines", targetFile="pager.py")
        assert answer.codes == []
        assert answer.result["budgetStatus"]["usedTokens"] > 100
        assert answer.result["budgetStatus"]["blocked"] is False
        assert "tokens" in answer.text.splitlines()[0]
    with open_desk(tmp_path, **small, controller__budget__block=True) as desk:
        desk.turn("read_file_lines", workId="w", targetFile="pager.py")
        blocked = desk.turn("read_file_lines", workId="w", targetFile="pager.py")
        assert blocked.state == RunState.BLOCKED_BUDGET
        assert blocked.sub_codes == ["scope.state"]
        assert desk.send({**blocked.suggestion, "workId": "w"}).codes == []


def test_the_other_verbs_are_named_where_the_verb_itself_was_refused(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.turn("get_original_prompt")
        assert "allowed: " in desk.turn("apply_code_patch").text
        assert "allowed: " in desk.turn("write_file").text
        assert "allowed: " not in desk.turn("read_file_lines", targetFile="none.py").text
        assert "allowed: " not in desk.turn("read_file_lines").text


def test_only_a_turn_that_may_change_something_is_announced_as_a_write(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        pipeline, announced = Pipeline(desk.session, all_tools()), []

        async def take(arguments: dict[str, Any]) -> None:
            async def begun() -> None:
                announced.append(arguments["verb"])

            await pipeline.call(Request("controller_turn", arguments, "agent", begun=begun))

        calls: list[dict[str, Any]] = [
            {"verb": "read_file_lines", "targetFile": "pager.py"},
            {"verb": "search_codebase_text", "query": "page_count"},
            {"verb": "write_scratch_file", "relativePath": "a.txt", "content": "x"},
            {"verb": "no_such_verb"},
        ]
        for call in calls:
            anyio.run(take, call)
        assert announced == ["write_scratch_file", "no_such_verb"]


def test_a_reading_turn_that_is_taken_again_shows_the_same_under_the_same_handle(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        call = {"verb": "read_file_lines", "targetFile": "pager.py", "workId": "w1"}
        one, two = desk.send(call), desk.send(call, "another client")
        assert one.result["result"] == two.result["result"]
        assert len(EvidenceStore(lambda: desk.session.state_db, "w1").list_records()) == 1


def test_what_another_process_writes_to_a_run_counts_in_the_next_turn(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.turn("read_file_lines", targetFile="pager.py", workId="w1")
        database = open_state_db(desk.session.state.path / "state.db")
        other = RunStore(lambda: database)
        run = other.load("w1")
        assert run is not None
        run.state = RunState.FAILED
        other.save(run)
        database.close()
        assert desk.turn("read_file_lines", targetFile="pager.py", workId="w1").state == "FAILED"


def test_runs_are_listed_in_the_order_in_which_they_were_saved(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        store = run_store(desk.session)
        for work_id in ("a", "b", "c", "a"):
            store.save(store.load(work_id) or Run(work_id, "sess", "agent"))
        assert [run.work_id for run in store.recent()] == ["a", "c", "b"]
