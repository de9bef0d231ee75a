"""Plans that name odd files: links, closed and binary ones. No other takes their place by its looks."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.controller.lab import APP, Answered, Desk, open_desk
from tests.drive import git

LOAD = "def load(url):\n    return url\n"
EDIT = {"oldText": "def load(url):", "newText": "def load(url, timeout=None):"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    base = tmp_path_factory.mktemp("odd")
    files = {
        "real.py": LOAD,
        "latin.py": LOAD,
        "a/store.py": LOAD,
        "b/store.py": "x = 1\n",
        "nul.py": "a\0b\n",
    }
    with open_desk(base, {**APP, **files, ".gitignore": "build/\n"}) as desk:
        (desk.root / "link.py").symlink_to("real.py")
        (desk.root / "out.py").symlink_to("/etc/hostname")
        (desk.root / "build").mkdir()
        (desk.root / "build" / "x.py").write_text(LOAD)
        nested = desk.root / "nested"
        nested.mkdir()
        git(nested, "init", "-q")
        (nested / "s.py").write_text(LOAD)
        yield desk


def submit(desk: Desk, file: str, **fields: Any) -> Answered:
    node = {
        "file": file,
        "symbols": ["load"],
        "intent": "Time out.",
        "evidence": ["prompt"],
        "edits": [EDIT],
        **fields,
    }
    work_id = "w_" + "".join(filter(str.isalnum, file + str(fields.get("operation", ""))))
    return desk.turn(
        "submit_execution_plan", workId=work_id, originalPrompt="load needs a timeout", nodes=[node]
    )


def accepted_files(desk: Desk, refusal: Answered) -> list[str]:
    """The files of the offered plan, which is accepted as it is."""
    answer = desk.send({**refusal.suggestion, "workId": refusal.result["workId"]})
    assert answer.state == "PLAN_ACCEPTED", answer.text
    nodes = answer.result["result"]["planGraph"]["nodes"]
    return [node["targetFile"] for node in nodes if node["kind"] == "change"]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("build/x.py", "closed to plans"),
        ("nested/s.py", "closed to plans"),
        ("out.py", "closed to plans"),
        ("nul.py", "binary"),
    ],
)
def test_a_file_that_is_closed_is_not_exchanged_for_another(desk: Desk, file: str, reason: str) -> None:
    refusal = submit(desk, file)
    assert "scope.closed" in refusal.sub_codes
    assert reason in refusal.text
    assert accepted_files(desk, refusal) == []


def test_a_link_means_the_file_that_it_leads_to(desk: Desk) -> None:
    refusal = submit(desk, "link.py")
    assert "link.py is a link to real.py" in refusal.text
    assert accepted_files(desk, refusal) == ["real.py"]


@pytest.mark.parametrize(
    ("file", "meant"),
    [
        ("src/real.py", "real.py"),  # the one file of that name
        ("lattin.py", "latin.py"),  # a slip
        ("store.py", "a/store.py"),  # the one of two that has the symbol
    ],
)
def test_a_wrong_path_is_corrected_where_it_can_mean_one_file_only(desk: Desk, file: str, meant: str) -> None:
    assert accepted_files(desk, submit(desk, file)) == [meant]


def test_a_path_that_looks_like_another_is_a_new_file(desk: Desk) -> None:
    refusal = submit(desk, "lading.py")
    assert "latin.py" not in refusal.text
    assert accepted_files(desk, refusal) == ["lading.py"]


def test_a_new_file_below_a_closed_directory_is_refused(desk: Desk) -> None:
    refusal = submit(desk, "build/y.py", operation="create", symbols=[], edits=[])
    assert "scope.closed" in refusal.sub_codes
    assert accepted_files(desk, refusal) == []


def test_lines_of_any_length_are_shown_in_part(desk: Desk) -> None:
    (desk.root / "long.py").write_text(f"X = '{'a' * 1_000_000}'\n{LOAD}")
    refusal = submit(desk, "long.py", evidence=["prompt", "long.py:1-2"])
    assert "more characters" in refusal.text
    assert len(refusal.text) < 6_000
    assert accepted_files(desk, refusal) == ["long.py"]


def refuse(desk: Desk, work_id: str, **fields: Any) -> Answered:
    desk.turn("read_file_lines", workId=work_id, originalPrompt="load needs a timeout", targetFile="two.py")
    node = {"file": "two.py", "intent": "Time out.", "evidence": ["prompt", "two.py:1-6"], **fields}
    return desk.turn("submit_execution_plan", workId=work_id, nodes=[node])


@pytest.fixture
def two(desk: Desk) -> Iterator[None]:
    (desk.root / "two.py").write_text(f"{LOAD}\n\ndef save(url):\n    return url\n")
    yield
    (desk.root / "two.py").unlink()


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("symbols", [["save"], ["*"], []], ids=str)
def test_edits_beyond_the_symbols_of_their_node_are_refused_with_the_plan(
    desk: Desk, symbols: list[str]
) -> None:
    work_id = f"beyond{len(symbols)}{'x' if '*' in symbols else ''}"
    refusal = refuse(desk, work_id, symbols=symbols, edits=[EDIT])
    accepted = desk.send({**refusal.suggestion, "workId": work_id})
    [change] = [one for one in accepted.result["result"]["planGraph"]["nodes"] if one["kind"] == "change"]
    assert change["targetSymbols"] == list(dict.fromkeys([*(one for one in symbols if one != "*"), "load"]))
    assert accepted.next_call is not None
    written = desk.send({**accepted.next_call, "workId": work_id})
    assert written.codes == [], written.text
    assert "timeout=None" in (desk.root / "two.py").read_text()
    desk.turn("signal_task_complete", workId=work_id, abandon=True, reason="the test is over")


@pytest.mark.usefixtures("two")
def test_a_delta_that_is_red_is_refused_with_the_plan(desk: Desk) -> None:
    transform = {"operation": "add_parameter", "target": "lod", "name": "timeout", "default": "None"}
    delta = {"elements": [{"path": "two.py", "transforms": [transform]}]}
    refusal = refuse(desk, "red", symbols=["load"], delta=delta)
    assert "fields.delta" in refusal.sub_codes and "matches nothing" in refusal.text
    assert desk.send({**refusal.suggestion, "workId": "red"}).state == "PLAN_ACCEPTED"


def test_a_side_effect_that_there_is_not_becomes_no_other(desk: Desk) -> None:
    nodes = [{"kind": "side_effect", "sideEffectType": "deploy", "payload": {"cmd": "make deploy"}}]
    refusal = desk.turn("submit_execution_plan", workId="deploy", originalPrompt="Deploy.", nodes=nodes)
    assert refusal.sub_codes == ["fields.kind"]
    accepted = desk.send({**refusal.suggestion, "workId": "deploy"})
    assert [one["kind"] for one in accepted.result["result"]["planGraph"]["nodes"]] == ["escalate"]


def test_a_payload_has_what_its_side_effect_reads(desk: Desk) -> None:
    nodes = [{"kind": "side_effect", "sideEffectType": "git_commit", "payload": {"cmd": "rm -rf /"}}]
    refusal = desk.turn("submit_execution_plan", workId="payload", originalPrompt="Commit.", nodes=nodes)
    assert "fields.unknown" in refusal.sub_codes
    assert "rm -rf" not in str(refusal.suggestion)


def test_a_pattern_is_no_file(desk: Desk) -> None:
    refusal = submit(desk, "a/*.py")
    assert "scope.wildcard" in refusal.sub_codes
    assert accepted_files(desk, refusal) == ["a/store.py"]
    assert accepted_files(desk, submit(desk, "*.py")) == []
