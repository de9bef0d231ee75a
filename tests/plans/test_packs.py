"""Packs: the built-in ones, a repository's own, and every mistake in one with its file and line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.core.errors import PackInvalid, PlanInvalid
from codeplane.plans import Level, Workflow, build_workflow, pack_files, read_packs
from codeplane.plans.pack_files import PackSource

TEAM = """\
pack: team
kind: workflow
types:
  bug:
    level: task
    states:
      - {name: new, category: open}
      - {name: fixed, category: wip}
      - {name: closed, category: done}
    transitions:
      - {from: new, to: fixed}
      - from: fixed
        to: closed
        enforcement: soft
        gates:
          - {type: field_set, field: cause}
          - {type: all_children_status, status_category: done}
    fields:
      - {name: cause, type: text}
      - {name: severity, type: enum, options: [low, high], default: low}
"""


def load(text: str, *workflow: str) -> Workflow:
    source = PackSource("packs/team.yaml", text, "team")
    return build_workflow(workflow or ("core", "team"), (), ("code-delta",), (source,))


def test_the_built_in_packs_have_the_four_levels() -> None:
    workflow = build_workflow(("core",), (), ("code-delta",))
    assert [workflow.default_type(level) for level in Level] == ["plan", "phase", "task", "step"]
    task = workflow.types["task"]
    assert task.first_state == "open" and task.derived_defaults == {"delta_status": "pending"}
    assert [state.name for state in task.states if state.is_dropped] == ["rejected"]
    assert {one.name for one in task.fields if one.is_derived} == {
        "delta_status",
        "delta_confidence",
        "delta_detail",
    }


def test_a_repository_adds_types_and_the_extension_reaches_them() -> None:
    workflow = load(TEAM)
    assert workflow.packs["bug"] == "team" and workflow.default_type(Level.TASK) == "task"
    assert workflow.types["bug"].field_schema("delta") is not None
    gate = workflow.types["bug"].transitions[1].gates[1]
    assert str(gate) == "all_linked parent inbound status_category done"
    assert load(TEAM, "team").default_type(Level.TASK) == "bug"
    with pytest.raises(PlanInvalid, match="No pack that is switched on"):
        load(TEAM, "team").default_type(Level.PHASE)


def test_without_the_extension_there_is_no_delta() -> None:
    assert build_workflow(("core",)).types["task"].field_schema("delta") is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("kind: workflow", "kind: grammar", r":2: A grammar pack is code of CodePlane"),
        ("kind: workflow", "kind: extension", r":2: An extension pack ships with CodePlane"),
        ("kind: workflow", "kind: workflw", r":2: kind: .*did you mean workflow\?"),
        ("kind: workflow\n", "", r"kind is missing"),
        ("pack: team", "pack: tem", r":1: the pack is tem and its file team"),
        ("pack: team", "pack: core", r"the pack is core and its file team"),
        ("  bug:", "  task:", r":4: the pack core has a type task already"),
        ("  bug:", "  Bug Report:", r":4: 'Bug Report' is no name of a type"),
        ("level: task", "level: tusk", r":5: types.bug.level: .*did you mean task\?"),
        ("level: task", "levle: task", r":5: there is no key types.bug.levle; did you mean level\?"),
        ("category: wip", "category: wpi", r":8: types.bug.states.1.category: .*did you mean wip\?"),
        ("name: fixed", "name: new", r":8: new is there twice"),
        ("from: new, to: fixed", "from: new, to: fixd", r":11: there is no state fixd; did you mean fixed\?"),
        ("from: new, to: fixed", "from: new, to: new", r":11: a second way from new to new"),
        ("from: new, to: fixed", "from: fixed, to: closed", r":12: a second way from fixed to closed"),
        ("enforcement: soft", "enforcement: sort", r":14: .*enforcement: .*did you mean soft\?"),
        ("type: field_set", "type: field_sat", r":16: .*did you mean field_set\?"),
        ("field: cause", "field: cuase", r":16: there is no field cuase; did you mean cause\?"),
        ("{type: field_set, field: cause}", "{type: field_eq, field: cause}", r":16: .*field_eq needs value"),
        ("field: cause}", "field: cause, value: 1}", r":16: .*field_set takes no value"),
        ("field: cause}", "field: cause, when: 1}", r":16: there is no key .*gates.0.when"),
        ("status_category: done}", "status_category: over}", r":17: .*status_category"),
        ("all_children_status,", "all_children_status, direction: inbound,", r":17: .*takes no direction"),
        ("name: cause", "name: title", r":19: the name title is taken"),
        ("name: cause", "name: delta_status", r":19: the name delta_status is taken"),
        ("name: cause, type: text", "name: cause, type: txt", r":19: .*did you mean text\?"),
        ("options: [low, high], ", "", r":20: .*an enum has options"),
        ("default: low", "default: lo", r":20: .*must be one of low, high"),
        ("type: text}", "type: text, derived_by: x}", r":19: .*only a derived field"),
        ("pack: team", "pack: [", r"line \d+, column"),
        ("pack: team", "pack: &a team\nother: *a", r"aliases"),
        ("  bug:", "  bug: {}\n  bug:", r"the key bug is duplicated"),
    ],
)
def test_a_mistake_is_refused_with_its_line(old: str, new: str, problem: str) -> None:
    assert old in TEAM
    with pytest.raises(PackInvalid, match=problem) as raised:
        load(TEAM.replace(old, new, 1))
    assert "packs/team.yaml" in raised.value.message


@pytest.mark.parametrize("text", ["", "1", "- a", "pack: team", "types: 1\npack: team\nkind: workflow"])
def test_what_is_no_pack_is_refused(text: str) -> None:
    with pytest.raises(PackInvalid):
        load(text)


def test_a_pack_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(PackInvalid, match=r"there is no pack cor; did you mean core\?") as raised:
        build_workflow(("cor",))
    assert "cpl trust" in raised.value.hints[0]
    with pytest.raises(PackInvalid, match="did you mean code-delta"):
        build_workflow(("core",), (), ("code-dleta",))


def test_files_are_read_as_far_as_they_are_plain_and_small(tmp_path: Path) -> None:
    folder = tmp_path / "packs"
    assert read_packs(folder) == ()
    folder.mkdir()
    (folder / "team.yaml").write_text(TEAM)
    (folder / "README.md").write_text("not a pack")
    [source] = read_packs(folder)
    assert source.name == "team" and source.text == TEAM
    makers: list[Callable[[Path], object]] = [
        lambda file: file.write_bytes(b"a" * (pack_files.LARGEST_PACK + 1)),
        lambda file: file.write_bytes(b"pack: \xff"),
        lambda file: file.symlink_to(folder / "team.yaml"),
        lambda file: file.mkdir(),
    ]
    for make in makers:
        other = folder / "other.yaml"
        make(other)
        with pytest.raises(PackInvalid, match=r"other\.yaml"):
            read_packs(folder)
        other.rmdir() if other.is_dir() else other.unlink()
    for number in range(pack_files.MOST_PACKS):
        (folder / f"p{number}.yaml").write_text(TEAM)
    with pytest.raises(PackInvalid, match="at most"):
        read_packs(folder)
