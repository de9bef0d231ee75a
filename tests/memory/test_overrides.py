"""Memories that people drop into the override folder, sound and hostile."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codeplane.config.settings import MemorySettings
from codeplane.core.errors import OverrideInvalid
from codeplane.memory import Enforcement, MemoryState, MemoryStore
from codeplane.memory.overrides import LARGEST_OVERRIDE, MOST_IN_FILE, MOST_OVERRIDES, parse_override
from codeplane.storage.database import Database
from tests.memory.conftest import Clock
from tests.memory.samples import FEW_SHOT, NOTE, PLAN_RULE, SIGNAL, write_override

YAML = """\
enforcementType: plan_rule
domainAnchorIds: [./src/api/]
planRule:
  condition: {nodeKinds: [change]}
  requiredSteps: ["test:tests/api"]
note: The API has tests of its own.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".codeplane" / "memory" / "overrides"


def test_files_enter_as_approved_and_are_read_once(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "rule.yaml", YAML)
    write_override(folder, "both.json", [FEW_SHOT, NOTE])
    write_override(folder, "readme.md", "not a memory")
    report = store.import_overrides(folder)
    assert (len(report.additions), report.problems) == (3, ())
    assert {record.state for record in store.list_all()} == {MemoryState.APPROVED}
    [rule] = store.rules(["src/api"])
    assert rule.condition == {"files": ["src/api/"], "nodeKinds": ["change"]}
    again = store.import_overrides(folder)
    assert (again.additions, again.retired_ids) == ((), ())
    assert len(store.changes()) == 3


def test_a_new_process_finds_nothing_new(store: MemoryStore, database: Database, folder: Path) -> None:
    write_override(folder, "a.json", FEW_SHOT)
    store.import_overrides(folder)
    assert MemoryStore(lambda: database, MemorySettings()).import_overrides(folder).additions == ()


def test_a_file_that_changes_replaces_its_memory(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "a.json", NOTE)
    [first] = store.import_overrides(folder).additions
    write_override(folder, "a.json", NOTE | {"note": "Another."})
    report = store.import_overrides(folder)
    assert report.retired_ids == (first.id,)
    assert [record.content.note for record in report.additions] == ["Another."]


def test_a_file_that_is_renamed_stays_the_same_memory(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "a.json", NOTE)
    store.import_overrides(folder)
    (folder / "a.json").rename(folder / "b.json")
    report = store.import_overrides(folder)
    assert (report.additions, report.retired_ids) == ((), ())


def test_a_file_that_goes_and_comes_back_is_enforced_again(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "a.json", SIGNAL)
    store.import_overrides(folder)
    (folder / "a.json").unlink()
    assert len(store.import_overrides(folder).retired_ids) == 1
    assert store.signals(["src/ui"]) == ()
    write_override(folder, "a.json", SIGNAL)
    assert len(store.import_overrides(folder).additions) == 1
    assert len(store.signals(["src/ui"])) == 1


def test_a_memory_that_a_person_dropped_does_not_come_back_from_its_file(
    store: MemoryStore, folder: Path
) -> None:
    write_override(folder, "a.json", NOTE)
    [record] = store.import_overrides(folder).additions
    store.drop(record.id)
    assert store.import_overrides(folder).additions == ()


def test_without_trust_the_files_do_not_count(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "a.json", PLAN_RULE)
    store.import_overrides(folder)
    assert len(store.rules([])) == 1
    assert len(store.import_overrides(None).retired_ids) == 1
    assert store.rules([]) == ()


def test_a_file_that_breaks_keeps_its_memory_and_is_named(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "a.json", NOTE)
    write_override(folder, "b.json", FEW_SHOT)
    store.import_overrides(folder)
    write_override(folder, "a.json", "{")
    report = store.import_overrides(folder)
    [problem] = report.problems
    assert problem.details["file"] == "a.json" and report.retired_ids == ()
    assert len(store.active(Enforcement.INFORMATIONAL, ["."])) == 1


def test_the_first_state_of_an_override_can_be_set(database: Database, clock: Clock, folder: Path) -> None:
    settings = MemorySettings(human_override_initial_state="provisional")
    store = MemoryStore(lambda: database, settings, clock)
    write_override(folder, "a.json", NOTE)
    [record] = store.import_overrides(folder).additions
    assert record.state is MemoryState.PROVISIONAL
    clock.advance(49)
    assert store.show(record.id).state is MemoryState.EXPIRED
    assert store.import_overrides(folder).additions == ()


def test_an_override_that_rests_on_a_file_is_retired_with_it_and_stays_so(
    store: MemoryStore, folder: Path
) -> None:
    write_override(folder, "a.json", FEW_SHOT | {"digests": {"src/app/access_token": "d1"}})
    [record] = store.import_overrides(folder).additions
    assert store.retire_changed([record], lambda _: "d2") == []
    assert store.import_overrides(folder).additions == ()
    assert store.show(record.id).state is MemoryState.RETIRED


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("[1]", "a memory is a mapping"),
        ("3", "a memory is a mapping"),
        ("[" * 5_000, "nested too deeply"),
        ('{"enforcementType": "few_shot"}', "fewShot is missing"),
        ('{"enforcementType": "informational"}', "note is missing"),
        ('{"enforcementType": "sometimes", "note": "x"}', "enforcementType"),
        ('{"enforcmentType": "informational", "note": "x"}', "did you mean enforcementType?"),
        ('{"enforcementType": "informational", "note": 3}', "note: Input should be a valid string"),
        ('{"enforcementType": "informational", "note": "x", "state": "approved"}', "there is no key state"),
        (json.dumps(NOTE | {"note": "x" * 5_000}), "at most 4000 characters"),
        (json.dumps(NOTE | {"domainAnchorIds": ["../up"]}), "is no folder of the repository"),
        (json.dumps(NOTE | {"domainAnchorIds": ["a"] * 51}), "at most 50"),
        (json.dumps(NOTE | {"trigger": "retrospective"}), "trigger is human_override"),
        (json.dumps(NOTE | {"fewShot": FEW_SHOT["fewShot"]}), "does not belong to informational"),
        (json.dumps(SIGNAL | {"strategySignal": {"featureFlag": "a", "value": [], "reason": "r"}}), "value"),
        (json.dumps([NOTE] * (MOST_IN_FILE + 1)), f"more than {MOST_IN_FILE}"),
        ('{"enforcementType": "informational", "note": 1' + "0" * 500 + "}", "too many digits"),
    ],
)
def test_what_is_no_memory_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(OverrideInvalid) as refusal:
        parse_override("a.json", text.encode())
    assert problem in refusal.value.message
    assert len(refusal.value.message) < 500


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"requiredSteps": [""]}, "at least 1 character"),
        ({"condition": {"files": ["[z-a]"]}}, "reversed"),
        ({"condition": {"files": ["a/{b"]}}, "unclosed"),
        ({"condition": {"files": "src"}}, "planRule.condition.files"),
        ({"denyCode": "no code"}, "planRule.denyCode"),
        ({"condition": "always"}, "planRule.condition"),
    ],
)
def test_a_rule_that_could_never_be_evaluated_is_refused(rule: dict[str, Any], problem: str) -> None:
    text = json.dumps({"enforcementType": "plan_rule", "planRule": rule})
    with pytest.raises(OverrideInvalid, match=problem):
        parse_override("a.json", text.encode())


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.yaml", b"a: &x [1]\nb: *x", "aliases"),
        ("a.yaml", b"a: [", "a.yaml"),
        ("a.yaml", b"!!python/object/apply:os.system ['true']", "a.yaml"),
        ("a.json", b"\xff\xfe", "not UTF-8"),
        ("a.json", None, "not a plain file"),
    ],
)
def test_broken_bytes_are_refused(name: str, data: bytes | None, problem: str) -> None:
    with pytest.raises(OverrideInvalid, match=problem):
        parse_override(name, data)


def test_one_hostile_file_does_not_cost_the_others(store: MemoryStore, folder: Path, tmp_path: Path) -> None:
    write_override(folder, "good.json", NOTE)
    write_override(folder, "huge.json", '"' + "x" * LARGEST_OVERRIDE + '"')
    write_override(folder, "broken.yaml", "a: [")
    (tmp_path / "outside.json").write_text(json.dumps(FEW_SHOT))
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    report = store.import_overrides(folder)
    assert [record.source for record in report.additions] == ["good.json"]
    assert sorted(str(problem.details["file"]) for problem in report.problems) == [
        "broken.yaml",
        "folder.json",
        "huge.json",
        "link.json",
        "pipe.json",
    ]


def test_a_linked_folder_is_not_read(store: MemoryStore, folder: Path, tmp_path: Path) -> None:
    write_override(tmp_path / "elsewhere", "a.json", NOTE)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(tmp_path / "elsewhere")
    assert store.import_overrides(folder).additions == ()


def test_files_beyond_the_bound_are_named(store: MemoryStore, folder: Path) -> None:
    for number in range(MOST_OVERRIDES + 5):
        write_override(folder, f"{number:04}.json", NOTE | {"note": f"n{number}"})
    report = store.import_overrides(folder)
    assert len(report.additions) == MOST_OVERRIDES
    assert [problem.details["file"] for problem in report.problems] == [f"{MOST_OVERRIDES:04}.json"]


def test_secrets_in_overrides_are_not_kept(store: MemoryStore, folder: Path) -> None:
    write_override(folder, "a.json", NOTE | {"note": "token='abcd' " * 300})
    [record] = store.import_overrides(folder).additions
    assert "abcd" not in record.content.note and len(record.content.note) <= 4_000
