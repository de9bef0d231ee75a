"""A journal that somebody else wrote, checksums and all: only what this program could write is obeyed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.mutation.journal import _checksum_of
from codeplane.working_tree import digest_of
from tests.mutation.world import World

TEMP = ".codeplane-0123456789abcdef"
OLD, NEW = digest_of(b"old"), digest_of(b"new")


def step(**changed: Any) -> list[Any]:
    fields = {
        "path": "a.py",
        "kind": "update",
        "home": "",
        "temp": TEMP,
        "before": OLD,
        "after": NEW,
        "mode_before": 0o644,
        "mode_after": 0o644,
        "moved_from": None,
    }
    return list({**fields, **changed}.values())


def begin(*steps: list[Any], **changed: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "operation": "op_planted",
        "note": {},
        "steps": steps,
        "made": [],
        "emptied": [],
        "index": None,
    }
    return {**whole, **changed}


def plant(world: World, *begins: Any) -> None:
    log = world.state.path / "journal" / "journal.log"
    log.parent.mkdir(exist_ok=True, mode=0o700)
    log.touch(mode=0o600)
    inode = log.stat().st_ino
    for one in begins:
        text = json.dumps({"begin": one, "journal": inode}).encode()
        with log.open("ab") as stream:
            stream.write(_checksum_of(text) + b" " + text + b"\n")


@pytest.fixture
def world(tmp_path: Path) -> World:
    outside = tmp_path / "outside"
    outside.mkdir()
    for place in (outside, tmp_path):
        (place / "victim").write_bytes(b"old")
        (place / TEMP).write_bytes(b"new")
    made = World.new(tmp_path / "repo", {"a.py": b"old", "d/x": b"old"})
    (made.root / TEMP).write_bytes(b"new")
    (made.root / "door").symlink_to(outside)
    return made


def untouched(world: World) -> bool:
    places = (world.root.parent, world.root.parent / "outside")
    return all(
        (place / "victim").read_bytes() == b"old" and (place / TEMP).read_bytes() == b"new"
        for place in places
    )


def test_what_this_program_writes_is_obeyed(world: World) -> None:
    plant(world, begin(step()))
    assert [one.outcome for one in World(world.root).recover()] == ["finished"]
    assert world.files()["a.py"] == b"new"


@pytest.mark.parametrize(
    "hostile",
    [
        begin(step(path="../victim", home="..")),
        begin(step(path="../outside/victim", home="../outside")),
        begin(step(path="/nowhere/victim", home="/nowhere")),
        begin(step(path=".git/config", kind="delete", after=None)),
        begin(step(home="..")),
        begin(step(temp="../victim")),
        begin(step(temp="a.py")),
        begin(step(), made=["../made"]),
        begin(step(), emptied=[["../outside", 0o777]]),
        begin(step(), emptied=[["d", 0o7777]]),
        begin(step(), index=["index", []]),
        begin(step(), index=[TEMP, [["../x", "y", OLD]]]),
        begin(step(path=7)),
        begin(step(before=7)),
        begin(step(kind="chmod")),
        begin([1, 2]),
        begin(steps=None),
        "text",
        None,
    ],
    ids=str,
)
def test_what_it_cannot_have_written_is_not(world: World, hostile: Any) -> None:
    config = (world.root / ".git" / "config").read_bytes()
    plant(world, hostile)
    assert World(world.root).recover() == []
    assert untouched(world) and world.files()["a.py"] == b"old"
    assert (world.root / ".git" / "config").read_bytes() == config
    assert not (world.root.parent / "made").exists()


def test_links_are_not_followed_out_of_the_tree(world: World) -> None:
    plant(world, begin(step(path="door/victim", home="door")))
    assert [one.outcome for one in World(world.root).recover()] == ["undone"]
    assert untouched(world)


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([OLD, NEW, TEMP, "..", "", "a.py", "door/victim"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_journal_breaks_a_start(world: World, data: st.DataObject) -> None:
    names = list(begin())
    planted = begin(step())
    for name in data.draw(st.lists(st.sampled_from(names), max_size=3)):
        planted[name] = data.draw(junk)
    if data.draw(st.booleans()):
        row = step()
        row[data.draw(st.integers(0, 8))] = data.draw(junk)
        planted["steps"] = [row]
    plant(world, planted)
    World(world.root).recover()
    assert untouched(world)
    assert sorted(os.listdir(world.root.parent)) == [TEMP, "outside", "repo", "victim"]
