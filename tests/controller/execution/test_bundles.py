"""A bundle has its five files, is redacted, and never grows beyond its bound."""

from pathlib import Path

import pytest

from codeplane.controller.execution.bundles import FILES, LARGEST_FILE, Bundle, Bundles
from codeplane.storage import StateDir

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def bundles(tmp_path: Path) -> Bundles:
    return Bundles(StateDir.create(tmp_path), "w_1")


def folder_of(bundles: Bundles, node: str) -> Path:
    return bundles.state.path / "work" / "w_1" / "bundles" / node


def test_a_bundle_has_the_five_files(bundles: Bundles) -> None:
    ref = bundles.write("n1", Bundle(result={"state": "done"}, log=["wrote a.py"], trace_refs=["req_1"]))
    assert ref == "w_1/bundles/n1"
    assert {file.name for file in folder_of(bundles, "n1").iterdir()} == set(FILES)
    assert bundles.read("n1", "result.json") == {"state": "done"}
    assert bundles.read("n1", "diff.summary.json") == {}
    assert bundles.has_bundle("n1")
    assert not bundles.has_bundle("n2")


def test_a_later_step_keeps_what_it_does_not_write_and_appends_to_the_log(bundles: Bundles) -> None:
    bundles.write("n1", Bundle(result={"state": "done"}, log=["one"]))
    bundles.write("n1", Bundle(validation={"passed": True}, log=["two"]))
    assert bundles.read("n1", "result.json") == {"state": "done"}
    assert bundles.read("n1", "validation.json") == {"passed": True}
    assert bundles.read("n1", "op.log") == "one\ntwo\n"


def test_secrets_do_not_reach_the_disk(bundles: Bundles) -> None:
    bundle = Bundle(result={"said": TOKEN, "password": "hunter22"}, log=[f"token {TOKEN}"])
    bundles.write("n1", bundle)
    for name in FILES:
        text = (folder_of(bundles, "n1") / name).read_text()
        assert TOKEN not in text
        assert "hunter22" not in text


def test_a_bundle_is_bounded(bundles: Bundles) -> None:
    huge = {f"key{number}": "x " * 2_500 for number in range(500)}
    summary = {"files": ["z " * 500] * 2_000}
    bundles.write("n1", Bundle(result=huge, log=["y " * 1_000] * 50, diff_summary=summary))
    assert all(file.stat().st_size <= LARGEST_FILE for file in folder_of(bundles, "n1").iterdir())
    assert bundles.read("n1", "op.log").endswith("y \n")


def test_names_that_are_no_file_names_stay_inside(bundles: Bundles) -> None:
    for name in ("../../x", "a/b", "..", ".hidden", "n" * 300, "é"):
        bundles.write(name, Bundle(result={"node": name}))
        assert bundles.read(name, "result.json") == {"node": name}
    assert all(file.name.startswith("x-") for file in folder_of(bundles, "x").parent.iterdir())
