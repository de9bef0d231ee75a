import logging
import time
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread
import pytest

from codeplane.server.answer import Answer
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import RepoSession
from codeplane.tools import Tool
from codeplane.tools._registry import Code, load_tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def request(tool: str, arguments: object = None, **options: Any) -> Request:
    return Request(tool, arguments, options.pop("session_key", "a client"), **options)


def error(answer: Answer) -> str:
    assert answer.is_error
    return str(answer.body["error"]["name"])


async def test_an_answer_is_an_envelope_without_empty_fields(pipeline: Pipeline) -> None:
    answer = await pipeline.call(request("toy_echo", {"text": "hi"}))
    assert answer.body["result"] == {"text": "hi", "limit": 3, "kinds": []}
    meta = answer.body["meta"]
    assert sorted(meta) == ["request_id", "session_id", "task_id", "task_state", "timestamp_ms", "timing"]
    assert answer.text == "text: hi\nlimit: 3"


async def test_the_text_has_what_its_reader_can_act_on(pipeline: Pipeline) -> None:
    for _ in range(2):
        answer = await pipeline.call(request("toy_mutate"))
    assert answer.body["meta"]["task"] == {"flags": ["no_op"]}
    assert "note: no_op: " in answer.text and "request_id" not in answer.text


async def test_code_that_goes_beyond_the_standard_tools_is_loaded_once_they_are_listed(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def listed(name: str, *, standard: bool) -> Tool:
        made = load_tool(name)

        def code() -> Code:
            loaded.append(name)
            return made.code()

        return replace(made, standard=standard, code=code)

    monkeypatch.setattr("codeplane.server.pipeline._LOAD_AFTER_SEC", 0)
    usual = {"search": listed("search", standard=True)}
    pipeline.listed(10, usual)
    assert pipeline._loading is None
    pipeline.listed(10, {**usual, "git_stash": listed("git_stash", standard=False)})
    assert pipeline._loading is not None
    await anyio.to_thread.run_sync(pipeline._loading.join)
    assert loaded == ["git_stash"]


async def test_a_client_keeps_its_session_and_its_task(pipeline: Pipeline) -> None:
    one, two = [(await pipeline.call(request("toy_echo", {"text": "x"}))).body["meta"] for _ in range(2)]
    other = (await pipeline.call(request("toy_echo", {"text": "x"}, session_key="another"))).body["meta"]
    assert (one["session_id"], one["task_id"]) == (two["session_id"], two["task_id"])
    assert one["session_id"] != other["session_id"] and one["request_id"] != two["request_id"]


@pytest.mark.parametrize(
    "usual, ours", [("write_file", "write_source"), ("readFile", "read_source"), ("git_add", "git_stage")]
)
async def test_what_other_programs_call_a_tool_leads_to_it(pipeline: Pipeline, usual: str, ours: str) -> None:
    answer = await pipeline.call(request(usual))
    assert f"did you mean {ours!r}?" in answer.body["error"]["message"]


async def test_an_unknown_tool_is_answered_with_the_nearest(pipeline: Pipeline) -> None:
    answer = await pipeline.call(request("toy_ecko"))
    assert error(answer) == "UNKNOWN_TOOL"
    assert "did you mean 'toy_echo'?" in answer.body["error"]["message"]


@pytest.mark.parametrize(("asked", "meant"), [("git_blame", "git_inspect"), ("git-add", "git_stage")])
async def test_a_command_of_git_is_answered_with_the_tool_that_has_it(
    pipeline: Pipeline, asked: str, meant: str
) -> None:
    answer = await pipeline.call(request(asked))
    assert f"did you mean {meant!r}?" in answer.body["error"]["message"]


async def test_an_unforeseen_failure_shows_nothing_of_the_inside(
    pipeline: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = await pipeline.call(request("toy_broken"))
    assert error(answer) == "INTERNAL_ERROR"
    assert "secret detail" not in answer.text and "Traceback" not in answer.text
    assert "secret detail" in caplog.text


async def test_a_read_past_its_deadline_is_left_behind(pipeline: Pipeline) -> None:
    started = time.monotonic()
    answer = await pipeline.call(request("toy_slow", {"steps": 1, "step_sec": 5}))
    assert error(answer) == "DEADLINE_EXCEEDED"
    assert time.monotonic() - started < 2


async def test_a_write_past_its_deadline_is_waited_for(pipeline: Pipeline, session: RepoSession) -> None:
    answer = await pipeline.call(request("toy_write", {"name": "w", "seconds": 0.7}))
    assert answer.body["result"] == {"lines": 2}
    assert (session.state.path / "w").read_text() == "begun\ndone\n"


async def test_a_write_that_heeds_the_deadline_says_so(pipeline: Pipeline) -> None:
    answer = await pipeline.call(request("toy_write", {"name": "w", "seconds": 5, "heed": True}))
    assert error(answer) == "DEADLINE_EXCEEDED"


async def test_a_cancelled_write_still_ends_before_the_caller_goes_on(
    pipeline: Pipeline, session: RepoSession
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(pipeline.call, request("toy_write", {"name": "w", "seconds": 0.3}))
        await anyio.sleep(0.1)
        group.cancel_scope.cancel()
    assert (session.state.path / "w").read_text() == "begun\ndone\n"


async def test_a_cancelled_read_stops_at_its_next_step(pipeline: Pipeline) -> None:
    with anyio.move_on_after(0.05) as scope:
        await pipeline.call(request("toy_slow", {"steps": 4}))
    assert scope.cancelled_caught
    assert b'outcome="cancelled",tool="toy_slow"} 1.0' in pipeline.telemetry.render()


async def test_a_write_is_announced_before_it_starts_and_a_read_is_not(
    pipeline: Pipeline, session: RepoSession
) -> None:
    seen = []

    async def begun() -> None:
        seen.append((session.state.path / "w").exists())

    await pipeline.call(request("toy_write", {"name": "w"}, begun=begun))
    await pipeline.call(request("toy_echo", {"text": "x"}, begun=begun))
    assert seen == [False]


async def test_progress_arrives_in_order(pipeline: Pipeline) -> None:
    seen = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        await anyio.sleep(0.01)
        seen.append((done, total, message))

    await pipeline.call(request("toy_slow", {"steps": 3, "step_sec": 0}, progress=progress))
    assert seen == [(n, 3, f"step {n}") for n in (1, 2, 3)]


async def test_a_stopping_server_finishes_what_can_finish(pipeline: Pipeline) -> None:
    answers: list[Answer] = []

    async def call(steps: int) -> None:
        answers.append(await pipeline.call(request("toy_slow", {"steps": steps, "step_sec": 0.05})))

    async with anyio.create_task_group() as group:
        group.start_soon(call, 2)
        group.start_soon(call, 400)
        await anyio.sleep(0.03)
        await pipeline.stop(0.2)
    assert [answer.is_error for answer in answers] == [False, True]
    assert error(answers[1]) == "SERVER_STOPPING"
    assert error(await pipeline.call(request("toy_echo", {"text": "x"}))) == "SERVER_STOPPING"


async def test_a_flood_of_calls_is_answered_in_full(pipeline: Pipeline) -> None:
    answers: list[Answer] = []

    async def call(n: int) -> None:
        answers.append(await pipeline.call(request("toy_echo", {"text": str(n)})))

    async with anyio.create_task_group() as group:
        for n in range(200):
            group.start_soon(call, n)
    assert {answer.body["result"]["text"] for answer in answers} == {str(n) for n in range(200)}


async def test_a_worker_counts_as_busy_until_its_thread_ends(
    session: RepoSession, toys: dict[str, Tool]
) -> None:
    pipeline = Pipeline(session, toys)
    for _ in range(session.checkout.settings.server.workers):
        await pipeline.call(request("toy_stuck", {"seconds": 2.5}))
    started = time.monotonic()
    answer = await pipeline.call(request("toy_echo", {"text": "x"}))
    assert error(answer) == "DEADLINE_EXCEEDED" and time.monotonic() - started < 2
    await anyio.sleep(2)
    assert not (await pipeline.call(request("toy_echo", {"text": "x"}))).is_error


async def test_a_batch_changes_nothing_behind_a_step_that_fails(pipeline: Pipeline) -> None:
    names = ("toy_echo", "toy_broken", "toy_echo", "toy_write", "toy_echo")
    steps = [{"tool": name, "args": {"text": "one"} if name == "toy_echo" else {}} for name in names]
    answer = await pipeline.call(request("batch", {"calls": steps}))
    assert not answer.is_error and answer.body["result"]["not_run"] == ["toy_write", "toy_echo"]
    assert (
        answer.text.count("text: one") == 2
        and "INTERNAL_ERROR" in answer.text
        and "secret" not in answer.text
    )


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("toy_echo", {"text": "one"}),
        ("toy_echo", {"text": 1}),
        ("toy_broken", {}),
        ("toy_ecko", {}),
    ],
)
async def test_a_step_is_answered_and_counted_like_a_call_of_its_own(
    pipeline: Pipeline, tool: str, arguments: dict[str, object]
) -> None:
    def counted() -> float:
        name = "unknown" if tool == "toy_ecko" else tool
        samples = (one for metric in pipeline.telemetry.registry.collect() for one in metric.samples)
        return sum(
            one.value for one in samples if one.name.endswith("_calls_total") and name in one.labels.values()
        )

    alone = await pipeline.call(request(tool, arguments))
    assert counted() == 1
    first = {"tool": "toy_echo", "args": {"text": "first"}}
    both = await pipeline.call(request("batch", {"calls": [first, {"tool": tool, "args": arguments}]}))
    step = both.body["result"]["answers"][1]
    assert step["text"].splitlines()[0] == alone.text.splitlines()[0]
    assert step["body"].keys() == alone.body.keys() - {"meta"}
    assert step["body"].get("result") == alone.body.get("result")
    assert counted() == (3 if tool == "toy_echo" else 2)  # the first step is one, too


async def test_a_batch_whose_first_step_fails_is_that_error(pipeline: Pipeline) -> None:
    answer = await pipeline.call(request("batch", {"calls": [{"tool": "toy_ecko"}]}))
    assert error(answer) == "UNKNOWN_TOOL"


async def test_a_batch_ends_when_it_is_cancelled(pipeline: Pipeline) -> None:
    slow = {"tool": "toy_slow", "args": {"steps": 500, "step_sec": 0.1}}
    with anyio.move_on_after(0.5):
        answer = await pipeline.call(request("batch", {"calls": [slow, slow]}))
    assert error(answer) == "CANCELLED"
