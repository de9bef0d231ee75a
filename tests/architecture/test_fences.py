"""I/O has owners: ruff's banned names hold the fences, and these tests see them fall."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.core.slots import EpochSlot, InterfaceSlot
from codeplane.index.view.caches import EpochCache
from codeplane.index.view.layout import Layout

ROOT = Path(__file__).parent.parent.parent
_BY_INTERFACE = InterfaceSlot[str, int]("valid while no file shows others anything new")
_OF_EPOCH = EpochSlot[str, int]("valid until any file changes")


def lint(name: str, source: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", name, "--output-format", "concise", "-"],
        cwd=ROOT,
        input=source,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import subprocess\n", "Programs are started by codeplane.process alone"),
        ("import sqlite3\n", "Databases are opened by codeplane.storage alone"),
        ("import os\nos.environ\n", "The environment is read once"),
        ("import os\nos.replace('a', 'b')\n", "Files are replaced by"),
        ("import tomllib\n", "Documents are read by codeplane.core.documents alone"),
        ("from configparser import ConfigParser\n", "Documents are read by codeplane.core.documents alone"),
        ("import json\njson.loads('1')\n", "Use parse_json (a file of the repository) or decode_json"),
        ("from xml.etree import ElementTree\n", "XML is read by codeplane.core.xml_text alone"),
        ("import yaml\nyaml.safe_load('a')\n", "YAML is read by codeplane.core.yaml_text alone"),
    ],
)
def test_io_outside_its_owner_is_refused(source: str, reason: str) -> None:
    assert reason in lint("src/codeplane/session/new.py", source)


def test_the_owner_of_the_environment_may_read_it() -> None:
    assert "TID251" not in lint("src/codeplane/config/places.py", "import os\nos.environ\n")


def test_the_owner_of_renames_may_rename_and_the_engine_above_it_may_not() -> None:
    source = "import os\nos.rename('a', 'b')\nos.link('a', 'b')\n"
    assert "TID251" not in lint("src/codeplane/storage/disk.py", source)
    assert lint("src/codeplane/mutation/apply.py", source).count("TID251") == 2


def test_no_code_asks_a_node_for_its_point() -> None:
    """`Node.start_point` of tree-sitter 0.26 frees what it does not own and ends the process later."""
    asking = re.compile(r"\.(?:start|end)_point\b")
    sources = (ROOT / "src" / "codeplane").rglob("*.py")
    lines = [(file, line) for file in sources for line in file.read_text().splitlines()]
    assert not [f"{file}: {line}" for file, line in lines if asking.search(line) and "`" not in line]


def slots_made_elsewhere(source: str) -> list[int]:
    """The lines that make a slot of a cache anywhere but in a constant of the module."""
    tree = ast.parse(source)
    constants = {id(node.value) for node in tree.body if isinstance(node, ast.AnnAssign | ast.Assign)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    slots = [
        node
        for node in calls
        if re.match(r"(?:Interface|Epoch|Content|Carried)?Slot\b", ast.unparse(node.func))
    ]
    return [node.lineno for node in slots if id(node) not in constants]


def test_a_slot_of_a_cache_is_a_constant_of_one_module() -> None:
    """A slot made on the way would be another one each time, and one that is handed around has two owners."""
    for file in (ROOT / "src" / "codeplane").rglob("*.py"):
        assert not slots_made_elsewhere(file.read_text()), file


def test_a_slot_that_is_made_on_the_way_is_noticed() -> None:
    assert slots_made_elsewhere('A = Slot[str, int]("a")\ndef f(): return Slot[str, int]("a")\n') == [2]


def test_the_class_of_a_slot_says_how_long_its_answers_are_valid() -> None:
    cache = EpochCache(0, 0, Layout({}))
    cache.once(_BY_INTERFACE, "a", lambda: 1)
    cache.once(_OF_EPOCH, "a", lambda: 2)
    assert cache.table(_BY_INTERFACE) == {"a": 1}
    assert cache.table(_OF_EPOCH) == {"a": 2}
    assert not hasattr(EpochCache, "__getitem__")
