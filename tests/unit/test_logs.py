import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config.settings import LoggingSettings, LogOutput
from codeplane.server.logs import close_logs, correlation, set_up_logs


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    yield
    close_logs()


def entries(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_output_has_its_own_form_and_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = LoggingSettings(
        level="debug",
        outputs=(
            LogOutput(format="console", destination="stderr", level="info"),
            LogOutput(format="json", destination=str(tmp_path / "out.jsonl")),
        ),
    )
    set_up_logs(settings, tmp_path / "own.jsonl", "")
    logging.getLogger("x").debug("fine detail")
    logging.getLogger("x").warning("look here", extra={"port": 8})
    assert [e["event"] for e in entries(tmp_path / "out.jsonl")] == ["fine detail", "look here"]
    shown = capsys.readouterr().err
    assert "look here port=8" in shown and "fine detail" not in shown


def test_an_entry_carries_the_ids_of_its_call(tmp_path: Path) -> None:
    set_up_logs(LoggingSettings(outputs=()), tmp_path / "own.jsonl", "")
    held = correlation.set({"request_id": "req_1", "task_id": "task_1"})
    logging.getLogger("x").info("hello")
    correlation.reset(held)
    [entry] = entries(tmp_path / "own.jsonl")
    assert (entry["level"], entry["event"], entry["request_id"]) == ("info", "hello", "req_1")
    assert entry["ts"].endswith("Z") and entry["ts"][-5] == "."


def test_the_token_is_in_no_entry(tmp_path: Path) -> None:
    set_up_logs(LoggingSettings(outputs=()), tmp_path / "own.jsonl", "s3cret-token")
    log = logging.getLogger("x")
    log.info("header was %s", "Bearer s3cret-token")
    log.info("field", extra={"header": "Bearer s3cret-token"})
    try:
        raise ValueError("Bearer s3cret-token")
    except ValueError:
        log.exception("failed")
    text = (tmp_path / "own.jsonl").read_text()
    assert "s3cret" not in text and text.count("[token]") >= 3
    assert len(entries(tmp_path / "own.jsonl")) == 3
